"""The ledgers every contract test runs on, each new and empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_fixtures import POSTGRES, place, postgres_place, postgres_server, shared
from ledger_places import SqlitePlace

from admission.ledger import Ledger, open_ledger

__all__ = ["place", "postgres_place", "postgres_server", "shared"]


@pytest.fixture(params=["sqlite-file", "sqlite-memory", POSTGRES])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    if request.param == "postgres":
        opened = request.getfixturevalue("postgres_place").open()
    else:
        opened = SqlitePlace(tmp_path).open() if request.param == "sqlite-file" else open_ledger("sqlite://")
    yield opened
    opened.close()


@pytest.fixture
def ledger_file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"
