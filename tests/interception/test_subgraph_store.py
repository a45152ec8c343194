"""A subgraph compiled with a store of its own: inside another graph the parent's store counts, guarded or not."""

from __future__ import annotations

from typing import Any

from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, guarded, stored
from ways_round import assert_found_and_refused, assert_no_way_round
from writing_graphs import TALKED, assert_only_what_was_said_is_stored

PATH = "subgraph compiled with its own store"
ANSWER = "the root's store is the one that counts: guarded there, caught; a raw root is found and refused"


def write(state: MessagesState) -> dict[str, Any]:
    get_store().put(NAMESPACE, "said", {"content": SAID})
    get_store().put(NAMESPACE, "never said", {"content": NEVER_SAID})
    return {}


async def awrite(state: MessagesState) -> dict[str, Any]:
    await get_store().aput(NAMESPACE, "said", {"content": SAID})
    await get_store().aput(NAMESPACE, "never said", {"content": NEVER_SAID})
    return {}


def nested(root: BaseStore | None, child: BaseStore, node: Any) -> CompiledStateGraph:
    inner = StateGraph(MessagesState).add_node("write", node).add_edge(START, "write").compile(store=child)
    return StateGraph(MessagesState).add_node("child", inner).add_edge(START, "child").compile(store=root)


async def test_a_raw_store_of_a_subgraph_does_not_count_under_a_guarded_root(sync_inner: BaseStore) -> None:
    store, raw = guarded(sync_inner), InMemoryStore()
    graph = nested(store, raw, write)
    graph.invoke(TALKED)
    await assert_only_what_was_said_is_stored(store)
    assert stored(raw) == {}
    assert_no_way_round(graph)


async def test_nor_in_an_async_run(async_inner: BaseStore) -> None:
    store, raw = guarded(async_inner), InMemoryStore()
    await nested(store, raw, awrite).ainvoke(TALKED)
    await assert_only_what_was_said_is_stored(store)
    assert stored(raw) == {}


def test_a_guarded_subgraph_under_a_raw_root_is_a_way_round() -> None:
    store, raw = guarded(), InMemoryStore()
    graph = nested(raw, store, write)
    graph.invoke(TALKED)
    assert len(stored(raw)) == 2 and stored(store) == {}
    assert_found_and_refused(graph, "graph.store", "InMemoryStore without a gate")
