"""A guarded store with memories from one talk, for the tests of the deletion audit."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.store.base import BaseStore
from scripted_gate import guarded

from admission.eviction.deletions.audit import DeletionAudit, Piece, audit_deletions
from admission.eviction.deletions.questions import AuditQuestion
from admission.ledger import Ledger
from graph_nodes import AdmissionStore, conversation

SPACE = ("memories", "ana")
CONVERSATION = "talk-1"
SAID = {
    "t1": "Ana moved to Lisbon in May.",
    "t2": "Ana keeps a grey parrot called Rui.",
    "t3": "Ana plays the cello every Sunday.",
    "t4": "Ana meets her lawyer on the ninth of June.",
}
TALK = [HumanMessage(text, id=id) for id, text in SAID.items()]
BY = {"by": "officer", "why": "request 7"}


def remembering(inner: BaseStore | None = None, *, ledger: Ledger | None = None) -> AdmissionStore:
    """A store with a memory at k1 to k4, each of one turn, word for word."""
    store = guarded(inner, ledger=ledger)
    for number, (turn, text) in enumerate(SAID.items(), 1):
        remember(store, f"k{number}", text, turn)
    return store


def remember(store: BaseStore, key: str, text: str, *turns: str, **options: Any) -> None:
    value: dict[str, Any] = {"content": text, "citations": list(turns)} if turns else {"content": text}
    with conversation(CONVERSATION, TALK):
        store.put(SPACE, key, value, **options)


def report_of(store: AdmissionStore, key: str) -> str:
    report = store.report_for(SPACE, key)
    assert report is not None
    return report.id


def needs(*keys: str, id: str = "q", **more: Any) -> AuditQuestion:
    """A question that needs the memories at these keys."""
    return AuditQuestion.model_validate(
        {"id": id, "namespace": SPACE, "memories": [{"key": key} for key in keys], **more}
    )


def rests_on(*turns: str, id: str = "q", **more: Any) -> AuditQuestion:
    """A question that needs these turns of the talk."""
    return AuditQuestion.model_validate({"id": id, "conversation": CONVERSATION, "evidence": list(turns), **more})


def piece_of(store: AdmissionStore, question: AuditQuestion, now: datetime | None = None) -> Piece:
    """What became of the only thing that this question needs."""
    ((piece,),) = (found.pieces for found in audited(store, question, now=now).questions)
    return piece


def audited(store: AdmissionStore, *questions: AuditQuestion, now: datetime | None = None) -> DeletionAudit:
    return audit_deletions(store.ledger, questions, now=now)


def whence(piece: Piece) -> list[tuple[str, str | None]]:
    """Where it can be brought back from: the kind, and the key if there is one."""
    return [(source.kind, source.key) for source in piece.sources]


def costs(found: DeletionAudit) -> list[tuple[str, tuple[str | None, ...], tuple[str, ...], tuple[str, ...]]]:
    """A line a deletion: its cause, keys, and the questions it made unanswerable or recoverable."""
    return [(c.deletion.cause, c.deletion.keys, c.unanswerable, c.recoverable) for c in found.deletions]
