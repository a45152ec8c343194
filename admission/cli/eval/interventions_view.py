"""How interventions are shown: acceptance before and after as a table and as bars, the published ranges beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from admission.cli.eval.figures import COLOURS, NONE, p_value, share, with_interval
from admission.evaluation.derivation.interventions import (
    ALL,
    INTERVENTIONS,
    PUBLISHED,
    Intervention,
    InterventionFigures,
    InterventionsReport,
)
from admission.evaluation.derivation.published import WHOSE
from admission.records import VerificationView
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable
from admission.reports.figures import empty_figure, png
from admission.reports.summary import Proportion

NAMES: dict[Intervention, str] = {
    "evidence_removed": "evidence removed",
    "premise_replaced": "premise replaced",
}
_LIMITS = (
    "Evidence is what the references name. Where a history says a thing twice and the reference names one place, "
    "taking that away leaves enough, and a decision that stands is right.",
    "Only what was accepted before can flip: read the share that flips with the number that it is of.",
    "A replaced premise is other talk of the same speaker, about as long, that shares no content word with the memory.",
    "The published ranges are of other models on other samples: they show the kind of result, no bar.",
)


def interventions_tables(found: InterventionsReport) -> Iterator[ShownTable]:
    """The tables for the terminal and the page."""
    for view in dict.fromkeys(one.view for one in found.figures):
        yield _flips(found, view)
    yield _published()


def interventions_page(found: InterventionsReport, configuration: tuple[tuple[str, str], ...]) -> EvaluationPage:
    whole = [one for one in found.figures if one.part == ALL]
    return EvaluationPage(
        title=f"Interventions: {sum(found.writes.values())} writes",
        findings=tuple(map(_finding, whole)),
        plots=(_plot(whole),) if whole else (),
        tables=tuple(interventions_tables(found)),
        limits=_LIMITS,
        configuration=configuration,
    )


def _finding(one: InterventionFigures) -> str:
    return (
        f"{NAMES[one.intervention].capitalize()}, {one.view}: accepted {share(one.before)} before and "
        f"{share(one.after)} after; of those accepted, {with_interval(one.flipped)} no longer "
        f"(p = {p_value(one.p)}, after Holm {p_value(one.adjusted)})."
    )


def _flips(found: InterventionsReport, view: VerificationView) -> ShownTable:
    rows = tuple(
        (
            NAMES[one.intervention] if one.part == ALL else f"  {one.part.replace('_', ' ')}",
            str(one.before.n),
            with_interval(one.before),
            with_interval(one.after),
            f"{one.lost} / {one.flipped.n}",
            with_interval(one.flipped),
            str(one.gained),
            p_value(one.adjusted),
        )
        for one in found.figures
        if one.view == view
    )
    left_out = ", ".join(f"{found.left_out[kind]} ({NAMES[kind]})" for kind in INTERVENTIONS)
    return ShownTable(
        title=f"Decisions that change with the history, {view}",
        columns=("", "n", "accepted before", "accepted after", "flipped", "share", "gained", "p, Holm"),
        rows=rows,
        note="Evidence is removed from the histories of valid memories, the premise replaced in those of unsupported "
        "ones. Shares with exact 95 % intervals. Flipped: accepted before, and no longer; gained: only after. p: "
        "McNemar's exact test of the two, by Holm adjusted over the rows of all writes. Left out, for nothing is named "
        f"that could be taken away: {left_out}; {found.unlabelled} writes have no reference.",
    )


def _published() -> ShownTable:
    rows = tuple(
        (NAMES[one.intervention], _range(one.before), _range(one.after), _range(one.flipped)) for one in PUBLISHED
    )
    return ShownTable(
        title=f"The same, {WHOSE}",
        columns=("", "accepted before", "accepted after", "flipped to rejection"),
        rows=rows,
        note="Ranges over three models.",
    )


def _range(found: tuple[float, float] | None) -> str:
    return NONE if found is None else f"{found[0]:.2f} to {found[1]:.2f}"


def _plot(figures: Sequence[InterventionFigures]) -> Plot:
    """Two bars a row of the table: accepted before and after."""
    figure = empty_figure(8.4, 1.4 + 0.8 * len(figures))
    axes = figure.subplots()
    for offset, (label, sides, colour) in zip(
        (-0.19, 0.19),
        (
            ("before", [one.before for one in figures], COLOURS[0]),
            ("after", [one.after for one in figures], COLOURS[1]),
        ),
        strict=True,
    ):
        axes.barh(
            [place + offset for place in range(len(figures))],
            [side.value or 0.0 for side in sides],
            height=0.36,
            xerr=[[_reach(side, low=True) for side in sides], [_reach(side, low=False) for side in sides]],
            color=colour,
            label=label,
            capsize=2,
        )
    axes.set_yticks(range(len(figures)), [f"{NAMES[one.intervention]}\n{one.view}" for one in figures])
    axes.invert_yaxis()
    axes.set(xlabel="accepted (share)", xlim=(0, 1.03))
    axes.grid(axis="x", color="0.92")
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper right", ncols=2, fontsize=9, frameon=False)
    return Plot(
        title="Accepted before and after the history was changed",
        file="interventions.png",
        png=png(figure),
        alt="Two bars a kind of write and view, with exact 95 % intervals; the table has the figures.",
    )


def _reach(found: Proportion, *, low: bool) -> float:
    """How far the interval reaches below or above the share."""
    if found.value is None or found.low is None or found.high is None:
        return 0.0
    return found.value - found.low if low else found.high - found.value
