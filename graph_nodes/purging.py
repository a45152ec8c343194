"""Clearing what a store's database keeps of deleted memories: freed pages, logs, vectors, where they can be reached."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from langgraph.store.base import BaseStore
from langgraph.store.base.batch import AsyncBatchedBaseStore
from langgraph.store.memory import InMemoryStore

from admission.records import Namespace

Place = tuple[Namespace, str]
Statement = tuple[str, tuple[object, ...]]

_FORGET_VECTORS = "DELETE FROM store_vectors WHERE prefix = ? AND key = ?"
# Rewrites the file without what it keeps of deleted rows, then the write-ahead log, which has the old pages, where
# there is one. Says whether it could not, for a connection is reading.
_REWRITE: tuple[Statement, ...] = (("VACUUM", ()), ("PRAGMA wal_checkpoint(TRUNCATE)", ()))
BUSY = "sqlite: somebody is reading, so the write-ahead log keeps old pages; erase again when that has ended"
_POSTGRES_KEEPS = "postgres: write-ahead log, replicas and backups keep what they have for as long as they are kept"
_PIPELINE = "postgres: a connection in pipeline mode cannot run VACUUM; autovacuum clears the deleted rows in its time"
_UNKNOWN = "{}: what it keeps of deleted memories could not be reached"


def purge(inner: BaseStore, places: Sequence[Place]) -> tuple[str, ...]:
    """Clear what the store keeps of the memories that were deleted at these places; what could not be reached, as
    sentences for a person. Raises what the database raises. Takes as long as rewriting the file or tables does."""
    if isinstance(inner, AsyncBatchedBaseStore):
        return asyncio.run_coroutine_threadsafe(apurge(inner, places), inner._loop).result()
    if _is_sqlite(inner):
        store: Any = inner
        row = None
        with store.lock:
            for statement in _sqlite_statements(store, places):
                row = store.conn.execute(*statement).fetchone()
        return _sqlite_left(row)
    if _is_postgres(inner):
        store = inner
        if getattr(store, "pipe", None) is not None:
            return (_PIPELINE, _POSTGRES_KEEPS)
        with store.lock, _connection(store.conn) as connection:
            for vacuum in _postgres_statements(store):
                connection.execute(vacuum)
        return (_POSTGRES_KEEPS,)
    return _other_left(inner)


async def apurge(inner: BaseStore, places: Sequence[Place]) -> tuple[str, ...]:
    """Async twin of `purge`; a store for synchronous use only is cleared in a thread."""
    store: Any = inner
    if not isinstance(inner, AsyncBatchedBaseStore):
        return await asyncio.to_thread(purge, inner, places)
    if _is_sqlite(inner):
        row = None
        async with store.lock:
            for statement in _sqlite_statements(store, places):
                row = await (await store.conn.execute(*statement)).fetchone()
        return _sqlite_left(row)
    if _is_postgres(inner):
        if getattr(store, "pipe", None) is not None:
            return (_PIPELINE, _POSTGRES_KEEPS)
        async with store.lock, _connection(store.conn) as connection:
            for vacuum in _postgres_statements(store):
                await connection.execute(vacuum)
        return (_POSTGRES_KEEPS,)
    return _other_left(inner)


def _sqlite_statements(store: Any, places: Sequence[Place]) -> list[Statement]:
    # LangGraph leaves the vectors to a foreign key that SQLite does not enforce by itself.
    vectors = places if store.index_config is not None else ()
    return [*((_FORGET_VECTORS, (".".join(namespace), key)) for namespace, key in vectors), *_REWRITE]


def _sqlite_left(checkpoint: Any) -> tuple[str, ...]:
    return (BUSY,) if checkpoint is not None and checkpoint[0] else ()


def _postgres_statements(store: Any) -> list[str]:
    # A plain VACUUM frees the rows and leaves their bytes in the pages. FULL rewrites them; nobody reads meanwhile.
    tables = ["store", *(["store_vectors"] if store.index_config is not None else [])]
    return [f"VACUUM FULL {table}" for table in tables]


def _connection(given: Any) -> Any:
    """A connection to use for a while: the one that was given, or one of the pool."""
    return given.connection() if hasattr(given, "getconn") else nullcontext(given)


def _other_left(inner: BaseStore) -> tuple[str, ...]:
    return () if isinstance(inner, InMemoryStore) else (_UNKNOWN.format(type(inner).__name__),)


def _is_sqlite(inner: BaseStore) -> bool:
    return _is_a(inner, "langgraph.store.sqlite.base", "BaseSqliteStore")


def _is_postgres(inner: BaseStore) -> bool:
    return _is_a(inner, "langgraph.store.postgres.base", "BasePostgresStore")


def _is_a(inner: BaseStore, module: str, name: str) -> bool:
    """Whoever has such a store has loaded its module; nobody else is to."""
    found = getattr(sys.modules.get(module), name, None)
    return found is not None and isinstance(inner, found)
