"""What a measurement's command ends with: its page and figures in a folder, then JSON or the tables on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rich.table import Table

from admission.cli.output import console, print_json
from admission.records import Record
from admission.reports.evaluation import EvaluationPage, write_evaluation

Configuration = tuple[tuple[str, str], ...]


def show(
    found: Record,
    configuration: Mapping[str, str],
    page: Callable[[Configuration], EvaluationPage],
    tables: Callable[[], Iterable[Table]],
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Show what was `found`. `page` is made, with its plots, only where `out` is a folder to write it into."""
    figures = {**found.model_dump(mode="json"), "configuration": dict(configuration)}
    if out is not None:
        write_evaluation(out, page(tuple(configuration.items())), figures)
    if as_json:
        print_json(figures)
        return
    for table in tables():
        console(stderr=True).print(table)
