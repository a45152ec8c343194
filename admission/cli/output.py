"""Where the commands print: JSON as UTF-8 bytes on stdout, tables through rich."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from admission.reports.safe import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from admission.gate import AdmissionGate

_FILE_WIDTH = 120


def check_output(option: str, path: Path | None, *, makes_folder: bool = False) -> None:
    """Raises `InputError` where no file can be written at this path: before the work whose result it is to hold.
    `makes_folder`: will whoever writes it make the folder it is in?"""
    from admission.errors import InputError

    if path is None:
        return
    if path.exists() and not path.is_file():
        raise InputError(option, f"{path} is no file", "give the path of a file")
    folder = path.absolute().parent
    while makes_folder and not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise InputError(option, f"there is no folder {folder}", "make it, or give another file")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(option, f"{path} may not be written", "give another file, or yourself the right")


def check_output_folder(option: str, folder: Path | None) -> None:
    """The same for a folder, which whoever writes into it makes where there is none."""
    from admission.errors import InputError

    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise InputError(option, f"{folder} is no folder", "give a folder; it is made if it is not there")
    check_output(option, folder / "any", makes_folder=True)


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
