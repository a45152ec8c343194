"""A question's trace as the ledger has it, with what the ledger knows of memories that were not there to be found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from admission.errors import InputError
from admission.ledger import Ledger
from admission.reading.trace import AnswerEvent, Located, MemoryId, QuestionTrace, ReadEvent, event_of, locate
from admission.records import Namespace


class LedgerTrace(NamedTuple):
    """A question's trace, the events it is made of, and where the memories its answer needed were lost. `outside` are
    memories that the store had though no write through the gate put them there."""

    trace: QuestionTrace
    events: tuple[ReadEvent | AnswerEvent, ...]
    located: tuple[Located, ...]
    outside: tuple[MemoryId, ...]


def trace_of(ledger: Ledger, question_id: str, required: Iterable[str | MemoryId] = ()) -> LedgerTrace:
    """The trace of a question, and where the memories that its answer needed stood. `required` that are text are keys
    in the question's namespace, or `namespace/.../key`. Raises `InputError` where the ledger has no trace of it."""
    entries = ledger.reads(question_id)
    events = tuple(event_of(entry) for entry in entries)
    reads = [event for event in events if isinstance(event, ReadEvent)]
    if not reads:
        remedy = "reads are traced where [reading] trace is true and the question has an id"
        raise InputError("QUESTION_ID", f"the ledger has no reads for {question_id!r}", remedy)
    times = [entry.time for entry, event in zip(entries, events, strict=True) if isinstance(event, ReadEvent)]
    found = dict.fromkeys(retrieved.id for read in reads for retrieved in read.retrieved)
    asked = [_named(one, found, entries[0].namespace) for one in required]
    whys = {id: _absence(ledger, id, times) for id in dict.fromkeys((*found, *asked))}
    absent = {id: why for id, why in whys.items() if why is not None}
    # What a read found was in the store, whatever the ledger knows of it.
    trace = QuestionTrace.of(question_id, events, [id for id in whys if id in found or id not in absent])
    return LedgerTrace(trace, events, locate(trace, asked, absent), tuple(id for id in found if id in absent))


def _named(required: str | MemoryId, found: Iterable[MemoryId], namespace: Namespace) -> MemoryId:
    if isinstance(required, MemoryId):
        return required
    by_name = [id for id in found if required in (str(id), id.key)]
    if len(by_name) == 1:
        return by_name[0]
    prefix = "/".join((*namespace, ""))
    return MemoryId(namespace=namespace, key=required.removeprefix(prefix))


def _absence(ledger: Ledger, id: MemoryId, times: Sequence[str]) -> str | None:
    """Why the store had no such memory at any of these times; None where it had."""
    versions = ledger.versions(id.namespace, id.key)
    for version in versions:
        if any(version.stored <= time and (version.ended is None or time < version.ended) for time in times):
            return None
    if versions and versions[0].stored > times[-1]:
        return f"not_stored_yet: stored at {versions[0].stored}, after the question was read for"
    if versions:
        how = "erased" if versions[-1].erased else "deleted"
        return f"{how}: at {versions[-1].ended}"
    return _never_stored(ledger, id)


def _never_stored(ledger: Ledger, id: MemoryId) -> str:
    for record in ledger.quarantine(id.namespace):
        if (record.intent.namespace, record.intent.key) == (id.namespace, id.key) and record.report is not None:
            codes = [reason.partition(":")[0] for reason in record.report.reasons]  # a detail may quote the memory
            return f"quarantined: {', '.join((record.report.status, *codes))}"
    latest = ledger.latest(id.namespace, id.key, pending=True)
    if latest is not None:
        return f"pending: {latest.state}, not in the store yet"
    return "not_stored: no write through the gate stored a memory under this key"
