"""A plain node that keeps its memories in the state: only the checkpointer stores them, and the gate sees nothing."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, guarded
from writing_graphs import TALKED, assert_only_what_was_said_is_stored

from graph_nodes import AdmissionState, create_admission_node

PATH = "plain node that returns its memories as state"
ANSWER = "invisible to any store: give them to `pending_writes` and let the admission node store them"

THREAD: Any = {"configurable": {"thread_id": "thread-1"}}


class Remembering(MessagesState):
    memories: list[str]


def test_what_a_node_returns_is_checkpointed_unjudged() -> None:
    def remember(state: Remembering) -> dict[str, Any]:
        return {"memories": [SAID, NEVER_SAID]}

    store = guarded()
    graph = StateGraph(Remembering).add_node(remember).add_edge(START, "remember")
    compiled = graph.compile(store=store, checkpointer=InMemorySaver())
    compiled.invoke(TALKED, THREAD)
    assert compiled.get_state(THREAD).values["memories"] == [SAID, NEVER_SAID]
    assert list(store.ledger.reports()) == []


@pytest.mark.parametrize("run", ["sync", "async"])
async def test_given_to_the_admission_node_they_are_judged(run: str) -> None:
    def remember(state: AdmissionState) -> dict[str, Any]:
        return {"pending_writes": [{"namespace": NAMESPACE, "value": {"content": text}} for text in (SAID, NEVER_SAID)]}

    store = guarded()
    graph = StateGraph(AdmissionState).add_node(remember).add_node("admission", create_admission_node())
    graph.add_edge(START, "remember").add_edge("remember", "admission")
    compiled = graph.compile(store=store, checkpointer=InMemorySaver())
    if run == "sync":
        compiled.invoke(TALKED, THREAD)
    else:
        await compiled.ainvoke(TALKED, THREAD)
    await assert_only_what_was_said_is_stored(store)
