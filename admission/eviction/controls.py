"""Controls: does the evidence itself turn the answers, and was it really nowhere else?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from admission.eviction.records import Memory
from admission.eviction.restore import Places, ReadSetting, Restored
from admission.eviction.scoring import Scoring, Trial
from admission.eviction.tokens import Sizes
from admission.records import Record

REPEATS = 40
HARM_BOUND = 0.05
AGREEMENT_BOUND = 0.90
_LOOKED_AT = 50


class Count(Record):
    """`hits` of `n`; n is 0 where there was nothing to try."""

    hits: int
    n: int

    @property
    def share(self) -> float | None:
        return self.hits / self.n if self.n else None


class Controls(Record):
    """Controls of one cell of the grid.

    `harmed`: questions that the restoration turned from right to wrong, of all (bound .05). `agreement`: of at most 40
    trials asked once more, of reader and judge, those right both times or neither time (bound .90). `placebo`: of the
    errors that the evidence turned, those that unrelated text of the same length turned too. `surviving_only`: of the
    irreversible errors of which a piece survived unread, those that the surviving pieces alone turned. `whole_store`:
    of the irreversible, those turned when everything that survived was read. `no_piece`: of the irreversible, those of
    which no piece survived.
    """

    harmed: Count
    agreement: Count
    placebo: Count
    surviving_only: Count
    whole_store: Count
    no_piece: Count


class Unrelated:
    """Memories of all histories, to take text of a given length from that has nothing to do with a question."""

    def __init__(self, histories: Sequence[tuple[str, Sequence[Memory], Sizes]]) -> None:
        self._memories = [memory for _, memories, _ in histories for memory in memories]
        self._sizes = np.concatenate([sizes for _, _, sizes in histories])
        own = np.repeat([name for name, _, _ in histories], [len(memories) for _, memories, _ in histories])
        self._others = {name: np.flatnonzero(own != name) for name, _, _ in histories}
        self._own = {name: np.flatnonzero(own == name) for name, _, _ in histories}

    def like(self, restored: Restored, missing: Places, rng: np.random.Generator) -> tuple[Memory, ...]:
        """As many memories as are missing, each the nearest in length of 50 drawn: from other histories where there are
        any, else from the same, but none that is gold or in the context. Fewer where there are no more."""
        history = restored.subject.question.history
        allowed = self._others[history]
        if not allowed.size:
            barred = [*restored.context, *restored.subject.gold]
            allowed = np.delete(self._own[history], barred)
        found: dict[int, None] = {}
        for gold in missing:
            drawn = allowed[rng.integers(allowed.size, size=_LOOKED_AT)] if allowed.size else allowed
            new = np.array([place for place in drawn.tolist() if place not in found], dtype=np.intp)
            if new.size:
                off = np.abs(self._sizes[new] - restored.subject.sizes[gold])
                found[int(new[np.argmin(off)])] = None
        return tuple(self._memories[place] for place in found)


def controls(
    found: Sequence[Restored], setting: ReadSetting, scoring: Scoring, unrelated: Unrelated, *, seed: int = 0
) -> Controls:
    """All controls of one cell. Those that ask again ask as many trials as there are errors that were turned."""
    gained = [each for each in found if each.outcome.gain == 1]
    irreversible = [each for each in gained if each.outcome.cell == "irreversible"]
    partly = [each for each in irreversible if _surviving_unread(each)]
    return Controls(
        harmed=Count(
            hits=sum(each.outcome.gain == -1 for each in found), n=sum(each.outcome.gain is not None for each in found)
        ),
        agreement=_agreement(found, scoring, np.random.default_rng([seed, 1])),
        placebo=_turned(scoring, _placebos(gained, setting, unrelated, np.random.default_rng([seed, 2]))),
        surviving_only=_turned(
            scoring,
            [
                each.subject.trial(
                    each.subject.with_added(each.context, each.subject.surviving(each.kept), setting.cap)
                )
                for each in partly
            ],
        ),
        whole_store=_turned(
            scoring, [each.subject.trial(tuple(np.flatnonzero(each.kept).tolist())) for each in irreversible]
        ),
        no_piece=Count(hits=sum(not each.outcome.survived for each in irreversible), n=len(irreversible)),
    )


def _surviving_unread(each: Restored) -> bool:
    return bool(set(each.subject.surviving(each.kept)) - set(each.context))


def _agreement(found: Sequence[Restored], scoring: Scoring, rng: np.random.Generator) -> Count:
    read = [each for each in found if each.outcome.cell != "unread"]
    some = [read[place] for place in sorted(rng.permutation(len(read))[:REPEATS].tolist())]
    again = scoring.marks([each.subject.trial(each.context, attempt=1) for each in some])
    pairs = [(each.outcome.mark, mark) for each, mark in zip(some, again, strict=True) if mark is not None]
    return Count(hits=sum((first == "right") == (second == "right") for first, second in pairs), n=len(pairs))


def _placebos(
    gained: Sequence[Restored], setting: ReadSetting, unrelated: Unrelated, rng: np.random.Generator
) -> list[Trial]:
    trials = []
    for each in gained:
        full = each.subject.with_added(each.context, each.subject.gold, setting.cap)
        missing = tuple(sorted(set(full) - set(each.context)))
        read = each.subject.trial(each.context)
        trials.append(Trial(read.question, (*read.context, *unrelated.like(each, missing, rng))))
    return trials


def _turned(scoring: Scoring, trials: Sequence[Trial]) -> Count:
    marks = [mark for mark in scoring.marks(trials) if mark is not None]
    return Count(hits=sum(mark == "right" for mark in marks), n=len(marks))
