"""langmem's memory manager: it keeps the first store it sees, or the one it was given."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import MessagesState
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_gate import NEVER_SAID, SAID, guarded, stored
from ways_round import assert_found_and_refused, assert_no_way_round
from writing_graphs import TALKED, node_graph

pytest.importorskip("langchain.agents")
pytest.importorskip("langmem")

from managers import manager_of

PATH = "memory manager that keeps a store (`create_memory_store_manager`)"
ANSWER = "caught through the graph's store; a raw store it was given, or has kept, is found and refused"


def managing(manager: Any, store: BaseStore) -> Any:
    def remember(state: MessagesState) -> dict[str, Any]:
        manager.invoke({"messages": state["messages"]})
        return {}

    return node_graph(remember, store)


def test_over_the_graphs_store_each_memory_is_judged() -> None:
    store = guarded()
    graph = managing(manager_of(SAID, NEVER_SAID), store)
    graph.invoke(TALKED)
    assert [value["content"] for value in stored(store).values()] == [{"content": SAID}]
    assert {report.memory: report.status for _, report in store.ledger.reports()} == {
        SAID: "repaired",
        NEVER_SAID: "unresolved",
    }
    assert_no_way_round(graph)


async def test_in_an_async_run_too() -> None:
    store, manager = guarded(), manager_of(SAID, NEVER_SAID)

    async def remember(state: MessagesState) -> dict[str, Any]:
        await manager.ainvoke({"messages": state["messages"]})
        return {}

    await node_graph(remember, store).ainvoke(TALKED)
    assert [value["content"] for value in stored(store).values()] == [{"content": SAID}]


def test_a_raw_store_given_to_it_is_a_way_round() -> None:
    store, raw = guarded(), InMemoryStore()
    graph = managing(manager_of(NEVER_SAID, store=raw), store)
    graph.invoke(TALKED)
    assert len(stored(raw)) == 1 and list(store.ledger.reports()) == []
    assert_found_and_refused(graph, "manager._store", "InMemoryStore of its own")


def test_a_raw_store_it_has_kept_from_another_graph_is_a_way_round() -> None:
    store, raw, manager = guarded(), InMemoryStore(), manager_of(NEVER_SAID)
    managing(manager, raw).invoke(TALKED)
    graph = managing(manager, store)
    graph.invoke(TALKED)
    assert len(stored(raw)) == 2 and list(store.ledger.reports()) == []
    assert_found_and_refused(graph, "manager._store", "InMemoryStore of its own")
