"""A measurement's report: one self-contained HTML page, its plots as PNG files, and its figures as JSON beside."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

from admission.records import Record
from admission.reports.jsonl import to_json
from admission.reports.pages import template

PAGE = "report.html"
FIGURES = "report.json"


class ShownTable(Record):
    """A table as text. The first `names` columns name the row and stand left; the others are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    note: str = ""


class Plot(Record):
    """A picture. `file` is the name of its PNG; `alt` says in words what can be seen."""

    title: str
    file: str
    png: bytes
    alt: str

    @property
    def base64(self) -> str:
        return base64.b64encode(self.png).decode()


class EvaluationPage(Record):
    """What a person gets to see: findings and limits in sentences, plots, tables, and what was configured."""

    title: str
    findings: tuple[str, ...]
    plots: tuple[Plot, ...]
    tables: tuple[ShownTable, ...]
    limits: tuple[str, ...]
    configuration: tuple[tuple[str, str], ...]


def write_evaluation(folder: Path, page: EvaluationPage, figures: Mapping[str, object]) -> None:
    """Write report.html, report.json (`figures`) and the plots into `folder`, each file only when it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    for plot in page.plots:
        _replace(folder / plot.file, plot.png)
    _replace(folder / FIGURES, (to_json(figures, indent=2) + "\n").encode())
    _replace(folder / PAGE, evaluation_html(page).encode())


def evaluation_html(page: EvaluationPage) -> str:
    """The page as text: no script, nothing loaded from anywhere, every text escaped. Same page, same text."""
    return template("evaluation.html.j2").render(page=page)


def _replace(target: Path, content: bytes) -> None:
    partial = target.with_name(target.name + ".partial")
    partial.write_bytes(content)
    partial.replace(target)
