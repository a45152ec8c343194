"""Evicting from a store: what goes, what stays, and what the ledger says of it."""

from __future__ import annotations

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_gate import NAMESPACE, SAID, TALK, guarded

from admission.errors import InputError
from admission.eviction.policies import Fifo, KeepAll, RandomOrder
from admission.ledger import Entry, Ledger, SqliteLedger, open_ledger
from graph_nodes import aevict, conversation, evict


def words(texts: object) -> list[int]:
    assert isinstance(texts, list)
    return [len(text.split()) for text in texts]


def filled(count: int = 4) -> InMemoryStore:
    store = InMemoryStore()
    for number in range(count):
        store.put(NAMESPACE, f"k{number}", {"content": f"memory number {number}"})
    store.put((*NAMESPACE, "beneath"), "k", {"content": "of another namespace"})
    return store


def keys(store: BaseStore) -> list[str]:
    return sorted(item.key for item in store.search(NAMESPACE, limit=5000) if item.namespace == NAMESPACE)


def deleted(ledger: Ledger) -> list[Entry]:
    assert isinstance(ledger, SqliteLedger)
    return [entry for entry in ledger.entries() if entry.kind == "deleted"]


def test_the_oldest_go_until_the_rest_fits_and_namespaces_beneath_stay() -> None:
    store = filled()
    found = evict(store, NAMESPACE, 7, Fifo(), count=words)
    assert (found.keys, found.kept, found.tokens_before, found.tokens_after) == (("k0", "k1"), 2, 12, 6)
    assert keys(store) == ["k2", "k3"]
    assert store.get((*NAMESPACE, "beneath"), "k") is not None


def test_a_memory_that_was_written_again_is_as_new_as_that() -> None:
    store = filled()
    store.put(NAMESPACE, "k0", {"content": "memory number zero"})
    assert evict(store, NAMESPACE, 7, Fifo(), count=words).keys == ("k1", "k2")


def test_each_eviction_from_a_plain_store_is_an_entry_of_the_ledger_that_is_given() -> None:
    ledger = open_ledger("sqlite://")
    evict(filled(), NAMESPACE, 7, Fifo(), ledger=ledger, count=words)
    assert [(entry.key, entry.body) for entry in deleted(ledger)] == [
        (key, {"reason": "eviction", "policy": "fifo", "budget": 7, "tokens": 12, "thread": None, "task": None})
        for key in ("k0", "k1")
    ]
    assert ledger.verify().ok


def test_evictions_from_a_guarded_store_pass_its_guard_and_say_why() -> None:
    store = guarded()
    with conversation("t1", TALK):
        for number in range(3):
            store.put(NAMESPACE, f"k{number}", {"content": SAID, "number": number})
    with pytest.raises(InputError, match="ledger"):
        evict(store, NAMESPACE, 7, Fifo(), ledger=store.ledger, count=words)
    found = evict(store, NAMESPACE, 7, Fifo(), count=words)
    assert keys(store) == ["k2"]
    entries = deleted(store.ledger)
    assert [(entry.key, entry.body["reason"], entry.body["policy"], entry.body["budget"]) for entry in entries] == [
        (key, "eviction", "fifo", 7) for key in found.keys
    ]
    assert store.ledger.latest(NAMESPACE, "k0") is None
    store.delete(NAMESPACE, "k2")
    assert "reason" not in deleted(store.ledger)[-1].body


async def test_the_async_twin_does_the_same() -> None:
    store = guarded()
    with conversation("t1", TALK):
        for number in range(3):
            await store.aput(NAMESPACE, f"k{number}", {"content": SAID, "number": number})
    assert (await aevict(store, NAMESPACE, 7, Fifo(), count=words)).keys == ("k0", "k1")
    assert [entry.body["reason"] for entry in deleted(store.ledger)] == ["eviction", "eviction"]
    assert keys(store) == ["k2"]


def test_a_namespace_of_many_pages_is_seen_whole() -> None:
    store = filled(1203)
    found = evict(store, NAMESPACE, 900, RandomOrder(4), count=words)
    assert (len(found.keys), found.kept, len(keys(store))) == (903, 300, 300)


def test_where_everything_fits_or_nothing_may_go_nothing_is_told_to_the_store() -> None:
    ledger, store = open_ledger("sqlite://"), filled()
    assert evict(store, NAMESPACE, 12, Fifo(), ledger=ledger, count=words).keys == ()
    assert evict(store, NAMESPACE, 0, KeepAll(), ledger=ledger, count=words).keys == ()
    assert evict(store, ("empty",), 0, Fifo(), ledger=ledger, count=words).kept == 0
    assert deleted(ledger) == []
