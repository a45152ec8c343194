"""Forgetting on request: what the user names is used for nothing any more, and the answer to "what did I ask?" is safe.

    pip install memory-admission
    python examples/forgetting.py

The request is carried out where it is sure what it means, and told in the state where it is not. The text stays in the
store, so that a mistake can be taken back (`AdmissionStore.reinstate`); `AdmissionStore.erase` takes it out for good.
"""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from admission.reading.gate import ReadGate
from admission.reading_settings import ReadingSettings
from graph_nodes import (
    AdmissionState,
    AdmissionStore,
    DirectiveState,
    RecallState,
    create_admission_node,
    create_directive_node,
    create_recall_node,
)

SAID = "The user's locker code is LK-4471."
MADE_UP = "The user shares the locker with a friend."
READING = ReadingSettings(namespace=("memories", "{user_id}"), policy_default="allow")


class State(AdmissionState, DirectiveState, RecallState):
    """What the three nodes read and write."""


def build_graph(store: BaseStore) -> CompiledStateGraph:
    graph = StateGraph(State).add_node("admission", create_admission_node())
    graph.add_node("directives", create_directive_node())  # behind what writes: what it stored is looked at too
    graph.add_node("recall", create_recall_node())
    graph.add_edge(START, "admission").add_edge("admission", "directives").add_edge("directives", "recall")
    return graph.compile(store=store)


def main(store: AdmissionStore | None = None) -> None:
    given = store if store is not None else AdmissionStore(InMemoryStore())
    guard = AdmissionStore(given.inner, gate=given.gate, ledger=given.ledger, read_gate=ReadGate(READING))
    graph = build_graph(guard)
    ana = {"configurable": {"user_id": "ana", "thread_id": "ana"}}

    writes = [{"namespace": ["memories", "ana"], "value": {"content": memory}} for memory in (SAID, MADE_UP)]
    told = HumanMessage("My locker code is LK-4471.", id="told")
    state = graph.invoke({"messages": [told], "pending_writes": writes}, ana)
    print("recalled:", [memory["text"] for memory in state["admission_recalled"]])

    asked = HumanMessage("Please forget my locker code LK-4471.", id="asked")
    state = graph.invoke({"messages": [asked], "pending_writes": []}, ana)
    (heard,) = state["admission_forgotten"]
    print(heard["outcome"], len(heard["forgotten"]), "of", heard["turn"])
    print("recalled:", [memory["text"] for memory in state["admission_recalled"]])
    held = [record.intent.value["content"] for record in guard.ledger.quarantine()]
    print("held back:", held)


if __name__ == "__main__":
    main()
