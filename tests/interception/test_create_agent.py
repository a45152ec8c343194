"""`create_agent` with `AdmissionMiddleware`: a guarded store or none, and answers that say what was decided."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import InjectedStore
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, TALK, asked, guarded, said, stored, verifications
from writing_graphs import TALKED, assert_only_what_was_said_is_stored

pytest.importorskip("langchain.agents")
langmem = pytest.importorskip("langmem")

from agents import THREAD, agent_of, answers, calls  # noqa: E402

from admission.records import Question, Report  # noqa: E402
from graph_nodes import AdmissionMiddleware, AdmissionState, UnguardedError  # noqa: E402

PATH = "agent of `create_agent` whose tools write"
ANSWER = "caught by the store; the middleware names the conversation and corrects the tool's answer"

BOTH: list[dict[str, Any]] = [{"content": SAID}, {"content": NEVER_SAID}]


@tool
def remember(text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Remember a text."""
    store.put(NAMESPACE, text, {"content": text})
    return "Booked room 12 and remembered it."


@tool
def look(query: str) -> str:
    """Look something up."""
    return f"Nothing about {query}."


def memory_tool() -> Any:
    return langmem.create_manage_memory_tool(NAMESPACE)


async def test_langmem_in_a_sync_run(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    state = agent_of([memory_tool()], calls("manage_memory", *BOTH), store=store).invoke(TALKED, THREAD)
    await assert_only_what_was_said_is_stored(store)
    assert_told_the_truth(state, store.search(NAMESPACE)[0].key)


async def test_langmem_in_an_async_run(async_inner: BaseStore) -> None:
    store = guarded(async_inner)
    state = await agent_of([memory_tool()], calls("manage_memory", *BOTH), store=store).ainvoke(TALKED, THREAD)
    await assert_only_what_was_said_is_stored(store)
    assert_told_the_truth(state, (await store.asearch(NAMESPACE))[0].key)


def assert_told_the_truth(state: dict[str, Any], key: str) -> None:
    kept, held = answers(state)
    assert kept.text.startswith(f"STORED: “{SAID}” (status repaired, key {key}).")
    assert held.text.startswith(f"NOT STORED: “{NEVER_SAID}” (status unresolved).")
    assert "nothing found in the conversation" in held.text
    assert "created memory" not in kept.text + held.text
    reports = [Report.model_validate(report) for report in state["admission_reports"]]
    assert sorted((r.memory, r.status, r.conversation) for r in reports) == [
        (SAID, "repaired", "thread-1"),
        (NEVER_SAID, "unresolved", "thread-1"),
    ]


def test_what_else_a_tool_says_is_kept_and_marked_as_its_own() -> None:
    state = agent_of([remember], calls("remember", {"text": NEVER_SAID}), store=guarded()).invoke(TALKED)
    (answer,) = answers(state)
    lead, _, own = answer.text.partition("\n")
    assert lead.startswith("NOT STORED")
    assert own == "The tool's own answer, which does not know of these decisions: Booked room 12 and remembered it."


def test_a_tool_that_writes_nothing_is_not_touched() -> None:
    state = agent_of([look], calls("look", {"query": "Ana"}), store=guarded()).invoke(TALKED)
    assert [answer.text for answer in answers(state)] == ["Nothing about Ana."]
    assert state.get("admission_reports", []) == []


def test_what_the_agent_was_told_of_a_refused_memory_is_no_evidence_for_the_next_try() -> None:
    store = guarded()
    first, second = calls("remember", {"text": NEVER_SAID}), calls("remember", {"text": NEVER_SAID})
    second = second.model_copy(update={"id": "again"})
    second.tool_calls[0]["id"] = "call-again"
    state = agent_of([remember], first, second, store=store).invoke(TALKED)
    assert [report["status"] for report in state["admission_reports"]] == ["unresolved", "unresolved"]
    assert stored(store) == {}
    assert {p.turn_id for question in asked(store) for p in question.passages} <= {"m1", "m2", "m3"}


def test_a_command_keeps_its_update_and_gets_the_outcome() -> None:
    @tool
    def note(text: str, store: Annotated[BaseStore, InjectedStore()]) -> Command[Any]:
        """Note a text."""
        store.put(NAMESPACE, text, {"content": text})
        return Command(update={"messages": [ToolMessage("noted", tool_call_id="call-0")], "jump_to": "end"})

    state = agent_of([note], calls("note", {"text": SAID}), store=guarded()).invoke(TALKED)
    assert answers(state)[0].text.startswith("STORED")
    assert [report["status"] for report in state["admission_reports"]] == ["repaired"]


def test_an_interrupted_tool_reports_once_when_it_is_resumed() -> None:
    @tool
    def remember_if_allowed(text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
        """Remember a text and ask whether that was right."""
        store.put(NAMESPACE, text, {"content": text})
        return str(interrupt("right?"))

    store = guarded()
    script = calls("remember_if_allowed", {"text": SAID})
    agent = agent_of([remember_if_allowed], script, store=store, checkpointer=InMemorySaver())
    agent.invoke(TALKED, THREAD)
    state = agent.invoke(Command(resume="yes"), THREAD)
    assert len(stored(store)) == 1 and verifications(store) == 1
    assert len(state["admission_reports"]) == 1
    assert answers(state)[0].text.startswith("STORED")


def test_an_agent_inside_a_graph_hands_its_reports_on_once() -> None:
    store = guarded()
    agent = agent_of([memory_tool()], calls("manage_memory", *BOTH), store=None, checkpointer=True)
    graph = StateGraph(AdmissionState).add_node("agent", agent).add_edge(START, "agent")
    parent = graph.compile(store=store, checkpointer=InMemorySaver())
    parent.invoke(TALKED, THREAD)
    state = parent.invoke({"messages": [("user", "Thank you.")]}, THREAD)
    assert len(state["admission_reports"]) == 2


@pytest.mark.parametrize("store", [None, InMemoryStore()])
async def test_an_agent_without_a_guarded_store_does_not_start(store: BaseStore | None) -> None:
    agent = agent_of([memory_tool()], calls("manage_memory", *BOTH), store=store)
    with pytest.raises(UnguardedError, match=r"store: .*; give the graph an AdmissionStore"):
        agent.invoke(TALKED)
    with pytest.raises(UnguardedError):
        await agent.ainvoke(TALKED)
    assert store is None or stored(store) == {}


def test_a_resumed_run_over_a_raw_store_is_stopped_before_its_tool_writes() -> None:
    saver, raw = InMemorySaver(), InMemoryStore()
    script = calls("remember", {"text": NEVER_SAID})
    started = agent_of([remember], script, store=guarded(), checkpointer=saver, interrupt_before=["tools"])
    started.invoke(TALKED, THREAD)
    resumed = agent_of([remember], AIMessage("Done."), store=raw, checkpointer=saver)
    with pytest.raises(UnguardedError):
        resumed.invoke(None, THREAD)
    assert stored(raw) == {}


def test_it_can_be_told_only_to_report(caplog: pytest.LogCaptureFixture) -> None:
    raw = InMemoryStore()
    agent = agent_of([remember], calls("remember", {"text": NEVER_SAID}), store=raw,
                     middleware=AdmissionMiddleware(strict=False))  # fmt: skip
    state = agent.invoke({"messages": TALK})
    assert "InMemoryStore without a gate" in caplog.text
    assert answers(state)[0].text == "Booked room 12 and remembered it."
    assert list(stored(raw)) == [NEVER_SAID]


def test_of_a_memory_the_store_did_not_take_it_says_so() -> None:
    class FakeBrokenStore(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            raise ConnectionError("down")

    @tool
    def careless(text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
        """Remember a text, whatever happens."""
        try:
            store.put(NAMESPACE, text, {"content": text})
        except ConnectionError:
            return "hm"
        return "done"

    state = agent_of([careless], calls("careless", {"text": SAID}), store=guarded(FakeBrokenStore())).invoke(TALKED)
    assert answers(state)[0].text.startswith(f"ACCEPTED, BUT NOT STORED YET: “{SAID}”")
    assert "has not confirmed it" in answers(state)[0].text


def test_of_a_memory_that_waits_for_its_verdict_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    answering = threading.Event()

    def slowly(question: Question) -> tuple[float, float]:
        answering.wait(30)
        return said(question)

    monkeypatch.setattr("scripted_gate.said", slowly)
    with guarded(writes={"mode": "background"}) as store:
        agent = agent_of([memory_tool()], calls("manage_memory", {"content": SAID}), store=store)
        state = agent.invoke(TALKED, THREAD)
        answering.set()
    assert answers(state)[0].text.startswith(f"PENDING: “{SAID}” (key ")
    assert state.get("admission_reports", []) == []
    assert len(stored(store)) == 1
