"""The stores the contract is held against, raw and guarded, behind one awaited face: each rule is written once."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, IndexConfig, Item, Op, Result, SearchItem
from langgraph.store.base.batch import AsyncBatchedBaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from admission.gate import AdmissionGate
from admission.ledger import open_ledger
from admission.records import Question
from admission.settings import load_settings
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes import AdmissionStore

SERVER = pytest.mark.server
TTL_KINDS: list[Any] = [
    "sqlite",
    "async-sqlite",
    pytest.param("postgres", marks=SERVER),
    pytest.param("async-postgres", marks=SERVER),
]
KINDS = ["memory", "async-memory", "batched", *TTL_KINDS]

DIMENSIONS = 32
AGE_SQLITE = "UPDATE store SET expires_at = datetime(expires_at, '-1 hour')"
AGE_POSTGRES = "UPDATE store SET expires_at = expires_at - interval '1 hour'"


class FakeEmbedding(Embeddings):
    """Counts words by a checksum: texts with the same words are near each other, everywhere and always."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts.extend(texts)
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * DIMENSIONS
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
        return vector


class FakeBatchedStore(AsyncBatchedBaseStore):
    """A store of the kind that gathers the operations of one tick into a batch, over one in memory."""

    def __init__(self, index: IndexConfig | None = None) -> None:
        super().__init__()
        self._kept = InMemoryStore(index=index)
        self.index_config = self._kept.index_config

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self._kept.abatch(ops)


class Face:
    """A store's methods by their sync names, always awaited: through its sync or its async ones.

    `beneath` is the store that keeps the items, `expire` sets the end of every item's life an hour back.
    """

    def __init__(
        self,
        store: BaseStore,
        *,
        through_async: bool,
        beneath: BaseStore,
        expire: Callable[[], Any] | None = None,
        embedding: FakeEmbedding | None = None,
    ) -> None:
        self.store, self.beneath, self.embedding = store, beneath, embedding
        self.through_async = through_async
        self._expire = expire

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> Any:
            if self.through_async:
                return await getattr(self.store, f"a{name}")(*args, **kwargs)
            return getattr(self.store, name)(*args, **kwargs)

        return call

    async def expire(self) -> None:
        assert self._expire is not None
        await _maybe(self._expire())

    async def sweep(self) -> int:
        """How many items that have outlived their time the store that keeps them removed."""
        return await _maybe(self.beneath.sweep_ttl())  # type: ignore[attr-defined]


async def _maybe(answer: Any) -> Any:
    return await answer if hasattr(answer, "__await__") else answer


def supports_everything(question: Question) -> tuple[float, float]:
    return 1.0, 0.0


def guard(inner: BaseStore) -> AdmissionStore:
    """An AdmissionStore whose verifiers support whatever they are asked."""
    first, second, third = (ScriptedVerifier(name, supports_everything) for name in ("first", "second", "third"))
    gate = AdmissionGate(load_settings(), verifier_a=first, verifier_b=second, adjudicator=third)
    return AdmissionStore(inner, gate=gate, ledger=open_ledger("sqlite://"))


def shape(result: Any) -> Any:
    """A result without its times, which no two stores share."""
    match result:
        case SearchItem():
            return (result.namespace, result.key, result.value, _rounded(result.score))
        case Item():
            return (result.namespace, result.key, result.value)
        case list():
            return [shape(part) for part in result]
    return result


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 5)


def no_vectors(kind: str, address: str | None) -> str | None:
    """Why this kind of store cannot search by vectors here; None where it can."""
    if "sqlite" in kind and not hasattr(sqlite3.Connection, "enable_load_extension"):
        return "this Python's sqlite3 loads no extensions, and SqliteStore needs sqlite-vec"
    if address is not None:
        import psycopg

        with psycopg.connect(address) as db:
            if db.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone() is None:
                return "the Postgres server has no pgvector"
    return None


@asynccontextmanager
async def opened(kind: str, guarded: bool, address: str | None, **options: Any) -> AsyncIterator[Face]:
    """A new, empty store of this kind, wrapped where `guarded`. `options`: `index` (a FakeEmbedding), `ttl`."""
    embedding: FakeEmbedding | None = options.pop("index", None)
    if embedding is not None:
        options["index"] = {"dims": DIMENSIONS, "embed": embedding, **options.pop("fields", {})}
    through_async = kind.startswith("async") or kind == "batched"
    async with _KINDS[kind](address, options) as (store, expire):
        yield Face(
            guard(store) if guarded else store,
            through_async=through_async,
            beneath=store,
            expire=expire,
            embedding=embedding,
        )


@asynccontextmanager
async def _memory(address: str | None, options: dict[str, Any]) -> AsyncIterator[tuple[BaseStore, Any]]:
    yield InMemoryStore(**options), None


@asynccontextmanager
async def _batched(address: str | None, options: dict[str, Any]) -> AsyncIterator[tuple[BaseStore, Any]]:
    yield FakeBatchedStore(**options), None


@asynccontextmanager
async def _sqlite(address: str | None, options: dict[str, Any]) -> AsyncIterator[tuple[BaseStore, Any]]:
    with SqliteStore.from_conn_string(":memory:", **options) as store:
        store.setup()
        yield store, lambda: store.conn.execute(AGE_SQLITE)


@asynccontextmanager
async def _async_sqlite(address: str | None, options: dict[str, Any]) -> AsyncIterator[tuple[BaseStore, Any]]:
    async with AsyncSqliteStore.from_conn_string(":memory:", **options) as store:
        await store.setup()
        yield store, lambda: store.conn.execute(AGE_SQLITE)


@asynccontextmanager
async def _postgres(address: str | None, options: dict[str, Any]) -> AsyncIterator[tuple[BaseStore, Any]]:
    from langgraph.store.postgres import PostgresStore

    assert address is not None
    with PostgresStore.from_conn_string(address, **options) as store:
        store.setup()
        store.conn.execute("DELETE FROM store")
        yield store, lambda: store.conn.execute(AGE_POSTGRES)


@asynccontextmanager
async def _async_postgres(address: str | None, options: dict[str, Any]) -> AsyncIterator[tuple[BaseStore, Any]]:
    from langgraph.store.postgres.aio import AsyncPostgresStore

    assert address is not None
    async with AsyncPostgresStore.from_conn_string(address, **options) as store:
        await store.setup()
        await store.conn.execute("DELETE FROM store")
        yield store, lambda: store.conn.execute(AGE_POSTGRES)


_KINDS = {
    "memory": _memory,
    "async-memory": _memory,
    "batched": _batched,
    "sqlite": _sqlite,
    "async-sqlite": _async_sqlite,
    "postgres": _postgres,
    "async-postgres": _async_postgres,
}
