"""`runtime.store` in a node."""

from __future__ import annotations

from typing import Any

from langgraph.graph import MessagesState
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, guarded
from writing_graphs import TALKED, assert_only_what_was_said_is_stored, node_graph

PATH = "`runtime.store` in a node"
ANSWER = "caught by the store"


async def test_put(sync_inner: BaseStore) -> None:
    def write(state: MessagesState, runtime: Runtime) -> dict[str, Any]:
        assert runtime.store is not None
        runtime.store.put(NAMESPACE, "said", {"content": SAID})
        runtime.store.put(NAMESPACE, "never said", {"content": NEVER_SAID})
        return {}

    store = guarded(sync_inner)
    node_graph(write, store).invoke(TALKED)
    await assert_only_what_was_said_is_stored(store)


async def test_aput(async_inner: BaseStore) -> None:
    async def write(state: MessagesState, runtime: Runtime) -> dict[str, Any]:
        assert runtime.store is not None
        await runtime.store.aput(NAMESPACE, "said", {"content": SAID})
        await runtime.store.aput(NAMESPACE, "never said", {"content": NEVER_SAID})
        return {}

    store = guarded(async_inner)
    await node_graph(write, store).ainvoke(TALKED)
    await assert_only_what_was_said_is_stored(store)
