"""The write protocol without I/O, as generators of steps: claim, judge, decide, store, complete; and its recovery."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from langgraph.store.base import InvalidNamespaceError, Op, PutOp, Result, validate_op_namespace

from admission.deliberation import input_digest
from admission.gate import AdmissionGate
from admission.history import History
from admission.ledger import Ledger, WriteIntent, WriteRecord, fingerprint_of
from admission.ledger.fingerprint import plain_value
from admission.records import Candidate, Citations, Namespace, Report, digest
from admission.settings import WriteSettings
from graph_nodes.outcome import announce
from graph_nodes.scope import Scopes, WriteScope
from graph_nodes.steps import Blocking, Inner, Judge, Steps
from graph_nodes.values import MARK, citation_field, memory_text, unjudged_fields, value_to_store

logger = logging.getLogger(__name__)

INTERRUPTED = "interrupted"
UNJUDGED = "fields_not_judged"
_REPORT_ID_CHARS = 16

# Writes being judged in this process right now, by whichever store: a recovery must not take them for abandoned.
_in_hand: set[str] = set()


@dataclass(frozen=True)
class Recovery:
    """What finishing interrupted writes did, as fingerprints.

    `stored`: decided before, now in the store. `overtaken`: decided before and never stored, and the key was written or
    deleted since, so that storing them now would undo it. `interrupted`: never decided; quarantined as unresolved.
    `failed`: the store refused them, with its error. The overtaken and the failed stay decided in the ledger.
    """

    stored: tuple[str, ...] = ()
    overtaken: tuple[str, ...] = ()
    interrupted: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()


class WriteProtocol:
    """How a batch of store operations passes the gate, step by step; who carries the steps out owns the waiting.

    Until `decide` the ledger holds the intent, from then on report and value; a retry of the same write, or `recover`,
    finishes what is left. So a crash between any two steps loses nothing and doubles nothing.
    """

    def __init__(
        self, gate: AdmissionGate, ledger: Ledger, settings: WriteSettings, *, store: str, indexes_whole_value: bool
    ) -> None:
        self._gate = gate
        self._ledger = ledger
        self._settings = settings
        self._store = store
        self._indexes_whole_value = indexes_whole_value
        self._scopes = Scopes(gate.settings.evidence.passage_chars)

    def batch(self, ops: Sequence[Op]) -> Steps[list[Result]]:
        """Results of `ops` in order, None for puts. Reads see the state before it; the last put of a key wins: the last
        that is to be stored, for one held back must not take an earlier good one with it."""
        for op in ops:
            _check(op)
        passing: dict[int, Op] = {place: op for place, op in enumerate(ops) if not isinstance(op, PutOp)}
        puts = _by_key(ops)
        if not puts:
            return (yield from _results(len(ops), passing))
        deletes = [place for place, *_ in puts if _put_op(ops, place).value is None]
        passing |= {place: ops[place] for place in deletes}
        claimed: list[str] = []
        unfinished: list[WriteRecord] = []
        try:
            to_record = [_put_op(ops, place) for place in deletes]
            # Where the last put of a key is held back, the one before it is what the key is to have.
            while to_record or any(places[-1] not in passing for places in puts):
                waiting = [places for places in puts if places[-1] not in passing]
                latest = [_put_op(ops, places[-1]) for places in waiting]
                records = yield from self._decided(to_record, latest, claimed)
                to_record = []
                unfinished.extend(record for record in records if record.state == "decided")
                for places, op, record in zip(waiting, latest, records, strict=True):
                    place = places.pop()
                    if _goes_to_store(record, op):
                        for earlier in places:
                            passing.pop(earlier, None)
                        places[:] = [place]
                        passing[place] = self._put(record)
                puts = [places for places in puts if places]
            results = yield from _results(len(ops), passing)
            if unfinished:
                yield Blocking(partial(self._complete, unfinished))
        finally:
            _in_hand.difference_update(claimed)
        return results

    def recover(self) -> Steps[Recovery]:
        """Finish the writes that a process before this one (or a store that failed) left behind.

        A write with a decision is carried out, unless its key has been written or deleted since. One without is decided
        as unresolved and quarantined: its conversation is gone. That is not a verdict: the same write made again is
        judged, so it does no harm where another process was still at work on it.
        """
        records: list[WriteRecord] = yield Blocking(self._ledger.incomplete)
        own = [record for record in records if record.intent.options.get("store", self._store) == self._store]
        left = [record for record in own if record.intent.fingerprint not in _in_hand]
        undecided = [record for record in left if record.state == "claimed"]
        decided = [record for record in left if record.state == "decided"]
        failed: list[tuple[str, str]] = []
        if undecided:
            failed.extend((yield Blocking(partial(self._interrupt, undecided))))
        overtaken: set[str] = (yield Blocking(partial(self._overtaken, decided))) if decided else set()
        stored: list[str] = []
        for record in decided:
            fingerprint = record.intent.fingerprint
            if fingerprint in overtaken:
                continue
            try:
                yield Inner([self._put(record)])
            except Exception as error:  # noqa: BLE001 - one write the store refuses must not keep the others back
                logger.warning("write %s could not be finished: %s", fingerprint, type(error).__name__)
                failed.append((fingerprint, f"{type(error).__name__}: {error}"))
                continue
            stored.append(fingerprint)
            yield Blocking(partial(self._ledger.complete, fingerprint))
        unsettled = {fingerprint for fingerprint, _ in failed}
        interrupted = tuple(r.intent.fingerprint for r in undecided if r.intent.fingerprint not in unsettled)
        return Recovery(tuple(stored), tuple(sorted(overtaken)), interrupted, tuple(failed))

    def report_for(self, namespace: Namespace, key: str) -> Report | None:
        """The newest report on a write of this key. Blocks."""
        newest = None
        for entry, report in self._ledger.reports(namespace=namespace):
            if entry.namespace == namespace and entry.key == key:
                newest = report
        return newest

    def _decided(
        self, deletes: Sequence[PutOp], writes: Sequence[PutOp], claimed: list[str]
    ) -> Steps[list[WriteRecord]]:
        """How each write stands once decided. What a retry finds decided is not judged again."""
        scope: WriteScope
        records: list[WriteRecord]
        scope, records = yield Blocking(partial(self._begin, deletes, writes, claimed))
        to_judge = [record.intent for record in records if record.state == "claimed"]
        if to_judge:
            candidates = [self._candidate(intent, scope) for intent in to_judge]
            reports: list[Report] = yield Judge([(candidate, scope.history) for candidate in candidates])
            judged = {intent.fingerprint: report for intent, report in zip(to_judge, reports, strict=True)}
            records = yield Blocking(partial(self._decide, records, judged, claimed))
        for record in records:
            if record.report is not None:
                announce(record.report)
        return records

    def _begin(
        self, deletes: Sequence[PutOp], writes: Sequence[PutOp], claimed: list[str]
    ) -> tuple[WriteScope, list[WriteRecord]]:
        scope = self._scopes.current()
        # Before the store: over a retry a deletion may be recorded twice, but none goes unrecorded.
        for op in deletes:
            self._ledger.record_delete(op.namespace, op.key, thread=scope.thread, task=scope.task)
        return scope, [self._claimed(self._intent(op, scope), claimed) for op in writes]

    def _intent(self, op: PutOp, scope: WriteScope) -> WriteIntent:
        value = plain_value(dict(op.value or {}))
        if scope.task is None:
            occurrence = self._ledger.changes(op.namespace, op.key, value)
        else:
            occurrence = self._scopes.occurrence(scope, op.namespace, value, op.key)
        return WriteIntent(
            fingerprint=fingerprint_of(scope.thread, scope.task, op.namespace, value, occurrence, key=op.key),
            namespace=op.namespace,
            key=op.key,
            value=value,
            options={"index": op.index, "ttl": op.ttl, "store": self._store},
            thread=scope.thread,
            task=scope.task,
        )

    def _claimed(self, intent: WriteIntent, claimed: list[str]) -> WriteRecord:
        """The record of this write. One that was interrupted without a verdict goes on under a fingerprint derived from
        its own, with the key it had: a real verdict, and still one row."""
        while True:
            _in_hand.add(intent.fingerprint)
            claimed.append(intent.fingerprint)
            record = self._ledger.claim(intent)
            if not _is_interrupted(record):
                return record
            intent = record.intent.model_copy(update={"fingerprint": digest({"retry_of": intent.fingerprint})})

    def _decide(
        self, records: Sequence[WriteRecord], judged: Mapping[str, Report], claimed: list[str]
    ) -> list[WriteRecord]:
        return [
            self._settle(record, judged[record.intent.fingerprint], claimed) if record.state == "claimed" else record
            for record in records
        ]

    def _settle(self, record: WriteRecord, report: Report, claimed: list[str]) -> WriteRecord:
        """Commit the report. A decision before it stands, unless another process's recovery gave this write up."""
        value = value_to_store(record.intent.value, report, self._settings)
        unjudged = unjudged_fields(record.intent.value, self._settings)
        if value is not None and unjudged:
            reason = f"{UNJUDGED}: {', '.join(unjudged)} stored as given (writes.text_fields)"
            report = report.model_copy(update={"reasons": (*report.reasons, reason)})
        quarantined = report.action in ("quarantine", "review")
        while record.state == "claimed":
            record = self._ledger.decide(record.intent.fingerprint, report, value, quarantined=quarantined)
            if _is_interrupted(record):
                record = self._claimed(record.intent, claimed)
        return record

    def _candidate(self, intent: WriteIntent, scope: WriteScope | None) -> Candidate:
        cited = citation_field(intent.value, self._settings)
        return Candidate(
            id=intent.fingerprint[:_REPORT_ID_CHARS],
            conversation=intent.thread or "",
            namespace=intent.namespace,
            memory=memory_text(intent.value, self._settings),
            citations=tuple(intent.value[cited]) if cited is not None else (),
            written_after=scope.written_after if scope is not None else None,
        )

    def _put(self, record: WriteRecord) -> PutOp:
        intent = record.intent
        value = dict(record.stored_value or {})
        index = intent.options.get("index")
        if index is None and self._indexes_whole_value and MARK in value and MARK not in intent.value:
            index = [name for name in value if name != MARK]  # the mark is no part of what is searched
        return PutOp(intent.namespace, intent.key, value, index=index, ttl=intent.options.get("ttl"))

    def _complete(self, records: Iterable[WriteRecord]) -> None:
        for record in records:
            self._ledger.complete(record.intent.fingerprint)

    def _interrupt(self, records: Iterable[WriteRecord]) -> list[tuple[str, str]]:
        """Decide what has no verdict as unresolved; fingerprints and errors of those that could not be."""
        failed: list[tuple[str, str]] = []
        for record in records:
            fingerprint = record.intent.fingerprint
            try:
                self._ledger.decide(fingerprint, self._interrupted_report(record), None, quarantined=True)
            except Exception as error:  # noqa: BLE001 - one bad record must not keep the store from being used
                logger.warning("interrupted write %s could not be settled: %s", fingerprint, type(error).__name__)
                failed.append((fingerprint, f"{type(error).__name__}: {error}"))
        return failed

    def _interrupted_report(self, record: WriteRecord) -> Report:
        candidate = self._candidate(record.intent, None)
        return Report.on(
            candidate,
            status="unresolved",
            action="quarantine",
            reasons=(f"{INTERRUPTED}: the process ended before a verdict; the same write made again is judged",),
            citations=Citations(author=candidate.citations),
            config_digest=self._gate.config_digest,
            input_digest=input_digest(candidate, History.of(candidate.conversation, ())),
        )

    def _overtaken(self, records: Iterable[WriteRecord]) -> set[str]:
        """Those of these decided writes whose key was stored or deleted after their decision."""
        pending = {record.intent.fingerprint: (record.intent.namespace, record.intent.key) for record in records}
        overtaken: set[str] = set()
        for entry in self._ledger.entries():
            if entry.kind in ("report", "restored"):
                overtaken.discard(entry.fingerprint or "")
            elif entry.kind in ("stored", "deleted"):
                overtaken.update(f for f, place in pending.items() if place == (entry.namespace, entry.key))
        return overtaken


