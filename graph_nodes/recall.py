"""Recall through the read gate: what a run's principal may have read to a question, as a node and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import AnyMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.graph.message import add_messages
from langgraph.store.base import BaseStore, SearchItem
from typing_extensions import TypedDict

from admission.errors import InputError
from admission.metadata import Lifecycle
from admission.reading.context import Intent
from admission.records import Namespace, Record
from admission.settings import WriteSettings
from graph_nodes.held_back import guard_at_hand
from graph_nodes.principals import asking_for
from graph_nodes.readings import Reading, collect_readings
from graph_nodes.scope import conversation, question_at_hand
from graph_nodes.store import AdmissionStore
from graph_nodes.values import memory_text

LIMIT = 5
MOST = 50
"""What a model may ask for at most, in one call."""


class Recalled(Record):
    """A memory that may be used for the question: its key in the principal's namespace, its text, and how it stands."""

    namespace: Namespace
    key: str
    text: str
    score: float | None = None
    lifecycle: Lifecycle | None = None


class Recall(Record):
    """What one question brought up. `memories`, best first; `readings` are of all that was found, kept back or not."""

    memories: tuple[Recalled, ...] = ()
    readings: tuple[Reading, ...] = ()

    def kept_back(self) -> dict[str, int]:
        """How many memories were kept back for each reason code; one with two reasons counts under both."""
        counts: dict[str, int] = {}
        for reading in self.readings:
            for code in reading.codes:
                counts[code] = counts.get(code, 0) + 1
        return dict(sorted(counts.items()))


class RecallState(TypedDict):
    """What `create_recall_node` reads and writes; extend it, or use its channels in a state of your own.

    `admission_recalled` has the memories of the newest question, `admission_readings` what the gate said of all that
    was found (without texts), `admission_question` the question's id in the audit trace; all plain JSON.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    admission_recalled: list[dict[str, Any]]
    admission_readings: list[dict[str, Any]]
    admission_question: str | None


def recall(guard: AdmissionStore, query: str, *, limit: int = LIMIT, intent: Intent | None = None) -> Recall:
    """The memories of the run's principal for a question. Raises `BoundaryError` where nobody vouches for one."""
    namespace = guard.principal().namespace
    with asking_for(intent), collect_readings() as readings:
        items = guard.search(namespace, query=query or None, limit=limit)
    return _recall(items, readings, guard.settings.writes)


async def arecall(guard: AdmissionStore, query: str, *, limit: int = LIMIT, intent: Intent | None = None) -> Recall:
    """Async twin of `recall`."""
    namespace = guard.principal().namespace
    with asking_for(intent), collect_readings() as readings:
        items = await guard.asearch(namespace, query=query or None, limit=limit)
    return _recall(items, readings, guard.settings.writes)


def create_recall_node(
    store: BaseStore | None = None, *, limit: int = LIMIT, intent: Intent | None = None
) -> Runnable[Mapping[str, Any], dict[str, Any]]:
    """A node over `RecallState` for sync and async graphs: it recalls what the run's principal may have for the user's
    last message. `store`, else the one the graph was compiled with, is an `AdmissionStore` whose read gate is on.
    `intent` None: as the settings' classifier says, if they have one."""

    def run(state: Mapping[str, Any]) -> dict[str, Any]:
        with conversation(None, state.get("messages") or []):
            query, question = _asked()
            return _update(recall(guard_at_hand(store), query, limit=limit, intent=intent), question)

    async def arun(state: Mapping[str, Any]) -> dict[str, Any]:
        with conversation(None, state.get("messages") or []):
            query, question = _asked()
            return _update(await arecall(guard_at_hand(store), query, limit=limit, intent=intent), question)

    return RunnableLambda(run, arun, name="recall")


def recalled_message(recalled: Sequence[Mapping[str, Any]]) -> SystemMessage:
    """`admission_recalled` as a message for a prompt, marked as recalled: in a conversation it is no evidence."""
    memories = [Recalled.model_validate(dict(memory)) for memory in recalled]
    text = "\n".join([HEAD, *map(line, memories)]) if memories else "No memories were recalled."
    return SystemMessage(text, additional_kwargs={"origin": "memory"})


HEAD = "Memories that may be used for this question:"


def line(memory: Recalled) -> str:
    """A memory as a model gets to see it: id, text, and where it no longer simply holds, since when and until when."""
    text = memory.text.replace("\n", "\n  ")  # no memory is to look like two
    return f"[{memory.key}] {text}{_standing(memory.lifecycle)}"


def kept_back_line(counts: Mapping[str, int]) -> str:
    """How many were kept back and why, without a word of what they say."""
    listed = ", ".join(f"{code} ({count})" for code, count in counts.items())
    return f"Kept back: {listed}." if listed else ""


def _standing(of: Lifecycle | None) -> str:
    if of is None or (of.state == "current" and of.valid_to is None):
        return ""
    parts: list[str] = [of.state or "not known to hold"]
    parts += [f"from {of.valid_from}"] if of.valid_from is not None else []
    parts += [f"until {of.valid_to}"] if of.valid_to is not None else []
    parts += [f"replaced by {of.superseded_by}"] if of.superseded_by is not None else []
    return f" ({', '.join(parts)})"


def _recall(items: Sequence[SearchItem], readings: Sequence[Reading], settings: WriteSettings) -> Recall:
    standing = {(reading.namespace, reading.key): reading.lifecycle for reading in readings}
    return Recall(
        memories=tuple(
            Recalled(
                namespace=item.namespace,
                key=item.key,
                text=memory_text(item.value, settings),
                score=item.score,
                lifecycle=standing.get((item.namespace, item.key)),
            )
            for item in items
        ),
        readings=tuple(readings),
    )


def _asked() -> tuple[str, str]:
    found = question_at_hand()
    if found is None:
        raise InputError("messages", "hold no words of the user", "run the recall node after the user's message")
    return found.text, found.id


def _update(found: Recall, question: str) -> dict[str, Any]:
    return {
        "admission_recalled": [memory.model_dump(mode="json") for memory in found.memories],
        "admission_readings": [reading.model_dump(mode="json") for reading in found.readings],
        "admission_question": question,
    }
