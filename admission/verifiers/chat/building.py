"""A chat verifier from a section of the settings; langchain and the provider's package load here."""

from __future__ import annotations

from pydantic import ValidationError

from admission.errors import SettingsError
from admission.model_settings import ChatOptions, ModelSettings
from admission.records import Thresholds
from admission.verifiers.chat.verifier import ChatVerifier


def chat_verifier(kind: str, section: ModelSettings, thresholds: Thresholds | None = None) -> ChatVerifier:
    """The verifier for `[models.NAME]`, called `kind` (`chat:NAME`) in reports.

    Raises `SettingsError` naming the section where the model cannot be set up: no langchain, no such provider, no key.
    """
    field = "models." + kind.partition(":")[2]
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise SettingsError(field, f"needs langchain ({error})", "install memory-admission[agents]") from error
    try:
        model = init_chat_model(section.model, **section.params)
    except Exception as error:  # each provider's package raises its own
        remedy = (
            "correct model and params, install the provider's langchain package, and put its key in the environment"
        )
        raise SettingsError(f"{field}.model", f"{section.model!r} cannot be set up ({_why(error)})", remedy) from error
    options = ChatOptions(**section.model_dump(include=set(ChatOptions.model_fields)))
    return ChatVerifier(model, kind, options=options, thresholds=thresholds, params=section.params)


def _why(error: Exception) -> str:
    """The error's words, without the parameters that pydantic would repeat: a key may be among them."""
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return "; ".join(": ".join([*map(str, problem["loc"]), problem["msg"]]) for problem in found)
    return str(error) or type(error).__name__
