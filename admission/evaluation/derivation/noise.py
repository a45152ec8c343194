"""Accumulated verification noise: what more true obligations in a judge's prompt do to a memory that did not change.

Method: DerivAudit, "accumulated verification noise". Two readings: the same memory's support among 2 and 4 more true
obligations, and a memory that is let in only if all of them pass, which falls by the judge's own misses alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Literal, NamedTuple

from admission.evaluation.derivation.noise_cases import EXTRAS, NoiseCase
from admission.evaluation.paired import Interval, group_interval, holm, mcnemar
from admission.evaluation.statistics import proportion
from admission.records import Judgment, Record
from admission.reports.summary import Proportion

Asking = Literal["together", "alone"]
LEAST = 0.00005
"""Support nearer to 0 or 1 is taken for this: judgments are rounded to four decimals."""
SATURATION = 3.0
"""Where log-odds say little more, as fitted for the embedded entailment network (docs/models/entailment.md)."""


class PublishedNoise(NamedTuple):
    """One model's approval before and with more obligations, the median shift in log-odds, and the share lowered."""

    model: str
    before: float
    after: float
    shift: float | None = None
    lowered: float | None = None


PUBLISHED = (
    PublishedNoise("Qwen3-30B-A3B", 0.994, 0.981, -7.7, 0.987),
    PublishedNoise("Gemma-4-31B", 0.933, 0.026),
    PublishedNoise("Llama-3.3-70B-Instruct", 0.974, 0.355),
)


class Answered(NamedTuple):
    """A case with a judge's answers at each of `EXTRAS`, one judgment a question; None where one failed."""

    noise: NoiseCase
    judgments: tuple[tuple[Judgment, ...], ...] | None

    def own(self, arm: int) -> tuple[Judgment, ...]:
        return () if self.judgments is None else self.judgments[arm][: len(self.noise.own)]

    def approved(self, arm: int, *, added: bool) -> bool:
        """Whether all own obligations are supported; with `added`, the added ones too."""
        judged = self.own(arm) if not added or self.judgments is None else self.judgments[arm]
        return all(one.label == "supported" for one in judged)

    def log_odds(self, arm: int) -> float:
        """Of the memory's support: that of its least supported obligation, for all have to hold."""
        return min(_log_odds(one.support) for one in self.own(arm))


class Shift(Record):
    """The same memory with `extra` true obligations beside it, less without: support in log-odds, and approval.

    `mean` has a 95 % bootstrap interval over conversations; `lowered`: the share whose support fell; `saturated`: the
    median on a scale that ends at `SATURATION`; `lost` and `gained`: memories approved only without, and only with the
    added ones; `p`: McNemar's exact test of the two, `adjusted` after Holm over the judge's shifts.
    """

    extra: int
    median: float
    mean: Interval
    lowered: Proportion
    saturated: float
    lost: int
    gained: int
    p: float
    adjusted: float | None = None


class Approval(Record):
    """Of the memories with `extra` true obligations beside: whose own obligations are all supported (`memory`), and
    where the added ones are too (`with_added`)."""

    extra: int
    memory: Proportion
    with_added: Proportion


class NoiseFigures(Record):
    """One judge. `shifts` is empty where it judges each obligation `alone`: they are 0 by construction.

    `failed`: memories left out because an answer failed.
    """

    judge: str
    asked: Asking
    memories: int
    failed: int
    approvals: tuple[Approval, ...]
    shifts: tuple[Shift, ...]


class Remedy(Record):
    """A judge asked one obligation a prompt, less the same judge asked about all together: memories approved.

    `with_added`: only those count whose added obligations are supported too.
    """

    judge: str
    extra: int
    with_added: bool
    difference: Interval
    only_together: int
    only_alone: int
    p: float


def noise_of(judge: str, asked: Asking, answered: Sequence[Answered]) -> NoiseFigures:
    """The figures of one judge over all cases."""
    whole = [one for one in answered if one.judgments is not None]
    return NoiseFigures(
        judge=judge,
        asked=asked,
        memories=len(whole),
        failed=len(answered) - len(whole),
        approvals=tuple(_approval(arm, whole) for arm in range(len(EXTRAS))),
        shifts=_shifts(whole) if asked == "together" and whole else (),
    )


def remedied(judge: str, together: Sequence[Answered], alone: Sequence[Answered]) -> tuple[Remedy, ...]:
    """What asking alone does, on the cases that both ways answered; the two are in the same order."""
    both = [(a, b) for a, b in zip(together, alone, strict=True) if a.judgments is not None and b.judgments is not None]
    return tuple(
        _remedy(judge, arm, both, added=added) for added in (False, True) for arm in range(1, len(EXTRAS)) if both
    )


def _approval(arm: int, cases: Sequence[Answered]) -> Approval:
    memory, with_added = ([case.approved(arm, added=added) for case in cases] for added in (False, True))
    return Approval(
        extra=EXTRAS[arm],
        memory=proportion(sum(memory), len(memory)),
        with_added=proportion(sum(with_added), len(with_added)),
    )


def _shifts(cases: Sequence[Answered]) -> tuple[Shift, ...]:
    found = [_shift(arm, cases) for arm in range(1, len(EXTRAS))]
    adjusted = holm([one.p for one in found])
    return tuple(one.model_copy(update={"adjusted": p}) for one, p in zip(found, adjusted, strict=True))


def _shift(arm: int, cases: Sequence[Answered]) -> Shift:
    moved = [case.log_odds(arm) - case.log_odds(0) for case in cases]
    saturated = [_saturated(case.log_odds(arm)) - _saturated(case.log_odds(0)) for case in cases]
    approved = [(case.approved(0, added=False), case.approved(arm, added=False)) for case in cases]
    lost, gained = sum(a and not b for a, b in approved), sum(b and not a for a, b in approved)
    return Shift(
        extra=EXTRAS[arm],
        median=median(moved),
        mean=group_interval(moved, [case.noise.case.group for case in cases]),
        lowered=proportion(sum(one < 0 for one in moved), len(moved)),
        saturated=median(saturated),
        lost=lost,
        gained=gained,
        p=mcnemar(lost, gained),
    )


def _remedy(judge: str, arm: int, both: Sequence[tuple[Answered, Answered]], *, added: bool) -> Remedy:
    approved = [(a.approved(arm, added=added), b.approved(arm, added=added)) for a, b in both]
    only_together, only_alone = sum(a and not b for a, b in approved), sum(b and not a for a, b in approved)
    groups = [a.noise.case.group for a, _ in both]
    return Remedy(
        judge=judge,
        extra=EXTRAS[arm],
        with_added=added,
        difference=group_interval([float(b) - float(a) for a, b in approved], groups),
        only_together=only_together,
        only_alone=only_alone,
        p=mcnemar(only_together, only_alone),
    )


def _log_odds(support: float) -> float:
    bounded = min(max(support, LEAST), 1 - LEAST)
    return math.log(bounded / (1 - bounded))


def _saturated(log_odds: float) -> float:
    return SATURATION * math.tanh(log_odds / SATURATION)
