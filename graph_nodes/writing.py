"""The write protocol without I/O, as generators of steps: claim, judge, decide, store, complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from typing import cast

from langgraph.store.base import InvalidNamespaceError, Op, PutOp, Result, validate_op_namespace

from admission.gate import AdmissionGate
from admission.ledger import Deletion, Ledger, WriteIntent, WriteRecord, fingerprint_of
from admission.ledger.fingerprint import plain_value
from admission.reading_settings import ReadingSettings
from admission.records import Namespace, Report, digest
from admission.settings import WriteSettings
from graph_nodes.attached import options_at_hand
from graph_nodes.background import Background
from graph_nodes.causes import deletion_cause
from graph_nodes.deciding import Deciding, OnReport, Write
from graph_nodes.recovery import Recovering
from graph_nodes.scope import Scopes, WriteScope
from graph_nodes.settling import NOTHING, Place, Settling, goes_to_store
from graph_nodes.steps import Blocking, Inner, Steps, Wait
from graph_nodes.values import put_of

# The name of a store that is given none. It is no part of a fingerprint, so a ledger with one store needs no name.
DEFAULT_NAME = "store"
_FULL_PAUSE_S = 0.02


class WriteProtocol:
    """How a batch of store operations passes the gate, step by step; who carries the steps out owns the waiting.

    Until `decide` the ledger holds the intent, from then on report and value; a retry of the same write, or `recover`,
    finishes what is left. So a crash between any two steps loses nothing and doubles nothing.
    """

    def __init__(
        self,
        gate: AdmissionGate,
        ledger: Ledger,
        settings: WriteSettings,
        *,
        store: str,
        indexes_whole_value: bool,
        on_report: OnReport | None = None,
        reading: ReadingSettings | None = None,
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._reading = reading
        self._put_of = partial(put_of, indexes_whole_value=indexes_whole_value)
        self._scopes = Scopes(gate.settings.evidence.passage_chars)
        self._deciding = Deciding(gate, ledger, settings, on_report)
        self._settling = Settling(ledger, self._deciding, self._put_of)
        self.settle = self._settling.settle
        self.ready = self._deciding.ready
        self._recovering = Recovering(gate, ledger, self._deciding, self._settling, store=store)
        self.recover = self._recovering.recover
        self.unfinished = self._recovering.unfinished

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
        to_record = [_put_op(ops, place) for place in deletes]
        deletions: list[Deletion] = []
        unfinished: list[WriteRecord] = []
        names = dict.fromkeys(deletes, NOTHING)
        held: set[str] = set()
        # Where the last put of a key is held back, the one before it is what the key is to have.
        while to_record or any(places[-1] not in passing for places in puts):
            waiting = [places for places in puts if places[-1] not in passing]
            latest = [_put_op(ops, places[-1]) for places in waiting]
            begin = partial(self._begin, to_record, latest, deletions, held)
            records = yield from self._deciding.releasing(self._decided(begin, held), held)
            to_record = []
            unfinished.extend(record for record in records if record.state == "decided")
            for places, op, record in zip(waiting, latest, records, strict=True):
                place = places.pop()
                if goes_to_store(record, op.key):
                    for earlier in places:
                        passing.pop(earlier, None)
                    places[:] = [place]
                    passing[place] = self._put_of(record, op=op)
                    names[place] = record.intent.fingerprint
            puts = [places for places in puts if places]
        results = yield from _results(len(ops), passing)
        if unfinished:
            yield from self._settling.complete(unfinished)
        if deletions:
            yield from self._settling.remove(deletions, _given(passing, names))
        return results

    def submit(self, ops: Sequence[Op], queue: Background) -> Steps[list[Result]]:
        """As `batch`, in background mode: reads and deletes are carried out, the puts are pending when this returns.
        Waits while the queue is full."""
        for op in ops:
            _check(op)
        passing: dict[int, Op] = {place: op for place, op in enumerate(ops) if not isinstance(op, PutOp)}
        puts: list[PutOp] = []
        deletes: list[PutOp] = []
        for places in _by_key(ops):
            if _put_op(ops, places[0]).value is None:
                place = places.pop(0)
                deletes.append(_put_op(ops, place))
                passing[place] = ops[place]
            puts.extend(_put_op(ops, place) for place in places)
        while puts and not queue.reserve(len(puts)):
            yield Wait(_FULL_PAUSE_S)
        writes: list[Write] = []
        deletions: list[Deletion] = []
        held: set[str] = set()
        try:
            if puts or deletes:
                yield Blocking(partial(self._make_pending, deletes, puts, writes, deletions, held))
            # Before the queue has them: a put is not to be undone by a delete that came before it.
            results = yield from _results(len(ops), passing)
            if deletions:
                yield from self._settling.remove(deletions, {(op.namespace, op.key): NOTHING for op in deletes})
            return results
        finally:
            if puts:
                queue.submit(writes, held, len(puts))

    def report_for(self, namespace: Namespace, key: str) -> Report | None:
        """The newest report on a write of this key. Blocks."""
        newest = None
        for entry, report in self._ledger.reports(namespace=namespace):
            if entry.namespace == namespace and entry.key == key:
                newest = report
        return newest

    def _decided(self, begin: Callable[[], list[Write]], held: set[str]) -> Steps[list[WriteRecord]]:
        writes: list[Write] = yield Blocking(begin)
        return (yield from self._deciding.decided(writes, held))

    def _begin(
        self, deletes: Sequence[PutOp], puts: Sequence[PutOp], deletions: list[Deletion], held: set[str]
    ) -> list[Write]:
        """The puts as writes of the current scope; the deletes are recorded."""
        scope = self._scopes.current()
        self._record(deletes, scope, deletions)
        intents = [self._deciding.made(self._intent(op, scope), held) for op in puts]
        return [Write(intent, scope.history, scope.written_after) for intent in intents]

    def _make_pending(
        self,
        deletes: Sequence[PutOp],
        puts: Sequence[PutOp],
        writes: list[Write],
        deletions: list[Deletion],
        held: set[str],
    ) -> None:
        """The puts as pending writes of the current scope, with what it takes to judge them; the deletes recorded."""
        scope, context = self._scopes.current(), copy_context()
        self._record(deletes, scope, deletions)
        turns = tuple(scope.history)
        for op in puts:
            intent = self._intent(op, scope).model_copy(update={"conversation": turns})
            write = Write(self._deciding.made(intent, held), scope.history, scope.written_after, context)
            writes.append(write)
            self._deciding.ready(write, held)

    def _record(self, deletes: Sequence[PutOp], scope: WriteScope, deletions: list[Deletion]) -> None:
        # Before the store: over a retry a deletion may be recorded twice, but none goes unrecorded.
        for op in deletes:
            deletions.append(
                self._ledger.record_delete(
                    op.namespace,
                    op.key,
                    thread=scope.thread,
                    task=scope.task,
                    store=self._store,
                    cause=deletion_cause(),
                )
            )
            self._scopes.deleted(scope, op.namespace, op.key)

    def _intent(self, op: PutOp, scope: WriteScope) -> WriteIntent:
        value = plain_value(dict(op.value or {}))
        if scope.task is None:
            occurrence = self._ledger.changes(op.namespace, op.key, value)
        else:
            occurrence = self._scopes.occurrence(scope, op.namespace, value, op.key)
        fingerprint = fingerprint_of(scope.thread, scope.task, op.namespace, value, occurrence, key=op.key)
        if self._store != DEFAULT_NAME:
            # Of stores that share a ledger, one's write is no retry of another's.
            fingerprint = digest({"store": self._store, "write": fingerprint})
        return WriteIntent(
            fingerprint=fingerprint,
            namespace=op.namespace,
            key=op.key,
            value=value,
            options={
                "index": op.index,
                "ttl": op.ttl,
                "store": self._store,
                **options_at_hand(self._reading, op.namespace, scope.thread),
            },
            thread=scope.thread,
            task=scope.task,
        )


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


def _given(passing: Mapping[int, Op], names: Mapping[int, str]) -> dict[Place, str]:
    """What the store is told of each key by these operations, by name."""
    puts = {place: op for place, op in passing.items() if isinstance(op, PutOp)}
    return {(op.namespace, op.key): names[place] for place, op in puts.items()}


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
