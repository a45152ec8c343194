"""How accumulated verification noise is shown: tables for the terminal, and the page with the published figures."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from admission.cli.eval.figures import COLOURS, difference, p_value, published, share, with_interval
from admission.cli.eval.tables import terminal_table
from admission.evaluation.derivation.noise import LEAST, PUBLISHED, SATURATION, NoiseFigures, Remedy
from admission.evaluation.derivation.noise_cases import EXTRAS
from admission.evaluation.derivation.published import WHOSE
from admission.evaluation.paired import RESAMPLES
from admission.records import Record
from admission.reports.evaluation import EvaluationPage, Plot, ShownTable
from admission.reports.figures import empty_figure, png

_LIMITS = (
    "The added obligations are true of the same history by the same word that calls the memory supported; where that "
    "word is wrong, a judge that refuses one is right.",
    "What is shown holds the turns of the added obligations at every number, so the memory's own view is wider than "
    "the gate's, and its support at 0 may differ from what the gate finds.",
    "Judges that put each obligation by itself cannot be moved by others: their shift is 0 by construction.",
    "One judge's approval is not the gate's: the thresholds of embedded judges are fitted for a panel of three.",
    f"Support is bounded at {LEAST} from either end before its log-odds are taken, so no shift exceeds 19.8.",
    "The published figures are of other models on other samples of writes: they show the kind of result, no bar.",
)


class Noise(Record):
    """Everything `admission eval noise` measures. `left_out`: memories whose history has too few other obligations."""

    known_by: str
    left_out: int
    judges: tuple[NoiseFigures, ...]
    remedies: tuple[Remedy, ...]


def noise_tables(found: Noise) -> Iterator[Table]:
    """The tables for a terminal."""
    yield from map(terminal_table, _tables(found))


def noise_page(found: Noise, configuration: tuple[tuple[str, str], ...]) -> EvaluationPage:
    memories = max((one.memories for one in found.judges), default=0)
    return EvaluationPage(
        title=f"Accumulated verification noise: {memories} memories",
        findings=tuple(_findings(found)),
        plots=(_plot(found.judges),) if memories else (),
        tables=tuple(_tables(found)),
        limits=_LIMITS,
        configuration=configuration,
    )


def _findings(found: Noise) -> Iterator[str]:
    for one in found.judges:
        if not one.memories:
            yield f"{one.judge}, {_asked(one)}: no memory was judged."
            continue
        first, last = one.approvals[0], one.approvals[-1]
        if one.shifts:
            moved = one.shifts[-1]
            yield (
                f"{one.judge}, {_asked(one)}: with {moved.extra} more the same memory's support moves by "
                f"{moved.median:+.2f} log-odds (median), lower in {share(moved.lowered)}; it is approved in "
                f"{share(first.memory)} before and {share(last.memory)} then (p = {p_value(moved.adjusted)})."
            )
        else:
            yield f"{one.judge} judges each obligation alone: the shift is 0 by construction and was not measured."
        yield (
            f"{one.judge}, {_asked(one)}: if all asked obligations have to pass, approval goes from "
            f"{share(first.with_added)} to {share(last.with_added)} with {last.extra} more, by what the judge misses."
        )
    if found.left_out:
        yield f"{found.left_out} memories are left out: their history has too few other true obligations."


def _tables(found: Noise) -> Iterator[ShownTable]:
    yield _approvals(found)
    if any(one.shifts for one in found.judges):
        yield _shifts(found)
    if found.remedies:
        yield _remedies(found.remedies)
    yield _published()


def _approvals(found: Noise) -> ShownTable:
    rows = tuple(
        (
            one.judge,
            _asked(one),
            str(arm.extra),
            str(one.memories),
            with_interval(arm.memory),
            with_interval(arm.with_added),
        )
        for one in found.judges
        for arm in one.approvals
    )
    failed = sum(one.failed for one in found.judges)
    left_out = f" {failed} are left out, an answer failed." if failed else ""
    return ShownTable(
        title=f"Supported memories approved, with more true obligations beside (by {found.known_by})",
        columns=("judge", "obligations put", "more", "n", "the same memory", "memory and added ones"),
        rows=rows,
        names=2,
        note=f"Shares with exact 95 % intervals.{left_out}",
    )


def _shifts(found: Noise) -> ShownTable:
    rows = tuple(
        (
            one.judge,
            str(moved.extra),
            f"{moved.median:+.2f}",
            difference(moved.mean),
            with_interval(moved.lowered),
            f"{moved.saturated:+.2f}",
            str(moved.lost),
            str(moved.gained),
            p_value(moved.p),
            p_value(moved.adjusted),
        )
        for one in found.judges
        for moved in one.shifts
    )
    return ShownTable(
        title="Shift of the same memory's support, in log-odds",
        columns=("judge", "more", "median", "mean", "lower in", "saturating", "lost", "gained", "p", "Holm"),
        rows=rows,
        note=f"Mean with a 95 % interval by {RESAMPLES} draws of whole conversations. Saturating: the median on the "
        f"scale that the embedded network's calibration has, which ends at {SATURATION:g}: approval by a threshold "
        "stays as it is. Lost, gained: approved only without, only with the added ones; p: McNemar's exact test.",
    )


def _remedies(remedies: tuple[Remedy, ...]) -> ShownTable:
    rows = tuple(
        (
            one.judge,
            "memory and added ones" if one.with_added else "the same memory",
            str(one.extra),
            difference(one.difference),
            str(one.only_together),
            str(one.only_alone),
            p_value(one.p),
        )
        for one in remedies
    )
    return ShownTable(
        title="One obligation a prompt, less all together",
        columns=("judge", "approved", "more", "difference", "only together", "only alone", "p"),
        rows=rows,
        names=2,
        note=f"95 % intervals by {RESAMPLES} draws of whole conversations; p: McNemar's exact test.",
    )


def _published() -> ShownTable:
    rows = tuple(
        (one.model, published(one.before), published(one.after), _shift(one.shift), published(one.lowered))
        for one in PUBLISHED
    )
    return ShownTable(
        title=f"Approval, {WHOSE}",
        columns=("model", "before", "after", "median shift", "lower in"),
        rows=rows,
    )


def _plot(judges: tuple[NoiseFigures, ...]) -> Plot:
    """Approval by the number of added obligations."""
    figure = empty_figure(7.0, 4.2)
    axes = figure.subplots()
    for place, one in enumerate(judges):
        colour = COLOURS[place % len(COLOURS)]
        for style, name, shares in (
            ("-", "the same memory", [arm.memory for arm in one.approvals]),
            ("--", "memory and added ones", [arm.with_added for arm in one.approvals]),
        ):
            known = [(extra, s.value) for extra, s in zip(EXTRAS, shares, strict=True) if s.value is not None]
            at, values = [extra for extra, _ in known], [value for _, value in known]
            axes.plot(at, values, style, marker="o", color=colour, label=f"{one.judge}, {_asked(one)}: {name}")
    axes.set(xlabel="true obligations added", ylabel="approved (share)", ylim=(-0.03, 1.03), xticks=EXTRAS)
    axes.grid(color="0.92")
    axes.legend(fontsize=7, frameon=False)
    return Plot(
        title="Approval with more true obligations",
        file="approval.png",
        png=png(figure),
        alt="A line a judge and reading over 0, 2 and 4 added obligations; the first table has the figures.",
    )


def _asked(one: NoiseFigures) -> str:
    return "together" if one.asked == "together" else "each alone"


def _shift(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"
