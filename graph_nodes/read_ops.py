"""Reads through the read gate, as a generator of steps: boundary, ranking, policy and lifecycle, exposure, trace."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from admission.errors import BoundaryError, InputError
from admission.ledger import Ledger
from admission.metadata import RecordMetadata
from admission.reading.context import QueryContext
from admission.reading.gate import ReadGate
from admission.records import Namespace
from graph_nodes.forgetting import ItemT, as_request
from graph_nodes.principals import Principal, principal_at_hand
from graph_nodes.read_check import ReadCheck
from graph_nodes.read_trace import read_event
from graph_nodes.readings import Reading, Route, announce_readings
from graph_nodes.steps import Blocking, Inner, Steps

logger = logging.getLogger(__name__)

Place = tuple[Namespace, str]

DEEPEST = 10_000
"""How many ranked memories a search walks through at most to find as many admissible ones as it was asked for."""

# So many more than asked for are ranked at first: a few that are kept back then cost no second search.
_SPARE = 5
_DEEPER = 4


class GatedReads:
    """How get, search and list_namespaces pass the read gate: one query of the ledger for each round of reads.

    `log_text`: may the trace hold the question's words? `refreshes`: does a read of the wrapped store prolong the life
    of what it returns? What is kept back is not to live longer for it.
    """

    def __init__(
        self,
        ledger: Ledger,
        gate: ReadGate,
        check: ReadCheck | None,
        *,
        log_text: bool = False,
        refreshes: bool = False,
    ) -> None:
        self._ledger = ledger
        self._gate = gate
        self._settings = gate.settings
        self._check = check
        self._log_text = log_text
        self._refreshes = refreshes

    def principal(self) -> Principal:
        """Who reads now. Raises `BoundaryError`."""
        return principal_at_hand(self._settings)

    def read(self, ops: Mapping[int, Op]) -> Steps[dict[int, Result]]:
        """The results of these reads, by their place. Raises `BoundaryError` before anything is read, where one of them
        reaches outside of what its principal may see."""
        who = self.principal()
        for op in ops.values():
            validate_op_namespace(op)
            _check_boundary(op, who)
        listings = {place: _inside(op, who) for place, op in ops.items() if isinstance(op, ListNamespacesOp)}
        gets = {place: _Get(op, who, self._refreshes) for place, op in ops.items() if isinstance(op, GetOp)}
        searches = {place: _Search(op, who, self._refreshes) for place, op in ops.items() if isinstance(op, SearchOp)}
        reads: dict[int, _Read] = {**gets, **searches}
        facts = _Facts(self._gate)
        answers: list[Result] = yield Inner([*listings.values(), *(read.next_op() for read in reads.values())])
        listed = {place: _listed(answer, who) for place, answer in zip(listings, answers, strict=False)}
        found = dict(zip(reads.values(), answers[len(listings) :], strict=True))
        while found:
            ranked = {read: _items(answer) for read, answer in found.items()}
            theirs = {read: [item for item in items if who.owns(item.namespace)] for read, items in ranked.items()}
            yield from self._learn(facts, [item for items in theirs.values() for item in items])
            for read, items in theirs.items():
                read.take(items, facts, dropped=len(ranked[read]) - len(items))
            unfinished = [read for read in found if not read.done]
            answers = (yield Inner([read.next_op() for read in unfinished])) if unfinished else []
            found = dict(zip(unfinished, answers, strict=True))
        yield from self._tell(list(reads.values()))
        return listed | {place: read.result for place, read in reads.items()}

    def _learn(self, facts: _Facts, items: Sequence[Item]) -> Steps[None]:
        """What the ledger knows of the memories that are new, and which of them are not as it has them."""
        new = {(item.namespace, item.key): item for item in items if (item.namespace, item.key) not in facts.seen}
        if not new:
            return
        facts.seen.update(new)
        known: dict[Place, RecordMetadata] = yield Blocking(partial(self._ledger.metadata, list(new)))
        facts.metadata.update(known)
        if self._check is not None:
            shown: list[Result] = yield from self._check.checked([cast(Result, list(new.values()))])
            facts.hidden.update(new.keys() - {(item.namespace, item.key) for item in cast(list[Item], shown[0])})

    def _tell(self, reads: Sequence[_Read]) -> Steps[None]:
        """To collectors and into the ledger's trace; and what was exposed lives on, where reading has that effect."""
        for read in reads:
            announce_readings(read.readings)
            if read.readings and not any(reading.exposed for reading in read.readings):
                codes = Counter(code for reading in read.readings for code in reading.codes)
                logger.info("a read shows none of %d memories: %s", len(read.readings), dict(codes))
        # Of a batch all reads are for one question: one transaction, which waits for the disk once.
        question = reads[0].context if reads else None
        if self._settings.trace and question is not None and question.question_id is not None:
            bodies = [self._event(read) for read in reads]
            record = partial(self._ledger.record_read, question.question_id, *bodies)
            yield Blocking(partial(record, namespace=question.namespace or ()))
        alive = [op for read in reads for op in read.refreshing()]
        if alive:
            yield Inner(alive)

    def _event(self, read: _Read) -> dict[str, Any]:
        asked = read.context.model_copy(update={"intent": self._gate.intent(read.context)})
        return read_event(asked, read.readings, log_text=self._log_text)


