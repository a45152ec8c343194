"""Agents of `create_agent` with a scripted model, and what their tools answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from graph_nodes import AdmissionMiddleware

THREAD: Any = {"configurable": {"thread_id": "thread-1"}}


class ScriptedChatModel(FakeMessagesListChatModel):
    """Says what its script says, whatever it is asked."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def calls(name: str, *arguments: dict[str, Any]) -> AIMessage:
    """A message that calls one tool with each of the arguments, and repeats them as if they were facts."""
    called = [{"name": name, "args": args, "id": f"call-{n}"} for n, args in enumerate(arguments)]
    return AIMessage(f"I shall remember: {arguments}", id=f"own-{name}", tool_calls=called)


def agent_of(
    tools: Sequence[Any],
    *script: AIMessage,
    store: BaseStore | None,
    middleware: AdmissionMiddleware | None = None,
    **agent_args: Any,
) -> CompiledStateGraph:
    model = ScriptedChatModel(responses=[*script, AIMessage("Done.", id="last")])
    guarding = [middleware if middleware is not None else AdmissionMiddleware()]
    return create_agent(model, tools=list(tools), store=store, middleware=guarding, **agent_args)


def answers(state: dict[str, Any]) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]
