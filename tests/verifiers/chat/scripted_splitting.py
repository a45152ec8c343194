"""Chat models that split memories by a script, and a gate that has one of them split."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from scripted_chat import Answer, Prompt, Script, ScriptedChat, yes

from admission.decomposition import ModelDecomposer
from admission.gate import AdmissionGate
from admission.model_settings import ChatOptions
from admission.records import Report
from admission.settings import Settings
from admission.verifiers.chat import ChatVerifier
from admission.verifiers.scripted import ScriptedVerifier

MEMORY = "Ana moved to Leeds in March because her sister had a baby."
"""The rules find three obligations in it, the whole of it among them."""
FAITHFUL = (
    ("Ana moved to Leeds in March.", "qualification"),
    ("Ana's sister had a baby.", "fact"),
    ("Ana moved to Leeds because her sister had a baby.", "relation"),
)


def statements(*told: tuple[str, str] | str) -> dict[str, Any]:
    """An answer with these statements; one without a type is a fact."""
    pairs = ((text, "fact") if isinstance(text, str) else text for text in told)
    return {"obligations": [{"text": text, "type": type} for text, type in pairs]}


def faithful(prompt: Prompt) -> Answer:
    return statements(*FAITHFUL)


def memory_in(prompt: Prompt) -> str:
    return prompt.turns[""].strip()


def decomposer(script: Script, model: type[ScriptedChat] = ScriptedChat, **options: Any) -> ModelDecomposer:
    return over(model(script=script), **options)


def over(chat: BaseChatModel, **options: Any) -> ModelDecomposer:
    return ModelDecomposer(ChatVerifier(chat, "splitter", options=ChatOptions(**options)))


def gate(splitting: ModelDecomposer | None, **verification: Any) -> AdmissionGate:
    """A gate whose verifiers agree with everything, so that all depends on what they are asked."""
    settings = Settings(verification={"adjudicator": None, **verification})  # type: ignore[arg-type]
    first, second = ScriptedVerifier("a", yes), ScriptedVerifier("b", yes)
    return AdmissionGate(settings, verifier_a=first, verifier_b=second, decomposer=splitting)


def fallbacks(report: Report) -> list[str]:
    """What the report says of a split that was not the model's."""
    return [reason for reason in report.reasons if reason.startswith("decomposition_fallback: ")]


def texts(report: Report) -> list[str]:
    return [finding.text for finding in report.obligations]
