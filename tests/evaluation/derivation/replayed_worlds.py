"""Conversations with labelled writes whose right decisions are known, and judges that know or pervert them."""

from __future__ import annotations

from typing import Any

from admission.evaluation.derivation.cases import Case, cases_of
from admission.gate import AdmissionGate
from admission.records import Conversation, Question, Turn, Write
from admission.settings import Settings, load_settings
from admission.verifiers.scripted import ScriptedVerifier

SAID = (
    "Nora rents a boat in Lisse.",
    "The boat leaks at the stern.",
    "Nora wants to learn the cello.",
    "It rained all day.",
)
TRUE_CITED = "Nora rents a boat in Lisse."
TRUE_ELSEWHERE = "The boat leaks at the stern."
UNTRUE = "Nora sold the boat."


def obligation(text: str, label: str, *evidence: str) -> dict[str, Any]:
    return {"text": text, "type": "fact", "history": label, "evidence": list(evidence)}


def conversation(id: str) -> Conversation:
    """Four turns and three writes: supported where it is cited, supported elsewhere, not supported."""
    turns = tuple(Turn(id=f"t{n}", role="user", speaker="Ada", text=text) for n, text in enumerate(SAID, 1))
    writes = (
        Write(id="cited", memory=TRUE_CITED, citations=("t1",),
              reference={"status": "admitted", "obligations": [obligation(TRUE_CITED, "supported", "t1")]}),
        Write(id="elsewhere", memory=TRUE_ELSEWHERE, citations=("t4",),
              reference={"status": "repaired", "obligations": [obligation(TRUE_ELSEWHERE, "supported", "t2")]}),
        Write(id="untrue", memory=UNTRUE, citations=("t1",), reference={"status": "unresolved"}),
    )  # fmt: skip
    return Conversation(id=id, namespace=(id,), turns=turns, writes=writes)


def cases(conversations: int = 4) -> list[Case]:
    return [c for n in range(conversations) for c in cases_of(conversation(f"c{n}"), passage_chars=1200)]


def oracle(question: Question) -> tuple[float, float]:
    """Supports a true memory where the turn that says it is shown, and nothing else."""
    shown = {passage.text for passage in question.passages}
    return (0.95, 0.0) if question.memory != UNTRUE and question.memory in shown else (0.02, 0.0)


def fool(question: Question) -> tuple[float, float]:
    """Supports what is untrue and nothing else."""
    return (0.95, 0.0) if question.memory == UNTRUE else (0.02, 0.0)


def gate(script: Any, settings: Settings | None = None) -> AdmissionGate:
    judges = {role: ScriptedVerifier(role, script) for role in ("verifier_a", "verifier_b", "adjudicator")}
    return AdmissionGate(settings or load_settings(), **judges)
