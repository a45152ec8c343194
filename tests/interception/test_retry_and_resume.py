"""A task executed again (node retry, resume after an interrupt or a crash): one row, one verification a write."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore, PutOp
from langgraph.types import Command, RetryPolicy, interrupt
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, asked, guarded, judges, verifications
from writing_graphs import TALKED, assert_only_what_was_said_is_stored

from graph_nodes import AdmissionStore

CONFIG: Any = {"configurable": {"thread_id": "thread-1"}}


class Broken(Exception):
    """What goes wrong after the writes of a first attempt."""


def put_both() -> None:
    """Both memories under fresh keys, as memory tools do."""
    get_store().put(NAMESPACE, str(uuid.uuid4()), {"content": SAID})
    get_store().put(NAMESPACE, str(uuid.uuid4()), {"content": NEVER_SAID})


async def aput_both() -> None:
    await get_store().aput(NAMESPACE, str(uuid.uuid4()), {"content": SAID})
    await get_store().aput(NAMESPACE, str(uuid.uuid4()), {"content": NEVER_SAID})


def flaky_graph(store: AdmissionStore, failures: int, **node_args: Any) -> CompiledStateGraph:
    attempts = iter(range(failures + 1))

    def write(state: MessagesState) -> dict[str, Any]:
        put_both()
        if next(attempts) < failures:
            raise Broken
        return {}

    graph = StateGraph(MessagesState).add_node("write", write, **node_args).add_edge(START, "write")
    return graph.compile(store=store, checkpointer=InMemorySaver())


async def assert_written_once(store: AdmissionStore) -> None:
    await assert_only_what_was_said_is_stored(store)
    assert verifications(store) == 2
    assert all(len(judge.asked) == len(set(judge.asked)) for judge in judges(store))  # no question twice


async def test_node_retry(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    policy = RetryPolicy(retry_on=Broken, initial_interval=0.001, max_attempts=3)
    flaky_graph(store, 2, retry_policy=policy).invoke(TALKED, CONFIG)
    await assert_written_once(store)


async def test_a_run_that_broke_and_is_resumed(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    graph = flaky_graph(store, 1)
    with pytest.raises(Broken):
        graph.invoke(TALKED, CONFIG)
    graph.invoke(None, CONFIG)
    await assert_written_once(store)


async def test_interrupt_and_resume(async_inner: BaseStore) -> None:
    store = guarded(async_inner)

    async def write(state: MessagesState) -> dict[str, Any]:
        await aput_both()
        interrupt("shall I go on?")
        return {}

    graph = StateGraph(MessagesState).add_node("write", write).add_edge(START, "write")
    compiled = graph.compile(store=store, checkpointer=InMemorySaver())
    await compiled.ainvoke(TALKED, CONFIG)
    await compiled.ainvoke(Command(resume="yes"), CONFIG)
    await assert_written_once(store)


async def test_resumed_in_another_process_on_the_same_ledger(sync_inner: BaseStore) -> None:
    first = guarded(sync_inner)
    graph = flaky_graph(first, 1)
    with pytest.raises(Broken):
        graph.invoke(TALKED, CONFIG)
    second = guarded(sync_inner, ledger=first.ledger)
    resumed = graph.copy({"store": second})
    resumed.invoke(None, CONFIG)
    await assert_written_once(first)
    assert asked(second) == []


async def test_interrupt_and_resume_in_a_subgraph(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)

    def write(state: MessagesState) -> dict[str, Any]:
        put_both()
        interrupt("shall I go on?")
        return {}

    subgraph = StateGraph(MessagesState).add_node(write).add_edge(START, "write").compile()
    graph = StateGraph(MessagesState).add_node("inner", subgraph).add_edge(START, "inner")
    compiled = graph.compile(store=store, checkpointer=InMemorySaver())
    compiled.invoke(TALKED, CONFIG)
    compiled.invoke(Command(resume="yes"), CONFIG)
    await assert_written_once(store)


async def test_a_batch_in_a_retried_node(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    attempts = iter(range(2))

    def write(state: MessagesState) -> dict[str, Any]:
        get_store().batch(
            [PutOp(NAMESPACE, str(uuid.uuid4()), {"content": memory}) for memory in (SAID, NEVER_SAID, SAID)]
        )
        if next(attempts) == 0:
            raise Broken
        return {}

    policy = RetryPolicy(retry_on=Broken, initial_interval=0.001)
    graph = StateGraph(MessagesState).add_node("write", write, retry_policy=policy).add_edge(START, "write")
    graph.compile(store=store).invoke(TALKED)
    assert [item.value["content"] for item in store.search(NAMESPACE)] == [SAID, SAID]  # two on purpose, not four
    assert verifications(store) == 3


async def test_the_same_memory_in_a_later_turn_of_the_thread_is_a_new_write(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    graph = flaky_graph(store, 0)
    graph.invoke({"messages": TALKED["messages"][1:]}, CONFIG)
    assert store.search(NAMESPACE) == []
    again = flaky_graph(store, 0)
    again.invoke(TALKED, CONFIG)
    assert [item.value["content"] for item in store.search(NAMESPACE)] == [SAID]
