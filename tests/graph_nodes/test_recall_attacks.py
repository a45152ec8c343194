"""What an attack on the read gate and on erasure found: races, crashes half-way, lives prolonged, traces from above."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from reading_store import ANA, admitted, asker, in_run, reading_store, remember
from scripted_gate import guarded, scripted_gate

from admission.errors import LedgerError
from admission.ledger import SqliteLedger, open_ledger
from admission.reading.context import QueryContext
from admission.records import digest
from graph_nodes import AdmissionStore, conversation, steps
from graph_nodes.principals import reading_as
from graph_nodes.read_trace import record_answer

SECRET = "Ana keeps the violet key under the third flowerpot."
BY = {"by": "officer", "why": "request 7"}


def files_with(folder: Path, text: str) -> list[str]:
    """The files beneath a folder that hold the text, read byte by byte."""
    return sorted(f.name for f in folder.rglob("*") if f.is_file() and text.encode() in f.read_bytes())


@pytest.mark.parametrize("refresh_on_read", [True, False])
def test_what_is_kept_back_lives_no_longer_for_having_been_looked_for(tmp_path: Path, refresh_on_read: bool) -> None:
    config = {"refresh_on_read": refresh_on_read, "default_ttl": 60.0}
    with SqliteStore.from_conn_string(str(tmp_path / "memories.db"), ttl=config) as inner:  # type: ignore[arg-type]
        inner.setup()
        store = reading_store(inner)
        for key in ("forgotten", "shown"):
            with conversation("talk", [HumanMessage(f"Ana likes {key} tea.", id=key)]):
                store.put(ANA, key, {"content": f"Ana likes {key} tea."})
        store.forget(ANA, "forgotten", **BY)
        inner.conn.execute("UPDATE store SET expires_at = '2999-01-01 00:00:00'")
        with reading_as(asker()):
            for key in ("forgotten", "shown"):
                store.get(ANA, key, refresh_ttl=True)
            store.search(ANA, refresh_ttl=True)
        ends = dict(inner.conn.execute("SELECT key, substr(expires_at, 1, 4) FROM store").fetchall())
        assert ends["forgotten"] == "2999"
        assert (ends["shown"] == "2999") is not refresh_on_read


class FakeSlowStore(InMemoryStore):
    """Something else happens before it carries out its next put."""

    meanwhile: Callable[[], object] | None = None

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops, meanwhile = list(ops), self.meanwhile
        if meanwhile is not None and any(isinstance(op, PutOp) and op.value for op in ops):
            self.meanwhile = None
            meanwhile()
        return super().batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return self.batch(ops)


def test_a_write_that_is_erased_between_its_decision_and_its_put_does_not_stay_in_the_store() -> None:
    inner = FakeSlowStore()
    store = reading_store(inner)
    inner.meanwhile = lambda: store.erase(ANA, "key", **BY)
    with pytest.raises(LedgerError):
        remember(store, ANA, "key", SECRET)
    assert inner.get(ANA, "key") is None


async def test_so_it_is_for_an_async_writer() -> None:
    inner = FakeSlowStore()
    store = reading_store(inner)
    inner.meanwhile = lambda: store.erase(ANA, "key", **BY)
    with conversation("talk", [SECRET]), pytest.raises(LedgerError):
        await store.aput(ANA, "key", {"content": SECRET})
    assert inner.get(ANA, "key") is None


def test_so_it_is_for_whoever_recovers_the_write_of_another() -> None:
    inner, ledger = FakeSlowStore(), open_ledger("sqlite://")

    def fail() -> None:
        raise KeyboardInterrupt

    inner.meanwhile = fail
    with pytest.raises(KeyboardInterrupt):
        remember(reading_store(inner, ledger=ledger), ANA, "key", SECRET)
    inner.meanwhile = lambda: ledger.erase(ANA, "key", **BY)
    assert reading_store(inner, ledger=ledger).recover().stored == ()
    assert inner.get(ANA, "key") is None


@pytest.fixture
def careless(tmp_path: Path) -> Iterator[tuple[SqliteStore, SqliteLedger]]:
    """A store and a ledger whose SQLite leaves the bytes of deleted rows in the file, as most builds do."""
    with SqliteStore.from_conn_string(str(tmp_path / "memories.db")) as inner:
        inner.setup()
        inner.conn.execute("PRAGMA secure_delete = OFF")
        with closing(SqliteLedger(str(tmp_path / "ledger.db"))) as ledger:
            with ledger._connection() as db:
                db.execute("PRAGMA secure_delete = OFF")
            yield inner, ledger


@pytest.mark.parametrize("where", ["ledger", "store"])
def test_the_next_start_clears_what_databases_keep_where_an_erasure_ended_before_that(
    tmp_path: Path, careless: tuple[SqliteStore, SqliteLedger], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, ledger = careless
    store = reading_store(inner, ledger=ledger)
    remember(store, ANA, "key", SECRET)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(*((ledger, "_purge", die) if where == "ledger" else (steps, "purge", die)))
        with pytest.raises(KeyboardInterrupt):
            store.erase(ANA, "key", **BY)
    assert files_with(tmp_path, "flowerpot")
    assert [one.key for one in ledger.erasing()] == ["key"]
    remember(reading_store(inner, ledger=ledger), ANA, "key", "Ana likes green tea.")
    assert files_with(tmp_path, "flowerpot") == [] and ledger.erasing() == []
    assert inner.get(ANA, "key") is not None and ledger.verify().ok


def test_an_erasure_that_cannot_clear_the_ledgers_database_is_out_of_the_store_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = reading_store()
    remember(store, ANA, "key", SECRET)

    def busy() -> None:
        raise LedgerError("ledger", "somebody is reading", "erase the same key again")

    with monkeypatch.context() as reading:
        reading.setattr(store.ledger, "_purge", busy)
        with pytest.raises(LedgerError):
            store.erase(ANA, "key", **BY)
        assert store.inner.get(ANA, "key") is None
        # A start that cannot clear it either goes on, and leaves it for the next.
        remember(reading_store(store.inner, ledger=store.ledger), ANA, "other", "Ana likes green tea.")
    assert len(store.ledger.erasing()) == 1
    store.erase(ANA, "key", **BY)
    assert store.ledger.erasing() == []


def test_traces_of_questions_from_above_the_memorys_namespace_lose_its_text_and_its_digest_too() -> None:
    reading = {"namespace": ["clinic"], "sub_namespaces": True, "trace": True, "owner": ["clinic", "{owner}"]}
    store = reading_store(reading=reading, observability={"log_text": True})
    admitted(store, ("clinic", "ana"), "key", SECRET)
    asked = QueryContext(query=SECRET, question_id="q1", principal="ben", namespace=("clinic",))
    with reading_as(asked):
        assert store.search(("clinic",))
    record_answer(store, "q1", SECRET)
    store.erase(("clinic", "ana"), "key", **BY)
    left = repr([entry.model_dump() for entry in store.ledger.entries()])
    assert "flowerpot" not in left and digest(SECRET) not in left
    assert len(store.ledger.reads("q1")) == 2 and store.ledger.verify().ok


@pytest.mark.parametrize("how", ["sync", "async"])
async def test_a_write_that_is_pending_does_not_bring_back_what_is_forgotten(how: str) -> None:
    with reading_store(writes={"mode": "background"}) as store:
        for more in ({}, {"since": "May"}):
            with conversation("talk", [SECRET, "Ana keeps it there since May."]):
                store.put(ANA, "key", {"content": SECRET, **more})
        if how == "sync":
            store.forget(ANA, "key", **BY)
        else:
            await store.aforget(ANA, "key", **BY)
        store.flush()
        with reading_as(asker()):
            assert store.get(ANA, "key") is None


def test_metadata_of_more_keys_than_a_database_takes_in_one_query_are_read_in_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("admission.ledger.sql_metadata._KEYS", 2)
    store = reading_store()
    for place in range(5):
        admitted(store, ANA, f"k{place}", f"Ana has {place} cats.")
    asked = [(ANA, f"k{place}") for place in range(6)]
    assert list(store.ledger.metadata(asked)) == asked[:5]


def test_of_stores_that_share_a_ledger_none_erases_another_ones_memory() -> None:
    ledger = open_ledger("sqlite://")
    first, second = (
        AdmissionStore(InMemoryStore(), gate=scripted_gate(), ledger=ledger, name=name) for name in ("first", "second")
    )
    remember(first, ANA, "key", SECRET)
    with pytest.raises(LedgerError):
        second.erase(ANA, "key", **BY)
    assert first.inner.get(ANA, "key") is not None and ledger.versions(ANA, "key")[0].ended is None


@pytest.mark.parametrize("unseen", ["\u00ad", "\u200b", "\u2060", "\ufeff", "\u202e"])
def test_a_text_with_characters_that_nobody_sees_is_the_same_text_to_an_erasure(unseen: str) -> None:
    store = reading_store()
    admitted(store, ANA, "key", SECRET)
    admitted(store, ANA, "twin", SECRET.replace("violet", f"vio{unseen}let"))
    assert set(store.erase(ANA, "key", **BY).keys) == {"key", "twin"}
    assert "flowerpot" not in repr([entry.model_dump() for entry in store.ledger.entries()])


def test_a_deployment_that_lets_no_memory_be_used_is_told_so_and_a_read_that_shows_none_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    store = guarded(reading={"namespace": ["memories", "{user_id}"]})
    (warning,) = caplog.records
    assert warning.levelname == "WARNING" and "policy_default" in warning.getMessage()
    admitted(store, ANA, "key", SECRET)
    caplog.clear()
    with reading_as(asker()):
        assert store.search(ANA) == []
    assert [record.getMessage() for record in caplog.records] == [
        "a read shows none of 1 memories: {'policy_missing': 1}"
    ]
    caplog.clear()
    reading_store()
    assert caplog.records == []


@pytest.mark.parametrize(("writer", "state"), [("ana", "superseded"), ("ben", "current")])
def test_nobody_supersedes_what_another_principal_has_stored(writer: str, state: str) -> None:
    store = reading_store(reading={"writes": "open"})

    def told(who: str, key: str, text: str) -> None:
        in_run(store, lambda inner: remember(inner, ANA, key, text), {"user_id": who})

    told("ana", "old", "Ana drinks coffee.")
    told(writer, "new", "Ana no longer drinks coffee.")
    known = store.ledger.metadata([(ANA, "old"), (ANA, "new")])
    assert known[ANA, "old"].lifecycle.state == state and known[ANA, "new"].lifecycle.state == "current"
