"""Graph state for the node form: memories waiting to be judged, and the reports on those that were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from admission.records import canonical_json


class PendingWrite(TypedDict):
    """A memory to be judged and stored. Without a key it gets a random one; `citations` are ids of messages, and are
    stored with the value. Of several with one namespace and key the last counts. Only JSON values: checkpoints turn the
    rest into something else."""

    namespace: Sequence[str]
    value: dict[str, Any]
    key: NotRequired[str]
    citations: NotRequired[list[str]]


class Handled(TypedDict):
    """Update of `pending_writes` by the node that has handled these."""

    handled: list[PendingWrite]


def add_or_clear(pending: list[PendingWrite], update: list[PendingWrite] | Handled) -> list[PendingWrite]:
    """Reducer of `pending_writes`: a list is added; what was handled is taken out, and what came in meanwhile stays."""
    if not isinstance(update, dict):
        return [*pending, *update]
    left = list(pending)
    texts = [canonical_json(write) for write in left]
    for write in update["handled"]:
        text = canonical_json(write)
        if text in texts:
            place = texts.index(text)
            del left[place], texts[place]
    return left


def add_reports(reports: list[dict[str, Any]], update: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Reducer of `admission_reports`: adds what is new. A subgraph hands back what it was given, and a task that runs
    again repeats itself; neither is a second write."""
    return [*reports, *(report for report in update if report not in reports)]


class AdmissionState(TypedDict):
    """What `create_admission_node` reads and writes; extend it, or use its channels in a state of your own.

    `pending_writes` takes updates from any node. `admission_reports` holds reports as plain dicts (`Report` as
    JSON), in the order decided.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    pending_writes: Annotated[list[PendingWrite], add_or_clear]
    admission_reports: Annotated[list[dict[str, Any]], add_reports]
