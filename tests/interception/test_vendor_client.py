"""A tool that writes through a vendor's client: the policy by tool name has the call judged before the tool runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from scripted_gate import DENIED, NEVER_SAID, SAID, asked, guarded, verifications
from ways_round import assert_found_and_refused, assert_no_way_round
from writing_graphs import TALKED, tool_graph

pytest.importorskip("langchain.agents")

from agents import THREAD, agent_of, answers, calls

from admission.errors import InputError
from admission.ledger import open_ledger
from graph_nodes import AdmissionMiddleware, UnguardedError, WatchedTool

PATH = "vendor's client (mem0, zep) in a tool"
ANSWER = "found and refused, unless the tool is watched by name: then judged before it runs"

NAMESPACE = ("mem0", "thread-1")
ADMITS_ALL = [{"namespace": "mem0/*", "unresolved": "persist", "invalid": "persist"}]


class FakeMemoryClient:
    """Has the name and the place of mem0's client, and keeps what it is given."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def add(self, text: str) -> str:
        if text.startswith("boom"):
            raise ConnectionError("vendor down")
        self.kept.append(text)
        return f"mem0 has {len(self.kept)}"


FakeMemoryClient.__module__ = "mem0.client.main"


def mem0_tool(client: FakeMemoryClient) -> BaseTool:
    @tool
    def save(text: str) -> str:
        """Save a memory."""
        return client.add(text)

    return save


def watching(**arguments: Any) -> AdmissionMiddleware:
    return AdmissionMiddleware(watched={"save": WatchedTool("text", ("mem0", "{thread_id}"), **arguments)})


SAVES = calls("save", {"text": SAID}, {"text": NEVER_SAID}, {"text": DENIED})


def test_without_the_policy_it_is_a_way_round() -> None:
    store, client = guarded(), FakeMemoryClient()
    graph = tool_graph(mem0_tool(client), {"text": NEVER_SAID}, store=store)
    graph.invoke(TALKED)
    assert client.kept == [NEVER_SAID] and list(store.ledger.reports()) == []
    assert_found_and_refused(graph, "tool save.func > client", "client of mem0")
    assert_found_and_refused(agent_of([mem0_tool(client)], SAVES, store=store), "client", "client of mem0")


@pytest.mark.parametrize("run", ["sync", "async"])
async def test_a_watched_tool_runs_for_what_is_admitted_and_says_why_not_for_the_rest(run: str) -> None:
    store, client = guarded(), FakeMemoryClient()
    agent = agent_of([mem0_tool(client)], SAVES, store=store, middleware=watching())
    state = agent.invoke(TALKED, THREAD) if run == "sync" else await agent.ainvoke(TALKED, THREAD)
    assert client.kept == [SAID]
    ran, held, denied = answers(state)
    assert ran.text.startswith(f"STORED: “{SAID}”") and ran.text.endswith("mem0 has 1")
    assert held.text.startswith("The tool was not run.\nNOT STORED") and held.status == "error"
    assert "the conversation says otherwise" in denied.text
    assert {report["memory"]: report["status"] for report in state["admission_reports"]} == {
        SAID: "repaired",
        NEVER_SAID: "unresolved",
        DENIED: "contradicted",
    }
    assert {entry.namespace for entry in store.ledger.entries()} == {NAMESPACE}
    assert {record.intent.value["content"] for record in store.ledger.quarantine()} == {NEVER_SAID, DENIED}
    assert store.ledger.incomplete() == [] and store.ledger.verify().ok
    assert {p.turn_id for question in asked(store) for p in question.passages} <= {"m1", "m2", "m3"}
    assert_no_way_round(agent)


async def test_a_tool_that_only_runs_in_async_graphs_is_judged_too() -> None:
    store, client = guarded(), FakeMemoryClient()

    @tool
    async def save(text: str) -> str:
        """Save a memory."""
        return client.add(text)

    agent = agent_of([save], SAVES, store=store, middleware=watching())
    await agent.ainvoke(TALKED, THREAD)
    assert client.kept == [SAID]


def test_an_interrupted_tool_is_judged_once_and_runs_when_it_is_resumed() -> None:
    store, client = guarded(), FakeMemoryClient()

    @tool
    def save(text: str) -> str:
        """Save a memory, if a person agrees."""
        return client.add(text) if interrupt("save it?") else "no"

    agent = agent_of([save], calls("save", {"text": SAID}), store=store, middleware=watching(),
                     checkpointer=InMemorySaver())  # fmt: skip
    agent.invoke(TALKED, THREAD)
    assert client.kept == []
    state = agent.invoke(Command(resume=True), THREAD)
    assert client.kept == [SAID]
    assert len(state["admission_reports"]) == verifications(store) == 1
    assert store.ledger.incomplete() == []


def test_a_task_that_runs_again_after_the_tool_has_written_does_not_run_it_twice() -> None:
    store, client = guarded(), FakeMemoryClient()
    failures = iter([True])

    class FakeFlaky(AdmissionMiddleware):
        """Fails once, after the tool has written and the ledger knows it."""

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            answer = super().wrap_tool_call(request, handler)
            if next(failures, False):
                raise ConnectionError
            return answer

    flaky = FakeFlaky(watched=watching().watched)
    agent = agent_of([mem0_tool(client)], calls("save", {"text": SAID}), store=store, middleware=flaky,
                     checkpointer=InMemorySaver())  # fmt: skip
    with pytest.raises(ConnectionError):
        agent.invoke(TALKED, THREAD)
    state = agent.invoke(None, THREAD)
    assert client.kept == [SAID] and verifications(store) == 1
    assert answers(state)[0].text.startswith("The tool ran earlier and was not run again.\nSTORED")
    assert answers(state)[0].status == "success"


