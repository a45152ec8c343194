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
