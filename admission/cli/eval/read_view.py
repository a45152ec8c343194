"""How a comparison of retrieval routes is shown: tables for the terminal, and the page with plots and limits."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import JustifyMethod
from rich.table import Table

from admission.evaluation.paired import Interval
from admission.evaluation.reading.axis_table import AXES
from admission.evaluation.reading.comparison import BASE, Comparison, Counted, RouteFigures
from admission.evaluation.reading.plots import loss_by_route, risk_against_recall
from admission.evaluation.reading.routes import NO_RANKER, routes
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable

_COLUMNS = (
    "route", "ranker", "recall", "reach", "known risk", "coverage", "risk interval", "width", "any violation",
    "violations", "loss", "scope violations", "similarities",
)  # fmt: skip
# Where a terminal of 120 columns has no room for a heading in one line.
_HEADS = {"similarities": "similar-\nities"}


def comparison_views(found: Comparison, budgets: Sequence[int]) -> list[Table]:
    """A table a budget, on the axes that the data state."""
    views = []
    for k in budgets:
        view = Table(title=_title(found, k, "stated"), title_justify="left", box=SIMPLE_HEAD, padding=(0, 0))
        for place, column in enumerate(_COLUMNS):
            head = _HEADS.get(column, column.replace(" ", "\n"))
            justify: JustifyMethod = "left" if place < 2 else "right"
            view.add_column(head, justify=justify, no_wrap=place < 2, overflow="fold")  # no figure is ever cut short
        for figures in _shown(found, k, "stated"):
            view.add_row(*_row(figures))
        views.append(view)
    return views


def comparison_page(
    found: Comparison, budgets: Sequence[int], configuration: tuple[tuple[str, str], ...]
) -> EvaluationPage:
    """The page: findings in words, plots, tables on the stated axes, their intervals, and on all axes."""
    plots = [
        Plot(
            title=f"Risk interval against recall, K = {k}",
            file=f"risk-recall-{k}.png",
            png=risk_against_recall(found, k),
            alt=f"Risk interval over recall, a panel a ranker, for {k} places; the table below has the figures.",
        )
        for k in budgets
    ]
    plots.append(
        Plot(
            title="Constrained loss by route",
            file="loss-by-route.png",
            png=loss_by_route(found, budgets),
            alt="Loss of each route and ranker with 95 % intervals; the tables below have the figures.",
        )
    )
    tables = [_table(found, k, "stated") for k in budgets] + [_intervals(found, k) for k in budgets]
    if any(figures.counted == "all" for figures in found.figures):
        tables += [_table(found, k, "all") for k in budgets]
    tables.append(_about())
    return EvaluationPage(
        title=f"Retrieval routes at equal recall: {found.data}",
        findings=_findings(found, budgets),
        plots=tuple(plots),
        tables=tuple(tables),
        limits=_limits(found),
        configuration=configuration,
    )


def _findings(found: Comparison, budgets: Sequence[int]) -> tuple[str, ...]:
    said = [
        f"{found.questions} questions of {found.groups} groups over {found.memories} memories. A risk is read on the "
        f"shortest prefix of a ranking whose recall is at least {found.tau:g}; a question whose ranking has none "
        "within K places is infeasible and has loss 1."
    ]
    rankers = [name for name in dict.fromkeys(f.ranker for f in found.figures) if name != NO_RANKER]
    for k in budgets:
        for ranker in rankers:
            own, all_of_it = found.of("namespace", ranker, k), found.of(BASE, ranker, k)
            gain = own.against_global["loss"]
            said.append(
                f"K = {k}, {ranker}: namespace against global recall {_number(own.recall)} against "
                f"{_number(all_of_it.recall)}, reach {_number(own.reach)} against {_number(all_of_it.reach)}, loss "
                f"difference {_signed(gain)}; {_number(all_of_it.scope_violations)} of the global places hold another "
                "namespace's memory."
            )
    return tuple(said)


def _limits(found: Comparison) -> tuple[str, ...]:
    silent = [axis for axis in AXES if axis not in found.stated]
    said = []
    if silent:
        said.append(
            f"The data say nothing of {' and '.join(silent)}: on all three axes no memory is known to be admissible, "
            "and the upper bound of every risk, and with it the loss, is 1. The first tables count "
            f"{' and '.join(found.stated) or 'nothing'} alone; they say nothing of the other axes."
        )
    if "lifecycle" not in found.stated:
        said.append("No memory states its lifecycle: the route current only is the namespace route.")
    said += [
        f"Intervals are 95 % percentile bootstraps over {found.groups} groups drawn whole; with few groups they are "
        "exploratory.",
        "Risk, coverage and violations are means over the questions that reach tau: routes reach different questions. "
        "Read them with recall and reach, never alone. The loss compares routes; it is no probability of harm.",
        "Similarities computed are counted, not timed.",
        "All required memories lie in the principal's namespace where the data have it so; the gain of the namespace "
        "route is then a positive control of its size, and rests on namespaces that can be trusted.",
    ]
    return tuple(said)


def _table(found: Comparison, k: int, counted: Counted) -> ShownTable:
    rows = tuple(_row(figures) for figures in _shown(found, k, counted))
    note = "Risk columns are means over the questions that reach tau; an empty cell had none."
    return ShownTable(title=_title(found, k, counted), columns=_COLUMNS, rows=rows, names=2, note=note)


def _intervals(found: Comparison, k: int) -> ShownTable:
    """What the intervals are, and the differences to the global route."""
    rows = []
    for figures in _shown(found, k, "stated"):
        gains = [figures.against_global.get(name) for name in ("recall", "reach", "loss")]
        rows.append(
            (
                figures.route,
                figures.ranker,
                *(_between(each) for each in (figures.recall, figures.reach, figures.upper, figures.loss)),
                *("" if gain is None else _signed(gain) for gain in gains),
            )
        )
    return ShownTable(
        title=f"95 % intervals and differences to global, K = {k}",
        columns=("route", "ranker", "recall", "reach", "upper risk", "loss", "Δ recall", "Δ reach", "Δ loss"),
        rows=tuple(rows),
        names=2,
        note="Differences question by question, to the global route with the same ranker.",
    )


def _about() -> ShownTable:
    return ShownTable(
        title="What the routes are",
        columns=("route", "what it searches"),
        rows=tuple((route.name, route.about) for route in routes()),
        names=2,
    )


def _title(found: Comparison, k: int, counted: Counted) -> str:
    axes = "all three axes" if counted == "all" else (" and ".join(found.stated) or "no axis stated")
    return f"K = {k}, tau = {found.tau:g}, violations of {axes}"


def _shown(found: Comparison, k: int, counted: Counted) -> list[RouteFigures]:
    return [figures for figures in found.figures if figures.k == k and figures.counted == counted]


def _row(figures: RouteFigures) -> tuple[str, ...]:
    lower, upper = _number(figures.lower), _number(figures.upper)
    return (
        figures.route,
        figures.ranker,
        _number(figures.recall),
        _number(figures.reach),
        _number(figures.known_risk),
        _number(figures.coverage),
        f"{lower}-{upper}" if lower else "",
        _number(figures.width),
        _number(figures.any_violation),
        _number(figures.violations, 2),
        _number(figures.loss),
        _number(figures.scope_violations),
        f"{figures.computations:,.0f}",
    )


def _number(found: Interval, digits: int = 3) -> str:
    return "" if found.value is None else f"{found.value:.{digits}f}"


def _between(found: Interval) -> str:
    if found.low is None or found.high is None:
        return ""
    return f"{found.low:.3f}-{found.high:.3f}"


def _signed(found: Interval) -> str:
    if found.value is None:
        return ""
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
