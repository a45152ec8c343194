"""The functional API: `@entrypoint(store=)` and `@task`."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.func import entrypoint, task
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, TALK, guarded, stored
from ways_round import assert_found_and_refused, assert_no_way_round
from writing_graphs import assert_only_what_was_said_is_stored

from graph_nodes import AdmissionStore, conversation

PATH = "functional API: `@entrypoint(store=)` and `@task`"
ANSWER = "caught by the store; an entrypoint has no messages of its own: `conversation(...)` names them"


@task
def remember(key: str, text: str) -> None:
    get_store().put(NAMESPACE, key, {"content": text})


@task
async def aremember(key: str, text: str) -> None:
    await get_store().aput(NAMESPACE, key, {"content": text})


def workflow_over(store: BaseStore) -> Any:
    @entrypoint(store=store, checkpointer=InMemorySaver())
    def workflow(messages: list[Any]) -> None:
        with conversation(None, messages):
            remember("said", SAID).result()
            remember("never said", NEVER_SAID).result()

    return workflow


THREAD: Any = {"configurable": {"thread_id": "thread-1"}}


async def test_sync(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    workflow = workflow_over(store)
    workflow.invoke(TALK, THREAD)
    await assert_only_what_was_said_is_stored(store)
    assert_no_way_round(workflow)


async def test_async(async_inner: BaseStore) -> None:
    store = guarded(async_inner)

    @entrypoint(store=store, checkpointer=InMemorySaver())
    async def workflow(messages: list[Any]) -> None:
        with conversation(None, messages):
            await aremember("said", SAID)
            await aremember("never said", NEVER_SAID)

    await workflow.ainvoke(TALK, THREAD)
    await assert_only_what_was_said_is_stored(store)


def test_without_a_conversation_nothing_is_stored_and_the_write_waits_in_quarantine() -> None:
    store: AdmissionStore = guarded()

    @entrypoint(store=store)
    def workflow(messages: list[Any]) -> None:
        remember("said", SAID).result()

    workflow.invoke(TALK)
    assert stored(store) == {}
    assert [record.report.status for record in store.ledger.quarantine() if record.report] == ["unresolved"]


def test_a_raw_store_is_a_way_round() -> None:
    raw = InMemoryStore()
    workflow = workflow_over(raw)
    workflow.invoke(TALK, THREAD)
    assert len(stored(raw)) == 2
    assert_found_and_refused(workflow, "graph.store", "InMemoryStore without a gate")


def test_a_raw_store_that_a_task_names_is_found() -> None:
    raw = InMemoryStore()

    @task
    def leak(text: str) -> None:
        raw.put(NAMESPACE, "leak", {"content": text})

    @entrypoint(store=guarded())
    def workflow(text: str) -> None:
        leak(text).result()

    workflow.invoke(NEVER_SAID)
    assert len(stored(raw)) == 1
    assert_found_and_refused(workflow, "leak.func > raw", "InMemoryStore of its own")
