"""Every store of the contract, raw and guarded, each new and empty."""

from __future__ import annotations

import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "graph_nodes"))
sys.path.append(str(Path(__file__).parents[1] / "ledger"))

from contract_stores import KINDS, Face, opened
from ledger_fixtures import postgres_server
from scripted_gate import TALK

from graph_nodes import conversation

__all__ = ["postgres_server"]


@pytest.fixture(scope="session")
def postgres_schema(postgres_server: str) -> Iterator[str]:
    """The address of a schema of its own, without tables."""
    import psycopg

    schema = f"store_contract_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_server, autocommit=True) as db:
        db.execute(f'CREATE SCHEMA "{schema}"')
        yield f"{postgres_server}?options=-csearch_path%3D{schema}"
        db.execute(f'DROP SCHEMA "{schema}" CASCADE')


@pytest.fixture(autouse=True)
def talk() -> Iterator[None]:
    """The conversation every write of a test is made in, so that what a guarded store is given can be judged."""
    with conversation("thread-1", TALK):
        yield


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(params=["raw", "guarded"])
def guarded(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "guarded")


@pytest.fixture
def address(kind: str, request: pytest.FixtureRequest) -> str | None:
    return request.getfixturevalue("postgres_schema") if "postgres" in kind else None


@pytest.fixture
async def make_face(kind: str, address: str | None) -> AsyncIterator[Callable[..., Any]]:
    """Opens a store of `kind`: `await make_face(guarded, **options)`."""
    async with AsyncExitStack() as stack:

        async def make(guarded: bool, **options: Any) -> Face:
            return await stack.enter_async_context(opened(kind, guarded, address, **options))

        yield make


@pytest.fixture
async def store(make_face: Callable[..., Any], guarded: bool) -> Face:
    face: Face = await make_face(guarded)
    return face
