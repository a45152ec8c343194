"""Intervals that draw whole groups, and the exact test of discordant pairs, against scipy and numbers known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from admission.evaluation.paired import group_gap, group_interval, mcnemar


def test_groups_of_one_give_the_interval_of_scipys_percentile_bootstrap() -> None:
    values = np.random.default_rng(1).binomial(1, 0.3, size=80).astype(float)
    ours = group_interval(values, range(80))
    theirs = bootstrap((values,), np.mean, method="percentile", n_resamples=5000, rng=np.random.default_rng(2))
    assert ours.value == values.mean()
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=0.02)


def test_values_that_always_come_together_make_the_interval_wider() -> None:
    values = [1.0] * 10 + [0.0] * 10 + [1.0] * 10 + [0.0] * 10
    together = group_interval(values, [n // 10 for n in range(40)])
    apart = group_interval(values, range(40))
    assert together.low is not None and together.high is not None and apart.low is not None and apart.high is not None
    assert together.high - together.low > 2 * (apart.high - apart.low)
    assert (together.n, together.groups) == (40, 4)


def test_nothing_to_average_has_no_interval() -> None:
    assert group_interval([], []).value is None
    assert group_gap([], [], [1.0], ["a"]).value is None


def test_the_gap_of_two_constant_cells_is_certain() -> None:
    gap = group_gap([1.0, 1.0], ["a", "b"], [0.0, 0.0], ["a", "b"])
    assert (gap.value, gap.low, gap.high) == (1.0, 1.0, 1.0)


def test_mcnemar_is_the_binomial_test_of_the_pairs_that_differ() -> None:
    assert mcnemar(1, 8) == pytest.approx(2 * (1 + 9) / 2**9)
    assert mcnemar(0, 0) == 1.0
