"""A store with its read gate on: memories admitted for several people, and runs that say who asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore
from ledger_records import a_report, an_intent
from scripted_gate import guarded

from admission.ledger import Ledger
from admission.metadata import Lifecycle, LifecycleState, RecordMetadata
from admission.reading.context import QueryContext
from graph_nodes import AdmissionStore, conversation

ANA, BEN = ("memories", "ana"), ("memories", "ben")
READING: dict[str, Any] = {"namespace": ["memories", "{user_id}"], "policy_default": "allow"}


def reading_store(
    inner: BaseStore | None = None,
    *,
    ledger: Ledger | None = None,
    reading: dict[str, Any] | None = None,
    **others: Any,
) -> AdmissionStore:
    return guarded(inner, ledger=ledger, reading={**READING, **(reading or {})}, **others)


def remember(store: BaseStore, namespace: tuple[str, ...], key: str, text: str, **fields: Any) -> None:
    """Admitted, for it was said word for word."""
    with conversation("talk", [HumanMessage(text, id=f"said-{key}")]):
        store.put(namespace, key, {"content": text, **fields})


def admitted(
    store: AdmissionStore, namespace: tuple[str, ...], key: str, text: str, metadata: RecordMetadata | None = None
) -> None:
    """A memory that an earlier process admitted and stored: `remember` without the judging, for tests of many."""
    value = {"content": text}
    intent = an_intent(value, key=key, namespace=namespace, thread=None, task=None)
    store.ledger.claim(intent)
    report = a_report(key, namespace=namespace, memory=text)
    current = RecordMetadata(namespace=namespace, lifecycle=Lifecycle(state="current"))
    store.ledger.decide(intent.fingerprint, report, value, metadata=metadata or current)
    store.inner.put(namespace, key, value)
    store.ledger.complete(intent.fingerprint)


def become(
    store: AdmissionStore, key: str, state: LifecycleState, namespace: tuple[str, ...] = ANA, **more: Any
) -> None:
    known = store.ledger.metadata([(namespace, key)])[namespace, key]
    of = Lifecycle(state=state)
    store.ledger.annotate(namespace, key, known.model_copy(update={"lifecycle": of}), by="test", why="it changed")


def asker(principal: str = "ana", **fields: Any) -> QueryContext:
    return QueryContext(**{"query": "", "principal": principal, "namespace": ("memories", principal), **fields})


class Nothing(TypedDict):
    nothing: None


def in_run(
    store: BaseStore, work: Callable[[BaseStore], Any], configurable: dict[str, Any], context: Any = None
) -> Any:
    """What `work` returns of the store, inside a node of a run with this configuration."""
    answers: list[Any] = []

    def node(state: Nothing) -> None:
        answers.append(work(store))

    graph = StateGraph(Nothing, context_schema=dict if context is not None else None).add_node(node)
    graph.add_edge(START, "node").compile(store=store).invoke(
        {"nothing": None}, {"configurable": configurable}, context=context
    )
    return answers[0]