class _Facts:
    """What is known of the memories that came up in one round of reads."""

    def __init__(self, gate: ReadGate) -> None:
        self.gate = gate
        self.seen: set[Place] = set()
        self.hidden: set[Place] = set()
        self.metadata: dict[Place, RecordMetadata] = {}

    def reading(self, item: Item, context: QueryContext, route: Route, rank: int) -> Reading:
        """What the gate says of this memory; it is exposed where the deployment lets it be."""
        metadata = self.metadata.get((item.namespace, item.key))
        found = self.gate.read(metadata, context)
        return Reading(
            namespace=item.namespace,
            key=item.key,
            route=route,
            rank=rank,
            score=item.score if isinstance(item, SearchItem) else None,
            admissibility=found,
            exposed=self.gate.exposes(found),
            lifecycle=metadata.lifecycle if metadata is not None else None,
        )

    def shown(self, item: ItemT) -> ItemT:
        """An exposed memory as the reader gets it: a request to forget does not say what it asks to forget."""
        metadata = self.metadata.get((item.namespace, item.key))
        return as_request(item) if metadata is not None and metadata.forget else item


class _Read:
    """One read under way: what it asks the store next, what it makes of the answers, and its own result."""

    def __init__(self, context: QueryContext) -> None:
        self.context = context
        self.readings: list[Reading] = []
        self.done = False

    @property
    def result(self) -> Result:
        raise NotImplementedError

    def next_op(self) -> Op:
        raise NotImplementedError

    def take(self, items: Sequence[Item], facts: _Facts, dropped: int) -> None:
        """An answer of the store; `dropped` of its memories are outside of the boundary, and not among `items`."""
        raise NotImplementedError

    def refreshing(self) -> Sequence[Op]:
        """Reads that have no other purpose than to prolong the life of what was exposed."""
        return ()


class _Get(_Read):
    def __init__(self, op: GetOp, who: Principal, refreshes: bool) -> None:
        super().__init__(who.context)
        self._op = op
        self._refreshes = refreshes and op.refresh_ttl
        self._found: Item | None = None

    @property
    def result(self) -> Result:
        return self._found

    def next_op(self) -> Op:
        return self._op._replace(refresh_ttl=False) if self._refreshes else self._op

    def take(self, items: Sequence[Item], facts: _Facts, dropped: int) -> None:
        self.done = True
        for item in items:
            if (item.namespace, item.key) not in facts.hidden:
                self.readings = [facts.reading(item, self.context, "get", 1)]
                self._found = facts.shown(item) if self.readings[0].exposed else None

    def refreshing(self) -> Sequence[Op]:
        return [self._op] if self._refreshes and self._found is not None else ()


