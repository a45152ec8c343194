"""Which conversation a write is judged by, and what of it came before the write."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from scripted_gate import NAMESPACE, SAID, TALK, asked, guarded, stored
from typing_extensions import TypedDict

from admission.errors import InputError
from admission.records import Turn
from graph_nodes import AdmissionStore, collect_reports, conversation

CALL = {"name": "remember", "args": {"text": SAID}, "id": "c1"}


def seen(store: AdmissionStore) -> set[str]:
    return {passage.turn_id for question in asked(store) for passage in question.passages}


def remember(state: Any) -> dict[str, Any]:
    get_store().put(NAMESPACE, "k", {"content": SAID})
    return {}


def graph(store: AdmissionStore, schema: type = MessagesState, **compile_args: Any) -> Any:
    return StateGraph(schema).add_node(remember).add_edge(START, "remember").compile(store=store, **compile_args)


def test_in_a_graph_it_is_the_messages_of_the_state() -> None:
    store = guarded()
    config = {"configurable": {"thread_id": "thread-7"}}
    with collect_reports() as reports:
        graph(store, checkpointer=InMemorySaver()).invoke({"messages": TALK}, config)
    assert seen(store) >= {"m1"}
    assert [(r.conversation, r.written_after, r.status) for r in reports] == [("thread-7", "m3", "repaired")]


def test_a_graph_without_a_thread_still_has_its_messages() -> None:
    store = guarded()
    graph(store).invoke({"messages": TALK})
    assert stored(store) == {"k": {"content": SAID}}


def test_an_explicit_conversation_wins_over_the_state() -> None:
    store = guarded()
    with conversation("another", [HumanMessage("Nothing of the kind was said.", id="x1")]):
        graph(store).invoke({"messages": TALK})
    assert seen(store) == {"x1"}


class NoMessages(TypedDict):
    topic: str


class OtherMessages(TypedDict):
    messages: str


@pytest.mark.parametrize(("schema", "state"), [(NoMessages, {"topic": "x"}), (OtherMessages, {"messages": SAID})])
def test_a_state_without_a_list_of_messages_gives_no_evidence(schema: type, state: dict[str, Any]) -> None:
    store = guarded()
    with collect_reports() as reports:
        graph(store, schema).invoke(state)
    assert [report.status for report in reports] == ["unresolved"]
    assert stored(store) == {}


class Unreadable(TypedDict):
    messages: list[Any]


def test_messages_that_cannot_be_read_leave_the_write_unresolved_and_the_agent_running() -> None:
    store = guarded()
    with collect_reports() as reports:
        graph(store, Unreadable).invoke({"messages": [object()]})
    assert [report.status for report in reports] == ["unresolved"]


def test_an_explicit_conversation_that_cannot_be_read_is_the_callers_error() -> None:
    with pytest.raises(InputError, match="messages"), conversation("t", [object()]):  # type: ignore[list-item]
        pass
    turn = Turn(id="t1", role="user", text=SAID, origin="conversation")
    with pytest.raises(InputError, match="mixes"), conversation("t", [turn, HumanMessage("hello")]):  # type: ignore[list-item]
        pass


def test_turns_may_be_given_as_they_are() -> None:
    store = guarded()
    with conversation("t", [Turn(id="t1", role="user", speaker="Bo", text=SAID, origin="conversation")]):
        store.put(NAMESPACE, "k", {"content": SAID, "citations": ["t1"]})
    assert seen(store) == {"t1"}


@pytest.mark.parametrize(
    "messages",
    [
        [*TALK[1:], AIMessage(SAID, id="own", tool_calls=[CALL])],
        [
            *TALK[1:],
            AIMessage(SAID, id="own", tool_calls=[CALL, {**CALL, "id": "c2"}]),
            ToolMessage(SAID, tool_call_id="c2"),
        ],
    ],
)
def test_the_message_that_makes_the_write_is_no_evidence(messages: list[Any]) -> None:
    store = guarded()
    with conversation("t", messages):
        store.put(NAMESPACE, "k", {"content": SAID})
    assert "own" not in seen(store) and stored(store) == {}


def test_a_message_whose_calls_are_answered_came_before_the_write() -> None:
    told = [AIMessage("", id="own", tool_calls=[CALL]), ToolMessage(SAID, tool_call_id="c1", id="result")]
    store = guarded()
    with conversation("t", [*TALK[1:], *told]), collect_reports() as reports:
        store.put(NAMESPACE, "k", {"content": "Nobody said this."})
    assert [report.written_after for report in reports] == ["result"]


def test_an_old_call_that_was_never_answered_hides_nothing_said_since() -> None:
    store = guarded()
    with conversation("t", [AIMessage("", id="cut off", tool_calls=[CALL]), *TALK]):
        store.put(NAMESPACE, "k", {"content": SAID})
    assert stored(store) == {"k": {"content": SAID}}


def test_what_is_said_after_the_scope_was_opened_is_not_evidence() -> None:
    store = guarded()
    messages = TALK[1:]
    with conversation("t", messages):
        messages.append(TALK[0])
        store.put(NAMESPACE, "k", {"content": SAID})
    assert stored(store) == {}
