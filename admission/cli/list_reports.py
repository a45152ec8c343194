"""`admission list`: the reports of a ledger, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from admission.cli.options import AsJson, Config, LedgerUrl, existing_ledger
from admission.cli.output import console, print_json

if TYPE_CHECKING:
    from admission.ledger import Entry
    from admission.records import Namespace, Report, Status


def list_reports(
    status: Annotated[str | None, typer.Option(help="Only this status.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Only this namespace and those below it: a/b.")] = None,
    since: Annotated[str | None, typer.Option(help="Only reports from this time on (ISO 8601).")] = None,
    ledger: LedgerUrl = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List the reports of the ledger."""
    from admission.reports.text import reports_table

    chosen = _status(status), _namespace(namespace), _time(since)
    with existing_ledger(ledger, config) as opened:
        found = list(opened.reports(status=chosen[0], namespace=chosen[1], since=chosen[2]))
    if as_json:
        print_json({"reports": [_row(entry, report) for entry, report in found]})
    else:
        console().print(reports_table(report for _, report in found))


def _row(entry: Entry, report: Report) -> dict[str, Any]:
    fields = {"id", "conversation", "namespace", "memory", "status", "action", "reasons"}
    place = {"seq": entry.seq, "time": entry.time, "key": entry.key, "fingerprint": entry.fingerprint}
    return report.model_dump(mode="json", include=fields) | place


def _status(value: str | None) -> Status | None:
    from admission.errors import InputError
    from admission.records import STATUSES

    for status in STATUSES:
        if value == status:
            return status
    if value is not None:
        raise InputError("--status", f"{value!r} is no status", f"use one of {', '.join(STATUSES)}")
    return None


def _namespace(value: str | None) -> Namespace | None:
    return tuple(part for part in value.split("/") if part) if value else None


def _time(value: str | None) -> str | None:
    from datetime import datetime

    from admission.errors import InputError

    try:
        return value if value is None else datetime.fromisoformat(value).isoformat()
    except ValueError as error:
        raise InputError("--since", f"{value!r} is no time", "write it as 2026-01-31 or 2026-01-31T09:30") from error