class _Search(_Read):
    """Starts from the best at every depth: stores cut their pages in ways of their own, and the caller's offset counts
    what it may see."""

    def __init__(self, op: SearchOp, who: Principal, refreshes: bool) -> None:
        super().__init__(who.asking(op.query or ""))
        _check_page(op)
        self._op = op
        self._refreshes = refreshes and op.refresh_ttl
        self._wanted = op.offset + op.limit
        self._depth = 0
        self._fetched = -1
        self._chosen: list[SearchItem] = []

    @property
    def result(self) -> Result:
        return self._chosen

    def next_op(self) -> Op:
        self._depth = max(self._wanted, min(max(self._depth * _DEEPER, self._wanted + _SPARE), DEEPEST))
        refresh = self._op.refresh_ttl and not self._refreshes
        return self._op._replace(limit=self._depth, offset=0, refresh_ttl=refresh)

    def take(self, items: Sequence[Item], facts: _Facts, dropped: int) -> None:
        """Goes through what the store ranked, best first, until the page is full. Done when it is, when nothing that
        was ranked is kept back (then the store has no more), or when a deeper search finds no more."""
        self._chosen, self.readings = [], []
        lost, skipped = dropped, 0
        for rank, item in enumerate(items, 1):
            if len(self._chosen) == self._op.limit:
                break
            if (item.namespace, item.key) in facts.hidden:
                lost += 1
                continue
            reading = facts.reading(item, self.context, "search", rank)
            lost += not reading.exposed
            if reading.exposed and skipped < self._op.offset:
                skipped += 1
                continue
            if reading.exposed:
                self._chosen.append(facts.shown(cast(SearchItem, item)))
            if skipped == self._op.offset:
                self.readings.append(reading)
        fetched = len(items) + dropped
        full = len(self._chosen) == self._op.limit
        deepest = not full and fetched >= self._depth >= DEEPEST
        if deepest:
            logger.warning("a search ended at its %dth memory with %d found", fetched, len(self._chosen))
        self.done = full or not lost or fetched <= self._fetched or deepest
        self._fetched = fetched

    def refreshing(self) -> Sequence[Op]:
        return [GetOp(item.namespace, item.key, refresh_ttl=True) for item in self._chosen] if self._refreshes else ()


def _check_boundary(op: Op, who: Principal) -> None:
    """A read has to name the principal's namespace, or one that is the principal's beneath it."""
    if isinstance(op, ListNamespacesOp):
        return  # is narrowed to it
    asked = op.namespace_prefix if isinstance(op, SearchOp) else cast(GetOp, op).namespace
    if not who.owns(asked):
        problem = f"{list(asked)} is not {list(who.namespace)}, which is all this run's principal may read"
        remedy = "read there, or have trusted code say with reading_as(...) who reads"
        if asked[: len(who.namespace)] == who.namespace:
            remedy = "set [reading] sub_namespaces = true, if what lies beneath a principal's namespace is its own"
        raise BoundaryError("namespace", problem, remedy)


def _check_page(op: SearchOp) -> None:
    for name, number in (("limit", op.limit), ("offset", op.offset)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise InputError(name, f"is {number!r}", "give a whole number from 0")


def _inside(op: ListNamespacesOp, who: Principal) -> ListNamespacesOp:
    return op._replace(match_conditions=(*(op.match_conditions or ()), MatchCondition("prefix", who.namespace)))


def _listed(answer: Result, who: Principal) -> Result:
    """The namespaces that are the principal's; cut short by `max_depth`, they say no more than its own name."""
    depth = len(who.namespace)
    found = cast(list[Namespace], answer)
    return [name for name in found if who.owns(name) or (len(name) < depth and name == who.namespace[: len(name)])]


def _items(answer: Result) -> list[Item]:
    parts: Iterable[object] = answer if isinstance(answer, list) else [answer]
    return [part for part in parts if isinstance(part, Item)]
