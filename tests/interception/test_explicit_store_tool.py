"""langmem's manage_memory tool given a store of its own, and its search tool, which only reads."""

from __future__ import annotations

import pytest
from langgraph.store.memory import InMemoryStore
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, guarded, stored
from ways_round import assert_found_and_refused, assert_no_way_round
from writing_graphs import TALKED, assert_only_what_was_said_is_stored, tool_graph

langmem = pytest.importorskip("langmem")

PATH = "tool that was given a store of its own (langmem `store=`)"
ANSWER = "found in the tool's closure and refused; with the guard as that store, caught"


def test_a_raw_store_in_the_tool_is_a_way_round() -> None:
    store, raw = guarded(), InMemoryStore()
    graph = tool_graph(langmem.create_manage_memory_tool(NAMESPACE, store=raw), {"content": NEVER_SAID}, store=store)
    graph.invoke(TALKED)
    assert [value["content"] for value in stored(raw).values()] == [NEVER_SAID]
    assert_found_and_refused(graph, "tool manage_memory.func > initial_store", "InMemoryStore of its own")


async def test_in_an_async_run_too() -> None:
    store, raw = guarded(), InMemoryStore()
    tool = langmem.create_manage_memory_tool(NAMESPACE, store=raw)
    await tool_graph(tool, {"content": NEVER_SAID}, store=store).ainvoke(TALKED)
    assert len(stored(raw)) == 1 and list(store.ledger.reports()) == []


async def test_the_guard_as_the_tools_store_catches_the_write() -> None:
    store = guarded()
    tool = langmem.create_manage_memory_tool(NAMESPACE, store=store)
    graph = tool_graph(tool, {"content": SAID}, {"content": NEVER_SAID}, store=store)
    graph.invoke(TALKED)
    await assert_only_what_was_said_is_stored(store)
    assert_no_way_round(graph)


def test_a_search_tool_over_the_store_beneath_only_reads() -> None:
    store = guarded()
    graph = tool_graph(langmem.create_search_memory_tool(NAMESPACE, store=store.inner), {"query": "Ana"}, store=store)
    assert_no_way_round(graph)
