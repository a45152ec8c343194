"""The stores beneath the guard that every way of writing is tried on."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

sys.path.append(str(Path(__file__).parents[1] / "graph_nodes"))  # scripted_gate, reading_store
sys.path.append(str(Path(__file__).parents[1] / "ledger"))  # ledger_records, which reading_store uses


@pytest.fixture(params=["memory", "sqlite"])
def sync_inner(request: pytest.FixtureRequest) -> Iterator[BaseStore]:
    if request.param == "memory":
        yield InMemoryStore()
        return
    with SqliteStore.from_conn_string(":memory:") as store:
        store.setup()
        yield store


@pytest.fixture(params=["memory", "sqlite", "async-sqlite"])
async def async_inner(request: pytest.FixtureRequest) -> AsyncIterator[BaseStore]:
    if request.param == "memory":
        yield InMemoryStore()
    elif request.param == "sqlite":
        with SqliteStore.from_conn_string(":memory:") as sync_store:
            sync_store.setup()
            yield sync_store
    else:
        async with AsyncSqliteStore.from_conn_string(":memory:") as store:
            await store.setup()
            yield store
