"""The pictures of the audit, as PNG bytes. matplotlib is loaded when one is drawn (extra `eval`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from admission.eviction.grid import WHOLE
from admission.eviction.report import EvictionReport, ReportedCell
from admission.eviction.restore import CellName
from admission.reports.figures import empty_figure, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart by colour-blind readers; the hatches and marks differ too.
_PARTS: tuple[tuple[CellName, str, str], ...] = (
    ("right", "#56B4E9", ""),
    ("irreversible", "#D55E00", "//"),
    ("recoverable", "#009E73", ".."),
    ("residual", "#999999", "xx"),
)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000", "#7f7f7f")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")


def composition(report: EvictionReport, ranker: str) -> bytes:
    """What each store's questions came to, read by the ranker: a bar a policy and budget, its parts the cells."""
    cells = [c for c in report.cells if c.cell.setting.condition == "ranked" and c.cell.setting.ranker == ranker]
    figure = empty_figure(8.6, 0.36 * len(cells) + 1.6)
    axes: Axes = figure.subplots()
    labels = [f"{cell.cell.policy}, {cell.cell.budget}" for cell in cells]
    left = [0.0] * len(cells)
    for part, colour, hatch in _PARTS:
        widths = [cell.figures.counts[part] / max(1, cell.figures.questions) for cell in cells]
        axes.barh(labels, widths, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0.4, label=part)
        for row, (start, width, cell) in enumerate(zip(left, widths, cells, strict=True)):
            if width > 0.045:
                axes.text(
                    start + width / 2, row, f"{cell.figures.counts[part]:,}", ha="center", va="center", fontsize=8,
                    bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
                )  # fmt: skip
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel=f"share of {report.denominator.counted:,} questions")
    figure.legend(loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    return png(figure)


def shares_by_budget(report: EvictionReport, rankers: tuple[str, ...]) -> bytes:
    """The irreversible share of restored errors (above) and the recoverable errors (below) from no eviction to the
    tightest budget, a panel a ranker, a line a policy."""
    figure = empty_figure(max(6.4, 4.6 * len(rankers)), 6.6)
    rows = figure.subplots(2, len(rankers), squeeze=False, sharex=True, sharey="row")
    budgets = list(dict.fromkeys(c.cell.budget for c in report.cells))
    policies = [p for p in dict.fromkeys(c.cell.policy for c in report.cells) if p != "none"]
    for column, ranker in enumerate(rankers):
        shares, counts = rows[0][column], rows[1][column]
        for place, policy in enumerate(policies):
            # A little aside, so that intervals of lines at the same height can be told apart.
            aside = 0.05 * (place - (len(policies) - 1) / 2)
            cells = [report.of("none" if b == WHOLE else policy, b, "ranked", ranker) for b in budgets]
            points = [(x + aside, cell) for x, cell in enumerate(cells) if cell is not None]
            colour, mark = _COLOURS[place % len(_COLOURS)], _MARKS[place % len(_MARKS)]
            _share_line(shares, points, policy, colour, mark)
            missed = [cell.figures.counts["recoverable"] for _, cell in points]
            counts.plot([x for x, _ in points], missed, color=colour, marker=mark, markersize=5, linewidth=1.4)
        shares.set(title=ranker, ylim=(-0.03, 1.04))
        counts.set(xlabel="budget")
        counts.set_xticks(range(len(budgets)), budgets)
        for axes in (shares, counts):
            axes.grid(color="0.92")
    rows[0][0].set_ylabel("irreversible / (irreversible + recoverable)")
    rows[1][0].set_ylabel("recoverable errors")
    rows[1][0].set_ylim(bottom=0)
    handles, labels = rows[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=9, frameon=False)
    return png(figure)


def _share_line(axes: Axes, points: Sequence[tuple[float, ReportedCell]], policy: str, colour: str, mark: str) -> None:
    """The share with its interval where it has one."""
    found = [(x, cell.figures.of_restored) for x, cell in points if cell.figures.of_restored.value is not None]
    values = [share.value or 0.0 for _, share in found]
    below = [max(0.0, (share.value or 0.0) - (share.low or 0.0)) for _, share in found]
    above = [max(0.0, (share.high or 0.0) - (share.value or 0.0)) for _, share in found]
    axes.errorbar(
        [x for x, _ in found], values, yerr=[below, above], color=colour, marker=mark, markersize=5, linewidth=1.4,
        capsize=2, elinewidth=1, label=policy,
    )  # fmt: skip
