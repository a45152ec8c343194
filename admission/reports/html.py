"""One self-contained HTML page a run: no script, nothing loaded from anywhere, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from admission.records import STATUSES, Report
from admission.reports.marks import Marked, marked_passages, told_by
from admission.reports.pages import template
from admission.reports.sentences import explanation, finding_sentence, seen
from admission.reports.summary import summarise
from admission.reports.text import proportion_cells, record_rows

if TYPE_CHECKING:
    from admission.reports.summary import Proportion


@dataclass(frozen=True)
class _Card:
    """One report as the template shows it: passages that bear a mark apart from those that were only looked at."""

    number: int
    report: Report
    sentences: list[str]
    marked: list[Marked]
    unmarked: list[Marked]
    record: list[tuple[str, str]]


def write_page(
    path: str | Path, reports: Iterable[Report], *, title: str, metrics: dict[str, Proportion] | None = None
) -> None:
    """Write the page of a run to `path`, replacing the file only when the page is complete."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    partial.write_text(page(reports, title=title, metrics=metrics), encoding="utf-8")
    partial.replace(target)


def page(reports: Iterable[Report], *, title: str, metrics: dict[str, Proportion] | None = None) -> str:
    """The page of a run as text: a table by status, then every memory in full. Same reports, same page."""
    shown = list(reports)
    summary = summarise(shown)
    return template("run.html.j2").render(
        title=title,
        statuses=STATUSES,
        summary=summary,
        metrics={name: (*proportion_cells(found), found.n) for name, found in (metrics or {}).items()},
        cards=[_card(number, report) for number, report in enumerate(shown, 1)],
        told_by=told_by,
        finding_sentence=finding_sentence,
        seen=seen,
    )


def _card(number: int, report: Report) -> _Card:
    passages = list(marked_passages(report))
    return _Card(
        number=number,
        report=report,
        sentences=explanation(report),
        marked=[p for p in passages if p.marks],
        unmarked=[p for p in passages if not p.marks],
        record=list(record_rows(report)),
    )
