"""`admission export`: the whole ledger as JSON lines, an entry a line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from admission.cli.options import AsJson, Config, LedgerUrl, existing_ledger
from admission.cli.output import check_output, print_json, print_line


def export(
    out: Annotated[Path | None, typer.Option(help="File to write; default: stdout.")] = None,
    ledger: LedgerUrl = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Write the whole ledger as JSON lines, an entry a line; with --json as one object."""
    from admission.reports.jsonl import to_json

    check_output("--out", out)
    with existing_ledger(ledger, config) as opened:
        lines = (to_json(entry.model_dump(mode="json")) for entry in opened.entries())
        if out is not None:
            written = _write(out, lines)
        elif as_json:
            _print_as_one(lines)
        else:
            for line in lines:
                print_line(line)
    if out is not None:
        typer.echo(f"wrote {out}", err=True)
        if as_json:
            print_json({"out": str(out), "written": written})


def _write(out: Path, lines: Iterable[str]) -> int:
    """Write the file, replacing what was there only when it is complete; how many lines it has."""
    written = 0
    partial = out.with_name(out.name + ".partial")
    with partial.open("w", encoding="utf-8") as file:
        for written, line in enumerate(lines, 1):  # noqa: B007
            file.write(line + "\n")
    partial.replace(out)
    return written


def _print_as_one(lines: Iterable[str]) -> None:
    """{"entries": [...]}, printed entry by entry: a ledger may be larger than memory."""
    before = '{"entries": ['
    for line in lines:
        print_line(before + line)
        before = ","
    print_line("]}" if before == "," else before + "]}")
