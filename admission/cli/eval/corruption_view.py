"""How corruption curves are shown: a table for the terminal, and the page with the curves and limits."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table

from admission.evaluation.reading.corruption import BASELINES, ChannelFigures, CorruptionCurves
from admission.evaluation.reading.plots import corruption_plot
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable


def corruption_view(found: CorruptionCurves) -> Table:
    """Loss by channel and rate, and the first rate that loses to each baseline."""
    shown = _losses(found)
    view = Table(title=shown.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 0), caption=shown.note)
    for place, column in enumerate(shown.columns):
        view.add_column(column.replace(" > ", "\n> "), justify="right" if place else "left", no_wrap=True)
    for row in shown.rows:
        view.add_row(*row)
    return view


def corruption_page(found: CorruptionCurves, configuration: tuple[tuple[str, str], ...]) -> EvaluationPage:
    """The page of a run: curves, losses, recall, and what the channels are."""
    plot = Plot(
        title="Loss over corruption rate",
        file="corruption.png",
        png=corruption_plot(found),
        alt="Loss over the share of memories with corrupted metadata, a panel an axis; figures in the table below.",
    )
    return EvaluationPage(
        title=f"What corrupted metadata cost: {found.data}",
        findings=_findings(found),
        plots=(plot,),
        tables=(_losses(found), _clearly(found), _recalls(found), _about(found)),
        limits=_limits(found),
        configuration=configuration,
    )


def _findings(found: CorruptionCurves) -> tuple[str, ...]:
    levels = ", ".join(f"{name} {found.baselines[name]['loss'].value or 0:.3f}" for name in BASELINES)
    said = [f"{found.questions} questions, {found.ranker}, K = {found.k}. Loss without corruption: {levels}."]
    for channel in found.channels:
        if not channel.applies:
            said.append(f"{channel.channel}: the data state nothing that it could change.")
            continue
        parts = [f"{name} at {_rate(channel.first_worse[name])}" for name in BASELINES]
        said.append(f"{channel.channel}: first loses to {', '.join(parts)}.")
    return tuple(said)


def _limits(found: CorruptionCurves) -> tuple[str, ...]:
    return (
        "Rates are points of a grid, not thresholds between them. That a channel does not lose by the loss does not "
        "make it safe: see the share of other namespaces' memories.",
        "A false denial on an axis that the data do not state is measured by what it hides; a false permission there "
        "cannot be, since nothing is known to be forbidden.",
        f"Each rate is the mean of {found.draws} draws; intervals are bootstraps over {found.groups} groups, "
        "exploratory where these are few.",
        f"Violations are counted on {' and '.join(found.stated) or 'no axis'}, by the metadata as the data have them.",
        "A namespace that is missing and one that is nobody's have the same effect: a boundary lets in neither.",
        "A memory that is said to be stale is hidden from questions about the present alone; what the gate takes for "
        "one is its settings' choice (`intent`).",
    )


def _losses(found: CorruptionCurves) -> ShownTable:
    rates = [figures.rate for figures in found.channels[0].figures]
    rows = tuple(
        (
            channel.channel,
            *(_values(channel, "loss")),
            *(_rate(channel.first_worse[name]) if channel.applies else "" for name in BASELINES),
        )
        for channel in found.channels
    )
    return ShownTable(
        title=f"Constrained loss by corruption rate, {found.ranker}, K = {found.k}",
        columns=("channel", *(f"{rate:.0%}" for rate in rates), *(f"first > {name}" for name in BASELINES)),
        rows=rows,
        note="first > X: the lowest rate at which the mean loss is above that of X (clean: the same gate on clean "
        "metadata; namespace: clean, without policy and lifecycle; global: no boundary). Empty: nothing to corrupt.",
    )


def _clearly(found: CorruptionCurves) -> ShownTable:
    return ShownTable(
        title="First rate that loses beyond the 95 % interval",
        columns=("channel", *BASELINES),
        rows=tuple(
            (channel.channel, *(_rate(channel.clearly_worse[name]) if channel.applies else "" for name in BASELINES))
            for channel in found.channels
        ),
    )


def _recalls(found: CorruptionCurves) -> ShownTable:
    rates = [figures.rate for figures in found.channels[0].figures]
    rows = [(c.channel, name, *_values(c, name)) for c in found.channels for name in ("recall", "scope_violations")]
    return ShownTable(
        title="Recall, and the share of places with another namespace's memory",
        columns=("channel", "figure", *(f"{rate:.0%}" for rate in rates)),
        rows=tuple((channel, name.replace("_", " "), *values) for channel, name, *values in rows),
        names=2,
    )


def _about(found: CorruptionCurves) -> ShownTable:
    rows = tuple((channel.channel, channel.about) for channel in found.channels)
    return ShownTable(title="What the channels do", columns=("channel", "what is corrupted"), rows=rows, names=2)


def _values(channel: ChannelFigures, name: str) -> tuple[str, ...]:
    if not channel.applies:
        return ("",) * len(channel.figures)
    values = [getattr(figures, name).value for figures in channel.figures]
    return tuple("" if value is None else f"{value:.3f}" for value in values)


def _rate(rate: float | None) -> str:
    return "none" if rate is None else f"{rate:.0%}"
