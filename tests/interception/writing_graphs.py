"""Small graphs that write memories, and what has to be true of any of them afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, TALK, asked

from graph_nodes import AdmissionStore

TALKED = {"messages": TALK}


def node_graph(node: Callable[..., Any], store: AdmissionStore, **compile_args: Any) -> CompiledStateGraph:
    """A graph of one node that writes."""
    return (
        StateGraph(MessagesState).add_node("write", node).add_edge(START, "write").compile(store=store, **compile_args)
    )


def tool_graph(
    tool: BaseTool, *arguments: dict[str, Any], store: AdmissionStore, **compile_args: Any
) -> CompiledStateGraph:
    """A graph whose scripted model calls the tool once with each of the arguments, in one message that repeats them."""
    calls = [{"name": tool.name, "args": args, "id": f"call-{n}"} for n, args in enumerate(arguments)]

    def scripted_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"I shall remember: {arguments}", id="own", tool_calls=calls)]}

    graph = StateGraph(MessagesState).add_node(scripted_model).add_node("tools", ToolNode([tool]))
    return (
        graph.add_edge(START, "scripted_model").add_edge("scripted_model", "tools").compile(store=store, **compile_args)
    )


async def assert_only_what_was_said_is_stored(store: AdmissionStore) -> None:
    """SAID and NEVER_SAID were written: one is stored, the other held back, each with its report."""
    beneath = [item.value["content"] for item in await store.asearch(())]
    assert beneath == [SAID]
    assert await store.alist_namespaces() == [NAMESPACE]
    held = [record.intent.value["content"] for record in store.ledger.quarantine()]
    assert held == [NEVER_SAID]
    reports = {report.memory: report.status for _, report in store.ledger.reports()}
    assert reports == {SAID: "repaired", NEVER_SAID: "unresolved"}
    assert {p.turn_id for question in asked(store) for p in question.passages} <= {"m1", "m2", "m3"}
    assert store.ledger.incomplete() == [] and store.ledger.verify().ok
