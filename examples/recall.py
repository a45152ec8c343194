"""Recall through the read gate: each user gets their own memories, and the trace says what was shown and what was told.

    pip install memory-admission
    python examples/recall.py

The chat model is scripted, so that the example runs without a key: put a real one in its place. `user_id` is what your
deployment's authentication says; on the LangGraph server take `langgraph_auth_user.identity`.
"""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from admission.errors import BoundaryError
from admission.reading.gate import ReadGate
from admission.reading.ledger_trace import trace_of
from admission.reading_settings import ReadingSettings
from graph_nodes import (
    AdmissionState,
    AdmissionStore,
    RecallState,
    create_admission_node,
    create_recall_node,
    recalled_message,
    record_answer,
)

SAID = "The user takes a pottery class on Tuesdays."
MADE_UP = "The user takes a pottery class with a friend."
READING = ReadingSettings(namespace=("memories", "{user_id}"), policy_default="allow", trace=True)


class State(AdmissionState, RecallState):
    """What both nodes read and write."""


class ScriptedChatModel(FakeMessagesListChatModel):
    """Stands in for a chat model."""


def build_graph(store: BaseStore) -> CompiledStateGraph:
    model = ScriptedChatModel(responses=[AIMessage("That sounds like fun."), AIMessage(f"You told me: {SAID}")])

    def answer(state: State) -> dict[str, Any]:
        recalled = recalled_message(state["admission_recalled"])
        return {"messages": [model.invoke([recalled, *state["messages"]])]}

    graph = StateGraph(State).add_node("recall", create_recall_node(limit=3)).add_node(answer)
    graph.add_node("admission", create_admission_node())
    graph.add_edge(START, "recall").add_edge("recall", "answer").add_edge("answer", "admission")
    return graph.compile(store=store)


def main(store: AdmissionStore | None = None) -> None:
    given = store if store is not None else AdmissionStore(InMemoryStore())
    guard = AdmissionStore(given.inner, gate=given.gate, ledger=given.ledger, read_gate=ReadGate(READING))
    graph = build_graph(guard)
    ana, ben = ({"configurable": {"user_id": user, "thread_id": user}} for user in ("ana", "ben"))

    writes = [{"namespace": ["memories", "ana"], "value": {"content": memory}} for memory in (SAID, MADE_UP)]
    talk = HumanMessage("I started a pottery class. I go every Tuesday.", id="told")
    graph.invoke({"messages": [talk], "pending_writes": writes}, ana)

    state = graph.invoke({"messages": [HumanMessage("When is my class?", id="asked")], "pending_writes": []}, ana)
    print("recalled for ana:", [memory["text"] for memory in state["admission_recalled"]])
    record_answer(guard, state["admission_question"], str(state["messages"][-1].content))
    trace = trace_of(guard.ledger, state["admission_question"]).trace
    print("exposed:", len(trace.exposed), "disclosed:", len(trace.disclosed))

    state = graph.invoke({"messages": [HumanMessage("When is my class?", id="asked")], "pending_writes": []}, ben)
    print("recalled for ben:", [memory["text"] for memory in state["admission_recalled"]])
    try:
        guard.search(("memories",))
    except BoundaryError as error:
        print("refused:", error)
    held = [record.intent.value["content"] for record in guard.ledger.quarantine()]
    print("held back:", held)


if __name__ == "__main__":
    main()
