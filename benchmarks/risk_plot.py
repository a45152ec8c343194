"""A picture of what each method admits as it grows more lenient: for the retention it reaches, for its coverage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from admission.evaluation.reliability import risk_coverage
from benchmarks.memory_scores import GATE, Ranking
from training.locomo import RETENTION


def draw(ranked: Sequence[Ranking], valid: np.ndarray, file: Path) -> None:
    """Write a PNG: unsupported admission over valid retention, and risk over coverage, a line a method.

    `valid` (cases,). The gate's line is heavy, its dot what the package ships. matplotlib is needed (extra `dev`).
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    for ranking in ranked:
        points = [point for point in risk_coverage(ranking.kept, valid) if point.risk is not None]
        retention, unsupported, coverage, risk = (
            [getattr(point, name) for point in points]
            for name in ("retention", "unsupported_admission", "coverage", "risk")
        )
        ours = {"color": "black", "linewidth": 2.6, "zorder": 3} if ranking.name == GATE else {"linewidth": 1.1}
        (line,) = left.plot(retention, unsupported, label=ranking.name, **ours)
        right.plot(coverage, risk, **{**ours, "color": line.get_color()})
        if ranking.name == GATE and ranking.shipped is not None:
            (at,) = risk_coverage(ranking.shipped[:, None], valid)
            left.plot(at.retention, at.unsupported_admission, "o", color=line.get_color(), zorder=4)
            right.plot(at.coverage, at.risk, "o", color=line.get_color(), zorder=4)
    left.axvline(RETENTION, color="0.7", linewidth=0.8, linestyle=":")
    left.set(xlabel="valid writes kept", ylabel="unsupported writes admitted", xlim=(0, 1), ylim=(0, 1))
    right.set(xlabel="coverage: writes kept, of all", ylabel="risk: unsupported among the kept", xlim=(0, 1))
    right.set_ylim(0, None)
    left.legend(fontsize=8)
    for axes in (left, right):
        axes.grid(color="0.92")
    figure.savefig(file, dpi=100, metadata={"Software": None})
