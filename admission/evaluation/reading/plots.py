"""The pictures of both evaluations, as PNG bytes. matplotlib is loaded when one is drawn (extra `eval`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from admission.errors import InputError
from admission.evaluation.reading.comparison import Comparison, RouteFigures
from admission.evaluation.reading.corruption import BASELINES, ChannelFigures, CorruptionCurves
from admission.evaluation.reading.routes import NO_RANKER
from admission.reports.figures import empty_figure, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart by colour-blind readers; the marks differ too.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7f7f7f")
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_STYLES = (
    ("o", 8, True),
    ("o", 13, False),
    ("^", 8, True),
    ("x", 8, True),
    ("D", 7, True),
    ("*", 12, True),
    ("s", 7, True),
)
_POST_FILTER = "post-filter"


def check_plots() -> None:
    """Raises `InputError` if matplotlib is not installed: better before a long measurement than after it."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise InputError("--out", "plots need matplotlib", "pip install 'memory-admission[eval]'") from error


def risk_against_recall(found: Comparison, k: int) -> bytes:
    """A panel a ranker: each route's risk interval, a vertical bar, at its recall. The post-filters are one line."""
    rankers = _rankers(found)
    figure = empty_figure(max(7.6, 4.9 * len(rankers)), 6.2)
    panels = figure.subplots(1, len(rankers), squeeze=False, sharey=True)[0]
    names = list(dict.fromkeys(f.route for f in found.figures))
    single = [name for name in names if not name.startswith(_POST_FILTER)]
    for axes, ranker in zip(panels, rankers, strict=True):
        depths = [_cell(found, name, ranker, k) for name in names if name.startswith(_POST_FILTER)]
        _line_of(axes, [cell for cell in depths if cell is not None])
        for place, name in enumerate(single):
            cell = _cell(found, name, ranker, k)
            if cell is not None:
                _interval_bar(axes, cell, place)
        axes.set(title=ranker, xlabel=f"recall of required memories in {k} places", xlim=(0, 1.03))
        axes.grid(color="0.92")
    top = max([0.2, *(f.upper.value or 0.0 for f in found.figures if f.k == k and f.counted == "stated")])
    panels[0].set(ylabel=f"risk interval where recall {found.tau:g} is reached", ylim=(-0.04 * top, 1.12 * top))
    known = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    return png(figure)


def loss_by_route(found: Comparison, budgets: Sequence[int]) -> bytes:
    """Constrained loss of every route with every ranker, a panel a budget, with 95 % intervals."""
    rankers = _rankers(found)
    routes = list(dict.fromkeys(f.route for f in found.figures))
    figure = empty_figure(6.0 * len(budgets) + 1.2, 0.46 * len(routes) + 1.9)
    panels = figure.subplots(1, len(budgets), squeeze=False, sharey=True)[0]
    for axes, k in zip(panels, budgets, strict=True):
        for series, ranker in enumerate(rankers):
            shift = (series - (len(rankers) - 1) / 2) * 0.22
            for row, route in enumerate(routes):
                cell = _cell(found, route, ranker, k)
                if cell is None or cell.loss.value is None or cell.loss.low is None or cell.loss.high is None:
                    continue
                if cell.ranker == NO_RANKER:  # shown once, in grey
                    if not series:
                        axes.plot(cell.loss.value, row, "*", color="0.4", markersize=8)
                    continue
                value, low, high = cell.loss.value, cell.loss.low, cell.loss.high
                axes.errorbar(
                    value, row + shift, xerr=[[max(0.0, value - low)], [max(0.0, high - value)]],
                    fmt=_MARKS[series % len(_MARKS)], color=_COLOURS[series % len(_COLOURS)], markersize=5.5,
                    elinewidth=1.1, capsize=2, label=ranker if not row else None,
                )  # fmt: skip
        axes.set(title=f"K = {k}", xlabel="recall-constrained loss (lower is better)", xlim=(0, 1.02))
        axes.grid(axis="x", color="0.92")
    panels[0].set_yticks(range(len(routes)), routes)
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    return png(figure)


