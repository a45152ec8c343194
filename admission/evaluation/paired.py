"""Statistics of paired measurements: intervals by resampling groups, and the exact test of discordant pairs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from admission.evaluation.seed import SEED
from admission.records import Record

RESAMPLES = 2000


class Interval(Record):
    """A mean with its 95 % interval; `n` values in `groups` groups. All None where there is nothing to average."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    groups: int


def group_interval(values: ArrayLike, groups: Sequence[Hashable], *, seed: int = SEED) -> Interval:
    """The mean of `values`, shape (n,), with a percentile bootstrap interval that draws whole groups.

    What belongs together (the questions of an episode) is drawn together. Source: Davison and Hinkley, Bootstrap
    Methods and their Application, 1997, section 3.8.
    """
    found = np.asarray(values, dtype=np.float64)
    if not found.size:
        return Interval(value=None, low=None, high=None, n=0, groups=0)
    sums, counts = _by_group(found, groups)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(value=float(found.mean()), low=float(low), high=float(high), n=found.size, groups=len(sums))


def mcnemar(first_only: int, second_only: int) -> float:
    """Two-sided exact p of McNemar's test: are pairs in which only one of two outcomes is a hit as often the one as the
    other? Source: McNemar 1947; exact by the binomial distribution. 1.0 where no pair differs."""
    from scipy.stats import binomtest

    differing = first_only + second_only
    return float(binomtest(first_only, differing, 0.5).pvalue) if differing else 1.0


def holm(values: Sequence[float | None]) -> list[float | None]:
    """p values adjusted by Holm's step-down over those there are; None, nothing tested, stays so. Source: Holm 1979."""
    tested = sorted((p, place) for place, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, place) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = largest
    return adjusted


def _by_group(
    values: NDArray[np.float64], groups: Sequence[Hashable]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    places: dict[Hashable, int] = {}
    where = np.array([places.setdefault(group, len(places)) for group in groups])
    return np.bincount(where, weights=values).astype(np.float64), np.bincount(where).astype(np.float64)


def group_gap(
    first: ArrayLike, first_groups: Sequence[Hashable], second: ArrayLike, second_groups: Sequence[Hashable]
) -> Interval:
    """Mean of `first` minus mean of `second` with a percentile bootstrap interval; a group drawn is drawn for both.

    Draws in which either has no value count for nothing. `n`: values of both.
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if not one.size or not two.size:
        return Interval(value=None, low=None, high=None, n=one.size + two.size, groups=0)
    every = sorted({*first_groups, *second_groups}, key=str)
    places = {group: place for place, group in enumerate(every)}
    drawn = np.random.default_rng(SEED).integers(len(every), size=(RESAMPLES, len(every)))
    means = []
    for values, groups in ((one, first_groups), (two, second_groups)):
        where = np.array([places[group] for group in groups])
        sums = np.bincount(where, weights=values, minlength=len(every))[drawn].sum(axis=1)
        counts = np.bincount(where, minlength=len(every))[drawn].sum(axis=1)
        means.append(np.divide(sums, counts, out=np.full(RESAMPLES, np.nan), where=counts > 0))
    low, high = np.nanquantile(means[0] - means[1], (0.025, 0.975))
    gap = float(one.mean() - two.mean())
    return Interval(value=gap, low=float(low), high=float(high), n=one.size + two.size, groups=len(every))
