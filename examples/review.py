"""A graph that asks a person about the memories its gate held back, and goes on with the answer.

    pip install memory-admission
    python examples/review.py

The chat model and the person are scripted, so that the example runs on its own: put real ones in their place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from graph_nodes import AdmissionStore, create_admission_node
from graph_nodes.review import ReviewState, create_review_node

SAID = "The user adopted a dog called Fig."
MADE_UP = "The user adopted the dog together with a friend."

# A memory as it was put to the person, and what they decide: {"verdict": "approve", "reject" or "edit", "why", "text"}.
Person = Callable[[dict[str, Any]], dict[str, Any]]


class ScriptedChatModel(FakeMessagesListChatModel):
    """Stands in for a chat model: it lists memories with the messages they come from."""


def build_graph(store: BaseStore) -> CompiledStateGraph:
    memories = json.dumps([{"content": memory, "citations": ["news"]} for memory in (SAID, MADE_UP)])
    model = ScriptedChatModel(responses=[AIMessage(memories)])

    def extract(state: ReviewState) -> dict[str, Any]:
        listed = model.invoke([*state["messages"], HumanMessage("List what to remember as JSON.")])
        return {"pending_writes": [{"namespace": ["notes"], "value": value} for value in json.loads(listed.text)]}

    graph = StateGraph(ReviewState).add_node(extract)
    graph.add_node("admission", create_admission_node()).add_node("review", create_review_node())
    graph.add_edge(START, "extract").add_edge("extract", "admission").add_edge("admission", "review")
    return graph.compile(store=store, checkpointer=InMemorySaver())


def scripted_person(memory: dict[str, Any]) -> dict[str, Any]:
    return {"verdict": "reject", "why": "the user never spoke of a friend"}


def main(store: AdmissionStore | None = None, person: Person = scripted_person) -> list[dict[str, Any]]:
    store = store if store is not None else AdmissionStore(InMemoryStore())
    graph = build_graph(store)
    config: Any = {"configurable": {"thread_id": "thread-1"}}
    talk = HumanMessage("We adopted a dog! I called him Fig.", id="news")
    state = graph.invoke({"messages": [talk]}, config)
    for asked in state.get("__interrupt__", ()):
        decisions = []
        for memory in asked.value["memories"]:
            print(f"asked   {memory['memory']}\n        {memory['reasons'][0]}")
            decisions.append({"id": memory["id"], **person(memory)})
        state = graph.invoke(Command(resume={"by": "Kim", "decisions": decisions}), config)
    for review in state["admission_reviews"]:
        print(f"{review['outcome']} by {review['by']}: {review['why']}")
    print("stored:", [item.value for item in store.search(("notes",))])
    reviews: list[dict[str, Any]] = state["admission_reviews"]
    return reviews


if __name__ == "__main__":
    main()
