"""The statistics of the evaluations against scipy's and statsmodels' own, on one worked example.

Ten conversations of eight writes, decided in two settings: 80 pairs, of which 14 differ.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from admission.evaluation.paired import group_interval, holm, mcnemar
from admission.evaluation.statistics import proportion

GROUPS = [number // 8 for number in range(80)]
FIRST = [number % 2 == 0 for number in range(80)]
SECOND = [kept != (number % 8 == 1 or number in (0, 16, 32, 48)) for number, kept in enumerate(FIRST)]


def test_the_worked_example_is_what_it_says() -> None:
    pairs = list(zip(FIRST, SECOND, strict=True))
    assert (pairs.count((True, False)), pairs.count((False, True))) == (4, 10)


def test_mcnemar_is_statsmodels_exact_test() -> None:
    pairs = list(zip(FIRST, SECOND, strict=True))
    table = [[pairs.count((a, b)) for b in (True, False)] for a in (True, False)]
    assert mcnemar(4, 10) == pytest.approx(their_mcnemar(table, exact=True).pvalue)
    assert mcnemar(4, 10) == pytest.approx(binomtest(4, 14).pvalue)


def test_the_interval_of_a_share_is_statsmodels_clopper_pearson() -> None:
    ours = proportion(sum(SECOND), len(SECOND))
    assert (ours.low, ours.high) == pytest.approx(proportion_confint(sum(SECOND), len(SECOND), method="beta"))


def test_holm_is_statsmodels_step_down_and_leaves_out_what_was_not_tested() -> None:
    given = [0.04, None, 0.001, 0.03, 0.5, None, 0.03]
    tested = [p for p in given if p is not None]
    theirs = iter(multipletests(tested, method="holm")[1])
    assert holm(given) == [None if p is None else pytest.approx(next(theirs)) for p in given]


def test_the_interval_of_a_difference_draws_whole_conversations_as_done_by_hand() -> None:
    differences = np.array(SECOND, dtype=float) - np.array(FIRST, dtype=float)
    ours = group_interval(differences, GROUPS)
    by_group = differences.reshape(10, 8).mean(axis=1)
    drawn = np.random.default_rng(3).choice(by_group, size=(20_000, 10)).mean(axis=1)
    assert ours.value == pytest.approx(6 / 80)
    assert (ours.low, ours.high) == pytest.approx(tuple(np.quantile(drawn, (0.025, 0.975))), abs=0.006)