def corruption_plot(found: CorruptionCurves) -> bytes:
    """Loss over corruption rate, a panel an axis, a line a channel; the baselines are grey lines."""
    kinds = list(dict.fromkeys(channel.channel.split()[0] for channel in found.channels))
    figure = empty_figure(4.9 * len(kinds), 5.2)
    panels = figure.subplots(1, len(kinds), squeeze=False, sharey=True)[0]
    for axes, kind in zip(panels, kinds, strict=True):
        shown = [channel for channel in found.channels if channel.channel.startswith(kind)]
        for place, channel in enumerate(shown):
            _curve(axes, channel, place, channel.channel.removeprefix(f"{kind} "))
        for name, style in zip(BASELINES, ("-", "--", ":"), strict=True):
            level = found.baselines[name]["loss"].value
            if level is not None:
                axes.axhline(level, color="0.35", linewidth=1, linestyle=style, label=_BASELINE[name])
        axes.set(title=kind, xlabel="share of memories with corrupted metadata, %", xlim=(-1, 51))
        axes.grid(color="0.92")
        axes.legend(fontsize=8.5, loc="best", framealpha=0.9)
    panels[0].set_ylabel(f"recall-constrained loss, K = {found.k}")
    return png(figure)


_BASELINE = {"clean": "gate, clean metadata", "namespace": "namespace, no gate", "global": "global"}


def _curve(axes: Axes, channel: ChannelFigures, place: int, label: str) -> None:
    points = [(100 * f.rate, f.loss) for f in channel.figures if f.loss.value is not None]
    if not channel.applies:
        axes.plot([], [], " ", label=f"{label}: nothing to corrupt")
        return
    rates = [rate for rate, _ in points]
    colour = _COLOURS[place % len(_COLOURS)]
    axes.plot(
        rates, [loss.value or 0.0 for _, loss in points], color=colour, marker=_MARKS[place % len(_MARKS)],
        markersize=5, linewidth=1.5, label=label,
    )  # fmt: skip


def _interval_bar(axes: Axes, cell: RouteFigures, place: int) -> None:
    """A bar from the lower to the upper bound, a mark at both ends; marks differ in shape, size and filling, so that
    routes at the same point can be told apart."""
    recall, lower, upper = cell.recall.value, cell.lower.value, cell.upper.value
    if recall is None or lower is None or upper is None:
        return
    mark, size, filled = _STYLES[place % len(_STYLES)]
    colour = _COLOURS[place % len(_COLOURS)]
    axes.plot(
        [recall, recall], [lower, upper], color=colour, linewidth=2, marker=mark, markersize=size, label=cell.route,
        markerfacecolor=colour if filled else "none", markeredgecolor=colour, markeredgewidth=1.6, zorder=3,
    )  # fmt: skip


def _line_of(axes: Axes, depths: Sequence[RouteFigures]) -> None:
    """The post-filters from shallow to deep, by the upper bound."""
    points = [(cell.recall.value, cell.upper.value) for cell in depths if cell.upper.value is not None]
    if not points:
        return
    first, last = depths[0].route, depths[-1].route
    label = f"{_POST_FILTER}, {first.partition('@')[2]} to {last.partition('@')[2]} deep"
    axes.plot(*zip(*points, strict=True), color="0.45", marker="|", markersize=11, linewidth=1, label=label, zorder=2)


def _rankers(found: Comparison) -> list[str]:
    return [name for name in dict.fromkeys(f.ranker for f in found.figures) if name != NO_RANKER]


def _cell(found: Comparison, route: str, ranker: str, k: int) -> RouteFigures | None:
    """The figures on the stated axes; those of a route without ranker for every ranker."""
    for name in (ranker, NO_RANKER):
        try:
            return found.of(route, name, k)
        except KeyError:
            continue
    return None
