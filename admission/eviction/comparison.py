"""Cells compared: gaps with paired bootstrap intervals, Holm's correction, and pairs matched in accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import computed_field

from admission.evaluation.paired import holm
from admission.evaluation.seed import SEED
from admission.eviction.shares import Values
from admission.records import Record

RESAMPLES = 10_000
"""More than intervals need: Holm's correction multiplies the smallest p that so many can show."""
CALIPER = 0.05
LEVEL = 0.05
Verdict = Literal["different", "not detected at this resolution", "nothing to compare"]


class Gap(Record):
    """A difference of two shares, first minus second, with its 95 % interval.

    `p`: two-sided, by the bootstrap. `adjusted`: after Holm's correction over the gaps it was tested with. Of a gap
    that is not detected nothing else is claimed: the `half_width` of the interval says how fine this looks.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    adjusted: float | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> Verdict:
        if self.p is None:
            return "nothing to compare"
        corrected = self.p if self.adjusted is None else self.adjusted
        return "different" if corrected <= LEVEL else "not detected at this resolution"


def gap(name: str, first: Values, second: Values) -> Gap:
    """The mean of `first` minus that of `second`; a group (a history) that is drawn is drawn for both.

    Percentile bootstrap of 10,000 draws; a draw in which either has no value counts for nothing. The p is twice the
    smaller tail of the draws at 0, never below 2/10001. Source: Davison and Hinkley, Bootstrap Methods and their
    Application, 1997, sections 3.8 and 4.2.
    """
    if not first[0] or not second[0]:
        return Gap(name=name, value=None, low=None, high=None, p=None)
    groups = sorted({*first[1], *second[1]})
    drawn = np.random.default_rng(SEED).integers(len(groups), size=(RESAMPLES, len(groups)))
    differences = _means(first, groups, drawn) - _means(second, groups, drawn)
    differences = differences[~np.isnan(differences)]
    low, high = np.quantile(differences, (0.025, 0.975))
    tail = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return Gap(
        name=name,
        value=float(np.mean(first[0]) - np.mean(second[0])),
        low=float(low),
        high=float(high),
        p=min(1.0, 2 * (tail + 1) / (differences.size + 1)),
    )


def corrected(gaps: Sequence[Gap]) -> tuple[Gap, ...]:
    """The same gaps with p adjusted by Holm over those that have one."""
    adjusted = holm([found.p for found in gaps])
    return tuple(found.model_copy(update={"adjusted": p}) for found, p in zip(gaps, adjusted, strict=True))


def matched(first: float | None, second: float | None) -> bool:
    """Are two accuracies within the caliper (.05)? Only then may shares of policies be compared."""
    return first is not None and second is not None and abs(first - second) <= CALIPER + 1e-12


def _means(values: Values, groups: Sequence[str], drawn: NDArray[np.int64]) -> NDArray[np.float64]:
    """(draws,) the mean of each draw, NaN where it has no value."""
    places = {group: place for place, group in enumerate(groups)}
    where = np.array([places[group] for group in values[1]])
    sums = np.bincount(where, weights=np.asarray(values[0]), minlength=len(groups))[drawn].sum(axis=1)
    counts = np.bincount(where, minlength=len(groups))[drawn].sum(axis=1)
    means: NDArray[np.float64] = np.divide(sums, counts, out=np.full(len(drawn), np.nan), where=counts > 0)
    return means
