"""A memory kept in a channel of the state (`memory_files`): a tool's `Command` writes it, and no store is touched."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from scripted_gate import NEVER_SAID, SAID, guarded
from writing_graphs import TALKED

pytest.importorskip("langchain.agents")

from agents import THREAD, agent_of, answers, calls
from langchain.agents import AgentState

from graph_nodes import AdmissionMiddleware, WatchedTool

PATH = "memory in a channel of the state (`memory_files`), written by a tool"
ANSWER = "the tool is watched by name: judged before it runs; the reports are in the ledger and the state"


class FilesState(AgentState[Any]):
    memory_files: NotRequired[Annotated[dict[str, str], lambda old, new: {**old, **new}]]


@tool
def write_memory(path: str, text: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Write a memory file."""
    done = ToolMessage(f"wrote {path}", tool_call_id=tool_call_id)
    return Command(update={"messages": [done], "memory_files": {path: text}})


WRITES = calls("write_memory", {"path": "/said", "text": SAID}, {"path": "/never", "text": NEVER_SAID})


def agent(middleware: AdmissionMiddleware) -> Any:
    saver = InMemorySaver()
    return agent_of([write_memory], WRITES, store=guarded(), middleware=middleware, state_schema=FilesState,
                    checkpointer=saver)  # fmt: skip


def test_unwatched_the_channel_takes_anything() -> None:
    state = agent(AdmissionMiddleware()).invoke(TALKED, THREAD)
    assert state["memory_files"] == {"/said": SAID, "/never": NEVER_SAID}
    assert state.get("admission_reports", []) == []


@pytest.mark.parametrize("run", ["sync", "async"])
async def test_watched_only_what_was_said_gets_into_the_channel(run: str) -> None:
    watched = AdmissionMiddleware(watched={"write_memory": WatchedTool("text", ("files",))})
    graph = agent(watched)
    state = graph.invoke(TALKED, THREAD) if run == "sync" else await graph.ainvoke(TALKED, THREAD)
    assert state["memory_files"] == {"/said": SAID}
    kept, held = answers(state)
    assert kept.text.startswith(f"STORED: “{SAID}”") and kept.text.endswith("wrote /said")
    assert held.text.startswith("The tool was not run.\nNOT STORED")
    assert [report["status"] for report in state["admission_reports"]] == ["repaired", "unresolved"]
