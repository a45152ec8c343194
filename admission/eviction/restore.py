"""The restore counterfactual: put the evicted evidence back before the same reader, and see whether the answer turns.

Source: What Eviction Destroys, arXiv:2609.08279.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from admission.eviction.policies import Kept
from admission.eviction.records import LabelledQuestion, Memory
from admission.eviction.scoring import Mark, Scoring, Trial
from admission.eviction.tokens import Sizes
from admission.records import Record

Condition = Literal["forced", "ranked"]
CellName = Literal["right", "irreversible", "recoverable", "residual", "unread"]
CELLS: tuple[CellName, ...] = ("right", "irreversible", "recoverable", "residual", "unread")
TOP = 60
CAP = 2000
Places = tuple[int, ...]
"""Places of memories in their history, ascending."""


class ReadSetting(Record):
    """How memory is read: recorded with every result, for a recoverable error is an error of this ranker.

    `forced`: surviving gold is always read, the ranking fills what is left of `k` places. `ranked`: the first `k` of
    the ranking. `cap`: tokens that a restoration may add.
    """

    condition: Condition
    ranker: str
    k: int = Field(default=TOP, ge=1)
    cap: int = Field(default=CAP, ge=1)


@dataclass(frozen=True)
class Subject:
    """A question with its whole history. `gold` and `ranked` are places in `memories`, `ranked` the best first."""

    question: LabelledQuestion
    memories: tuple[Memory, ...]
    sizes: Sizes
    gold: Places
    ranked: NDArray[np.intp]

    def context(self, kept: Kept, setting: ReadSetting) -> Places:
        """What is read of the memories that are kept."""
        found = self.ranked[kept[self.ranked]].tolist()
        if setting.condition == "ranked":
            return tuple(sorted(found[: setting.k]))
        forced = self.surviving(kept)
        others = [place for place in found if place not in forced]
        return tuple(sorted([*forced, *others[: max(0, setting.k - len(forced))]]))

    def surviving(self, kept: Kept) -> Places:
        return tuple(place for place in self.gold if kept[place])

    def with_added(self, context: Places, added: Iterable[int], cap: int) -> Places:
        """The context with whole memories added, in the order of the history, while they have at most `cap` tokens."""
        found, room = set(context), cap
        for place in sorted(set(added) - found):
            if self.sizes[place] <= room:
                found.add(place)
                room -= int(self.sizes[place])
        return tuple(sorted(found))

    def trial(self, places: Places, attempt: int = 0) -> Trial:
        return Trial(self.question, tuple(self.memories[place] for place in places), attempt)


class Outcome(Record):
    """What became of one question in one cell of the grid.

    `mark`: what the answer was as the memory was read. `gain`: accuracy with all gold restored minus accuracy as it
    was read. Both are None where either asking failed (`unread`). `gold`, `survived`, `read`: how many pieces of gold
    there are, were kept, and were in the context.
    """

    question: str
    group: str
    kind: str
    cell: CellName
    mark: Mark | None
    gain: Literal[-1, 0, 1] | None
    gold: int
    survived: int
    read: int


@dataclass(frozen=True)
class Restored:
    """An outcome with what it was made from, for the controls."""

    subject: Subject
    kept: Kept
    context: Places
    outcome: Outcome


def answered_from_gold(subjects: Sequence[Subject], scoring: Scoring, cap: int = CAP) -> list[Mark | None]:
    """How questions are answered from their gold evidence alone, cut at the cap: only those answered rightly are
    counted, so that an error tells of the memory and not of the question."""
    return scoring.marks([subject.trial(subject.with_added((), subject.gold, cap)) for subject in subjects])


def restore(
    subjects: Sequence[Subject], kept: Sequence[Kept], setting: ReadSetting, scoring: Scoring
) -> list[Restored]:
    """Each question as it is read from what is kept, and again with its gold evidence in the context.

    Nothing but the context differs between the two. Where all gold was in the context already the two are one trial,
    and the gain is 0. Stores and subjects stay as they are.
    """
    contexts = [subject.context(left, setting) for subject, left in zip(subjects, kept, strict=True)]
    fuller = [
        subject.with_added(context, subject.gold, setting.cap)
        for subject, context in zip(subjects, contexts, strict=True)
    ]
    before = scoring.marks([subject.trial(context) for subject, context in zip(subjects, contexts, strict=True)])
    again = [number for number, context in enumerate(contexts) if fuller[number] != context]
    after = list(before)
    restored = scoring.marks([subjects[number].trial(fuller[number]) for number in again])
    for number, mark in zip(again, restored, strict=True):
        after[number] = mark
    return [
        Restored(subject, left, context, _outcome(subject, left, context, was, became))
        for subject, left, context, was, became in zip(subjects, kept, contexts, before, after, strict=True)
    ]


def _outcome(subject: Subject, kept: Kept, context: Places, was: Mark | None, became: Mark | None) -> Outcome:
    survived = len(subject.surviving(kept))
    unread = was is None or became is None
    return Outcome(
        question=subject.question.id,
        group=subject.question.history,
        kind=subject.question.kind,
        cell=_cell(was, became, survived == len(subject.gold)),
        mark=None if unread else was,
        gain=None if unread else _GAINS[(became == "right") - (was == "right")],
        gold=len(subject.gold),
        survived=survived,
        read=len(set(subject.gold) & set(context)),
    )


_GAINS: dict[int, Literal[-1, 0, 1]] = {-1: -1, 0: 0, 1: 1}


def _cell(was: Mark | None, became: Mark | None, all_survived: bool) -> CellName:
    if was is None or became is None:
        return "unread"
    if was == "right":
        return "right"
    if became != "right":
        return "residual"
    return "recoverable" if all_survived else "irreversible"
