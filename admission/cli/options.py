"""Options that several commands share, and opening what they name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from admission.ledger import Ledger

Config = Annotated[Path | None, typer.Option(help="Settings file (TOML); default: admission.toml if there is one.")]
LedgerUrl = Annotated[str | None, typer.Option("--ledger", help="Ledger URL; default: from the settings.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]

_SQLITE = "sqlite:///"


@contextmanager
def existing_ledger(url: str | None, config: Path | None) -> Iterator[Ledger]:
    """The ledger that `--ledger` or the settings name, closed afterwards. Raises `LedgerError` if there is none yet:
    reading a ledger must not begin an empty one."""
    from admission.errors import LedgerError
    from admission.ledger import open_ledger
    from admission.settings import load_settings

    settings = load_settings(config)
    named = url or settings.ledger.url
    path = Path(named.removeprefix(_SQLITE))
    if named.startswith(_SQLITE) and not (path.is_file() and path.stat().st_size):
        raise LedgerError("ledger", f"no ledger at {named}", "name one with --ledger, or in the settings (ledger.url)")
    ledger = open_ledger(named, key=settings.ledger.key)
    try:
        yield ledger
    finally:
        ledger.close()
