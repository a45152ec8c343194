"""What a deployment says about a chat model: which one it is, and how a verifier asks it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Asking = Literal["joint", "isolated", "joint_then_isolated"]
Output = Literal["auto", "json_schema", "function_calling", "json_mode", "text"]

ANTHROPIC_MAX_TOKENS = 4096
"""Tokens of an answer in Anthropic's batch files, which need a bound, where `params` names none."""


class ChatOptions(BaseModel):
    """How a chat model is asked.

    `asking`: obligations that share their passages in one call, or each in its own; `joint_then_isolated` asks
    relations and qualifications that a joint call found supported once more alone, and the stricter answer counts.
    `output`: the method of structured output; `auto` is the model's own where it has one, else `text` (strict JSON).
    `check_quotes`: a verdict whose quote stands in none of the turns it names is no support. `max_concurrency`,
    `requests_per_second`, `retries` (after rate limits, time-outs and lost connections) and `timeout_s` bound single
    requests; `max_calls_per_write` and `max_tokens_per_write` what one write may cost in one role, retries and repair
    rounds included.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    asking: Asking = "joint"
    output: Output = "auto"
    check_quotes: bool = True
    max_concurrency: int = Field(default=8, ge=1)
    requests_per_second: float | None = Field(default=None, gt=0)
    retries: int = Field(default=2, ge=0, le=10)
    timeout_s: float = Field(default=60.0, gt=0)
    max_calls_per_write: int | None = Field(default=None, ge=1)
    max_tokens_per_write: int | None = Field(default=None, ge=1)


class ModelSettings(ChatOptions):
    """A section `[models.NAME]`, used by a role as `chat:NAME`.

    `model` ("provider:model") and `params` go to `langchain.chat_models.init_chat_model`.
    """

    model: str = Field(min_length=1)
    params: dict[str, Any] = Field(default_factory=dict)

    @property
    def provider_and_name(self) -> tuple[str, str]:
        """The two halves of `provider:model`; the provider may stand in `params.model_provider` or show in the name."""
        if "model_provider" in self.params:
            return str(self.params["model_provider"]), self.model
        provider, named, name = self.model.partition(":")
        if named:
            return provider, name
        return ("anthropic" if self.model.startswith("claude") else "openai"), self.model
