"""How matched families are shown: tables, and detection against retention, local and distributed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from admission.cli.eval.figures import COLOURS, NONE, count, difference, p_value, published, share, with_interval
from admission.evaluation.derivation.families import (
    CELLS,
    PUBLISHED_DETECTION,
    SPREADS,
    AtRetention,
    CellFigures,
    EqualRetention,
    FamilyFigures,
    Part,
)
from admission.evaluation.derivation.published import WHOSE
from admission.evaluation.paired import RESAMPLES
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable
from admission.reports.figures import empty_figure, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELL_NAMES = tuple(cell.replace("_", " ") for cell in CELLS)
_GAP = "gap in detection"
_STYLES = ("-", "--", ":", "-.")
_LIMITS = (
    "Families are for measuring: nothing may be fitted on them, or they measure nothing.",
    "A memory in a language that the judges cannot read is kept in no cell at any strictness: it lowers the retention "
    "of all families and counts as detected. Read such languages apart.",
    "At equal retention the strictness is chosen on the same families whose detection is then counted; its choice is "
    "not in the interval.",
    "The published figures are of another model on other families: they show the kind of result, no bar.",
)


def families_tables(found: FamilyFigures) -> Iterator[ShownTable]:
    """The tables for the terminal and the page."""
    yield _accepted(found)
    titles: dict[Part, str] = {"target": "By target", "language": "By language"}
    for by, title in titles.items():
        own = [one for one in found.cells if one.by == by]
        if own:
            yield _counts(title, own)
    yield _published()
    for part in dict.fromkeys(one.part for one in found.equal):
        yield _equal(part, [one for one in found.equal if one.part == part])


def families_page(found: FamilyFigures, configuration: tuple[tuple[str, str], ...]) -> EvaluationPage:
    return EvaluationPage(
        title=f"Matched families: {found.families}",
        findings=tuple(_findings(found)),
        plots=tuple(_plot(found, part) for part in dict.fromkeys(curve.part for curve in found.curves)),
        tables=tuple(families_tables(found)),
        limits=_LIMITS,
        configuration=configuration,
    )


def _findings(found: FamilyFigures) -> Iterator[str]:
    for one in found.cells:
        if one.by == "all":
            kept = {cell: share(one.accepted[cell]) for cell in CELLS}
            yield (
                f"{one.view}: of valid memories {kept['local_valid']} are accepted where the evidence is in one "
                f"place, {kept['distributed_valid']} where it is spread; of invalid ones {kept['local_invalid']} and "
                f"{kept['distributed_invalid']}."
            )
    for same in found.equal:
        local, distributed = (same.found[spread].detection.value for spread in SPREADS)
        yield (
            f"{same.view}, {same.part}, where at least {same.level:g} of the valid memories are kept: "
            f"{published(local)} of the invalid ones found where the evidence is in one place, "
            f"{published(distributed)} where it is spread (difference {difference(same.gap)}, p = {p_value(same.p)}, "
            f"after Holm {p_value(same.adjusted)})."
        )
    if not found.curves:
        yield (
            "Nothing is compared at equal retention: a sweep of strictness would ask these judges again at each point."
        )
    elif not found.equal:
        yield (
            "Nothing is compared at equal retention: at no strictness are so many valid memories of both kinds kept."
        )


def _accepted(found: FamilyFigures) -> ShownTable:
    rows = tuple(
        (one.view, *(with_interval(one.accepted[cell]) for cell in CELLS), difference(one.gap))
        for one in found.cells
        if one.by == "all"
    )
    return ShownTable(
        title=f"Accepted of each cell of {found.families} families, at the gate's own strictness",
        columns=("view", *_CELL_NAMES, _GAP),
        rows=rows,
        note=f"Shares with exact 95 % intervals. {_GAP.capitalize()}: the share of invalid memories found with the "
        f"evidence in one place less with it spread, 95 % interval by {RESAMPLES} draws of families.",
    )


def _counts(title: str, cells: Sequence[CellFigures]) -> ShownTable:
    order = {part: place for place, part in enumerate(dict.fromkeys(one.part for one in cells))}
    rows = tuple(
        (one.part.replace("_", " "), one.view, *(count(one.accepted[cell]) for cell in CELLS), difference(one.gap))
        for one in sorted(cells, key=lambda one: order[one.part])
    )
    return ShownTable(title=f"{title}: accepted", columns=("", "view", *_CELL_NAMES, _GAP), rows=rows, names=2)


def _published() -> ShownTable:
    rows = tuple((view, NONE, published(value)) for view, value in PUBLISHED_DETECTION.items())
    return ShownTable(
        title=f"Qwen3-30B-A3B, {WHOSE}",
        columns=("view", "invalid found, evidence in one place", "invalid found, evidence spread"),
        rows=rows,
    )


def _equal(part: str, equal: Sequence[EqualRetention]) -> ShownTable:
    rows = tuple(
        (
            one.view,
            f"{one.level:g}",
            *(text for spread in SPREADS for text in _at(one.found[spread])),
            difference(one.gap),
            p_value(one.adjusted),
        )
        for one in equal
    )
    return ShownTable(
        title=f"At equal retention of valid memories, {part}",
        columns=("view", "keep", "local kept", "found", "spread kept", "found", _GAP, "p, Holm"),
        rows=rows,
        note="Keep: at least so many of the valid memories. Kept: the share at the strictest point of the sweep that "
        "does (in brackets, log-odds). Found: invalid memories not accepted there, with the exact 95 % interval. p: "
        "McNemar's exact test of the families of which only one of the two was found, after Holm over all such rows.",
    )


def _at(found: AtRetention) -> tuple[str, str]:
    return (f"{published(found.retention.value)} ({found.strictness:+g})", with_interval(found.detection))


def _plot(found: FamilyFigures, part: str) -> Plot:
    """Detection against retention; a gate that does not look at the evidence stays on the dotted line."""
    figure = empty_figure(7.6, 5.8)
    axes = figure.subplots()
    views = list(dict.fromkeys(curve.view for curve in found.curves))
    for curve in found.curves:
        if curve.part != part:
            continue
        colour = COLOURS[SPREADS.index(curve.spread)]
        style = _STYLES[views.index(curve.view) % len(_STYLES)]
        axes.plot(curve.retention, curve.detection, style, color=colour, label=f"{curve.spread}, {curve.view}")
        own = curve.strictness.index(found.strictness)
        axes.plot(curve.retention[own], curve.detection[own], "o", color=colour, markersize=7)
    _frame(axes)
    return Plot(
        title=f"Detection at each retention, {part}: up is better, right is better",
        file=f"families-{part.replace(' ', '-')}.png",
        png=png(figure),
        alt="A line a view and kind of family over all strictness; the dots are the gate's own strictness, the dotted "
        "line is what a judge gets that does not look at the evidence.",
    )


def _frame(axes: Axes) -> None:
    axes.plot((0, 1), (1, 0), ":", color="0.6", label="not looking at the evidence")
    axes.set(
        xlabel="valid memories kept (share)",
        ylabel="invalid memories found (share)",
        xlim=(-0.03, 1.03),
        ylim=(-0.03, 1.03),
    )
    axes.grid(color="0.92")
    axes.legend(loc="lower left", fontsize=9, frameon=False)
