"""langmem's ReflectionExecutor for a graph in another deployment: what it writes never comes through here."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from langgraph.graph import MessagesState
from scripted_gate import guarded, stored
from ways_round import assert_found_and_refused
from writing_graphs import TALKED, node_graph

langmem = pytest.importorskip("langmem")

PATH = '`ReflectionExecutor("graph", namespace)`, which writes in another deployment'
ANSWER = "found and refused; that server's own store has to be guarded (`make_store`)"


def test_it_sends_the_conversation_away_and_is_refused() -> None:
    there = MagicMock()  # the client of the other deployment
    executor = langmem.ReflectionExecutor("memory-graph", ("memories",), client=MagicMock(), sync_client=there)
    store = guarded()

    def reflect(state: MessagesState) -> dict[str, Any]:
        executor.submit({"messages": [m.text for m in state["messages"]]}, thread_id="t").result(timeout=30)
        return {}

    graph = node_graph(reflect, store)
    graph.invoke(TALKED)
    executor.shutdown()
    assert there.runs.create.call_args.kwargs["assistant_id"] == "memory-graph"
    assert stored(store) == {} and list(store.ledger.reports()) == []
    assert_found_and_refused(graph, "executor", "writes in another deployment")


async def test_in_an_async_node_too() -> None:
    executor = langmem.ReflectionExecutor("memory-graph", ("memories",), client=MagicMock(), sync_client=MagicMock())

    async def reflect(state: MessagesState) -> dict[str, Any]:
        executor.submit({}, thread_id="t")
        return {}

    assert_found_and_refused(node_graph(reflect, guarded()), "executor", "writes in another deployment")
    executor.shutdown()
