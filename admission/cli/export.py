"""`admission export`: the whole ledger as JSON lines, an entry a line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from admission.cli.options import Config, LedgerUrl, existing_ledger
from admission.cli.output import print_line


def export(
    out: Annotated[Path | None, typer.Option(help="File to write; default: stdout.")] = None,
    ledger: LedgerUrl = None,
    config: Config = None,
) -> None:
    """Write the whole ledger as JSON lines, an entry a line."""
    from admission.reports.jsonl import to_json

    with existing_ledger(ledger, config) as opened:
        lines = (to_json(entry.model_dump(mode="json")) for entry in opened.entries())
        if out is None:
            for line in lines:
                print_line(line)
            return
        partial = out.with_name(out.name + ".partial")
        with partial.open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        partial.replace(out)
    typer.echo(f"wrote {out}", err=True)
