"""Learn then Test over a grid: which strictness is chosen, when it is refused, and that the promise is kept."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from admission.errors import InputError
from admission.evaluation.calibration import (
    GRID,
    Calibration,
    at_least,
    calibrate,
    check_request,
    too_few,
    upper_bounds,
    writes_needed,
)
from admission.settings import VerificationSettings

SMALL = (2.0, 1.0, 0.0, -1.0)


def outcome(
    admitted: list[int], n: int, bound: float, *, confidence: float = 0.9, grid: tuple[float, ...] = SMALL
) -> Calibration:
    """The choice where `admitted` of `n` unsupported writes pass at each strictness, and both of two valid ones."""
    unsupported = np.arange(n)[:, None] < np.array(admitted)
    kept = np.vstack([unsupported, np.ones((2, len(admitted)), dtype=bool)])
    valid = np.arange(n + 2) >= n
    return calibrate(kept, valid, bound, confidence, grid)


@pytest.mark.parametrize(
    ("bound", "confidence", "n"),
    [(0.05, 0.9, 45), (0.10, 0.9, 22), (0.20, 0.9, 11), (0.10, 0.95, 29), (0.5, 0.5, 1), (0.9, 0.99, 2)],
)
def test_the_least_number_of_writes_is_the_one_at_which_none_admitted_shows_the_bound(
    bound: float, confidence: float, n: int
) -> None:
    assert at_least(bound, confidence) == n
    assert outcome([0, 0, 0, 0], n, bound, confidence=confidence).strictness == -1.0
    refusal = too_few(n - 1, bound, confidence)
    assert refusal is not None
    assert f"at least {n} are needed" in refusal.refused


@pytest.mark.parametrize(("hits", "n", "confidence"), [(0, 22, 0.9), (1, 10, 0.95), (7, 100, 0.9), (19, 20, 0.8)])
def test_the_upper_bound_is_the_rate_at_which_so_few_would_be_seen_just_as_rarely_as_allowed(
    hits: int, n: int, confidence: float
) -> None:
    rate = upper_bounds(hits, n, confidence).item()
    tail = sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(hits + 1))
    assert tail == pytest.approx(1 - confidence)


def test_where_all_were_admitted_or_none_was_seen_the_rate_may_be_anything() -> None:
    assert upper_bounds([5, 0], [5, 0], 0.9).tolist() == [1.0, 1.0]


def test_the_most_lenient_strictness_that_still_holds_is_chosen() -> None:
    found = outcome([0, 1, 4, 9], 60, 0.10)
    assert found.strictness == 1.0
    assert [point.holds for point in found.points] == [True, True, False, False]
    assert found.chosen is not None
    assert (found.chosen.unsupported_admitted, found.chosen.unsupported) == (1, 60)
    assert (found.chosen.valid_kept, found.chosen.valid) == (2, 2)
    assert found.refused == ""
    assert "at least 0.9" in found.guarantee and "at most 0.1" in found.guarantee


def test_nothing_after_the_first_failure_is_chosen_even_where_the_bound_holds_again() -> None:
    found = outcome([0, 9, 0, 0], 60, 0.10)
    assert [point.holds for point in found.points] == [True, False, True, True]
    assert found.strictness == 2.0


def test_more_leniency_names_the_writes_it_would_take_at_the_rate_seen() -> None:
    """3 of 60 are .05: the first n with .05 n admitted (rounded up) and P(X <= that | n, .10) <= .10 is 78, with 4."""
    wanting = outcome([0, 1, 3, 9], 60, 0.10).wanting
    assert wanting is not None
    assert (wanting.strictness, wanting.rate, wanting.writes_needed) == (0.0, 0.05, 78)


def test_it_is_refused_when_even_the_strictest_value_admits_too_many() -> None:
    found = outcome([5, 5, 6, 7], 60, 0.10)
    assert found.strictness is None and found.chosen is None and found.guarantee == ""
    assert "5 of 60 unsupported writes are admitted" in found.refused
    assert found.wanting is not None and f"about {found.wanting.writes_needed}" in found.refused


def test_a_rate_over_the_bound_is_not_mended_by_any_number_of_writes() -> None:
    assert writes_needed(0.10, 0.10, 0.9) is None
    assert "no number up to 100,000" in outcome([6, 6, 6, 6], 60, 0.10).refused


def test_a_file_without_valid_writes_can_be_calibrated() -> None:
    found = calibrate(np.zeros((22, 4), dtype=bool), np.zeros(22, dtype=bool), 0.10, 0.9, SMALL)
    assert found.strictness == -1.0
    assert found.points[0].valid == 0


@pytest.mark.parametrize(("bound", "confidence"), [(0.0, 0.9), (1.0, 0.9), (0.1, 0.0), (0.1, 1.0), (float("nan"), 0.9)])
def test_what_no_sample_can_promise_is_refused(bound: float, confidence: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        check_request(bound, confidence)


def test_the_grid_runs_from_strict_to_lenient_within_what_a_setting_may_be() -> None:
    assert list(GRID) == sorted(GRID, reverse=True)
    assert 0.0 in GRID
    for strictness in (GRID[0], GRID[-1]):
        assert VerificationSettings(strictness=strictness).strictness == strictness


DRAWS = 1_000
STEPS = np.linspace(0, 1, len(GRID))
POPULATIONS = {
    "a risk that rises slowly through the bound": 0.25 * STEPS,
    "a risk that jumps over the bound": np.where(STEPS < 0.5, 0.02, 0.4),
    "a risk that stays just above the bound": np.full(len(GRID), 0.11),
    "a risk that rises, falls and rises again": 0.09 + 0.08 * np.sin(9 * STEPS),
}


@pytest.mark.parametrize("risk", POPULATIONS.values(), ids=POPULATIONS.keys())
def test_over_many_samples_of_a_known_population_the_true_rate_is_within_the_bound_as_often_as_promised(
    risk: np.ndarray,
) -> None:
    """The proof of the promise: 1,000 labelled samples of 90 unsupported writes, of which the true rates are known."""
    bound, confidence, n = 0.10, 0.9, 90
    chance = np.random.default_rng(7)
    valid = np.zeros(n, dtype=bool)
    broken = 0
    for _ in range(DRAWS):
        kept = chance.random((n, 1)) < risk  # one latent score a write, as of a judge
        found = calibrate(kept, valid, bound, confidence)
        broken += found.strictness is not None and risk[GRID.index(found.strictness)] > bound
    sampling_error = 3 * np.sqrt(confidence * (1 - confidence) / DRAWS)
    assert broken / DRAWS <= 1 - confidence + sampling_error


def test_taking_the_most_lenient_value_whose_rate_looks_right_would_break_the_promise() -> None:
    """The same population without the bound on the rate: the test above would not pass by chance."""
    risk = POPULATIONS["a risk that rises slowly through the bound"]
    chance = np.random.default_rng(7)
    broken = 0
    for _ in range(300):
        rates = (chance.random((90, 1)) < risk).mean(axis=0)
        broken += risk[np.flatnonzero(rates <= 0.10).max()] > 0.10
    assert broken / 300 > 0.35
