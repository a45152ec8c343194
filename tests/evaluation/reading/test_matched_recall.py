"""One ranking at matched recall: the smallest prefix, what is in it, and the extremes."""

from __future__ import annotations

import numpy as np
import pytest
from reading_worlds import memory, question, scripted, two_people
from scipy.stats import bootstrap

from admission.evaluation.paired import RESAMPLES, group_interval
from admission.evaluation.reading.axis_table import NO, OPEN, YES, conjunctions
from admission.evaluation.reading.comparison import compare
from admission.evaluation.reading.dataset import ReadingData
from admission.evaluation.reading.matched_recall import prefix_size, score


def axes(*values: int) -> np.ndarray:
    return np.array([[value] for value in values], dtype=np.int8)


def test_a_ranking_worked_by_hand() -> None:
    # Five are required, so .8 is four of them: places 1, 3, 4 and 6. Of the six, one is forbidden and two are open.
    ranking = [10, 90, 11, 12, 91, 13, 92, 14]
    values = axes(YES, NO, YES, OPEN, OPEN, YES, NO, YES)
    found = score(ranking, {10, 11, 12, 13, 14}, values)
    assert (found.recall, found.size) == (1.0, 6)
    assert (found.violations, found.admissible, found.unresolved) == (1, 3, 2)
    assert found.known_risk == pytest.approx(1 / 4)
    assert found.coverage == pytest.approx(4 / 6)
    assert (found.lower, found.upper) == (pytest.approx(1 / 6), pytest.approx(3 / 6))
    assert found.loss == found.upper


def test_a_ranking_that_never_holds_enough_is_infeasible_and_loses_everything() -> None:
    found = score([1, 2, 3], {1, 9, 10}, axes(YES, YES, YES))
    assert found.recall == pytest.approx(1 / 3)
    assert not found.reached
    assert found.upper is None
    assert found.loss == 1.0


def test_the_smallest_prefix_is_taken_however_much_follows() -> None:
    short = score([1, 2], {1}, axes(YES, NO))
    assert short.size == 1
    assert short.violations == 0


@pytest.mark.parametrize(("required", "needed"), [(1, 1), (2, 2), (4, 4), (5, 4), (10, 8)])
def test_reaching_tau_takes_as_many_required_memories_as_a_share_of_them_asks(required: int, needed: int) -> None:
    assert prefix_size(list(range(required)), range(required)) == (1.0, needed)
    assert prefix_size(list(range(needed - 1)), range(required))[1] is None


def test_an_empty_ranking_has_no_recall() -> None:
    found = score([], {1}, np.empty((0, 1), dtype=np.int8))
    assert (found.recall, found.size) == (0.0, None)


def test_one_denied_axis_denies_and_an_open_one_leaves_open() -> None:
    values = np.array([[YES, YES, YES], [YES, OPEN, YES], [OPEN, NO, YES]], dtype=np.int8)
    assert conjunctions(values).tolist() == [YES, OPEN, NO]


def test_a_ranker_that_knows_the_answers_reaches_every_question_without_risk() -> None:
    found = compare(scripted(two_people()), ["scripted"], budgets=(5,)).of("global", "scripted", 5)
    assert (found.recall.value, found.reach.value, found.loss.value) == (1.0, 1.0, 0.0)
    assert found.known_risk.value == 0.0


def test_a_ranker_that_puts_the_answers_last_reaches_none_and_loses_all() -> None:
    found = compare(scripted(two_people(), best_first=False), ["scripted"], budgets=(5,)).of("global", "scripted", 5)
    assert (found.recall.value, found.reach.value, found.loss.value) == (0.0, 0.0, 1.0)
    assert found.upper.value is None


def test_a_route_that_finds_nothing_of_others_gains_nothing_by_missing_what_it_needs() -> None:
    data = ReadingData("one", (memory("a", "ana"), memory("b", "ben")), (question("q", "ana", ["b"]),), "")
    found = compare(scripted(data), ["scripted"], budgets=(5,)).of("namespace", "scripted", 5)
    assert found.scope_violations.value == 0.0
    assert found.loss.value == 1.0


def test_group_intervals_agree_with_scipys_bootstrap_of_groups() -> None:
    random = np.random.default_rng(5)
    groups = np.repeat(np.arange(12), random.integers(3, 20, size=12))
    values = random.random(groups.size) * 0.5 + groups * 0.03
    sums, counts = np.bincount(groups, weights=values), np.bincount(groups).astype(float)
    theirs = bootstrap(
        (sums, counts), lambda s, c, axis=-1: s.sum(axis) / c.sum(axis), paired=True, vectorized=True,
        method="percentile", n_resamples=20_000, rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    ours = group_interval(values, groups.tolist())
    width = theirs.high - theirs.low
    assert RESAMPLES >= 1000
    assert ours.low == pytest.approx(theirs.low, abs=0.05 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.05 * width)
