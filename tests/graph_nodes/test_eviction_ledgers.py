"""Evictions and the causes of deletes on every ledger, and on a Postgres store beside one."""

from __future__ import annotations

from contextlib import closing

import pytest
from langgraph.store.memory import InMemoryStore
from ledger_places import Place, PostgresPlace
from scripted_gate import NAMESPACE, SAID, TALK, guarded, stored

from admission.eviction.policies import Fifo
from admission.ledger import Entry, Ledger
from graph_nodes import AdmissionStore, aevict, conversation, evict
from graph_nodes.causes import deleting_for

CAUSE = {"reason": "eviction", "policy": "fifo", "budget": 7}


def words(texts: object) -> list[int]:
    assert isinstance(texts, list)
    return [len(text.split()) for text in texts]


def deleted(ledger: Ledger) -> list[Entry]:
    return [entry for entry in ledger.entries() if entry.kind == "deleted"]


def put(store: AdmissionStore, *keys: str) -> None:
    with conversation("t1", TALK):
        for key in keys:
            store.put(NAMESPACE, key, {"content": SAID, "key": key})


def test_a_cause_stands_in_the_entry_beside_thread_and_task_and_takes_the_place_of_neither(place: Place) -> None:
    with closing(place.open()) as ledger:
        ledger.record_delete(
            NAMESPACE, "k", thread="t", task="a", cause={**CAUSE, "thread": "another", "deep": [1, {}]}
        )
        ledger.record_delete(NAMESPACE, "k", thread=None, task=None)
        first, second = deleted(ledger)
        assert first.body == {**CAUSE, "deep": [1, {}], "thread": "t", "task": "a"}
        assert second.body == {"thread": None, "task": None}
        assert ledger.verify().ok


def test_a_cause_that_somebody_changed_shows_when_the_chain_is_verified(place: Place) -> None:
    with closing(place.open()) as ledger:
        ledger.record_delete(NAMESPACE, "k", thread=None, task=None, cause=CAUSE)
    place.attack("UPDATE entries SET body = replace(body, 'eviction', 'request') WHERE kind = 'deleted'")
    with closing(place.open()) as ledger:
        found = ledger.verify()
        assert (found.ok, found.first_bad, found.kind) == (False, 1, "content_changed")


def test_evictions_from_a_guarded_store_are_in_its_ledger_when_it_is_opened_again(place: Place) -> None:
    with closing(place.open()) as ledger:
        store = guarded(ledger=ledger)
        put(store, "k0", "k1", "k2")
        assert evict(store, NAMESPACE, 8, Fifo(), count=words).keys == ("k0", "k1")
        store.delete(NAMESPACE, "k2")
    with closing(place.open()) as ledger:
        assert [(entry.key, entry.body.get("reason"), entry.body.get("policy")) for entry in deleted(ledger)] == [
            ("k0", "eviction", "fifo"), ("k1", "eviction", "fifo"), ("k2", None, None)
        ]  # fmt: skip
        assert ledger.deletions() == []
        assert ledger.latest(NAMESPACE, "k0") is None
        assert ledger.verify().ok


def test_an_eviction_that_was_cut_short_is_finished_at_the_next_start_and_recorded_once(place: Place) -> None:
    inner = InMemoryStore()
    with closing(place.open()) as ledger:
        put(guarded(inner, ledger=ledger), "k0", "k1")
        ledger.record_delete(NAMESPACE, "k0", thread=None, task=None, store="store", cause=CAUSE)
    with closing(place.open()) as ledger:
        assert list(stored(guarded(inner, ledger=ledger))) == ["k1"]
        assert [entry.body["reason"] for entry in deleted(ledger)] == ["eviction"]
        assert ledger.deletions() == []


def test_a_cause_ends_with_its_block_whatever_is_raised_in_it(place: Place) -> None:
    with closing(place.open()) as ledger:
        store = guarded(ledger=ledger)
        put(store, "k0", "k1")
        with pytest.raises(RuntimeError), deleting_for(CAUSE):
            store.delete(NAMESPACE, "k0")
            raise RuntimeError
        store.delete(NAMESPACE, "k1")
        assert [entry.body.get("reason") for entry in deleted(ledger)] == ["eviction", None]


def address_of(place: PostgresPlace) -> str:
    """Of a store in the schema of this place."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(place.address, autocommit=True) as db:
        db.execute(f'CREATE SCHEMA IF NOT EXISTS "{place.schema}"')
    return f"{place.address}?options=-csearch_path%3D{place.schema}"


@pytest.mark.server
def test_a_postgres_store_and_ledger_agree_on_what_was_evicted(postgres_place: PostgresPlace) -> None:
    postgres = pytest.importorskip("langgraph.store.postgres")
    address = address_of(postgres_place)
    with postgres.PostgresStore.from_conn_string(address) as inner, closing(postgres_place.open()) as ledger:
        inner.setup()
        store = guarded(inner, ledger=ledger)
        put(store, "k0", "k1", "k2")
        found = evict(store, NAMESPACE, 8, Fifo(), count=words)
        assert (found.keys, list(stored(inner))) == (("k0", "k1"), ["k2"])
        assert [entry.body["tokens"] for entry in deleted(ledger)] == [found.tokens_before] * 2
        evict(inner, NAMESPACE, 0, Fifo(), ledger=ledger, count=words)
        assert [(entry.key, entry.body["budget"]) for entry in deleted(ledger)] == [("k0", 8), ("k1", 8), ("k2", 0)]
        assert stored(inner) == {}


@pytest.mark.server
async def test_an_asynchronous_postgres_store_is_evicted_from_the_same_way(postgres_place: PostgresPlace) -> None:
    postgres = pytest.importorskip("langgraph.store.postgres.aio")
    address = address_of(postgres_place)
    with closing(postgres_place.open()) as ledger:
        async with postgres.AsyncPostgresStore.from_conn_string(address) as inner:
            await inner.setup()
            store = guarded(inner, ledger=ledger)
            with conversation("t1", TALK):
                for key in ("k0", "k1", "k2"):
                    await store.aput(NAMESPACE, key, {"content": SAID, "key": key})
            assert (await aevict(store, NAMESPACE, 8, Fifo(), count=words)).keys == ("k0", "k1")
            assert [item.key for item in await inner.asearch(NAMESPACE)] == ["k2"]
        assert [entry.body["reason"] for entry in deleted(ledger)] == ["eviction", "eviction"]
