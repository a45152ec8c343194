"""Fixtures for places that several processes may open a ledger at; conftest files import them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger_places import Place, PostgresPlace, SqlitePlace
from ledger_postgres import NoServer, postgres_address

POSTGRES = pytest.param("postgres", marks=pytest.mark.server)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server; tests that need one are skipped where there is none."""
    found = postgres_address()
    try:
        address = found.__enter__()
    except NoServer as error:
        pytest.skip(str(error))
    yield address
    found.__exit__(None, None, None)


@pytest.fixture
def postgres_place(postgres_server: str) -> Iterator[PostgresPlace]:
    place = PostgresPlace(postgres_server, f"admission_test_{uuid.uuid4().hex[:12]}")
    yield place
    place.drop()


@pytest.fixture(params=["sqlite", POSTGRES])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where a ledger is kept that several processes may open."""
    if request.param == "postgres":
        found: Place = request.getfixturevalue("postgres_place")
        return found
    return SqlitePlace(tmp_path)


@pytest.fixture
def shared(place: Place) -> Place:
    """A place where holds keep processes apart."""
    fcntl = pytest.importorskip("fcntl")
    if isinstance(place, SqlitePlace) and not hasattr(fcntl, "F_OFD_SETLK"):
        pytest.skip("this system has no open file description locks")
    return place
