"""The recall tool of an agent: the model gives words, intent and a number; whose memories it gets, the run says."""

from __future__ import annotations

from typing import Annotated

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool
from langgraph.store.base import BaseStore
from pydantic import BaseModel, ConfigDict, Field

from admission.reading.context import Intent
from graph_nodes.held_back import guard_at_hand
from graph_nodes.recall import HEAD, LIMIT, MOST, Recall, arecall, kept_back_line, line, recall

NAME = "recall_memory"
DESCRIPTION = """Search what is remembered about the user you are talking with.

intent: "current" for what holds now, "history" for what held before or has changed; leave it out if you cannot tell."""


class Arguments(BaseModel):
    """What a model may say of a recall. Anything else is refused."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(description="What to look for, in a few words.")
    intent: Intent | None = Field(default=None, description="What holds now (current), or what held before (history).")
    limit: int = Field(default=LIMIT, ge=1, le=MOST, description="How many memories at most.")
    tool_call_id: Annotated[str, InjectedToolCallId]


def create_recall_tool(store: BaseStore | None = None, *, name: str = NAME, description: str = DESCRIPTION) -> BaseTool:
    """A tool that recalls memories of the run's principal through the read gate.

    `store`, else the one the graph was compiled with, is an `AdmissionStore` whose read gate is on. The answer has
    each memory with its key and, where it no longer simply holds, its validity; then how many were kept back, by
    reason codes alone. It is marked as recalled, so that what was remembered is never evidence for itself. The
    message's artifact is the `Recall` as JSON. Raises `BoundaryError` where nobody vouches for a principal.
    """

    def run(query: str, tool_call_id: str, intent: Intent | None = None, limit: int = LIMIT) -> ToolMessage:
        return _answer(recall(guard_at_hand(store), query, limit=limit, intent=intent), name, tool_call_id)

    async def arun(query: str, tool_call_id: str, intent: Intent | None = None, limit: int = LIMIT) -> ToolMessage:
        return _answer(await arecall(guard_at_hand(store), query, limit=limit, intent=intent), name, tool_call_id)

    return StructuredTool.from_function(
        run, arun, name=name, description=description, args_schema=Arguments, infer_schema=False
    )


def _answer(found: Recall, name: str, tool_call_id: str) -> ToolMessage:
    memories = [HEAD, *map(line, found.memories)] if found.memories else ["No memory may be used for this question."]
    text = "\n".join(part for part in (*memories, kept_back_line(found.kept_back())) if part)
    return ToolMessage(
        text,
        name=name,
        tool_call_id=tool_call_id,
        additional_kwargs={"origin": "memory"},
        artifact=found.model_dump(mode="json"),
    )
