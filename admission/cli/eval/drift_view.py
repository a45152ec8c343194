"""How drift is shown: tables for the terminal, and the page with the published figures beside."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from admission.cli.eval.figures import COLOURS, NONE, difference, published, share, with_interval
from admission.cli.eval.tables import terminal_table
from admission.evaluation.derivation.drift import PUBLISHED, DriftFigures, RoundFigures
from admission.evaluation.derivation.published import WHOSE
from admission.evaluation.paired import RESAMPLES
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable
from admission.reports.figures import empty_figure, png
from admission.reports.summary import Proportion

_LIMITS = (
    "Drift is measured by rule: each sentence of a memory against the sentence of its turns that it shares most words "
    "with. What the rules do not read (an unusual date, a modality told by the tone) is not seen, and a sentence laid "
    "beside the wrong one may count as drifted.",
    "A time that is left out counts as drifted, although a memory need not tell all that its turn does: compare rounds "
    "with each other rather than with 0.",
    "The checks that measure are among those that the embedded verifiers use: that a gate of these stops drift is "
    "partly the same rule twice.",
    "With the gate, figures are of the memories it let in: read them with how many there are.",
    "The scripted writer is no model: it loses a fixed share of the times and modalities a round.",
    "The published figures are of other models on other samples: they show the kind of result, no bar.",
)


def drift_tables(found: DriftFigures) -> Iterator[Table]:
    """The tables for a terminal."""
    yield from map(terminal_table, _tables(found))


def drift_page(found: DriftFigures, configuration: tuple[tuple[str, str], ...]) -> EvaluationPage:
    return EvaluationPage(
        title=f"Drift over rounds of rewriting: {found.conversations} conversations",
        findings=tuple(_findings(found)),
        plots=(_plot(found),),
        tables=tuple(_tables(found)),
        limits=_LIMITS,
        configuration=configuration,
    )


def _findings(found: DriftFigures) -> Iterator[str]:
    for gated in (False, True):
        own = [one for one in found.rounds if one.gated is gated]
        first, last = own[0], own[-1]
        yield (
            f"{_way(last).capitalize()}: times drifted in {share(first.time)} at extraction and in {share(last.time)} "
            f"after round {last.round}, modalities in {share(first.modality)} and {share(last.modality)}; memories "
            f"{first.memories} and {last.memories}."
        )
    for one in found.differences:
        yield f"The gate changes the drift of {one.kind} after the last round by {difference(one.difference)}."
    if found.unusable:
        yield f"{found.unusable} answers of the writer held no memory; what they were to rewrite stayed as it was."


def _tables(found: DriftFigures) -> Iterator[ShownTable]:
    rows = tuple(
        (
            _way(one),
            "extraction" if not one.round else f"round {one.round}",
            str(one.memories),
            _of(one.time),
            _of(one.modality),
            NONE if one.stopped is None else share(one.stopped),
            NONE if one.let_in is None else share(one.let_in),
        )
        for one in found.rounds
    )
    untraced = sum(one.untraced for one in found.rounds)
    yield ShownTable(
        title=f"Memories that tell another time or modality than their turns (writer: {found.writer})",
        columns=("", "after", "memories", "time", "modality", "drifted stopped", "faithful let in"),
        rows=rows,
        names=2,
        note="Shares with exact 95 % intervals of the memories that tell one, or whose turns do. Stopped, let in: by "
        "the gate, of those put to it in this round."
        + (f" {untraced} memories rest on no turn that may be evidence." if untraced else ""),
    )
    yield ShownTable(
        title="Drift after the last round, with the gate less without it",
        columns=("of", "difference"),
        rows=tuple((one.kind, difference(one.difference)) for one in found.differences),
        note=f"95 % intervals by {RESAMPLES} draws of whole conversations.",
    )
    yield ShownTable(
        title=f"Drift at extraction and after round 4, {WHOSE}",
        columns=("model", "time", "", "modality", ""),
        rows=tuple((one.model, *map(published, (*one.time, *one.modality))) for one in PUBLISHED),
    )


def _plot(found: DriftFigures) -> Plot:
    figure = empty_figure(7.0, 4.0)
    axes = figure.subplots()
    for gated, style in ((False, "-"), (True, "--")):
        own = [one for one in found.rounds if one.gated is gated]
        for colour, kind in zip(COLOURS, ("time", "modality"), strict=False):
            shares: list[Proportion] = [getattr(one, kind) for one in own]
            known = [
                (one.round, value.value) for one, value in zip(own, shares, strict=True) if value.value is not None
            ]
            label = f"{kind}, {_way(own[0])}"
            axes.plot([at for at, _ in known], [v for _, v in known], style, marker="o", color=colour, label=label)
    axes.set(
        xlabel="round", ylabel="drifted (share)", ylim=(-0.03, 1.03), xticks=sorted({r.round for r in found.rounds})
    )
    axes.grid(color="0.92")
    axes.legend(fontsize=8, frameon=False)
    return Plot(
        title="Drift by round",
        file="drift.png",
        png=png(figure),
        alt="Lines over the rounds for time and modality, with the gate and without; the first table has the figures.",
    )


def _of(found: Proportion) -> str:
    return NONE if found.value is None else f"{with_interval(found)} n {found.n}"


def _way(one: RoundFigures) -> str:
    return "gated" if one.gated else "no gate"
