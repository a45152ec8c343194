"""`admission show`: one report of a ledger in full."""

from __future__ import annotations

from typing import Annotated

import typer

from admission.cli.options import AsJson, Config, LedgerUrl, existing_ledger, named_report
from admission.cli.output import console, print_json


def show(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="A report's id, or the beginning of it or of its fingerprint.")
    ],
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Of that id the report in this conversation.")
    ] = None,
    ledger: LedgerUrl = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show one report in full."""
    from admission.reports.jsonl import report_json
    from admission.reports.text import report_view

    with existing_ledger(ledger, config) as opened:
        entry, report = named_report(opened, id, conversation)
    if as_json:
        print_json(report_json(report) | {"entry": entry.model_dump(mode="json", exclude={"body"})})
    else:
        console().print(report_view(report))
