"""A LangChain agent with langmem's memory tool: the store judges what is written, the middleware tells the agent.

    pip install "memory-admission[agents,langmem]"
    python examples/create_agent_langmem.py

The chat model is scripted, so that the example runs without a key: put a real one in its place.
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langmem import create_manage_memory_tool

from graph_nodes import AdmissionMiddleware, AdmissionStore, require_guarded

SAID = "The user moved to Lisbon in May."
MADE_UP = "The user moved to Lisbon because of a new job."


SCRIPT: list[Any] = [
    AIMessage(
        "",
        tool_calls=[
            {"name": "manage_memory", "args": {"content": memory}, "id": f"call-{number}"}
            for number, memory in enumerate((SAID, MADE_UP))
        ],
    ),
    AIMessage("How exciting! I hope you like it there."),
]


class ScriptedChatModel(FakeMessagesListChatModel):
    """Stands in for a chat model: it says what its script says, whatever it is asked."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def build_agent(store: BaseStore) -> CompiledStateGraph:
    memory_tool = create_manage_memory_tool(namespace=("memories", "{langgraph_user_id}"))
    model = ScriptedChatModel(responses=SCRIPT)
    agent = create_agent(
        model, tools=[memory_tool], store=store, middleware=[AdmissionMiddleware()], checkpointer=InMemorySaver()
    )
    require_guarded(agent)
    return agent


def main(store: AdmissionStore | None = None) -> list[dict[str, Any]]:
    store = store if store is not None else AdmissionStore(InMemoryStore())
    agent = build_agent(store)
    config: Any = {"configurable": {"thread_id": "thread-1", "langgraph_user_id": "user-7"}}
    talk = "I moved to Lisbon in May! My sister has lived here for years."
    state = agent.invoke({"messages": [("user", talk)]}, config)
    for message in state["messages"]:
        if isinstance(message, ToolMessage):
            print(f"the agent is told: {message.text}")
    print("stored:", [item.value["content"] for item in store.search(("memories", "user-7"))])
    reports: list[dict[str, Any]] = state["admission_reports"]
    return reports


if __name__ == "__main__":
    main()
