"""How far scores and decisions can be relied on: risk against coverage, expected calibration error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from admission.records import Record

BINS = 10

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class OperatingPoint(Record):
    """One way to decide. `coverage`: share of all writes kept; `risk`: share of unsupported ones among the kept;
    `retention`: share of valid writes kept; `unsupported_admission`: share of unsupported writes kept.

    A share of nothing is None.
    """

    coverage: float | None
    risk: float | None
    retention: float | None
    unsupported_admission: float | None


class Reliability(Record):
    """Expected calibration error of `n` probabilities in equally wide and in equally filled bins; None where n is 0."""

    n: int
    equal_width: float | None
    equal_mass: float | None


def risk_coverage(kept: Bools, valid: Bools) -> tuple[OperatingPoint, ...]:
    """The risk-coverage curve of `kept` (writes, ways to decide) against `valid` (writes,), one point a column.

    For scores, `scores[:, None] >= cuts` makes the columns. Source: El-Yaniv and Wiener, On the foundations of
    noise-free selective classification, 2010.
    """
    return tuple(
        OperatingPoint(
            coverage=_share(column), risk=_share(~valid[column]), retention=_share(column[valid]),
            unsupported_admission=_share(column[~valid]),
        )
        for column in kept.T
    )  # fmt: skip


def reliability(probabilities: Floats, outcomes: Bools) -> Reliability:
    """Both calibration errors of `probabilities` (n,) in [0, 1] of what `outcomes` (n,) says came true."""
    if not probabilities.size:
        return Reliability(n=0, equal_width=None, equal_mass=None)
    return Reliability(
        n=probabilities.size,
        equal_width=calibration_error(probabilities, outcomes, "width"),
        equal_mass=calibration_error(probabilities, outcomes, "mass"),
    )


def judge_reliability(supports: Sequence[Mapping[str, float]], valid: Bools) -> dict[str, Reliability]:
    """By judge, the reliability of its support as the probability that the write is valid.

    `supports` is that of `strictness_grid.GridDecision`, one mapping a write: a write without a judge is left out of
    that judge's figure.
    """
    found = {}
    for judge in sorted({name for each in supports for name in each}):
        judged = np.array([judge in each for each in supports])
        found[judge] = reliability(np.array([each[judge] for each in supports if judge in each]), valid[judged])
    return found


def calibration_error(probabilities: Floats, outcomes: Bools, equal: Literal["width", "mass"]) -> float:
    """Mean distance of probability and frequency over at most `BINS` bins, each weighted by what is in it.

    Equal probabilities always share a bin: bins of equal mass would otherwise depend on the order of the input. Source:
    Guo et al., On calibration of modern neural networks, 2017 (equal width); Nixon et al., Measuring calibration in
    deep learning, 2019 (equal mass).
    """
    shares = np.arange(1, BINS) / BINS
    edges = shares if equal == "width" else np.unique(np.quantile(probabilities, shares, method="inverted_cdf"))
    # A probability on an edge counts above it among bins of equal width (.1 is in [.1, .2)), below it where the edge
    # is itself one of the probabilities.
    bins = np.searchsorted(edges, probabilities, side="right" if equal == "width" else "left")
    gaps = np.bincount(bins, weights=probabilities - outcomes)
    return float(np.abs(gaps).sum() / probabilities.size)


def _share(hits: Bools) -> float | None:
    return float(hits.mean()) if hits.size else None
