"""The node form: memories put into the state, judged by a node of their own."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import RetryPolicy
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, TALK, asked, guarded, scripted_gate, stored, verifications
from writing_graphs import TALKED, assert_only_what_was_said_is_stored

from admission.errors import InputError
from admission.ledger import open_ledger
from admission.records import Report
from graph_nodes import AdmissionState, create_admission_node

PATH = "`pending_writes` in the state"
ANSWER = "judged and stored by the admission node, which reports on each"

CONFIG: Any = {"configurable": {"thread_id": "thread-1"}}


def propose(state: AdmissionState) -> dict[str, Any]:
    return {"pending_writes": [{"namespace": NAMESPACE, "value": {"content": SAID}}]}


def propose_more(state: AdmissionState) -> dict[str, Any]:
    return {"pending_writes": [{"namespace": list(NAMESPACE), "key": "k", "value": {"content": NEVER_SAID}}]}


def pending_graph(node: Any, store: BaseStore | None, **node_args: Any) -> CompiledStateGraph:
    """Two nodes that propose at the same time, then the admission node."""
    graph = StateGraph(AdmissionState).add_node(propose).add_node(propose_more)
    graph.add_node("admission", node, **node_args).add_edge(START, "propose").add_edge(START, "propose_more")
    graph.add_edge(["propose", "propose_more"], "admission")
    return graph.compile(store=store, checkpointer=InMemorySaver())


async def test_sync(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    state = pending_graph(create_admission_node(), store).invoke(TALKED, CONFIG)
    await assert_only_what_was_said_is_stored(store)
    assert state["pending_writes"] == []
    reports = [Report.model_validate(report) for report in state["admission_reports"]]
    assert sorted((report.memory, report.status) for report in reports) == [
        (SAID, "repaired"),
        (NEVER_SAID, "unresolved"),
    ]
    assert {report.conversation for report in reports} == {"thread-1"}


async def test_async(async_inner: BaseStore) -> None:
    store = guarded(async_inner)
    state = await pending_graph(create_admission_node(), store).ainvoke(TALKED, CONFIG)
    await assert_only_what_was_said_is_stored(store)
    assert state["pending_writes"] == [] and len(state["admission_reports"]) == 2


def test_a_store_that_is_not_guarded_is_guarded_by_the_node() -> None:
    raw, ledger = InMemoryStore(), open_ledger("sqlite://")
    node = create_admission_node(gate=scripted_gate(), ledger=ledger)
    pending_graph(node, raw).invoke(TALKED, CONFIG)
    assert [value["content"] for value in stored(raw).values()] == [SAID]
    assert len(list(ledger.reports())) == 2


def test_a_store_given_to_the_node_wins_over_the_graphs() -> None:
    store, other = guarded(), InMemoryStore()
    pending_graph(create_admission_node(store), other).invoke(TALKED, CONFIG)
    assert len(stored(store)) == 1 and stored(other) == {}


def test_citations_of_a_pending_write_are_judged_and_stored() -> None:
    store = guarded()
    write = {"namespace": ["m"], "key": "k", "value": {"content": SAID}, "citations": ["m1"]}
    graph = StateGraph(AdmissionState).add_node("admission", create_admission_node()).add_edge(START, "admission")
    state = graph.compile(store=store).invoke({"messages": TALK, "pending_writes": [write]})
    assert stored(store, ("m",)) == {"k": {"content": SAID, "citations": ["m1"]}}
    assert [report["status"] for report in state["admission_reports"]] == ["admitted"]


def test_a_retried_node_writes_once() -> None:
    store, attempts = guarded(), iter(range(2))
    node = create_admission_node()

    def flaky(state: AdmissionState) -> Any:
        update = node.invoke(state)
        if next(attempts) == 0:
            raise ConnectionError
        return update

    policy = RetryPolicy(retry_on=ConnectionError, initial_interval=0.001)
    state = pending_graph(flaky, store, retry_policy=policy).invoke(TALKED, CONFIG)
    assert len(stored(store)) == 1 and verifications(store) == 2
    assert len(state["admission_reports"]) == 2


def test_what_other_nodes_add_meanwhile_waits_for_the_next_time() -> None:
    def late(state: AdmissionState) -> dict[str, Any]:
        return {"pending_writes": [{"namespace": ["late"], "key": str(uuid.uuid4()), "value": {"content": SAID}}]}

    store = guarded()
    graph = StateGraph(AdmissionState).add_node(propose).add_node(late).add_node("admission", create_admission_node())
    graph.add_edge(START, "propose").add_edge("propose", "late").add_edge("propose", "admission")
    state = graph.compile(store=store).invoke(TALKED)
    assert [write["namespace"] for write in state["pending_writes"]] == [["late"]]
    assert len(state["admission_reports"]) == 1


def test_nothing_pending_nothing_done() -> None:
    store = guarded()
    graph = StateGraph(AdmissionState).add_node("admission", create_admission_node()).add_edge(START, "admission")
    assert graph.compile(store=store).invoke({"messages": TALK})["admission_reports"] == []
    assert asked(store) == []


@pytest.mark.parametrize(
    ("write", "field"),
    [
        ({"namespace": ["m"], "value": "text"}, r"pending_writes\[0\].value"),
        ({"namespace": "m", "value": {"content": SAID}}, r"pending_writes\[0\].namespace"),
        ({"value": {"content": SAID}}, r"pending_writes\[0\].namespace"),
    ],
)
def test_a_pending_write_that_cannot_be_read_is_named(write: Any, field: str) -> None:
    graph = StateGraph(AdmissionState).add_node("admission", create_admission_node()).add_edge(START, "admission")
    with pytest.raises(InputError, match=field):
        graph.compile(store=guarded()).invoke({"messages": TALK, "pending_writes": [write]})


def test_a_graph_without_a_store_is_told_so() -> None:
    with pytest.raises(InputError, match="store: the graph has none"):
        pending_graph(create_admission_node(), None).invoke(TALKED, CONFIG)
