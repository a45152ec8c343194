"""A chat verifier from a section of the settings; langchain and the provider's package load here."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError

from admission.errors import SettingsError
from admission.model_settings import ChatOptions, ModelSettings
from admission.records import Thresholds
from admission.verifiers.chat.unsent import UnsentChat
from admission.verifiers.chat.verifier import ChatVerifier


def chat_verifier(
    kind: str, section: ModelSettings, thresholds: Thresholds | None = None, *, by_file: bool = False
) -> ChatVerifier:
    """The verifier for `[models.NAME]`, called `kind` (`chat:NAME`) in reports. `by_file`: see `chat_model`."""
    model = chat_model("models." + kind.partition(":")[2], section, by_file=by_file)
    options = ChatOptions(**section.model_dump(include=set(ChatOptions.model_fields)))
    return ChatVerifier(model, kind, options=options, thresholds=thresholds, params=section.params)


def chat_model(field: str, section: ModelSettings, *, by_file: bool = False) -> BaseChatModel:
    """The model of a section, set up; with `by_file` a stand-in for one whose requests are written to batch files.

    Raises `SettingsError` naming `field` where it cannot be set up: no langchain, no such provider, no key.
    """
    if by_file:
        return UnsentChat.of(section)
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise SettingsError(field, f"needs langchain ({error})", "install memory-admission[agents]") from error
    try:
        model: BaseChatModel = init_chat_model(section.model, **section.params)
    except Exception as error:  # each provider's package raises its own
        remedy = (
            "correct model and params, install the provider's langchain package, and put its key in the environment"
        )
        raise SettingsError(f"{field}.model", f"{section.model!r} cannot be set up ({_why(error)})", remedy) from error
    return model


def _why(error: Exception) -> str:
    """The error's words, without the parameters that pydantic would repeat: a key may be among them."""
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return "; ".join(": ".join([*map(str, problem["loc"]), problem["msg"]]) for problem in found)
    return str(error) or type(error).__name__
