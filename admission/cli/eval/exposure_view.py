"""How an exposure measurement is shown: the table and the gap for the terminal, and the page."""

from __future__ import annotations

from rich.table import Table

from admission.evaluation.exposure import CellEffect, ExposureReport
from admission.evaluation.paired import RESAMPLES, Interval
from admission.reports.evaluation import EvaluationPage, ShownTable

_COLUMNS = ("memory", "pairs", "exposed", "withheld", "effect", "gained", "lost", "p")
_NAMED = 5
LIMITS = (
    "An effect is about this reader, these prompts and this scorer; another model is another measurement.",
    "What counts as relevant and admissible is what the case file says.",
    "The scripted reader is no model: it discloses every relevant memory that it is shown.",
)


def exposure_table(report: ExposureReport, reader: str) -> Table:
    table = Table(title=f"disclosure by {reader}", title_justify="left", pad_edge=False, padding=(0, 1, 0, 0))
    for place, column in enumerate(_COLUMNS):
        table.add_column(column, justify="right" if place else "left")
    for cell in report.cells:
        table.add_row(*_row(cell))
    return table


def gap_line(report: ExposureReport) -> str:
    """The selectivity gap and what was left out, in a sentence or two."""
    said = f"Selectivity gap {_interval(report.selectivity_gap)}."
    if report.failed:
        more = " ..." if len(report.failed) > _NAMED else ""
        said += f" {len(report.failed)} pairs left out, an answer failed: {', '.join(report.failed[:_NAMED])}{more}"
    return said


def exposure_page(report: ExposureReport, reader: str, scorer: str) -> EvaluationPage:
    return EvaluationPage(
        title="Exposure: what a memory in the prompt does to the answer",
        findings=(gap_line(report),),
        plots=(),
        tables=(
            ShownTable(
                title="Disclosure with the memory exposed and withheld",
                columns=_COLUMNS,
                rows=tuple(_row(cell) for cell in report.cells),
                note=f"Effect: exposed less withheld, with a 95 % interval ({RESAMPLES} draws of whole groups). "
                "Gained: disclosed only when exposed; lost: only when withheld; p: exact McNemar test of the two.",
            ),
        ),
        limits=LIMITS,
        configuration=(("reader", reader), ("scorer", scorer)),
    )


def _row(cell: CellEffect) -> tuple[str, ...]:
    shares = ["-" if share is None else f"{share:.3f}" for share in (cell.exposed, cell.withheld)]
    effect = _interval(cell.effect)
    return (cell.cell, str(cell.n), *shares, effect, str(cell.gained), str(cell.lost), f"{cell.p:.2g}")


def _interval(found: Interval) -> str:
    if found.value is None:
        return "-"
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
