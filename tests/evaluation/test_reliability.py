"""Risk against coverage and calibration error on cases small enough to reckon by hand."""

from __future__ import annotations

import numpy as np
import pytest

from admission.evaluation.reliability import calibration_error, judge_reliability, reliability, risk_coverage


def bools(*values: int) -> np.ndarray:
    return np.array(values, dtype=bool)


def test_a_point_of_the_curve_says_what_is_kept_and_how_much_of_it_is_unsupported() -> None:
    kept = np.array([[0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 0, 1], [0, 1, 1]], dtype=bool)
    nothing, some, everything = risk_coverage(kept, bools(1, 1, 1, 1, 0))
    assert (nothing.coverage, nothing.risk, nothing.retention, nothing.unsupported_admission) == (0, None, 0, 0)
    assert (some.coverage, some.risk, some.retention, some.unsupported_admission) == (0.8, 0.25, 0.75, 1)
    assert (everything.coverage, everything.risk, everything.retention) == (1, 0.2, 1)


def test_without_unsupported_writes_their_share_is_unknown() -> None:
    (point,) = risk_coverage(np.array([[True]]), bools(1))
    assert (point.retention, point.unsupported_admission) == (1, None)


def test_equally_wide_bins_weigh_the_gap_of_each_by_its_size() -> None:
    """Two in [.1, .2): said .1 and .18, one true (.14 against .5); two at .9: both true (.9 against 1)."""
    error = calibration_error(np.array([0.1, 0.18, 0.9, 0.9]), bools(0, 1, 1, 1), "width")
    assert error == pytest.approx(0.5 * (0.5 - 0.14) + 0.5 * (1 - 0.9))


@pytest.mark.parametrize("tenth", range(10))
def test_a_probability_on_an_edge_belongs_to_the_bin_above(tenth: int) -> None:
    """Beside its bin's upper neighbourhood its gap is made up for; in the bin below it could not be."""
    edge = tenth / 10
    error = calibration_error(np.array([edge, edge + 0.05]), bools(0, 1), "width")
    assert error == pytest.approx(abs(2 * edge + 0.05 - 1) / 2)


def test_a_certain_judge_that_is_always_right_makes_no_error_and_one_always_wrong_errs_by_one() -> None:
    certain = np.array([0.0, 1.0, 1.0])
    for equal in ("width", "mass"):
        assert calibration_error(certain, bools(0, 1, 1), equal) == 0
        assert calibration_error(certain, bools(1, 0, 0), equal) == 1


def test_bins_of_equal_mass_hold_as_many_each() -> None:
    """Twenty scores crowded below .02: one bin of equal width, where the gaps cancel; ten of equal mass, where not."""
    crowded = np.arange(20) / 1000
    outcomes = np.arange(20) < 1
    assert calibration_error(crowded, outcomes, "width") == pytest.approx(abs(crowded.mean() - 0.05))
    first = abs(0.5 - crowded[:2].mean()) * 2
    assert calibration_error(crowded, outcomes, "mass") == pytest.approx((first + crowded[2:].sum()) / 20)


def test_equal_probabilities_share_a_bin_in_whatever_order_they_come() -> None:
    same = np.full(20, 0.5)
    ordered, mixed = np.arange(20) < 10, np.arange(20) % 2 == 0
    assert calibration_error(same, ordered, "mass") == calibration_error(same, mixed, "mass") == 0


def test_nothing_to_measure_is_said_so() -> None:
    found = reliability(np.zeros(0), bools())
    assert (found.n, found.equal_width, found.equal_mass) == (0, None, None)


def test_each_judge_is_measured_on_the_writes_it_judged() -> None:
    found = judge_reliability([{"a": 1.0, "b": 0.5}, {"a": 0.0}, {}], bools(1, 0, 1))
    assert {judge: each.n for judge, each in found.items()} == {"a": 2, "b": 1}
    assert (found["a"].equal_width, found["b"].equal_width) == (0, 0.5)
