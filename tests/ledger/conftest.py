"""The ledgers every contract test runs on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from admission.ledger import Ledger, open_ledger

KINDS: dict[str, Callable[[Path], str]] = {
    "sqlite-file": lambda folder: f"sqlite:///{folder / 'ledger.db'}",
    "sqlite-memory": lambda folder: "sqlite://",
}


@pytest.fixture(params=KINDS)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger(KINDS[request.param](tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def ledger_file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"
