"""The strictness that keeps unsupported admission under a bound, by Learn then Test over a grid, or a refusal."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from admission.errors import InputError
from admission.records import Record

# Strictest first. At 8 a threshold of .5 is .9997, which only a score that rounds to 1 reaches; at -3 it is .05. Finer
# steps cost time and no part of the promise: fixed-sequence testing pays nothing for the number of its tests.
GRID: tuple[float, ...] = (8.0, 7.0, 6.0, *(step / 8 for step in range(40, -25, -1)))

ASSUMPTION = (
    "The promise is for writes drawn independently of each other. Writes of one conversation resemble each other, so "
    "that many from few conversations are worth less than their number says, and the probability may be lower than "
    "stated: label a few writes from each of many conversations."
)

_MOST_WRITES = 100_000
_ROUNDING = 1e-12


class GridPoint(Record):
    """What the gate did with the labelled writes at one strictness.

    `upper_bound` is the one-sided Clopper-Pearson bound on the rate of unsupported admission; `holds`: it is within
    the bound asked for.
    """

    strictness: float
    valid_kept: int
    valid: int
    unsupported_admitted: int
    unsupported: int
    upper_bound: float
    holds: bool


class Wanting(Record):
    """The strictest value at which the bound could not be shown. `writes_needed`: about how many unsupported writes
    would show it if the rate stayed as observed; None where that rate is over the bound or too near to it."""

    strictness: float
    rate: float
    writes_needed: int | None


class Calibration(Record):
    """The choice. `strictness` None: refused, and `refused` says why. `points` are in the order tested.

    `at_least` is the smallest number of unsupported writes that can show the bound, with none of them admitted.
    """

    max_unsupported: float
    confidence: float
    at_least: int
    strictness: float | None = None
    points: tuple[GridPoint, ...] = ()
    wanting: Wanting | None = None
    refused: str = ""

    @property
    def chosen(self) -> GridPoint | None:
        return next((point for point in self.points if point.strictness == self.strictness), None)

    @property
    def guarantee(self) -> str:
        """What is promised, in words; empty where nothing is."""
        if self.strictness is None:
            return ""
        return (
            f"With probability at least {self.confidence:g} over the labelled sample, the true rate of admitting an "
            f"unsupported memory drawn from the same source is at most {self.max_unsupported:g}."
        )


def check_request(max_unsupported: float, confidence: float) -> None:
    """Raise `InputError` unless both lie strictly between 0 and 1: no sample can show a rate of 0 or be certain."""
    for option, value in (("--max-unsupported", max_unsupported), ("--confidence", confidence)):
        if not 0 < value < 1:
            raise InputError(option, f"{value:g} cannot be promised from a sample", "give a number between 0 and 1")


def at_least(max_unsupported: float, confidence: float) -> int:
    """The smallest n with (1 - max_unsupported) ** n <= 1 - confidence: fewer show nothing even if none is admitted."""
    return max(1, math.ceil(math.log(1 - confidence) / math.log1p(-max_unsupported) - _ROUNDING))


def upper_bounds(admitted: npt.ArrayLike, n: npt.ArrayLike, confidence: float) -> npt.NDArray[np.float64]:
    """One-sided Clopper-Pearson upper bound on a rate of which `admitted` of `n` were seen, elementwise; 1 for n of 0.

    It is at most A exactly where the binomial tail P(X <= admitted | n, A) is at most 1 - confidence.
    """
    from scipy.special import betaincinv

    hits, trials = np.broadcast_arrays(np.asarray(admitted, dtype=float), np.asarray(n, dtype=float))
    bounds = np.ones(hits.shape)
    below = hits < trials
    bounds[below] = betaincinv(hits[below] + 1, trials[below] - hits[below], confidence)
    return bounds


def unbroken(bounds: npt.NDArray[np.float64], max_unsupported: float) -> int:
    """How many of the first tests hold without a break: fixed-sequence testing stops at the first that does not."""
    holds = bounds <= max_unsupported + _ROUNDING
    return int(holds.size if holds.all() else holds.argmin())


def writes_needed(rate: float, max_unsupported: float, confidence: float) -> int | None:
    """The smallest n up to 100,000 at which this rate, rounded up to whole writes, shows the bound; None if none."""
    if rate >= max_unsupported:
        return None
    start = at_least(max_unsupported, confidence)
    while start <= _MOST_WRITES:
        n = np.arange(start, min(2 * start, _MOST_WRITES + 1))
        bounds = upper_bounds(np.ceil(rate * n - _ROUNDING * n), n, confidence)
        enough = np.flatnonzero(bounds <= max_unsupported + _ROUNDING)
        if enough.size:
            return int(n[enough[0]])
        start *= 2
    return None


def too_few(unsupported: int, max_unsupported: float, confidence: float) -> Calibration | None:
    """The refusal that needs no verdict of any gate, or None where there are enough labelled unsupported writes."""
    least = at_least(max_unsupported, confidence)
    if unsupported >= least:
        return None
    refused = (
        f"{unsupported} labelled unsupported writes cannot show a rate of at most {max_unsupported:g} with confidence "
        f"{confidence:g}: at least {least} are needed, and more where any of them is admitted"
    )
    return Calibration(max_unsupported=max_unsupported, confidence=confidence, at_least=least, refused=refused)


def calibrate(
    kept: npt.NDArray[np.bool_],
    valid: npt.NDArray[np.bool_],
    max_unsupported: float,
    confidence: float,
    grid: Sequence[float] = GRID,
) -> Calibration:
    """The most lenient strictness of those tested, from the strictest on, before the first at which the bound fails.

    `kept` (writes, grid) says what the gate kept at each strictness, `valid` (writes,) what the labels say: valid or
    unsupported. The risk need not fall as strictness grows. Source: Angelopoulos, Bates, Candès, Jordan and Lei, Learn
    then Test, 2021 (fixed-sequence testing with exact binomial p-values). The promise is for writes drawn
    independently from one source.
    """
    refusal = too_few(int((~valid).sum()), max_unsupported, confidence)
    if refusal is not None:
        return refusal
    admitted, n = kept[~valid].sum(axis=0), int((~valid).sum())
    bounds = upper_bounds(admitted, n, confidence)
    held = unbroken(bounds, max_unsupported)
    points = tuple(
        GridPoint(
            strictness=value,
            valid_kept=int(keeps),
            valid=int(valid.sum()),
            unsupported_admitted=int(admits),
            unsupported=n,
            upper_bound=float(bound),
            holds=bool(bound <= max_unsupported + _ROUNDING),
        )
        for value, keeps, admits, bound in zip(grid, kept[valid].sum(axis=0), admitted, bounds, strict=True)
    )
    wanting = None
    if held < len(points):
        rate = float(admitted[held]) / n
        needed = writes_needed(rate, max_unsupported, confidence)
        wanting = Wanting(strictness=grid[held], rate=rate, writes_needed=needed)
    return Calibration(
        max_unsupported=max_unsupported,
        confidence=confidence,
        at_least=at_least(max_unsupported, confidence),
        strictness=grid[held - 1] if held else None,
        points=points,
        wanting=wanting,
        refused="" if wanting is None or held else _refusal(points[0], wanting, max_unsupported),
    )


def _refusal(strictest: GridPoint, wanting: Wanting, max_unsupported: float) -> str:
    needed = wanting.writes_needed
    number = f"about {needed}" if needed else f"no number up to {_MOST_WRITES:,}"
    return (
        f"even at strictness {strictest.strictness:g}, {strictest.unsupported_admitted} of {strictest.unsupported} "
        f"unsupported writes are admitted, so that the rate may be up to {strictest.upper_bound:.3f}, over "
        f"{max_unsupported:g}; at that rate {number} would show the bound"
    )
