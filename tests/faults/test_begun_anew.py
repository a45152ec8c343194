"""A run without checkpoints that is begun anew after a crash makes the same writes, though all its ids are others."""

from __future__ import annotations

import uuid
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from scripted_gate import NAMESPACE, SAID, guarded, stored, verifications

from graph_nodes import AdmissionStore

CONFIG: Any = {"configurable": {"thread_id": "thread-1"}}


def remember(state: MessagesState) -> dict[str, Any]:
    get_store().put(NAMESPACE, str(uuid.uuid4()), {"content": SAID})
    return {}


def run(store: AdmissionStore, saver: BaseCheckpointSaver[Any], config: Any = CONFIG) -> None:
    """Two nodes, one of a subgraph, that write equal memories after a message that has no id yet."""
    inner = StateGraph(MessagesState).add_node(remember).add_edge(START, "remember").compile()
    graph = StateGraph(MessagesState).add_node(remember).add_node("inner", inner)
    graph.add_edge(START, "remember").add_edge("remember", "inner")
    graph.compile(store=store, checkpointer=saver).invoke({"messages": HumanMessage(SAID)}, config, durability="exit")


def test_begun_anew_it_writes_nothing_twice() -> None:
    store = guarded()
    run(store, InMemorySaver())
    first = stored(store)
    run(store, InMemorySaver())  # the process died before the end: no checkpoint is left
    assert stored(store) == first and len(first) == 2  # each node's own
    assert verifications(store) == 2


def test_the_next_turn_is_another_write() -> None:
    store, saver = guarded(), InMemorySaver()
    for _ in range(2):
        run(store, saver)
    assert len(stored(store)) == 4


def test_another_thread_is_another_write() -> None:
    store = guarded()
    for thread in ("thread-1", "thread-2"):
        run(store, InMemorySaver(), {"configurable": {"thread_id": thread}})
    assert len(stored(store)) == 4
