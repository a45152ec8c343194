"""A stand-in for a chat model whose requests go into batch files: it says which model it is, and answers nothing."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable

from admission.model_settings import ANTHROPIC_MAX_TOKENS, ModelSettings


class UnsentChat(BaseChatModel):
    """Stands where a verifier wants a model. Nothing is set up: no provider's package, no key, no network."""

    provider: str
    model: str

    @classmethod
    def of(cls, section: ModelSettings) -> UnsentChat:
        provider, model = section.provider_and_name
        return cls(provider=provider, model=model)

    @property
    def _llm_type(self) -> str:
        return self.provider

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        params = LangSmithParams(ls_provider=self.provider, ls_model_name=self.model)
        if self.provider == "anthropic":
            params["ls_max_tokens"] = ANTHROPIC_MAX_TOKENS
        return params

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Runnable[Any, Any]:
        return self  # the method of structured output is the file's affair

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise RuntimeError(f"{self.provider}:{self.model} is asked by batch files only")
