"""How the six views are shown: tables, and one plot with a point a view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from admission.cli.eval.figures import COLOURS, difference, p_value, published, share, with_interval
from admission.evaluation.derivation.published import WHOSE
from admission.evaluation.derivation.views import BASELINE, METRICS, PUBLISHED, Metric, ViewFigures, ViewsReport
from admission.evaluation.paired import RESAMPLES
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable
from admission.reports.figures import empty_figure, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES: dict[Metric, str] = {
    "relation_detection": "unsupported relations found",
    "unsupported_detection": "all unsupported found",
    "multi_passage_retention": "multi-passage kept",
    "valid_retention": "all valid kept",
}
PUBLISHED_MODEL = "Qwen3-30B-A3B"
_LIMITS = (
    "Found: not admitted. A memory may be kept out for another reason than the relation that is not supported.",
    "The setting of the evidence is the same in all views, but what is retrieved depends on the statements looked for: "
    "the column of same passages says how often a view saw others.",
    "A memory in a language that the judges cannot read is never admitted in any view: it counts as found if it is "
    "unsupported, and as lost if it is valid.",
    "The published figures are of another model on other samples of writes: they show the kind of result, no bar.",
)


def views_tables(found: ViewsReport) -> Iterator[ShownTable]:
    """The tables for the terminal and the page."""
    yield _rates(found)
    yield _published()
    if found.comparisons:
        yield _comparisons(found)


def views_page(found: ViewsReport, configuration: tuple[tuple[str, str], ...]) -> EvaluationPage:
    axes = _axes(found)
    return EvaluationPage(
        title=f"Verification views: {found.writes} writes",
        findings=tuple(_findings(found)),
        plots=() if axes is None else (_plot(found, *axes),),
        tables=tuple(views_tables(found)),
        limits=_LIMITS,
        configuration=configuration,
    )


def _findings(found: ViewsReport) -> Iterator[str]:
    for one in found.views:
        if one.same_as is None:
            rates = (f"{NAMES[metric]} {share(one.rates[metric])}" for metric in METRICS if one.rates[metric].n)
            yield f"{one.view}: {'; '.join(rates)}."
    alike = [one.view for one in found.views if one.same_as is not None]
    if alike:
        yield (
            f"These judges are asked the very same in {', '.join(alike)} as in {BASELINE}: they read no prompt, only "
            "statements, and these views are made of the same ones. Their figures are one measurement, not several."
        )


def _rates(found: ViewsReport) -> ShownTable:
    rows = tuple(
        (
            one.view if one.same_as is None else f"{one.view} (as {one.same_as})",
            *(with_interval(one.rates[metric]) for metric in METRICS),
            share(one.same_passages),
            f"{one.usage.calls:,}",
        )
        for one in found.views
    )
    n = {metric: found.views[0].rates[metric].n for metric in METRICS}
    return ShownTable(
        title="What each view finds and keeps",
        columns=("view", *(f"{NAMES[metric]}, n {n[metric]}" for metric in METRICS), "same passages", "calls"),
        rows=rows,
        note="Shares with exact 95 % intervals. Unsupported relations: unsupported memories whose reference says that "
        "a relation does not hold. Multi-passage: the reference's evidence is of two turns or more. Same passages: as "
        f"{BASELINE}. (as {BASELINE}): the judges are asked the very same. {found.unlabelled} of {found.writes} writes "
        "have no reference.",
    )


def _published() -> ShownTable:
    return ShownTable(
        title=f"{PUBLISHED_MODEL}, {WHOSE}",
        columns=("view", NAMES["relation_detection"], NAMES["multi_passage_retention"]),
        rows=tuple(
            (one.view, published(one.relation_detection), published(one.multi_passage_retention)) for one in PUBLISHED
        ),
    )


def _comparisons(found: ViewsReport) -> ShownTable:
    rows = tuple(
        (
            NAMES[one.metric],
            one.view,
            difference(one.difference),
            str(one.only_view),
            str(one.only_baseline),
            p_value(one.p),
            p_value(one.adjusted),
        )
        for one in found.comparisons
    )
    return ShownTable(
        title=f"The same writes in a view and in {BASELINE}",
        columns=("of", "view", f"less {BASELINE}", "only this view", f"only {BASELINE}", "p", "Holm"),
        rows=rows,
        names=2,
        note=f"95 % intervals by {RESAMPLES} draws of whole families or conversations; p: McNemar's exact test; Holm: "
        "adjusted over this table.",
    )


class _Point(NamedTuple):
    across: float
    up: float
    label: str
    colour: str
    ours: bool


def _axes(found: ViewsReport) -> tuple[Metric, Metric] | None:
    """What the plot has across and up: relations and multi-passage memories where there are any of both."""
    n = {metric: found.views[0].rates[metric].n for metric in METRICS}
    across: Metric = "multi_passage_retention" if n["multi_passage_retention"] else "valid_retention"
    up: Metric = "relation_detection" if n["relation_detection"] else "unsupported_detection"
    return (across, up) if n[across] and n[up] else None


def _plot(found: ViewsReport, across: Metric, up: Metric) -> Plot:
    points = _points(found.views, across, up)
    if (across, up) == ("multi_passage_retention", "relation_detection"):
        points += [
            _Point(
                one.multi_passage_retention, one.relation_detection, f"{one.view}\n({PUBLISHED_MODEL})", "0.5", False
            )
            for one in PUBLISHED
            if one.multi_passage_retention is not None
        ]
    figure = empty_figure(9.2, 5.6)
    axes = figure.subplots()
    for point in points:
        axes.plot(
            point.across, point.up, "o", color=point.colour, markersize=9, fillstyle="full" if point.ours else "none"
        )
    _label(axes, points)
    axes.set(
        xlabel=f"{NAMES[across]} (share of {found.views[0].rates[across].n})",
        ylabel=f"{NAMES[up]} (share of {found.views[0].rates[up].n})",
        xlim=(-0.03, 1.03),
        ylim=(-0.03, 1.03),
    )
    axes.grid(color="0.92")
    return Plot(
        title="What a view finds against what it keeps: up is better, right is better",
        file="views.png",
        png=png(figure),
        alt=f"A point a view; open circles are of {PUBLISHED_MODEL}, {WHOSE}. The first table has the figures.",
    )


def _points(views: Sequence[ViewFigures], across: Metric, up: Metric) -> list[_Point]:
    """A point for all views that lie on the same place, named after all of them."""
    named: dict[tuple[float, float], list[str]] = {}
    for one in views:
        x, y = one.rates[across].value, one.rates[up].value
        if x is not None and y is not None:
            named.setdefault((x, y), []).append(one.view)
    return [
        _Point(x, y, "\n".join(names), colour, True)
        for ((x, y), names), colour in zip(named.items(), COLOURS, strict=False)
    ]


def _label(axes: Axes, points: Sequence[_Point]) -> None:
    """Names in a column on the right, each led to its point: no two lie over each other."""
    line = 0.045
    ordered = sorted(points, key=lambda point: -point.up)
    heights = [line * (point.label.count("\n") + 2) for point in ordered]
    spare = max(0.0, 1.0 - sum(heights))
    top = min(1.0, 0.5 + (sum(heights) + spare * 0.5) / 2)
    for point, height in zip(ordered, heights, strict=True):
        axes.annotate(
            point.label,
            xy=(point.across, point.up),
            xytext=(1.05, top - height / 2),
            textcoords="axes fraction",
            va="center",
            fontsize=9,
            color=point.colour if point.ours else "0.35",
            arrowprops={"arrowstyle": "-", "color": "0.75", "lw": 0.8, "shrinkB": 5},
            annotation_clip=False,
        )
        top -= height + spare * 0.5 / len(ordered)
