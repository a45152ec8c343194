"""Reports and summaries for a terminal, as rich renderables. All data goes in as plain text: no markup, no controls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from admission.records import Finding, Judgment, Label, Report, Status
from admission.reports.marks import Mark, marked_passages, told_by
from admission.reports.safe import one_line, printable
from admission.reports.sentences import explanation, finding_sentence, headline, seen
from admission.reports.summary import Proportion, Summary

_STATUS: dict[Status, tuple[str, str]] = {
    "admitted": ("✓", "green"),
    "repaired": ("✎", "cyan"),
    "unresolved": ("?", "yellow"),
    "contradicted": ("✗", "red"),
    "invalid": ("∅", "bright_black"),
}
_LABEL: dict[Label, tuple[str, str]] = {
    "supported": ("✓", "green"),
    "insufficient": ("?", "yellow"),
    "contradicted": ("✗", "red"),
    "conflicting": ("±", "magenta"),
}
_MARK_STYLE: dict[Mark, str] = {"supports": "green", "contradicts": "red", "both ways": "magenta", "cited": "blue"}
_MEMORY_CHARS = 120


def status_text(status: Status) -> Text:
    """The status with its sign, so that it shows without colour too."""
    sign, style = _STATUS[status]
    return Text(f"{sign} {status}", style=style)


def reports_table(reports: Iterable[Report]) -> Table:
    """One row a report: status, action, id, memory, and why."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, ratio in (("status", None), ("action", None), ("id", None), ("memory", 2), ("why", 3)):
        table.add_column(heading, ratio=ratio, overflow="fold")
    for report in reports:
        table.add_row(
            status_text(report.status),
            Text(report.action),
            Text(one_line(report.id)),
            Text(one_line(report.memory, _MEMORY_CHARS)),
            Text(headline(report)),
        )
    return table


def report_view(report: Report) -> RenderableType:
    """One report in full: memory, reason, obligations and judgments, passages with their marks, cost, digests."""
    sign, style = _STATUS[report.status]
    title = Text(f" {sign} {report.status} → {report.action} ", style=f"bold {style}")
    memory = Text(printable(report.memory)) if report.memory.strip() else Text("(empty)", style="italic")
    parts: list[RenderableType] = [
        Panel(memory, title=title, title_align="left", border_style=style),
        *(Text(sentence) for sentence in explanation(report)),
    ]
    if report.obligations:
        parts += [_heading("Obligations"), *(_finding_view(finding) for finding in report.obligations)]
    if report.passages:
        parts += [_heading("Passages shown"), _passages_table(report)]
    return Group(*parts, _heading("Record"), _record_table(report))


def summary_view(summary: Summary) -> RenderableType:
    """Counts by status and, where there are references, the metrics with their intervals."""
    counts = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    counts.add_column("status")
    counts.add_column("memories", justify="right")
    for status in _STATUS:
        counts.add_row(status_text(status), str(summary.counts[status]))
    counts.add_row(Text("all", style="bold"), Text(str(summary.reports), style="bold"))
    return counts if summary.metrics is None else Group(counts, _metrics_table(summary.metrics))


def _metrics_table(metrics: dict[str, Proportion]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption="intervals: Clopper-Pearson", caption_justify="left")
    table.add_column("against the references")
    for heading in ("value", "95 % interval", "n"):
        table.add_column(heading, justify="right")
    for name, found in metrics.items():
        table.add_row(Text(name.replace("_", " ")), *proportion_cells(found), str(found.n))
    return table


def proportion_cells(found: Proportion) -> tuple[str, str]:
    """Value and interval as text; dashes where there was no case."""
    if found.value is None:
        return "-", "-"
    return f"{found.value:.3f}", f"{found.low:.3f} to {found.high:.3f}"


def _heading(text: str) -> RenderableType:
    return Padding(Text(text, style="bold"), (1, 0, 0, 0))


def _finding_view(finding: Finding) -> RenderableType:
    sign, style = _LABEL[finding.label]
    line = Text.assemble((f"{sign} {finding.label}", style), f"  {finding.type}  ", (one_line(finding.text), "bold"))
    rows: list[RenderableType] = [line, Padding(Text(finding_sentence(finding)), (0, 0, 0, 2))]
    if finding.judgments:
        rows.append(Padding(_judgments_table(finding.judgments), (0, 0, 0, 2)))
    return Group(*rows)


def _judgments_table(judgments: Iterable[Judgment]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("verifier", "view"):
        table.add_column(heading)
    for heading in ("support", "contradiction"):
        table.add_column(heading, justify="right")
    for heading in ("label", "note"):
        table.add_column(heading, overflow="fold")
    for judgment in judgments:
        sign, style = _LABEL[judgment.label]
        judged = judgment.outcome == "judged"
        label = Text(f"{sign} {judgment.label}", style=style) if judged else Text(judgment.outcome, style="yellow")
        table.add_row(
            Text(one_line(judgment.verifier)),
            seen(judgment),
            f"{judgment.support:.2f}" if judged else "-",
            f"{judgment.contradiction:.2f}" if judged else "-",
            label,
            Text(one_line(judgment.note or judgment.reason)),
        )
    return table


def _passages_table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("turn", "mark", "who and when", "text"):
        table.add_column(heading, overflow="fold", ratio=1 if heading == "text" else None)
    for passage, marks in marked_passages(report):
        signs = Text(", ").join(Text(mark, style=_MARK_STYLE[mark]) for mark in marks)
        table.add_row(
            Text(one_line(passage.id)), signs, Text(one_line(told_by(passage))), Text(printable(passage.text))
        )  # fmt: skip
    return table


def _record_table(report: Report) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in record_rows(report):
        table.add_row(name, Text(value))
    return table


def record_rows(report: Report) -> Iterator[tuple[str, str]]:
    """What else a report holds, as name and text: where it was written, citations, cost, timings, digests."""
    yield "id", one_line(report.id)
    yield "conversation", one_line(report.conversation)
    yield "namespace", one_line("/".join(report.namespace))
    yield "written after", one_line(report.written_after or "the last turn")
    for name, ids in (("cited by the author", report.citations.author), ("final citations", report.citations.final)):
        yield name, one_line(", ".join(ids)) or "none"
    if report.supersedes is not None:
        yield "supersedes report", one_line(report.supersedes)
    usage = report.usage
    tokens = f", {usage.input_tokens} tokens in, {usage.output_tokens} out" if usage.input_tokens else ""
    yield "verifier calls", f"{usage.calls}{tokens}, {usage.cache_hits} from cache"
    if checks := sum(j.check is not None for f in report.obligations for j in f.judgments):
        yield "judgments of the check", f"{checks} (does support fall without its evidence?)"
    yield "time", ", ".join(f"{one_line(name)} {value:.1f} ms" for name, value in report.timing_ms.items()) or "-"
    for reason in report.reasons:
        yield "reason", one_line(reason)
    yield "configuration", report.config_digest
    yield "input", report.input_digest
