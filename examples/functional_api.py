"""LangGraph's functional API: an entrypoint whose tasks put memories into the store it was given.

    pip install memory-admission
    python examples/functional_api.py

The chat model is scripted, so that the example runs without a key: put a real one in its place. An entrypoint has no
`messages` channel that the guard could read, so the conversation is named.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.config import get_store
from langgraph.func import entrypoint, task
from langgraph.store.memory import InMemoryStore

from admission.records import Report
from graph_nodes import AdmissionStore, collect_reports, conversation

SAID = "The user takes a pottery class on Tuesdays."
MADE_UP = "The user takes a pottery class with a friend."


class ScriptedChatModel(FakeMessagesListChatModel):
    """Stands in for a chat model: it lists memories with the messages they come from."""


MODEL = ScriptedChatModel(
    responses=[AIMessage(json.dumps([{"content": memory, "citations": ["question"]} for memory in (SAID, MADE_UP)]))]
)


@task
def extract(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(
        MODEL.invoke([*messages, HumanMessage("List what to remember as JSON.")]).text
    )
    return listed


@task
def remember(messages: list[BaseMessage], memories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    with conversation(None, messages), collect_reports() as reports:
        for number, memory in enumerate(memories):
            get_store().put(("notes",), f"note-{number}", memory)
    return [report.model_dump(mode="json") for report in reports]


def main(store: AdmissionStore | None = None) -> list[Report]:
    store = store if store is not None else AdmissionStore(InMemoryStore())

    @entrypoint(store=store)
    def talk(messages: list[BaseMessage]) -> list[dict[str, Any]]:
        return remember(messages, extract(messages).result()).result()

    told = talk.invoke([HumanMessage("I started a pottery class. I go every Tuesday.", id="question")])
    reports = [Report.model_validate(report) for report in told]
    for report in reports:
        print(f"{report.action:10} {report.status:12} {report.memory}\n{'':10} {report.reasons[0]}")
    print("stored:", [item.value for item in store.search(("notes",))])
    return reports


if __name__ == "__main__":
    main()
