"""From what reads found to the audit trace in the ledger, and from an answer to what it disclosed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from langgraph.store.base import GetOp, Item, Result

from admission.errors import InputError
from admission.ledger import Ledger
from admission.reading.context import QueryContext
from admission.reading.disclosure import NormalisedString, Scorer, scored
from admission.reading.trace import AnswerEvent, MemoryId, ReadEvent, Retrieved, event_of
from admission.records import Namespace
from graph_nodes.readings import Reading
from graph_nodes.steps import Blocking, Inner, Steps, adrive, drive
from graph_nodes.values import memory_text

if TYPE_CHECKING:
    from graph_nodes.store import AdmissionStore


def read_event(context: QueryContext, readings: Sequence[Reading], *, log_text: bool) -> dict[str, Any]:
    """One read as the body of a trace's event: ids, ranks, scores and reasons. Raises `InputError` where something was
    exposed that was not retrieved."""
    retrieved = [
        Retrieved(
            id=memory_id(reading),
            route=reading.route,
            rank=reading.rank,
            score=reading.score,
            admissibility=reading.admissibility,
        )
        for reading in readings
    ]
    exposed = [memory_id(reading) for reading in readings if reading.exposed]
    return ReadEvent.of(context, retrieved, exposed, log_text=log_text).model_dump(mode="json")


def memory_id(reading: Reading) -> MemoryId:
    return MemoryId(namespace=reading.namespace, key=reading.key)


def record_answer(guard: AdmissionStore, question_id: str, answer: str, scorer: Scorer | None = None) -> AnswerEvent:
    """Score an answer for what it discloses, and add that to the question's audit trace.

    Every memory that was retrieved for the question is looked for, also those that were kept back: an answer may tell
    what it was not shown. `scorer` declares how (default: the memory's words as they are); a refusal that repeats a
    memory discloses it. For trusted code, after the answer: it reads the store beneath the gate. Raises `InputError`
    for a question of which no trace is kept.
    """
    return drive(_answered(guard, question_id, answer, scorer or NormalisedString()), guard.gate, guard.inner)


async def arecord_answer(
    guard: AdmissionStore, question_id: str, answer: str, scorer: Scorer | None = None
) -> AnswerEvent:
    """Async twin of `record_answer`."""
    return await adrive(_answered(guard, question_id, answer, scorer or NormalisedString()), guard.gate, guard.inner)


def _answered(guard: AdmissionStore, question_id: str, answer: str, scorer: Scorer) -> Steps[AnswerEvent]:
    retrieved, namespace = yield Blocking(partial(_retrieved, guard.ledger, question_id))
    ids: list[MemoryId] = retrieved
    found: list[Result] = yield Inner([GetOp(id.namespace, id.key, refresh_ttl=False) for id in ids])
    texts = {
        id: memory_text(item.value, guard.settings.writes)
        for id, item in zip(ids, found, strict=True)
        if isinstance(item, Item)
    }
    event: AnswerEvent = yield Blocking(partial(scored, answer, texts, scorer))
    body = event.model_dump(mode="json")
    yield Blocking(partial(guard.ledger.record_read, question_id, body, namespace=namespace))
    return event


def _retrieved(ledger: Ledger, question_id: str) -> tuple[list[MemoryId], Namespace]:
    """The memories that reads found for this question, and the namespace of who asked."""
    entries = ledger.reads(question_id)
    if not entries:
        raise InputError("question_id", f"{question_id!r} has no trace", "set [reading] trace = true, and ask first")
    events = [event_of(entry) for entry in entries]
    reads = [event for event in events if isinstance(event, ReadEvent)]
    return list(dict.fromkeys(found.id for event in reads for found in event.retrieved)), entries[0].namespace
