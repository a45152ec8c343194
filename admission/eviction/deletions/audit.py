"""The deletion audit: what the deletions in a ledger made unanswerable, what can be brought back and from where.

Method: eviction audit, "For operators". It says what a deletion cost, and never what to delete or to keep.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, get_args

from pydantic import computed_field

from admission.eviction.deletions.log import REPLACEMENT, DeletionLog, Life, LoggedDeletion, Turn
from admission.eviction.deletions.questions import AuditQuestion, NeededMemory
from admission.ledger import Ledger, LedgerHead
from admission.records import Namespace, Record

Outcome = Literal["unaffected", "recoverable", "unanswerable", "unknown"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
SourceKind = Literal["stored_memory", "store", "ledger", "held_back", "turns"]
_ERASED = "erased: neither its text nor what it rested on is in the ledger any more"
_RUN_OUT = "its time to live may be over: then the store has removed it, and made no record of that"
_AGAIN = "its key was deleted and written again: name the write, to say which memory is meant"
_NEVER = "it was never stored: held back, dropped, overtaken, or not finished yet"
_NO_SUCH_WRITE = "no one write of the ledger has this id; of an erased one only the report's id is left"
_NO_SUCH_KEY = "the ledger knows no memory at this key"
_NO_CARRIER = "no memory that the ledger knows was stored on this turn; an erased one leaves no citations"


class Source(Record):
    """Where a lost piece can be brought back from.

    `stored_memory`: another memory that the store has, which rests on the same turns or says the same. `store`: the
    memory itself, which is there and out of use. `ledger`: the value that was stored, kept with its write. `held_back`:
    a write in quarantine that rests on the same turns or says the same. `turns`: the turns it rests on, all of them,
    as reports quote them. `report` is the id of the report on that memory, or that quotes; `key` where the memory is or
    was.
    """

    kind: SourceKind
    report: str
    key: str | None = None


class Piece(Record):
    """One memory or turn that an answer needs, `name`d by its place in the question's line (`memories[0]`).

    `report`, `namespace` and `key` are those of the memory, as the ledger has them: None where it has none. `lost_to`:
    the deletion after which the store had it no more and, where it was erased, the erasure, by `seq`. `reason` says
    why something is unknown, or cannot be brought back.
    """

    name: str
    outcome: Outcome
    report: str | None = None
    namespace: Namespace | None = None
    key: str | None = None
    reason: str = ""
    lost_to: tuple[int, ...] = ()
    sources: tuple[Source, ...] = ()


class QuestionOutcome(Record):
    """`unaffected`: all that it needs is stored. `unanswerable`: a piece is gone, and nothing that is recorded can
    bring it back. `unknown`: of a piece it cannot be told. `recoverable`: pieces are gone, and each can be brought
    back."""

    id: str
    pieces: tuple[Piece, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def outcome(self) -> Outcome:
        return _worst(piece.outcome for piece in self.pieces)


class DeletionCost(Record):
    """One deletion of the log, and the questions that lost a piece to it, by what became of these pieces."""

    deletion: LoggedDeletion
    unanswerable: tuple[str, ...] = ()
    recoverable: tuple[str, ...] = ()


class CauseCost(Record):
    """How many `deletions` have this cause, and how many questions lost a piece to any of them; one counts as
    recoverable where it is not unanswerable."""

    cause: str
    deletions: int
    unanswerable: int
    recoverable: int


class DeletionAudit(Record):
    """What all deletions up to `head` had cost `as_of` then (UTC, ISO 8601)."""

    as_of: str
    head: LedgerHead
    outcomes: dict[Outcome, int]
    causes: tuple[CauseCost, ...]
    deletions: tuple[DeletionCost, ...]
    questions: tuple[QuestionOutcome, ...]


def audit_deletions(
    ledger: Ledger, questions: Sequence[AuditQuestion], *, now: datetime | None = None
) -> DeletionAudit:
    """What became of each question, and what each deletion in the ledger cost; the oldest first.

    A deletion costs a question what it took the last stored copy of, or, for an erasure, the last recorded one. Nothing
    is read but the ledger: what it does not say is `unknown`. `now` matters to times to live and validity alone. No
    text of a memory, turn or question is in what is returned. Raises `LedgerError`.
    """
    moment = now if now is not None else datetime.now(UTC)
    head = ledger.head()
    log = DeletionLog(ledger, moment)
    pieces = _Pieces(log)
    asked = tuple(QuestionOutcome(id=one.id, pieces=tuple(pieces.of(one))) for one in questions)
    costs = _costs(log.deletions, asked)
    outcomes = Counter(question.outcome for question in asked)
    return DeletionAudit(
        as_of=moment.astimezone(UTC).isoformat(timespec="seconds"),
        head=head,
        outcomes={outcome: outcomes[outcome] for outcome in OUTCOMES},
        causes=_by_cause(costs),
        deletions=costs,
        questions=asked,
    )


class _Pieces:
    """What became of what questions need."""

    def __init__(self, log: DeletionLog) -> None:
        self._log = log

    def of(self, question: AuditQuestion) -> Iterator[Piece]:
        for place, needed in enumerate(question.memories):
            yield self._memory(f"memories[{place}]", needed, question)
        if not question.memories:
            for place, turn in enumerate(question.evidence):
                yield self._turn(f"evidence[{place}]", turn, question)

    def _memory(self, name: str, needed: NeededMemory, question: AuditQuestion) -> Piece:
        if needed.write is not None:
            named = self._log.named(needed.write)
            return self._life(name, named[0], question) if len(named) == 1 else _unknown(name, _NO_SUCH_WRITE)
        place = (needed.namespace or question.namespace or (), needed.key or "")
        lives, stored = self._log.by_place.get(place, ()), self._log.stored_at.get(place, ())
        if stored:
            last, before = stored[-1], stored[:-1]
            deleted = [life for life in before if self._was_deleted(life) and (not life.says or life.says != last.says)]
            found = [self._life(name, life, question) for life in (last, *deleted)]
            # Which of them is meant the key alone does not say; where all fared alike it does not matter.
            return found[0] if len({piece.outcome for piece in found}) == 1 else _unknown(name, _AGAIN, last)
        deletion = self._log.deleted_at(place)
        if lives or deletion is None:
            return _unknown(name, _NEVER if lives else _NO_SUCH_KEY, *lives[-1:])
        gone = "deleted; no write through the gate had stored it, so nothing of it is recorded"
        return Piece(
            name=name, outcome="unanswerable", namespace=place[0], key=place[1], reason=gone, lost_to=(deletion,)
        )

    def _was_deleted(self, life: Life) -> bool:
        """And not merely updated."""
        by = self._log.taken_by(life)
        return by is not None and self._log.deletions[by].cause != REPLACEMENT

    def _turn(self, name: str, turn: str, question: AuditQuestion) -> Piece:
        of: Turn = (question.conversation or "", turn)
        carriers = [
            life
            for life in self._log.by_turn.get(of, ())
            if life.stored is not None and question.namespace in (None, life.namespace)
        ]
        if carriers:
            return self._any_of(name, carriers, {of})
        erasure = self._log.erased_turns.get(of)
        if erasure is None:
            return _unknown(name, _NO_CARRIER)
        return Piece(name=name, outcome="unanswerable", reason=_ERASED, lost_to=(erasure,))

    def _life(self, name: str, life: Life, question: AuditQuestion) -> Piece:
        if life.stored is None:
            return _unknown(name, _NEVER, life)
        turns = {(life.conversation, turn) for turn in life.turns}
        if life.erased:
            turns = {(question.conversation or "", turn) for turn in question.evidence}
        return self._any_of(name, [life], turns)

    def _any_of(self, name: str, lives: Sequence[Life], turns: set[Turn]) -> Piece:
        """A piece that each of these memories has, which rest on these turns: one that is stored is enough."""
        states = {self._log.state(life): life for life in lives}
        if "stored" in states:
            return _piece(name, states["stored"], "unaffected")
        if "unknown" in states:
            return _piece(name, states["unknown"], "unknown", reason=_RUN_OUT)
        taken = {life: self._log.taken_by(life) or 0 for life in lives}
        last = max(lives, key=lambda life: taken[life])
        lost_to = {taken[last]}
        if all(life.erased for life in lives):
            lost_to |= {max(life.erased_by or 0 for life in lives)}
        sources = tuple(dict.fromkeys(self._sources(lives, turns)))
        return _piece(
            name,
            last,
            "recoverable" if sources else "unanswerable",
            reason=_ERASED if not sources and last.erased else "",
            lost_to=tuple(sorted(lost_to - {0})),
            sources=sources,
        )

    def _sources(self, lives: Sequence[Life], turns: set[Turn]) -> Iterator[Source]:
        """Where the piece is still, what the store has first. Of what was erased only another stored memory counts: the
        ledger keeps it nowhere, and what else quotes the turns was not left there to bring it back."""
        others = [life for life in self._alike(lives, turns) if life not in lives]
        yield from (_source("stored_memory", life) for life in others if self._log.state(life) == "stored")
        left = [life for life in lives if not life.erased]
        for life in left:
            if self._log.state(life) == "hidden":
                yield _source("store", life)
            elif self._log.value_kept(life):
                yield _source("ledger", life)
        if left:
            yield from (_source("held_back", life) for life in others if life.held)
            if turns and all(turn in self._log.passages for turn in turns):
                yield from (Source(kind="turns", report=self._log.passages[turn]) for turn in sorted(turns))

    def _alike(self, lives: Sequence[Life], turns: set[Turn]) -> Iterator[Life]:
        """What says the same as one of these memories, or rests on all of the turns, in their namespaces."""
        namespaces = {life.namespace for life in lives}
        for life in lives:
            yield from self._log.by_text.get((life.namespace, life.says), ())
        for life in self._log.by_turn.get(min(turns), ()) if turns else ():
            if life.namespace in namespaces and turns <= {(life.conversation, turn) for turn in life.turns}:
                yield life


def _piece(
    name: str,
    life: Life,
    outcome: Outcome,
    *,
    reason: str = "",
    lost_to: tuple[int, ...] = (),
    sources: tuple[Source, ...] = (),
) -> Piece:
    return Piece(
        name=name,
        outcome=outcome,
        report=life.report,
        namespace=life.namespace,
        key=life.key,
        reason=reason,
        lost_to=lost_to,
        sources=sources,
    )


def _unknown(name: str, reason: str, life: Life | None = None) -> Piece:
    if life is None:
        return Piece(name=name, outcome="unknown", reason=reason)
    return _piece(name, life, "unknown", reason=reason)


def _source(kind: SourceKind, life: Life) -> Source:
    return Source(kind=kind, report=life.report, key=life.key)


def _worst(outcomes: Iterable[Outcome]) -> Outcome:
    found = set(outcomes)
    return next((one for one in ("unanswerable", "unknown", "recoverable") if one in found), "unaffected")


def _costs(deletions: Mapping[int, LoggedDeletion], questions: Sequence[QuestionOutcome]) -> tuple[DeletionCost, ...]:
    """Of every deletion, oldest first; of updates, only those that cost something."""
    lost: dict[int, dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for question in questions:
        for piece in question.pieces:
            for seq in piece.lost_to:
                lost[seq][question.id].append(piece.outcome)
    found = []
    for seq in sorted(deletions):
        if deletions[seq].cause == REPLACEMENT and seq not in lost:
            continue
        became = {id: _worst(outcomes) for id, outcomes in lost[seq].items()}
        found.append(
            DeletionCost(
                deletion=deletions[seq],
                unanswerable=tuple(id for id, outcome in became.items() if outcome == "unanswerable"),
                recoverable=tuple(id for id, outcome in became.items() if outcome == "recoverable"),
            )
        )
    return tuple(found)


def _by_cause(costs: Sequence[DeletionCost]) -> tuple[CauseCost, ...]:
    found = []
    for cause in sorted({cost.deletion.cause for cost in costs}):
        of = [cost for cost in costs if cost.deletion.cause == cause]
        unanswerable = {id for cost in of for id in cost.unanswerable}
        recoverable = {id for cost in of for id in cost.recoverable} - unanswerable
        found.append(
            CauseCost(cause=cause, deletions=len(of), unanswerable=len(unanswerable), recoverable=len(recoverable))
        )
    return tuple(found)
