"""Options that several commands share, and opening and finding what they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from admission.errors import InputError
    from admission.ledger import Entry, Ledger, WriteRecord
    from admission.records import Report

Config = Annotated[Path | None, typer.Option(help="Settings file (TOML); default: admission.toml if there is one.")]
LedgerUrl = Annotated[str | None, typer.Option("--ledger", help="Ledger URL; default: from the settings.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]

WRITE_TO_A_STORE = "only what an agent's AdmissionStore on this ledger holds back can be reviewed or judged again"
# So many conversations are listed where an id names reports of several.
_NAMED = 5


@contextmanager
def existing_ledger(url: str | None, config: Path | None) -> Iterator[Ledger]:
    """The ledger that `--ledger` or the settings name, closed afterwards. Raises `LedgerError` if there is none yet:
    reading a ledger must not begin an empty one."""
    from admission.ledger import open_ledger
    from admission.settings import load_settings

    settings = load_settings(config)
    ledger = open_ledger(url or settings.ledger.url, key=settings.ledger.key, must_exist=True)
    try:
        yield ledger
    finally:
        ledger.close()


def named_report(ledger: Ledger, id: str, conversation: str | None = None) -> tuple[Entry, Report]:
    """The newest report that an argument `ID` names. Raises `InputError` where it names none, or those of several
    conversations and `conversation` does not say which: ids of audited writes are the caller's own."""
    from admission.errors import InputError

    found = ledger.report(id)
    if found is None:
        raise no_such_report(id)
    if found[0].fingerprint is not None and conversation in (None, found[1].conversation):
        return found  # a write to a store: its id is its own
    named = {report.conversation: (entry, report) for entry, report in ledger.reports() if report.id == found[1].id}
    if conversation is None and len(named) == 1:
        return found
    if conversation in named:
        return named[conversation]
    some = ", ".join(map(repr, sorted(named)[:_NAMED])) + (", ..." if len(named) > _NAMED else "")
    if conversation is None:
        problem = f"{found[1].id!r} names reports of {len(named)} conversations: {some}"
        raise InputError("ID", problem, "say which with --conversation ID")
    problem = f"{found[1].id!r} has no report in {conversation!r}, but in {some}"
    raise InputError("--conversation", problem, "name one of these")


def no_such_report(id: str) -> InputError:
    from admission.errors import InputError

    return InputError("ID", f"no single report is named by {id!r}", "`admission list` shows the ids")


def tell_of_audits(ledger: Ledger, waiting: Sequence[WriteRecord]) -> None:
    """Say on stderr why nothing waits in a ledger whose reports are all those of audits."""
    if waiting:
        return
    reports = [entry.fingerprint for entry, _ in ledger.reports()]
    if reports and not any(reports):
        told = f"the {len(reports)} reports here are those of audits, which store and hold back nothing"
        typer.echo(f"admission: {told}; {WRITE_TO_A_STORE}", err=True)
