"""Where the commands print: JSON as UTF-8 bytes on stdout, tables through rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from admission.reports.safe import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from admission.gate import AdmissionGate

_FILE_WIDTH = 120


def print_json(value: object) -> None:
    """One JSON object on stdout, indented, whatever encoding the terminal claims."""
    from admission.reports.jsonl import to_json

    print_line(to_json(value, indent=2))


def print_line(line: str) -> None:
    """One line of UTF-8 on stdout."""
    typer.echo(line.encode())


def warn_of_missing(gate: AdmissionGate) -> None:
    """Say on stderr which verifiers could not be loaded: without them the gate runs, and admits nothing."""
    for verifier in gate.verifiers.values():
        missing = verifier.identity.get("unavailable")
        if missing is not None:
            typer.echo(f"admission: warning: no verifier {verifier.name}: {one_line(str(missing))}", err=True)


def console(*, stderr: bool = False) -> Console:
    """A rich console. Where the output is no terminal, lines are wide enough for a table."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    if not made.is_terminal:
        made.width = max(made.width, _FILE_WIDTH)
    return made
