"""A graph of your own that extracts memories in one node and has them judged in another.

    pip install memory-admission
    python examples/state_graph_node.py

The chat model is scripted, so that the example runs without a key: put a real one in its place.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from graph_nodes import AdmissionState, AdmissionStore, create_admission_node

SAID = "The user takes a pottery class on Tuesdays."
MADE_UP = "The user takes a pottery class with a friend."


SCRIPT: list[Any] = [
    AIMessage("That sounds like fun.", id="answer"),
    AIMessage(json.dumps([{"content": memory, "citations": ["question"]} for memory in (SAID, MADE_UP)])),
]


class ScriptedChatModel(FakeMessagesListChatModel):
    """Stands in for a chat model: it answers the user, then lists memories with the messages they come from."""


def build_graph(store: BaseStore) -> CompiledStateGraph:
    model = ScriptedChatModel(responses=SCRIPT)

    def answer(state: AdmissionState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    def extract(state: AdmissionState) -> dict[str, Any]:
        listed = model.invoke([*state["messages"], HumanMessage("List what to remember as JSON.")])
        return {"pending_writes": [{"namespace": ["notes"], "value": value} for value in json.loads(listed.text)]}

    graph = StateGraph(AdmissionState).add_node(answer).add_node(extract).add_node("admission", create_admission_node())
    graph.add_edge(START, "answer").add_edge("answer", "extract").add_edge("extract", "admission")
    return graph.compile(store=store)


def main(store: AdmissionStore | None = None) -> list[dict[str, Any]]:
    store = store if store is not None else AdmissionStore(InMemoryStore())
    talk = HumanMessage("I started a pottery class. I go every Tuesday.", id="question")
    state = build_graph(store).invoke({"messages": [talk]})
    for report in state["admission_reports"]:
        print(f"{report['action']:10} {report['status']:12} {report['memory']}\n{'':10} {report['reasons'][0]}")
    print("stored:", [item.value for item in store.search(("notes",))])
    reports: list[dict[str, Any]] = state["admission_reports"]
    return reports


if __name__ == "__main__":
    main()
