"""Forgetting and erasing through the store: what stays usable, what is gone to the last byte, and who finishes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.store.base import BaseStore, Op, Result
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from ledger_places import PostgresPlace
from reading_store import ANA, admitted, asker, reading_store, remember
from scripted_gate import SAID

from admission.errors import LedgerError
from admission.ledger import open_ledger
from admission.verifiers.result_cache import ResultCache
from graph_nodes import AdmissionStore, conversation
from graph_nodes.principals import asking_for, reading_as

SECRET = "Ana keeps the violet key under the third flowerpot."
BY = {"by": "officer", "why": "request 7"}


def files_with(folder: Path, text: str) -> list[str]:
    """The files beneath a folder that hold the text, read byte by byte."""
    found = [file for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]
    return sorted(file.name for file in found)


def test_a_forgotten_memory_is_used_for_nothing_and_the_request_to_forget_it_stays_usable() -> None:
    store = reading_store()
    admitted(store, ANA, "content", SECRET)
    admitted(store, ANA, "request", "Ana asked to forget where the key is.")
    store.forget(ANA, "content", directive_key="request", **BY)
    store.forget(ANA, "request", **BY)
    with reading_as(asker()):
        for intent in ("current", "history", None):
            with asking_for(intent):  # type: ignore[arg-type]
                assert [item.key for item in store.search(ANA)] == ["request"]
    assert store.inner.get(ANA, "content") is not None
    store.reinstate(ANA, "content", by="officer", why="a mistake")
    with reading_as(asker()):
        assert store.get(ANA, "content") is not None


async def test_what_had_been_superseded_before_it_was_forgotten_is_so_again() -> None:
    store = reading_store()
    admitted(store, ANA, "old", SECRET)
    known = store.ledger.metadata([(ANA, "old")])[ANA, "old"]
    of = known.lifecycle.model_copy(update={"state": "superseded", "superseded_by": "new"})
    store.ledger.annotate(ANA, "old", known.model_copy(update={"lifecycle": of}), **BY)
    await store.aforget(ANA, "old", **BY)
    await store.areinstate(ANA, "old", **BY)
    assert store.ledger.metadata([(ANA, "old")])[ANA, "old"].lifecycle == of
    await store.areinstate(ANA, "old", **BY)
    assert store.ledger.metadata([(ANA, "old")])[ANA, "old"].lifecycle.state == "current"


def test_what_was_forgotten_through_another_ledger_is_not_shown_by_the_next_read(tmp_path: Path) -> None:
    inner, url = InMemoryStore(), f"sqlite:///{tmp_path / 'ledger.db'}"
    with closing(open_ledger(url)) as first, closing(open_ledger(url)) as second:
        store, other = reading_store(inner, ledger=first), reading_store(inner, ledger=second)
        keys = [f"k{number}" for number in range(12)]
        for key in keys:
            admitted(store, ANA, key, f"{SECRET} {key}")
        with reading_as(asker()):
            for number, key in enumerate(keys, 1):
                assert len(store.search(ANA, limit=50)) == len(keys) - number + 1
                other.forget(ANA, key, **BY)
                assert store.get(ANA, key) is None and len(store.search(ANA, limit=50)) == len(keys) - number
                store.reinstate(ANA, key, by="officer", why="a mistake")
                assert other.get(ANA, key) is not None
                other.forget(ANA, key, **BY)


def test_a_memory_that_never_passed_the_gate_cannot_be_forgotten() -> None:
    store = reading_store()
    store.inner.put(ANA, "planted", {"content": SECRET})
    with pytest.raises(LedgerError):
        store.forget(ANA, "planted", **BY)


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.from_conn_string(str(tmp_path / "memories.db")) as inner:
        inner.setup()
        yield inner


def fill(store: AdmissionStore) -> None:
    """A memory, an earlier text of it, another that says the same, one that was held back, and an unrelated one."""
    remember(store, ANA, "key", SECRET)
    with conversation("talk", [SECRET, "Ana keeps it there since May."]):
        store.put(ANA, "key", {"content": SECRET, "since": "May"})
    remember(store, ANA, "twin", SECRET)
    remember(store, ANA, "other", SAID)
    with conversation("talk", [SECRET]):
        store.put(ANA, "held", {"content": f"{SECRET} It is not made of steel."})


def test_after_an_erasure_no_byte_of_the_text_is_in_the_files_of_store_and_ledger(
    tmp_path: Path, sqlite: SqliteStore
) -> None:
    with closing(open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}")) as ledger:
        store = reading_store(sqlite, ledger=ledger)
        fill(store)
        assert set(files_with(tmp_path, SECRET)) & {"memories.db", "memories.db-wal"}
        erased = store.erase(ANA, "key", **BY)
        assert set(erased.keys) == {"key", "twin"} and erased.entries > 0 and erased.not_reached == ()
        assert files_with(tmp_path, SECRET) == [] == files_with(tmp_path, "flowerpot")
        assert [item.key for item in sqlite.search(ANA)] == ["other"]
        assert ledger.verify().ok
        again = store.erase(ANA, "key", **BY)
        assert again.entries == 0 and ledger.verify().ok
    assert files_with(tmp_path, "flowerpot") == []


async def test_the_async_twin_does_the_same_over_a_store_on_the_event_loop(tmp_path: Path) -> None:
    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "memories.db")) as inner:
        await inner.setup()
        with closing(open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}")) as ledger:
            store = reading_store(inner, ledger=ledger)
            with conversation("talk", [SECRET]):
                await store.aput(ANA, "key", {"content": SECRET})
            assert (await store.aerase(ANA, "key", **BY)).not_reached == ()
            assert files_with(tmp_path, "flowerpot") == [] and await inner.aget(ANA, "key") is None


@pytest.mark.server
def test_after_an_erasure_no_row_of_a_postgres_store_and_ledger_has_the_text(postgres_place: PostgresPlace) -> None:
    psycopg, postgres = pytest.importorskip("psycopg"), pytest.importorskip("langgraph.store.postgres")
    address = f"{postgres_place.address}?options=-csearch_path%3D{postgres_place.schema}"
    with psycopg.connect(postgres_place.address, autocommit=True) as db:
        db.execute(f'CREATE SCHEMA IF NOT EXISTS "{postgres_place.schema}"')
        with postgres.PostgresStore.from_conn_string(address) as inner, closing(postgres_place.open()) as ledger:
            inner.setup()
            store = reading_store(inner, ledger=ledger)
            fill(store)
            erased = store.erase(ANA, "key", **BY)
            assert set(erased.keys) == {"key", "twin"} and "write-ahead log" in erased.not_reached[0]
            found = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [postgres_place.schema])
            for (table,) in found.fetchall():
                rows = db.execute(f'SELECT t::text FROM "{postgres_place.schema}"."{table}" t').fetchall()
                assert [row for (row,) in rows if "flowerpot" in row] == [], table
            assert [item.key for item in inner.search(ANA)] == ["other"] and ledger.verify().ok
            db.execute("CHECKPOINT")
            name = f"{postgres_place.schema}.store"
            file = db.execute("SELECT pg_read_binary_file(pg_relation_filepath(%s))", [name]).fetchone()
            assert file is not None and b"flowerpot" not in bytes(file[0]) and b"Lisbon" in bytes(file[0])


def test_a_store_in_memory_is_erased_from_and_an_unknown_one_says_what_could_not_be_reached() -> None:
    class FakeUnknownStore(BaseStore):
        """Not one whose database is known."""

        def __init__(self) -> None:
            self.kept = InMemoryStore()

        def batch(self, ops: Iterable[Op]) -> list[Result]:
            return self.kept.batch(ops)

        async def abatch(self, ops: Iterable[Op]) -> list[Result]:
            return self.kept.batch(ops)

    for inner, left in ((InMemoryStore(), 0), (FakeUnknownStore(), 1)):
        store = reading_store(inner)
        remember(store, ANA, "key", SECRET)
        assert len(store.erase(ANA, "key", **BY).not_reached) == left
        report = store.report_for(ANA, "key")
        assert inner.get(ANA, "key") is None and report is not None and report.memory == "[erased]"


def test_the_answers_that_were_cached_go_as_well(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    ResultCache(folder, 8).write({"digest": f"the memory says: {SECRET}"})
    assert files_with(tmp_path, SECRET)
    store = reading_store(cache={"folder": str(folder)})
    remember(store, ANA, "key", SECRET)
    store.erase(ANA, "key", **BY)
    assert files_with(tmp_path, "flowerpot") == []


class FakeDyingStore(InMemoryStore):
    """The process dies when it is to delete, once."""

    dying = False

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        if self.dying and any(getattr(op, "value", "") is None for op in ops):
            self.dying = False
            raise KeyboardInterrupt
        return super().batch(ops)


@pytest.mark.parametrize("how", ["the next start", "a repeat"])
def test_an_erasure_that_was_cut_short_is_finished_by(how: str) -> None:
    inner, ledger = FakeDyingStore(), open_ledger("sqlite://")
    store = reading_store(inner, ledger=ledger)
    for key in ("key", "twin", "other"):
        admitted(store, ANA, key, SAID if key == "other" else SECRET)
    inner.dying = True
    with pytest.raises(KeyboardInterrupt):
        store.erase(ANA, "key", **BY)
    assert inner.get(ANA, "key") is not None
    if how == "a repeat":
        assert set(store.erase(ANA, "key", **BY).keys) == {"key", "twin"}
    else:
        reading_store(inner, ledger=ledger).recover()
    assert [item.key for item in inner.search(ANA)] == ["other"] and ledger.verify().ok


def test_what_is_written_anew_under_an_erased_key_is_judged_anew_and_no_start_takes_it_away() -> None:
    store = reading_store()
    remember(store, ANA, "key", SECRET)
    store.erase(ANA, "key", **BY)
    remember(store, ANA, "key", SAID)
    reading_store(store.inner, ledger=store.ledger).recover()
    assert store.inner.get(ANA, "key") is not None


def test_in_background_mode_no_late_verdict_brings_the_text_back() -> None:
    with reading_store(writes={"mode": "background"}) as store:
        with conversation("talk", [SECRET]):
            store.put(ANA, "key", {"content": SECRET})
        store.erase(ANA, "key", **BY)
        assert store.flush() and store.inner.get(ANA, "key") is None
        assert SECRET not in repr([entry.body for entry in store.ledger.entries()])
