"""How an eviction audit is shown: the table for the terminal, and the page with plots, controls and limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from admission.evaluation.paired import Interval
from admission.eviction.comparison import Gap
from admission.eviction.controls import AGREEMENT_BOUND, HARM_BOUND, Count
from admission.eviction.grid import WHOLE
from admission.eviction.plots import composition, shares_by_budget
from admission.eviction.policies import KeepAll
from admission.eviction.report import EvictionReport, PolicyPair, ReportedCell
from admission.eviction.restore import CELLS, CellName
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable

_COLUMNS = (
    "policy", "budget", "read", "memories kept", "gold kept", "accuracy", "right", "irreversible", "recoverable",
    "residual", "unread", "irr. of restored", "irr. of errors",
)  # fmt: skip
_NARROW = {"irreversible": "irre-\nversible", "recoverable": "recov-\nerable"}
_NAMES = 3
_NAMED = 5
_COUNTED: tuple[CellName, ...] = ("right", "irreversible", "recoverable", "residual")
_NONE = "-"


def eviction_table(report: EvictionReport) -> Table:
    """A row a cell."""
    title = f"{report.data}, {report.denominator.counted:,} questions, reader: {report.reader}"
    view = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 0))
    for place, column in enumerate(_COLUMNS):
        left = place < _NAMES
        shown = _NARROW.get(column, column.replace(" ", "\n"))
        view.add_column(shown, justify="left" if left else "right", no_wrap=left)
    for cell in report.cells:
        view.add_row(*_row(cell))
    return view


def eviction_page(
    report: EvictionReport, rankers: Sequence[str], configuration: tuple[tuple[str, str], ...]
) -> EvaluationPage:
    """The page: findings in words, plots, tables of cells, intervals, kinds, controls, gaps and pairs, and limits."""
    plots = [
        Plot(
            title=f"What each store's questions came to, read by {ranker}",
            file=f"composition-{ranker}.png",
            png=composition(report, ranker),
            alt="A bar a policy and budget: right, irreversible, recoverable, residual; the first table has figures.",
        )
        for ranker in rankers
    ]
    plots.append(
        Plot(
            title="From no eviction to the tightest budget",
            file="shares-by-budget.png",
            png=shares_by_budget(report, tuple(rankers)),
            alt="Irreversible share of restored errors and recoverable errors by budget; the tables have the figures.",
        )
    )
    return EvaluationPage(
        title=f"What eviction destroyed: {report.data}",
        findings=tuple(_findings(report, rankers)),
        plots=tuple(plots),
        tables=(
            _cells(report),
            _intervals(report),
            _kinds(report),
            _controls(report),
            *_answers(report),
            *_comparisons(report),
        ),
        limits=_limits(report),
        configuration=configuration,
    )


def _findings(report: EvictionReport, rankers: Sequence[str]) -> Iterator[str]:
    d = report.denominator
    yield (
        f"{d.counted:,} of {d.asked:,} questions are counted: {d.abstention:,} are to be abstained from, "
        f"{d.no_evidence:,} name no evidence, {d.not_from_gold:,} are not answered from their gold evidence alone "
        f"({d.abstained_from_gold:,} of these abstained from), {d.unread:,} could not be read or marked."
    )
    yield from left_out(report)
    yield (
        "Irreversible: wrong, right with the gold evidence put back, and a piece of it was evicted. Recoverable: the "
        "same, but all of it had survived unread. Residual: still wrong with the evidence read. Shares of restored "
        "errors leave the residual out; shares of all errors count it."
    )
    policies = [p for p in dict.fromkeys(c.cell.policy for c in report.cells) if p != KeepAll.name]
    for ranker in rankers:
        whole = report.of(KeepAll.name, WHOLE, "ranked", ranker)
        if whole is not None:
            yield (
                f"{ranker}, nothing evicted: {_wrong(whole):,} wrong, of which retrieval missed "
                f"{whole.figures.counts['recoverable']:,}."
            )
        for policy in policies:
            cells = [c for c in report.cells if (c.cell.policy, c.cell.setting.ranker) == (policy, ranker)]
            cells = [c for c in cells if c.cell.setting.condition == "ranked"]
            shares = ", ".join(f"{_share(c.figures.of_restored.value)} ({c.cell.budget})" for c in cells)
            missed = ", ".join(f"{c.figures.counts['recoverable']:,}" for c in cells)
            yield f"{ranker}, {policy}: irreversible share of restored errors {shares}; recoverable errors {missed}."
    yield from _rankers_compared(report, rankers)
    yield _bounds(report)


def left_out(report: EvictionReport) -> Iterator[str]:
    """What is not counted because somebody who was asked failed, a sentence each; nothing where nobody did."""
    if report.failures:
        named = list(dict.fromkeys(failed.question for failed in report.failures))
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        yield (
            f"{sum(failed.times for failed in report.failures):,} trials of {len(named):,} questions are not counted, "
            f"for the reader or the judge failed: {', '.join(named[:_NAMED])}{more}. The next run asks for them again."
        )
    if report.unscored:
        yield (
            f"{report.unscored:,} memories could not be scored for importance: each was taken for most important (10), "
            "so it is evicted last. The next run asks for them again."
        )


def _bounds(report: EvictionReport) -> str:
    harm = max((cell.controls.harmed.share or 0.0 for cell in report.cells), default=0.0)
    agreed = [cell.controls.agreement.share for cell in report.cells if cell.controls.agreement.share is not None]
    agreement = min(agreed, default=1.0)
    kept = harm <= HARM_BOUND and agreement >= AGREEMENT_BOUND
    return (
        f"Over all cells, restoring harms at most {harm:.3f} of the questions (bound {HARM_BOUND:.2f}) and asking "
        f"again agrees in at least {agreement:.3f} (bound {AGREEMENT_BOUND:.2f})"
        + ("." if kept else ": out of bounds, so the instrument is loose and the cells above are not to be relied on.")
    )


def _rankers_compared(report: EvictionReport, rankers: Sequence[str]) -> Iterator[str]:
    for other in rankers[1:]:
        pairs = [
            (first, second)
            for first in report.cells
            if first.cell.setting.condition == "ranked" and first.cell.setting.ranker == rankers[0]
            and (second := report.of(first.cell.policy, first.cell.budget, "ranked", other)) is not None
        ]  # fmt: skip
        fewer, more, moved = 0, 0, 0
        for one, two in pairs:
            fewer += two.figures.counts["recoverable"] < one.figures.counts["recoverable"]
            more += two.figures.counts["recoverable"] > one.figures.counts["recoverable"]
            moved += two.figures.counts["irreversible"] != one.figures.counts["irreversible"]
        yield (
            f"{other} instead of {rankers[0]}, the same stores: fewer recoverable errors in {fewer} of {len(pairs)}, "
            f"more in {more}; another number of irreversible ones in {moved}."
        )


def _cells(report: EvictionReport) -> ShownTable:
    return ShownTable(
        title="Cells",
        columns=_COLUMNS,
        rows=tuple(_row(cell) for cell in report.cells),
        names=_NAMES,
        note="irr. of restored: irreversible / (irreversible + recoverable). irr. of errors: irreversible / "
        "(irreversible + recoverable + residual). In the forced condition surviving gold is always read, so nothing "
        "can be recoverable: its 1.000 is an identity, not a finding.",
    )


def _intervals(report: EvictionReport) -> ShownTable:
    rows = [
        (*_names(cell), *map(_interval, (cell.figures.accuracy, cell.figures.of_restored, cell.figures.of_errors)))
        for cell in report.cells
    ]
    return ShownTable(
        title="95 % intervals",
        columns=("policy", "budget", "read", "accuracy", "irr. of restored", "irr. of errors"),
        rows=tuple(rows),
        names=_NAMES,
        note="Percentile bootstrap, 2,000 draws of whole histories.",
    )


def _kinds(report: EvictionReport) -> ShownTable:
    rows = [
        (*_names(cell), kind, *(f"{counts.get(name, 0):,}" for name in _COUNTED))
        for cell in report.cells
        if cell.cell.setting.condition == "ranked"
        for kind, counts in cell.kinds.items()
    ]  # fmt: skip
    columns = ("policy", "budget", "read", "kind", *_COUNTED)
    return ShownTable(title="By kind of question", columns=columns, rows=tuple(rows), names=_NAMES + 1)


def _controls(report: EvictionReport) -> ShownTable:
    rows = []
    for cell in report.cells:
        c = cell.controls
        counts = (c.harmed, c.agreement, c.placebo, c.surviving_only, c.whole_store, c.no_piece)
        rows.append((*_names(cell), *map(_count, counts)))
    return ShownTable(
        title="Controls",
        columns=(
            "policy", "budget", "read", "harmed (bound .05)", "repeat agreement (bound .90)", "placebo",
            "surviving only", "whole store", "no piece kept",
        ),
        rows=tuple(rows),
        names=_NAMES,
        note="harmed: turned wrong by the evidence, of all. placebo: turned by unrelated text of the same length, of "
        "the errors that the evidence turns. surviving only, whole store: of the irreversible errors, turned by the "
        "surviving gold, or by all that survived. no piece kept: of the irreversible, all gold was evicted.",
    )  # fmt: skip


def _answers(report: EvictionReport) -> Iterator[ShownTable]:
    """How wrong answers are wrong, and the trials that are not counted; nothing for a reader that gives no answers."""
    if any(cell.figures.abstained for cell in report.cells):
        yield ShownTable(
            title="Wrong answers that abstain",
            columns=("policy", "budget", "read", "abstained, of the wrong answers"),
            rows=tuple(
                (*_names(cell), _count(Count(hits=cell.figures.abstained, n=_wrong(cell)))) for cell in report.cells
            ),
            names=_NAMES,
            note="The others gave another answer than the reference.",
        )
    if report.failures:
        yield ShownTable(
            title="Not counted",
            columns=("question", "who failed", "how", "times"),
            rows=tuple((each.question, each.by, each.problem, f"{each.times:,}") for each in report.failures),
            names=3,
        )


def _comparisons(report: EvictionReport) -> Iterator[ShownTable]:
    yield ShownTable(
        title="Recoverable share of restored errors, ranked minus forced",
        columns=("policy, budget, ranker", *_GAP),
        rows=tuple((found.name, *_gap(found)) for found in report.condition_gaps),
        note="The forced condition has nothing recoverable, so this is the share itself: how much of what looks like "
        "forgetting is retrieval's. Holm's correction over the rows that can be tested.",
    )
    for title, pairs, note in (
        ("Policies compared", report.pairs, _MATCHED),
        ("The adversarial control against each policy", report.control_pairs, _CONTROL),
    ):
        yield ShownTable(
            title=title,
            columns=("pair", "share", "accuracy gap", "matched", *_GAP),
            rows=tuple(row for pair in pairs for row in _pair(pair)),
            names=2,
            note=note,
        )


_GAP = ("gap", "95 % interval", "p", "adjusted p", "verdict")
_MATCHED = (
    "Only pairs whose accuracies differ by at most .05 are tested; the others are described. Holm's correction over "
    "the tested pairs of each share. What is not detected at this resolution is not shown to be equal."
)
_CONTROL = (
    "It evicts gold three times as fast, and is matched in accuracy with nothing: it shows what the audit can see."
)


def _pair(pair: PolicyPair) -> Iterator[tuple[str, ...]]:
    off = _NONE if pair.accuracy_gap is None else f"{pair.accuracy_gap:+.3f}"
    for share, found in (("of restored", pair.of_restored), ("of errors", pair.of_errors)):
        yield found.name, share, off, "yes" if pair.matched else "no", *_gap(found)


def _gap(found: Gap) -> tuple[str, ...]:
    if found.value is None or found.low is None or found.high is None:
        return (_NONE, _NONE, _NONE, _NONE, found.verdict)
    ps = [_NONE if p is None else f"{p:.4f}" for p in (found.p, found.adjusted)]
    verdict = "not tested" if found.p is None else found.verdict
    return f"{found.value:+.3f}", f"{found.low:+.3f} to {found.high:+.3f}", *ps, verdict


def _limits(report: EvictionReport) -> tuple[str, ...]:
    return (
        *report.limits,
        "A recoverable error is an error of this ranker at this depth, not of retrieval as such.",
        "Each history is evicted once, when it has ended; every question is asked after that.",
        "The audit needs labels of gold evidence: it reads benchmarks and replays, not live traffic. It says what was "
        "lost and never what to keep.",
    )


def _row(cell: ReportedCell) -> tuple[str, ...]:
    f = cell.figures
    return (
        *_names(cell),
        _share(cell.memories.share),
        _share(cell.gold.share),
        _share(f.accuracy.value),
        *(f"{f.counts[name]:,}" for name in CELLS),
        _share(f.of_restored.value),
        _share(f.of_errors.value),
    )  # fmt: skip


def _names(cell: ReportedCell) -> tuple[str, str, str]:
    setting = cell.cell.setting
    read = "forced" if setting.condition == "forced" else f"{setting.ranker}, top {setting.k}"
    return cell.cell.policy, cell.cell.budget, read


def _wrong(cell: ReportedCell) -> int:
    return sum(cell.figures.counts[name] for name in ("irreversible", "recoverable", "residual"))


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}"


def _count(found: Count) -> str:
    return _NONE if found.share is None else f"{found.share:.3f} ({found.hits:,}/{found.n:,})"


def _interval(found: Interval) -> str:
    if found.value is None:
        return _NONE
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
