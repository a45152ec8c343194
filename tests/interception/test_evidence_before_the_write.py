"""Whatever the conversation and whichever way a memory is written: no verifier sees a turn from after the write, or one
whose text may not be evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.config import get_store
from langgraph.graph import START, StateGraph
from langgraph.store.base import GetOp, PutOp
from scripted_gate import NAMESPACE, SAID, asked, forget_questions, guarded

from graph_nodes import AdmissionState, AdmissionStore, conversation, create_admission_node

THREAD = "thread-1"
VALUE = {"content": SAID, "citations": ["turn-0", "turn-1", "turn-2", "own"]}
TEXTS = st.sampled_from(
    [SAID, "Ana moved to Lisbon.", "Did Ana move to Lisbon in May?", "Yes.", "In May!", "I like rain."]
)
MAKE: dict[str, Callable[[str, str], AnyMessage]] = {
    "user": lambda id, text: HumanMessage(text, id=id),
    "assistant": lambda id, text: AIMessage(text, id=id),
    "tool": lambda id, text: ToolMessage(text, id=id, name="weather", tool_call_id=id),
    "external": lambda id, text: HumanMessage(text, id=id, additional_kwargs={"origin": "external"}),
    "recalled": lambda id, text: ToolMessage(text, id=id, name="search_memory", tool_call_id=id),
    "injected memory": lambda id, text: HumanMessage(text, id=id, additional_kwargs={"origin": "memory"}),
    "instruction": lambda id, text: SystemMessage(text, id=id),
    "smuggled instruction": lambda id, text: HumanMessage(text, id=id, additional_kwargs={"origin": "instruction"}),
}
ELIGIBLE = {"user", "assistant", "tool", "external"}
TURNS = st.lists(st.tuples(st.sampled_from(sorted(MAKE)), TEXTS), max_size=8)
OWN = AIMessage(SAID, id="own", tool_calls=[{"name": "remember", "args": {"text": SAID}, "id": "open"}])


def put(store: AdmissionStore, messages: Sequence[AnyMessage]) -> None:
    with conversation(THREAD, messages):
        store.put(NAMESPACE, "k", VALUE)


def aput(store: AdmissionStore, messages: Sequence[AnyMessage]) -> None:
    async def write() -> None:
        with conversation(THREAD, messages):
            await store.aput(NAMESPACE, "k", VALUE)

    asyncio.run(write())


def batch(store: AdmissionStore, messages: Sequence[AnyMessage]) -> None:
    with conversation(THREAD, messages):
        store.batch([GetOp(NAMESPACE, "k"), PutOp(NAMESPACE, "k", VALUE), PutOp(NAMESPACE, "other", VALUE)])


def put_in_a_graph(store: AdmissionStore, messages: Sequence[AnyMessage]) -> None:
    def write(state: AdmissionState) -> dict[str, Any]:
        get_store().put(NAMESPACE, "k", VALUE)
        return {}

    graph = StateGraph(AdmissionState).add_node(write).add_edge(START, "write").compile(store=store)
    graph.invoke({"messages": list(messages)}, {"configurable": {"thread_id": THREAD}})


def node(store: AdmissionStore, messages: Sequence[AnyMessage]) -> None:
    graph = StateGraph(AdmissionState).add_node("admission", create_admission_node()).add_edge(START, "admission")
    pending = [{"namespace": list(NAMESPACE), "value": VALUE}]
    graph.compile(store=store).invoke(
        {"messages": list(messages), "pending_writes": pending}, {"configurable": {"thread_id": THREAD}}
    )


@pytest.mark.parametrize("write", [put, aput, batch, put_in_a_graph, node])
@settings(max_examples=40, deadline=None)
@given(before=TURNS, after=TURNS, seen_later=st.booleans())
def test_only_eligible_turns_before_the_write_are_shown(
    write: Callable[[AdmissionStore, Sequence[AnyMessage]], None],
    before: list[tuple[str, str]],
    after: list[tuple[str, str]],
    seen_later: bool,
) -> None:
    kinds = [kind for kind, _ in (*before, *after)]
    messages = [MAKE[kind](f"turn-{n}", text) for n, (kind, text) in enumerate((*before, *after))]
    store = guarded()
    if seen_later:  # the store knows how the conversation goes on, and is then taken back to an earlier point of it
        write(store, messages)
        forget_questions(store)
    write(store, [*messages[: len(before)], OWN])
    allowed = {f"turn-{n}" for n, kind in enumerate(kinds[: len(before)]) if kind in ELIGIBLE}
    assert {passage.turn_id for question in asked(store) for passage in question.passages} <= allowed
