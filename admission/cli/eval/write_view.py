"""How replayed admissions are shown: tables for the terminal, and the page with the published figures beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table

from admission.cli.eval.figures import COLOURS, NONE, difference, p_value, published, share
from admission.cli.eval.tables import terminal_table
from admission.evaluation.derivation.published import REPLAY, SCOPE, WHOSE
from admission.evaluation.derivation.replay import (
    CITED_WHOLE,
    EXPANDED_PARTS,
    METRICS,
    SETTINGS,
    Comparison,
    Metric,
    ReplayFigures,
)
from admission.evaluation.derivation.scope import EditFigures, EvidenceScope, Misses, Reach
from admission.evaluation.paired import RESAMPLES
from admission.records import Record
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable
from admission.reports.figures import empty_figure, png
from admission.reports.summary import Proportion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES: dict[Metric, str] = {
    "repaired_retention": "repaired kept",
    "valid_retention": "valid kept",
    "unsupported_admission": "unsupported let in",
    "edited_admission": "edited let in",
}
_MARKS = ("o", "s", "^")


class Replay(Record):
    """Everything `admission eval write` measures."""

    figures: ReplayFigures
    scope: tuple[EvidenceScope, ...]
    misses: tuple[Misses, ...]
    reach: Reach
    by_edit: tuple[EditFigures, ...]


def replay_tables(found: Replay) -> Iterator[Table]:
    """The tables for a terminal."""
    yield from map(terminal_table, _tables(found))


def replay_page(found: Replay, configuration: tuple[tuple[str, str], ...]) -> EvaluationPage:
    return EvaluationPage(
        title=f"Replayed admissions: {found.figures.writes} writes",
        findings=tuple(_findings(found)),
        plots=(_plot(found.figures),) if _labelled(found.figures) else (),
        tables=tuple(_tables(found)),
        limits=_LIMITS,
        configuration=configuration,
    )


_LIMITS = (
    "What counts as valid and unsupported is what the references say; writes without one count for no rate.",
    "A write that is not kept was not shown to be false: its evidence may lie outside the 16 passages, or the judges "
    "may have missed it.",
    "The published figures are of other models on other samples of writes: they show the kind of result, no bar.",
    "An edited twin is a memory changed in one place to say what the history does not: other errors may be easier or "
    "harder to see.",
)


def _findings(found: Replay) -> Iterator[str]:
    for metric in METRICS:
        first, last = (_rate(found.figures, setting, metric) for setting in (CITED_WHOLE, EXPANDED_PARTS))
        if first.n:
            tested = _comparison(found.figures, metric)
            yield (
                f"{NAMES[metric].capitalize()}: {share(first)} {CITED_WHOLE}, {share(last)} "
                f"{EXPANDED_PARTS} (p = {p_value(tested.p)}, after Holm {p_value(tested.adjusted)})."
            )
    for one in found.misses:
        if one.missed:
            yield (
                f"{one.setting.capitalize()} misses {one.missed} valid writes: in {one.retrieval} part of the evidence "
                f"was not among the passages shown, in {one.verifiers} all of it was."
            )


def _tables(found: Replay) -> Iterator[ShownTable]:
    if _labelled(found.figures):
        yield _rates(found.figures)
        yield _published_rates()
        yield _comparisons(found.figures)
    yield _statuses(found.figures)
    yield _scope(found.scope)
    if any(one.missed for one in found.misses) or found.reach.all_valid.n:
        yield _misses(found)
    if found.by_edit:
        yield _edits(found.by_edit)


def _rates(figures: ReplayFigures) -> ShownTable:
    rows = tuple((one.setting, *(_of(one.rates[metric]) for metric in METRICS)) for one in figures.settings)
    return ShownTable(
        title="Kept and let in",
        columns=("setting", *(NAMES[metric] for metric in METRICS)),
        rows=rows,
        note="Shares with exact 95 % intervals, of n writes.",
    )


def _published_rates() -> ShownTable:
    rows = tuple(
        (model.model, setting, *(published(shares[place]) for shares in model[1:]))
        for model in REPLAY
        for place, setting in enumerate(SETTINGS)
    )
    columns = ("model", "setting", *(NAMES[metric] for metric in METRICS[:-1]))
    return ShownTable(title=f"Kept and let in, {WHOSE}", columns=columns, rows=rows, names=2)


def _comparisons(figures: ReplayFigures) -> ShownTable:
    rows = tuple(
        (
            NAMES[one.metric],
            f"{one.second} less {one.first}",
            difference(one.difference),
            str(one.only_first),
            str(one.only_second),
            p_value(one.p),
            p_value(one.adjusted),
        )
        for one in figures.comparisons
        if one.difference.n
    )
    return ShownTable(
        title="The same writes in two settings",
        columns=("of", "settings", "difference", "only first", "only second", "p", "Holm"),
        rows=rows,
        names=2,
        note=f"95 % intervals by {RESAMPLES} draws of whole conversations; p: McNemar's exact test of the writes that "
        "only one setting lets in; Holm: adjusted over this table.",
    )


def _statuses(figures: ReplayFigures) -> ShownTable:
    kinds = sorted({status for one in figures.settings for status in one.statuses})
    rows = tuple(
        (
            one.setting,
            *(str(one.statuses.get(kind, 0)) for kind in kinds),
            f"{one.usage.calls:,}",
            f"{one.usage.input_tokens:,}",
            f"{one.usage.output_tokens:,}",
        )
        for one in figures.settings
    )
    return ShownTable(
        title=f"Statuses of {figures.writes} writes, and the price of all {figures.writes + figures.edited} decisions",
        columns=("setting", *kinds, "calls", "input tokens", "output tokens"),
        rows=rows,
        note="Calls: questions to an embedded verifier, requests to a model.",
    )


def _scope(scopes: tuple[EvidenceScope, ...]) -> ShownTable:
    rows: list[tuple[str, ...]] = [
        (
            f"by {one.by}",
            _of(one.insufficient),
            _of(one.recovered),
            _of(one.supported_before),
            _of(one.supported_after),
            _of(one.several_passages),
        )
        for one in scopes
        if one.insufficient.n
    ]
    for known in SCOPE:
        shares = (known.insufficient, known.recovered, known.supported_before, known.supported_after)
        several, n = known.several_passages
        rows.append((known.data, *map(published, shares), f"{several / n:.3f} n {n}"))
    return ShownTable(
        title="Evidence scope: are the author's citations enough?",
        columns=(
            "", "citations insufficient", "of these recovered", "supported on citations", "with the wider view",
            "of cited, several passages",
        ),
        rows=tuple(rows),
        note=f"Shares with exact 95 % intervals. The rows of {SCOPE[0].data} and {SCOPE[1].data} are {WHOSE}.",
    )  # fmt: skip


def _misses(found: Replay) -> ShownTable:
    rows = tuple(
        (one.setting, str(one.missed), str(one.retrieval), str(one.verifiers), str(one.untold)) for one in found.misses
    )
    reach = found.reach
    return ShownTable(
        title="Valid writes not kept: retrieval's misses and the verifiers'",
        columns=("setting", "missed", "evidence not shown", "all shown", "reference names none"),
        rows=rows,
        note=f"All evidence is within the 16 passages for {_of(reach.all_valid)} of the valid writes, for "
        f"{_of(reach.repaired)} of those whose citations do not suffice.",
    )


def _edits(edits: tuple[EditFigures, ...]) -> ShownTable:
    rows = tuple((one.edit, str(one.n), *(str(one.let_in[name]) for name in SETTINGS)) for one in edits)
    return ShownTable(title="Edited twins let in, by kind of edit", columns=("edit", "n", *SETTINGS), rows=rows)


def _plot(figures: ReplayFigures) -> Plot:
    """Both sides in one picture: valid kept against unsupported let in."""
    unsupported: tuple[Metric, Metric] = ("unsupported_admission", "edited_admission")
    metric = max(unsupported, key=lambda one: _counts(figures, one))  # of which there are more: narrower intervals
    figure = empty_figure(7.2, 5.4)
    axes = figure.subplots()
    for one, colour, mark in zip(figures.settings, COLOURS, _MARKS, strict=False):
        _point(axes, one.rates[metric], one.rates["valid_retention"], colour, mark, one.setting)
    qwen = REPLAY[0]
    for place, mark in enumerate(_MARKS):
        across, up = qwen.unsupported_admission[place], qwen.valid_retention[place]
        label = f"{qwen.model}, {WHOSE}" if not place else None
        if across is not None and up is not None:
            axes.plot(across, up, mark, color="0.55", fillstyle="none", label=label)
    axes.set(xlabel=f"{NAMES[metric]} (share)", ylabel="valid kept (share)", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.grid(color="0.92")
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    return Plot(
        title="Both sides of a decision: up is better, left is better",
        file="kept-and-let-in.png",
        png=png(figure),
        alt="A point a setting with its 95 % intervals; the first table has the figures.",
    )


def _point(axes: Axes, across: Proportion, up: Proportion, colour: str, mark: str, label: str) -> None:
    if across.value is None or up.value is None:
        return
    errors = [
        [[one.value - one.low], [one.high - one.value]]
        for one in (across, up)
        if one.value is not None and one.low is not None and one.high is not None
    ]
    axes.errorbar(
        across.value, up.value, xerr=errors[0], yerr=errors[1], fmt=mark, color=colour, label=label, capsize=2, lw=1
    )


def _labelled(figures: ReplayFigures) -> bool:
    return figures.unlabelled < figures.writes or figures.edited > 0


def _counts(figures: ReplayFigures, metric: Metric) -> int:
    return _rate(figures, CITED_WHOLE, metric).n


def _rate(figures: ReplayFigures, setting: str, metric: Metric) -> Proportion:
    return next(one.rates[metric] for one in figures.settings if one.setting == setting)


def _comparison(figures: ReplayFigures, metric: Metric) -> Comparison:
    wanted = (metric, CITED_WHOLE, EXPANDED_PARTS)
    return next(one for one in figures.comparisons if (one.metric, one.first, one.second) == wanted)


def _of(found: Proportion) -> str:
    """A share with its interval and n."""
    if found.value is None:
        return NONE
    return f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}] n {found.n}"
