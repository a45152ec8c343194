"""`get_store()` in a node: put, aput, and raw batches."""

from __future__ import annotations

from typing import Any

from langgraph.config import get_store
from langgraph.store.base import BaseStore, PutOp
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, guarded
from writing_graphs import TALKED, assert_only_what_was_said_is_stored, node_graph

PATH = "`get_store()` in a node"
ANSWER = "caught by the store"

BOTH = [PutOp(NAMESPACE, "said", {"content": SAID}), PutOp(NAMESPACE, "never said", {"content": NEVER_SAID})]


async def test_put(sync_inner: BaseStore) -> None:
    def write(state: Any) -> dict[str, Any]:
        get_store().put(NAMESPACE, "said", {"content": SAID})
        get_store().put(NAMESPACE, "never said", {"content": NEVER_SAID})
        return {}

    store = guarded(sync_inner)
    node_graph(write, store).invoke(TALKED)
    await assert_only_what_was_said_is_stored(store)


async def test_put_in_an_async_run(async_inner: BaseStore) -> None:
    def write(state: Any) -> dict[str, Any]:
        get_store().put(NAMESPACE, "said", {"content": SAID})
        get_store().put(NAMESPACE, "never said", {"content": NEVER_SAID})
        return {}

    store = guarded(async_inner)
    await node_graph(write, store).ainvoke(TALKED)
    await assert_only_what_was_said_is_stored(store)


async def test_aput(async_inner: BaseStore) -> None:
    async def write(state: Any) -> dict[str, Any]:
        await get_store().aput(NAMESPACE, "said", {"content": SAID})
        await get_store().aput(NAMESPACE, "never said", {"content": NEVER_SAID})
        return {}

    store = guarded(async_inner)
    await node_graph(write, store).ainvoke(TALKED)
    await assert_only_what_was_said_is_stored(store)


async def test_batch(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    node_graph(lambda state: get_store().batch(BOTH) and {}, store).invoke(TALKED)
    await assert_only_what_was_said_is_stored(store)


async def test_abatch(async_inner: BaseStore) -> None:
    async def write(state: Any) -> dict[str, Any]:
        await get_store().abatch(BOTH)
        return {}

    store = guarded(async_inner)
    await node_graph(write, store).ainvoke(TALKED)
    await assert_only_what_was_said_is_stored(store)
