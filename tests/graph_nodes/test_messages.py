"""LangChain messages become turns: who said it, when, and what it may count for."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from admission.records import Turn
from graph_nodes.messages import turns_from_messages


def turn_of(message: BaseMessage, **kwargs: Any) -> Turn:
    (turn,) = turns_from_messages([message], **kwargs)
    return turn


def call(tool: str, call_id: str = "c1", text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=[{"name": tool, "args": {}, "id": call_id}])


def test_roles_ids_and_names_are_kept() -> None:
    turns = turns_from_messages(
        [
            SystemMessage("Be brief.", id="s"),
            HumanMessage("I moved to Turku.", id="h", name="Aino"),
            AIMessage("Noted.", id="a", name="helper"),
            ToolMessage("12 rows", id="t", tool_call_id="c1", name="query"),
            FunctionMessage("3", id="f", name="sum"),
            ChatMessage("hm", id="c", role="critic"),
            ChatMessage("Hi", id="u", role="User"),
        ]
    )
    assert [(t.id, t.role, t.speaker, t.origin) for t in turns] == [
        ("s", "system", None, "instruction"),
        ("h", "user", "Aino", "conversation"),
        ("a", "assistant", "helper", "conversation"),
        ("t", "tool", "query", "tool"),
        ("f", "tool", "sum", "tool"),
        ("c", "system", None, "instruction"),
        ("u", "user", None, "conversation"),
    ]


def test_of_content_blocks_the_text_counts() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    message = HumanMessage([{"type": "text", "text": "My desk."}, image, "It is oak."])
    assert turn_of(message).text == "My desk.\nIt is oak."


@pytest.mark.parametrize(
    "message",
    [
        call("query"),
        AIMessage([{"type": "tool_use", "id": "c1", "name": "query", "input": {}}]),
        HumanMessage([{"type": "image_url", "image_url": {"url": "data:,"}}]),
        HumanMessage("  \n"),
        RemoveMessage(id="gone"),
    ],
)
def test_a_message_without_text_gives_no_turn(message: BaseMessage) -> None:
    assert turns_from_messages([message]) == []


def test_a_missing_id_is_made_from_the_content_and_is_the_same_when_the_conversation_has_grown() -> None:
    messages: list[BaseMessage] = [HumanMessage("ok"), AIMessage("Which one?"), HumanMessage("ok")]
    first = [turn.id for turn in turns_from_messages(messages)]
    assert len(set(first)) == 3
    assert [turn.id for turn in turns_from_messages([*messages, HumanMessage("ok")])][:3] == first


def test_a_repeated_id_is_not_used_twice() -> None:
    turns = turns_from_messages([HumanMessage("Hello", id="m"), HumanMessage("Bye", id="m")])
    assert turns[0].id == "m"
    assert turns[1].id != "m"


@pytest.mark.parametrize(
    ("message", "time"),
    [
        (HumanMessage("Hi", additional_kwargs={"timestamp": "2026-03-01T09:30:00+01:00"}), "2026-03-01T09:30:00+01:00"),
        (AIMessage("Hi", response_metadata={"created_at": "2026-03-01T09:30:00Z"}), "2026-03-01T09:30:00Z"),
        (AIMessage("Hi", response_metadata={"created": 0}), "1970-01-01T00:00:00+00:00"),
        (HumanMessage("Hi", additional_kwargs={"timestamp": "soon", "created_at": "2026-03-01"}), "2026-03-01"),
        (HumanMessage("Hi", additional_kwargs={"timestamp": 1e300}), None),
        (HumanMessage("Hi", additional_kwargs={"timestamp": True}), None),
        (HumanMessage("Hi"), None),
    ],
)
def test_the_time_a_message_carries_is_kept_when_it_is_one(message: BaseMessage, time: str | None) -> None:
    assert turn_of(message).time == time


def test_given_times_and_speakers_win() -> None:
    message = HumanMessage("Hi", id="m", name="x", additional_kwargs={"timestamp": "2020-01-01"})
    turn = turn_of(message, times={"m": "2026-03-01"}, speakers={"m": "Aino"})
    assert (turn.time, turn.speaker) == ("2026-03-01", "Aino")
    assert turn_of(message, speakers={"user": "Bo"}).speaker == "Bo"
    assert turn_of(message, times={"m": "never"}).time == "2020-01-01"


def test_the_answer_of_a_recall_tool_is_memory_also_where_only_the_call_names_the_tool() -> None:
    named = ToolMessage("Aino likes tea.", tool_call_id="c1", name="search_memory")
    assert turn_of(named).origin == "memory"
    (unnamed,) = turns_from_messages([call("search_memory"), ToolMessage("Aino likes tea.", tool_call_id="c1")])
    assert (unnamed.origin, unnamed.speaker) == ("memory", "search_memory")
    (own,) = turns_from_messages(
        [call("look_up"), ToolMessage("Aino likes tea.", tool_call_id="c1")], recall_tools={"look_up"}
    )
    assert own.origin == "memory"


def test_a_tool_that_repeats_what_the_agent_passed_to_it_gives_no_evidence() -> None:
    """Else an agent could make its own idea evidence by passing it through any tool."""
    calls = AIMessage(
        "",
        tool_calls=[
            {"name": "remember", "args": {"fact": "Aino prefers night trains"}, "id": "c1"},
            {"name": "timetable", "args": {"query": "night train Turku"}, "id": "c2"},
        ],
    )
    answers = [
        ToolMessage("Remembered: Aino prefers night trains.", tool_call_id="c1"),
        ToolMessage("For night train Turku: departs 20:15, arrives Kemi 6:05, sleeper 59 euros.", tool_call_id="c2"),
    ]
    assert [turn.origin for turn in turns_from_messages([calls, *answers])] == ["memory", "tool"]


@pytest.mark.parametrize("origin", ["memory", "instruction", "external", "tool"])
def test_a_message_may_lower_its_own_origin(origin: str) -> None:
    assert turn_of(HumanMessage("x", additional_kwargs={"origin": origin})).origin == origin


@pytest.mark.parametrize(
    ("message", "origin"),
    [
        (SystemMessage("x", additional_kwargs={"origin": "conversation"}), "instruction"),
        (SystemMessage("x", additional_kwargs={"origin": "tool"}), "instruction"),
        (SystemMessage("x", additional_kwargs={"origin": "external"}), "instruction"),
        (ToolMessage("x", tool_call_id="c", additional_kwargs={"origin": "conversation"}), "tool"),
        (ToolMessage("x", tool_call_id="c", name="search_memory", additional_kwargs={"origin": "tool"}), "memory"),
        (HumanMessage("x", additional_kwargs={"origin": "gospel"}), "conversation"),
        (HumanMessage("x", additional_kwargs={"origin": ["memory"]}), "conversation"),
    ],
)
def test_no_message_raises_its_own_origin(message: BaseMessage, origin: str) -> None:
    assert turn_of(message).origin == origin