def _by_key(ops: Sequence[Op]) -> list[list[int]]:
    """For each key that is put or deleted, the places that can matter: its last delete, if any, and the puts after."""
    places: dict[tuple[Namespace, str], list[int]] = {}
    for place, op in enumerate(ops):
        if isinstance(op, PutOp):
            found = places.setdefault((op.namespace, op.key), [])
            if op.value is None:
                found.clear()
            found.append(place)
    return list(places.values())


def _put_op(ops: Sequence[Op], place: int) -> PutOp:
    return cast(PutOp, ops[place])


def _results(count: int, ops: Mapping[int, Op]) -> Steps[list[Result]]:
    """The wrapped store's results for `ops` (by their place in a batch of `count`), None in the other places."""
    results: list[Result] = [None] * count
    if ops:
        places = sorted(ops)
        answers: list[Result] = yield Inner([ops[place] for place in places])
        for place, answer in zip(places, answers, strict=True):
            results[place] = answer
    return results


def _check(op: Op) -> None:
    """The checks `BaseStore.put` makes, for operations that reach `batch` without passing it."""
    validate_op_namespace(op)
    if isinstance(op, PutOp) and op.value is not None and (not op.namespace or op.namespace[0] == "langgraph"):
        raise InvalidNamespaceError(f"Memories need a namespace whose root is not 'langgraph'. Got: {op.namespace}")


def _is_interrupted(record: WriteRecord) -> bool:
    """Held back only because a process ended before the verdict."""
    reasons = record.report.reasons if record.report is not None and record.quarantined else ()
    return any(reason.startswith(f"{INTERRUPTED}:") for reason in reasons)


def _goes_to_store(record: WriteRecord, op: PutOp) -> bool:
    """A finished write is repeated only where the caller names its very key, as it would be without the gate: under
    another key it would undo what has happened to the first since."""
    return record.stored_value is not None and (record.state == "decided" or record.intent.key == op.key)
