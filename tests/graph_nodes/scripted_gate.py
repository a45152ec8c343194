"""A guarded store whose verifiers are scripted: they support what the passages say word for word."""

from __future__ import annotations

import re
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from admission.errors import LedgerError
from admission.gate import AdmissionGate
from admission.ledger import Ledger, SqliteLedger, open_ledger
from admission.records import Question
from admission.settings import load_settings
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes import AdmissionStore

SAID = "Ana moved to Lisbon in May."
NEVER_SAID = "Ana moved to Oslo in June."
DENIED = "Ana keeps a grey parrot."
TALK = [
    HumanMessage("Ana moved to Lisbon in May.", id="m1"),
    AIMessage("That sounds lovely!", id="m2"),
    HumanMessage("And it is not the case that Ana keeps a grey parrot.", id="m3"),
]
NAMESPACE = ("memories", "ana")


class FakeFullLedger(SqliteLedger):
    """A ledger whose disk is full when a verdict is to be written, until `full` is taken back."""

    full = True

    def decide(self, *args: Any, **kwargs: Any) -> Any:
        if self.full:
            raise LedgerError("ledger", "the disk is full", "free some space")
        return super().decide(*args, **kwargs)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def said(question: Question) -> tuple[float, float]:
    """Supported if all its words are in one passage; contradicted if that passage also says "not"."""
    claim = words(question.obligation.text)
    for passage in question.passages:
        if claim <= words(passage.text):
            return (0.0, 1.0) if "not" in words(passage.text) - claim else (1.0, 0.0)
    return 0.0, 0.0


def scripted_gate(**settings: Any) -> AdmissionGate:
    first, second, third = (ScriptedVerifier(name, said) for name in ("first", "second", "third"))
    return AdmissionGate(load_settings(overrides=settings), verifier_a=first, verifier_b=second, adjudicator=third)


def guarded(inner: BaseStore | None = None, *, ledger: Ledger | None = None, **settings: Any) -> AdmissionStore:
    """An AdmissionStore over `inner`, with scripted verifiers and a ledger in memory unless one is given."""
    return AdmissionStore(
        inner if inner is not None else InMemoryStore(),
        gate=scripted_gate(**settings),
        ledger=ledger if ledger is not None else open_ledger("sqlite://"),
    )


def judges(store: AdmissionStore) -> list[ScriptedVerifier]:
    return [verifier for verifier in store.gate.verifiers.values() if isinstance(verifier, ScriptedVerifier)]


def asked(store: AdmissionStore) -> list[Question]:
    """Every question any verifier of the store's gate was asked."""
    return [question for verifier in judges(store) for question in verifier.asked]


def forget_questions(store: AdmissionStore) -> None:
    for verifier in judges(store):
        verifier.asked.clear()


def stored(store: BaseStore, namespace: tuple[str, ...] = NAMESPACE) -> dict[str, dict[str, Any]]:
    """What a reader finds: value by key."""
    return {item.key: item.value for item in store.search(namespace, limit=1000)}


def verifications(store: AdmissionStore) -> int:
    """How many reports the ledger holds: one a verification."""
    return sum(1 for _ in store.ledger.reports())
