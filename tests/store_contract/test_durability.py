"""A graph that writes memories stores the same raw and guarded, whenever LangGraph saves its checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from contract_stores import Face, shape
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from scripted_gate import TALK

HOME = ("memories", "ana")
CONFIG: Any = {"configurable": {"thread_id": "thread-1"}}


def tea(state: MessagesState) -> dict[str, Any]:
    get_store().put(HOME, "tea", {"content": "Ana drinks tea.", "cups": 1})
    return {}


def ask(state: MessagesState) -> dict[str, Any]:
    get_store().put(HOME, "asked", {"content": "Ana was asked."})
    interrupt("more?")
    get_store().put(HOME, "more", {"content": "Ana wants more."})
    return {}


def more(state: MessagesState) -> dict[str, Any]:
    store = get_store()
    before = store.get(HOME, "tea")
    assert before is not None
    store.put(HOME, "tea", {"content": "Ana drinks tea.", "cups": before.value["cups"] + 1})
    store.delete(HOME, "asked")
    return {}


async def atea(state: MessagesState) -> dict[str, Any]:
    await get_store().aput(HOME, "tea", {"content": "Ana drinks tea.", "cups": 1})
    return {}


async def aask(state: MessagesState) -> dict[str, Any]:
    await get_store().aput(HOME, "asked", {"content": "Ana was asked."})
    interrupt("more?")
    await get_store().aput(HOME, "more", {"content": "Ana wants more."})
    return {}


async def amore(state: MessagesState) -> dict[str, Any]:
    store = get_store()
    before = await store.aget(HOME, "tea")
    assert before is not None
    await store.aput(HOME, "tea", {"content": "Ana drinks tea.", "cups": before.value["cups"] + 1})
    await store.adelete(HOME, "asked")
    return {}


def compiled(store: Face, *nodes: Callable[..., Any]) -> Any:
    graph = StateGraph(MessagesState)
    for node in nodes:
        graph.add_node(node)
    graph.add_edge(START, nodes[0].__name__)
    for first, second in pairwise(nodes):
        graph.add_edge(first.__name__, second.__name__)
    return graph.compile(store=store.store, checkpointer=InMemorySaver())


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
async def test_a_graph_that_is_interrupted_and_resumed_stores_what_it_would_raw(store: Face, durability: Any) -> None:
    start, go_on = {"messages": TALK}, Command(resume="yes")
    if store.through_async:
        graph = compiled(store, atea, aask, amore)
        for given in (start, go_on):
            await graph.ainvoke(given, CONFIG, durability=durability)
    else:
        graph = compiled(store, tea, ask, more)
        for given in (start, go_on):
            graph.invoke(given, CONFIG, durability=durability)
    items = sorted(map(shape, await store.search(())))
    assert items == [
        (HOME, "more", {"content": "Ana wants more."}, None),
        (HOME, "tea", {"content": "Ana drinks tea.", "cups": 2}, None),
    ]
