"""langmem's ReflectionExecutor in this process: without a store, with a raw one, with the guard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langgraph.config import get_store
from langgraph.graph import MessagesState
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_gate import NEVER_SAID, SAID, guarded, stored
from ways_round import assert_found_and_refused, assert_no_way_round
from writing_graphs import TALKED, node_graph

pytest.importorskip("langchain.agents")
langmem = pytest.importorskip("langmem")

from managers import manager_of  # noqa: E402

PATH = "`ReflectionExecutor` in this process"
ANSWER = "caught with the guard as its store; without a store, or with a raw one, found and refused"


@contextmanager
def reflecting(graph_store: BaseStore, seen: list[BaseStore | None], **executor_args: Any) -> Iterator[Any]:
    """A graph whose node submits a job, waits for it, and notes which store it then has itself."""
    with langmem.ReflectionExecutor(manager_of(SAID, NEVER_SAID), **executor_args) as executor:

        def reflect(state: MessagesState) -> dict[str, Any]:
            try:
                executor.submit({"messages": state["messages"]}).result(timeout=30)
            finally:
                seen.append(get_store())
            return {}

        async def areflect(state: MessagesState) -> dict[str, Any]:
            return reflect(state)

        yield node_graph(reflect, graph_store), node_graph(areflect, graph_store)  # type: ignore[arg-type]


async def test_with_the_guard_each_memory_is_judged() -> None:
    for run in ("sync", "async"):
        store, seen = guarded(), list[BaseStore | None]()
        with reflecting(store, seen, store=store) as (graph, agraph):
            if run == "sync":
                graph.invoke(TALKED)
            else:
                await agraph.ainvoke(TALKED)
            assert_no_way_round(graph)
        assert [value["content"] for value in stored(store).values()] == [{"content": SAID}]
        assert {report.status for _, report in store.ledger.reports()} == {"repaired", "unresolved"}
        assert seen == [store]


def test_with_a_raw_store_it_is_a_way_round_and_takes_the_nodes_own_store_away() -> None:
    store, raw, seen = guarded(), InMemoryStore(), list[BaseStore | None]()
    with reflecting(store, seen, store=raw) as (graph, _):
        graph.invoke(TALKED)
        assert_found_and_refused(graph, "executor._store", "InMemoryStore of its own")
    assert len(stored(raw)) == 2 and list(store.ledger.reports()) == []
    assert seen == [raw]


def test_without_a_store_its_jobs_fail_and_it_is_refused() -> None:
    store, seen = guarded(), list[BaseStore | None]()
    with reflecting(store, seen) as (graph, _):
        with pytest.raises(AttributeError):
            graph.invoke(TALKED)
        assert_found_and_refused(graph, "executor", "its jobs fail")
    assert seen == [None]
