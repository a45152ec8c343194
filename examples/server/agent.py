"""A LangChain agent with langmem's memory tool for the LangGraph server, which gives it the store of store.py.

    pip install "memory-admission[agents,langmem,sqlite]" "langgraph-cli[inmem]"
    cd examples/server && langgraph dev

The chat model is scripted, so that the example runs without a key: put a real one in its place.
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langmem import create_manage_memory_tool

from graph_nodes import AdmissionMiddleware, require_guarded

SAID = "The user moved to Lisbon in May."
MADE_UP = "The user moved to Lisbon because of a new job."


def remember(*memories: str) -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[
            {"name": "manage_memory", "args": {"content": memory}, "id": f"call-{number}"}
            for number, memory in enumerate(memories)
        ],
    )


SCRIPT: list[BaseMessage] = [remember(SAID, MADE_UP), AIMessage("How exciting! I hope you like it there.")]


class ScriptedChatModel(FakeMessagesListChatModel):
    """Stands in for a chat model: it says what its script says, whatever it is asked."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


# No store is given: the server puts its own in place, and the middleware refuses to run over one that has no gate.
agent = create_agent(
    ScriptedChatModel(responses=SCRIPT),
    tools=[create_manage_memory_tool(namespace=("memories", "user-7"))],
    middleware=[AdmissionMiddleware()],
)
require_guarded(agent)