def test_a_tool_that_fails_raises_its_own_error_and_leaves_the_write_open() -> None:
    store, client = guarded(policy=ADMITS_ALL), FakeMemoryClient()
    agent = agent_of([mem0_tool(client)], calls("save", {"text": "boom"}), store=store, middleware=watching())
    with pytest.raises(ConnectionError, match="vendor down"):
        agent.invoke(TALKED, THREAD)
    assert [record.state for record in store.ledger.incomplete()] == ["decided"]


def test_what_a_dead_run_left_undone_is_not_done_by_another_runs_tool(tmp_path: Path) -> None:
    client, url = FakeMemoryClient(), f"sqlite:///{tmp_path / 'ledger.db'}"
    ledger = open_ledger(url)
    dead = guarded(ledger=ledger, policy=ADMITS_ALL)
    with pytest.raises(ConnectionError):
        agent_of([mem0_tool(client)], calls("save", {"text": "boom"}), store=dead, middleware=watching()).invoke(
            TALKED, THREAD
        )
    alive = guarded(ledger=ledger, policy=ADMITS_ALL)
    agent_of([mem0_tool(client)], calls("save", {"text": SAID}), store=alive, middleware=watching()).invoke(
        TALKED, THREAD
    )
    assert client.kept == [SAID]
    assert [record.intent.value["content"] for record in ledger.incomplete()] == ["boom"]
    ledger.close()


def test_arguments_that_hold_no_text_are_told_to_the_model_and_the_tool_is_not_run() -> None:
    store, client = guarded(), FakeMemoryClient()
    watched = AdmissionMiddleware(watched={"save": WatchedTool("memory", NAMESPACE)})
    state = agent_of([mem0_tool(client)], SAVES, store=store, middleware=watched).invoke(TALKED, THREAD)
    assert client.kept == []
    assert answers(state)[0].text.startswith("The tool was not run: memory: holds no text to judge")


def test_a_function_may_say_what_the_memory_is_and_that_there_is_none() -> None:
    store, client = guarded(), FakeMemoryClient()
    watched = AdmissionMiddleware(
        watched={"save": WatchedTool(lambda args: None if args["text"] == NEVER_SAID else args["text"], NAMESPACE)}
    )
    agent_of([mem0_tool(client)], SAVES, store=store, middleware=watched).invoke(TALKED, THREAD)
    assert sorted(client.kept) == [SAID, NEVER_SAID]


def test_a_namespace_that_the_run_does_not_fill_is_named() -> None:
    watched = AdmissionMiddleware(watched={"save": WatchedTool("text", ("mem0", "{user}"))})
    agent = agent_of([mem0_tool(FakeMemoryClient())], SAVES, store=guarded(), middleware=watched)
    with pytest.raises(InputError, match="namespace: needs 'user'"):
        agent.invoke(TALKED, THREAD)
    with pytest.raises(InputError, match="namespace: is 'mem0'"):
        WatchedTool("text", "mem0")  # type: ignore[arg-type]


def test_watched_tools_need_the_gate_even_where_a_raw_store_is_only_reported() -> None:
    middleware = AdmissionMiddleware(strict=False, watched=watching().watched)
    agent = agent_of([mem0_tool(FakeMemoryClient())], SAVES, store=None, middleware=middleware)
    with pytest.raises(UnguardedError):
        agent.invoke(TALKED, THREAD)


def test_a_vector_store_is_reported_where_it_is_written_to_and_not_where_it_is_searched() -> None:
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    vectors = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))

    @tool
    def save(text: str) -> str:
        """Save a memory."""
        vectors.add_texts([text])
        return "saved"

    @tool
    def find(text: str) -> str:
        """Find a document."""
        return str(vectors.similarity_search(text))

    store = guarded()
    assert_found_and_refused(tool_graph(save, {"text": SAID}, store=store), "save.func > vectors", "is written to")
    assert_no_way_round(tool_graph(find, {"text": SAID}, store=store))


class VectorNotes:
    """A user's own class that keeps a vector store, and writes to it."""

    def __init__(self, vectors: Any) -> None:
        self.vectors = vectors

    def save(self, text: str) -> None:
        self.vectors.add_texts([text])

    def find(self, text: str) -> str:
        return str(self.vectors.similarity_search(text))


def test_so_is_one_that_an_object_holds_in_an_attribute() -> None:
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    notes = VectorNotes(InMemoryVectorStore(DeterministicFakeEmbedding(size=4)))

    @tool
    def save(text: str) -> str:
        """Save a memory."""
        notes.save(text)
        return "saved"

    @tool
    def find(text: str) -> str:
        """Find a document."""
        return notes.find(text)

    store = guarded()
    assert_found_and_refused(tool_graph(save, {"text": SAID}, store=store), "notes.vectors", "is written to")
    assert_no_way_round(tool_graph(find, {"text": SAID}, store=store))
