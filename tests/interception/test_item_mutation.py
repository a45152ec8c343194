"""Changing what `get` or `search` handed back: InMemoryStore hands out the very dict that it stores."""

from __future__ import annotations

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, TALK, guarded, stored

from graph_nodes import conversation

PATH = "changing the item that a read handed back (`get(...).value[...] = x`)"
ANSWER = "the guard hands out copies"


def test_a_raw_store_in_memory_is_changed() -> None:
    raw = InMemoryStore()
    raw.put(NAMESPACE, "k", {"content": SAID})
    item = raw.get(NAMESPACE, "k")
    assert item is not None
    item.value["content"] = NEVER_SAID
    assert stored(raw) == {"k": {"content": NEVER_SAID}}


def test_a_guarded_one_is_not(sync_inner: BaseStore) -> None:
    store, value = guarded(sync_inner), {"content": SAID, "tags": ["home"]}
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", value)
    value["content"] = NEVER_SAID
    item, (found,) = store.get(NAMESPACE, "k"), store.search(NAMESPACE)
    assert item is not None
    for read in (item, found):
        read.value["content"] = NEVER_SAID
        read.value["tags"].append("work")
    assert stored(store) == {"k": {"content": SAID, "tags": ["home"]}}


async def test_nor_in_an_async_run(async_inner: BaseStore) -> None:
    store = guarded(async_inner)
    with conversation("t", TALK):
        await store.aput(NAMESPACE, "k", {"content": SAID})
    item = await store.aget(NAMESPACE, "k")
    assert item is not None
    item.value["content"] = NEVER_SAID
    assert [found.value for found in await store.asearch(NAMESPACE)] == [{"content": SAID}]
