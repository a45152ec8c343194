"""How downstream probes are shown: tables for the terminal, and the page with the published figures beside."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from admission.cli.eval.figures import COLOURS, difference, p_value, published, share, with_interval
from admission.cli.eval.tables import terminal_table
from admission.evaluation.derivation.downstream import PUBLISHED, DownstreamFigures, Natural, Rise
from admission.evaluation.derivation.published import WHOSE
from admission.evaluation.paired import RESAMPLES
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable
from admission.reports.figures import empty_figure, png

_NAMED = 5
_LIMITS = (
    "What is exact and what is distorted is what the case file says; the cases are about single memories.",
    "An answer is scored by the words and numbers of the key phrases: the same in other words counts as missing, and a "
    "phrase that is named to be denied counts as asserted.",
    "The scripted reader is no model: it repeats every memory that shares a word with the question.",
    "Stores here hold these cases' memories and nothing else: retrieval is easier than in a store that has grown.",
    "The published figures are of other models on other samples: they show the kind of result, no bar.",
)


def downstream_tables(found: DownstreamFigures) -> Iterator[Table]:
    """The tables for a terminal."""
    yield from map(terminal_table, _tables(found))


def downstream_page(found: DownstreamFigures, configuration: tuple[tuple[str, str], ...]) -> EvaluationPage:
    return EvaluationPage(
        title=f"Downstream: {found.cases} questions and the memories they need",
        findings=tuple(_findings(found)),
        plots=(_plot(found),) if found.rises else (),
        tables=tuple(_tables(found)),
        limits=_LIMITS,
        configuration=configuration,
    )


def _findings(found: DownstreamFigures) -> Iterator[str]:
    exact = next(one.failures for one in found.arms if one.arm == "exact")
    for one in found.rises:
        if one.kind == "all":
            yield (
                f"With the memory {one.arm}, failures change by {difference(one.difference)} from {share(exact)} with "
                f"the exact one (p = {p_value(one.p)}, after Holm {p_value(one.adjusted)})."
            )
    for natural in found.natural:
        if natural.distorted and natural.misinformed.n:
            yield f"A retrieved distorted memory misinforms in {share(natural.misinformed)}."
        elif natural.right.n:
            yield f"A retrieved exact memory supports the right answer in {share(natural.right)}."
    for ids, what in ((found.failed, "cases"), (found.failed_retrievals, "questions put to a store")):
        if ids:
            more = " ..." if len(ids) > _NAMED else ""
            yield f"{len(ids)} {what} left out, an answer failed: {', '.join(ids[:_NAMED])}{more}"


def _tables(found: DownstreamFigures) -> Iterator[ShownTable]:
    yield ShownTable(
        title="Failures: the right answer is missing, or the distorted claim is asserted",
        columns=("memory in the prompt", "n", "failures", "answer missing", "distorted asserted"),
        rows=tuple(
            (one.arm, str(one.failures.n), with_interval(one.failures), str(one.missing), str(one.asserted))
            for one in found.arms
        ),
        note="Shares with exact 95 % intervals; the two counts are of questions, and an answer may be in both.",
    )
    if found.rises:
        yield _rises(found.rises)
    yield _natural(found.natural)
    yield _published()


def _rises(rises: tuple[Rise, ...]) -> ShownTable:
    rows = tuple(
        (
            one.kind,
            one.arm,
            str(one.difference.n),
            difference(one.difference),
            str(one.only_arm),
            str(one.only_exact),
            p_value(one.p),
            p_value(one.adjusted),
        )
        for one in rises
    )
    return ShownTable(
        title="Failures, less those with the exact memory",
        columns=("distortion", "memory", "n", "difference", "only there", "only exact", "p", "Holm"),
        rows=rows,
        names=2,
        note=f"95 % intervals by {RESAMPLES} draws of whole groups; p: McNemar's exact test; Holm: over this table.",
    )


def _natural(natural: tuple[Natural, ...]) -> ShownTable:
    rows = tuple(
        (
            "distorted" if one.distorted else "exact",
            share(one.retrieved),
            str(one.right.n),
            with_interval(one.right),
            with_interval(one.misinformed),
        )
        for one in natural
    )
    return ShownTable(
        title="Natural retrieval: two stores, each with the distorted version of the other half",
        columns=("its memory in the store", "retrieved", "n", "right answer", "distorted asserted"),
        rows=rows,
        note="The last two of the n questions for which the memory was retrieved, with exact 95 % intervals.",
    )


def _published() -> ShownTable:
    rows = tuple(
        (
            one.model,
            f"{one.distorted:+.3f}",
            f"{one.removed:+.3f}",
            published(one.misinformed),
            published(one.supported),
        )
        for one in PUBLISHED
    )
    return ShownTable(
        title=f"Rise of failures, and retrieval, {WHOSE}",
        columns=("model", "distorted", "removed", "invalid misinforms", "valid supports"),
        rows=rows,
    )


def _plot(found: DownstreamFigures) -> Plot:
    figure = empty_figure(5.6, 3.6)
    axes = figure.subplots()
    for place, one in enumerate(found.arms):
        share = one.failures
        if share.value is not None and share.low is not None and share.high is not None:
            axes.bar(place, share.value, color=COLOURS[place], width=0.6)
            around = [[share.value - share.low], [share.high - share.value]]
            axes.errorbar(place, share.value, yerr=around, color="0.2", capsize=3, lw=1)
    axes.set(ylabel="failures (share)", ylim=(0, 1.03), xticks=range(len(found.arms)))
    axes.set_xticklabels([one.arm for one in found.arms])
    axes.grid(axis="y", color="0.92")
    return Plot(
        title="Failures by the memory in the prompt",
        file="failures.png",
        png=png(figure),
        alt="A bar an arm with its 95 % interval; the first table has the figures.",
    )
