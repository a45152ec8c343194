"""The demo's LangGraph agent: a scripted chat model and a tool node whose memory tool writes to the injected store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import InjectedStore, ToolNode, tools_condition
from langgraph.store.base import BaseStore

from admission.records import STORED_ACTIONS, Conversation, Namespace, Report, Turn, Write
from graph_nodes.outcome import collect_reports

NAMESPACE: Namespace = ("demo", "mara")


class ScriptedChatModel(BaseChatModel):
    """Stands in for a chat model: it plays the assistant of a recorded conversation, word for word.

    After a user's turn it first calls the memory tool for the writes recorded there, then says what was said.
    """

    recorded: Conversation

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = next(message for message in reversed(messages) if isinstance(message, HumanMessage))
        writes = [] if isinstance(messages[-1], ToolMessage) else self._writes_after(asked.id)
        answer = _tool_calls(writes) if writes else self._answer_to(asked.id)
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _writes_after(self, turn_id: str | None) -> list[Write]:
        return [write for write in self.recorded.writes if write.written_after == turn_id]

    def _answer_to(self, turn_id: str | None) -> AIMessage:
        turns = self.recorded.turns
        place = next(number for number, turn in enumerate(turns) if turn.id == turn_id)
        return AIMessage(**_message_fields(turns[place + 1]))


def _tool_calls(writes: Sequence[Write]) -> AIMessage:
    calls = [
        {"name": save_memory.name, "id": write.id, "args": {"memory": write.memory, "citations": list(write.citations)}}
        for write in writes
    ]
    return AIMessage(content="", tool_calls=calls)


@tool
def save_memory(
    memory: str,
    citations: list[str],
    call_id: Annotated[str, InjectedToolCallId],
    store: Annotated[BaseStore, InjectedStore()],
) -> ToolMessage:
    """Remember something about the user. Cite the ids of the messages that say it."""
    with collect_reports() as reports:
        store.put(NAMESPACE, call_id, {"content": memory, "citations": citations})
    outcome = "saved" if all(report.action in STORED_ACTIONS for report in reports) else "held back"
    # With an id of its own: a made-up one would differ from run to run, and the reports with it.
    return ToolMessage(id=f"{call_id}-outcome", name="save_memory", tool_call_id=call_id, content=outcome)


def build_agent(recorded: Conversation, store: BaseStore) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A tool-calling agent as any other: model -> tools -> model, with `store` for its memories."""
    model = ScriptedChatModel(recorded=recorded)

    def call_model(state: MessagesState) -> dict[str, list[BaseMessage]]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode([save_memory]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=InMemorySaver(), store=store)


def converse(recorded: Conversation, store: BaseStore) -> list[Report]:
    """Put the user's side of `recorded` to the agent, turn by turn; the reports on what it wrote, in order."""
    agent = build_agent(recorded, store)
    with collect_reports() as reports:
        for turn in recorded.turns:
            if turn.role == "user":
                agent.invoke(
                    {"messages": [HumanMessage(**_message_fields(turn))]}, {"configurable": {"thread_id": recorded.id}}
                )
    return reports


def _message_fields(turn: Turn) -> dict[str, Any]:
    return {
        "id": turn.id,
        "name": turn.speaker,
        "content": turn.text,
        "additional_kwargs": {"timestamp": turn.time},
    }
