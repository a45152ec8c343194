"""`make_store` for the LangGraph server: `"store": {"path": "./store.py:make_store"}` in langgraph.json."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from admission.errors import SettingsError
from admission.settings import load_settings
from graph_nodes.store import AdmissionStore

STORE_URL = "ADMISSION_STORE_URL"
DEFAULT_STORE_URL = "sqlite:///memories.db"

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


@asynccontextmanager
async def make_store() -> AsyncIterator[AdmissionStore]:
    """The guarded store of a server, for as long as the server runs.

    Settings come from `admission.toml` in the working folder and from `ADMISSION_*`; the store beneath from the URL in
    `ADMISSION_STORE_URL`: `memory://`, `sqlite:///file.db` (the default, `memories.db`) or `postgresql://...`; its
    tables are made if need be. Ends when all pending writes are decided and the ledger is closed. Raises
    `SettingsError`, `LedgerError`, and what the database raises.
    """
    settings = await asyncio.to_thread(load_settings)
    async with open_store(os.environ.get(STORE_URL, DEFAULT_STORE_URL)) as inner:
        store = await asyncio.to_thread(partial(AdmissionStore, inner, settings=settings))
        try:
            yield store
        finally:
            await store.aclose()
            await asyncio.to_thread(store.ledger.close)


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[BaseStore]:
    """The LangGraph store at a URL, ready for use. Raises `SettingsError` for a URL that is of no known kind, or whose
    package is not installed."""
    if url == "memory://":
        yield InMemoryStore()
    elif url.startswith(_SQLITE) and url != _SQLITE:
        async with _sqlite(url.removeprefix(_SQLITE)) as store:
            yield store
    elif url.startswith(_POSTGRES):
        async with _postgres(url) as store:
            yield store
    else:
        remedy = "give memory://, sqlite:///file.db or postgresql://user@host/database"
        raise SettingsError(STORE_URL, f"has the scheme {url.partition(':')[0]!r} or no path", remedy)


@asynccontextmanager
async def _sqlite(path: str) -> AsyncIterator[BaseStore]:
    try:
        from langgraph.store.sqlite.aio import AsyncSqliteStore
    except ImportError as error:
        raise _not_installed("sqlite") from error
    async with AsyncSqliteStore.from_conn_string(path) as store:
        await store.setup()
        yield store


@asynccontextmanager
async def _postgres(url: str) -> AsyncIterator[BaseStore]:
    try:
        from langgraph.store.postgres.aio import AsyncPostgresStore
    except ImportError as error:
        raise _not_installed("postgres") from error
    async with AsyncPostgresStore.from_conn_string(url, pool_config={"min_size": 1, "max_size": 10}) as store:
        await store.setup()
        yield store


def _not_installed(extra: str) -> SettingsError:
    return SettingsError(STORE_URL, f"needs the {extra} extra", f'pip install "memory-admission[{extra}]"')
