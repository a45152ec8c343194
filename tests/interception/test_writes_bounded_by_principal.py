"""By every way of writing: a run writes and deletes where its principal may, and what it may not is refused aloud."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.config import get_store
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedStore
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, GetOp, Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from reading_store import ANA, BEN, READING, admitted, asker, in_run, reading_store, remember
from scripted_gate import SAID, TALK
from writing_graphs import TALKED, node_graph, tool_graph

from admission.errors import BoundaryError
from admission.ledger import open_ledger
from graph_nodes import AdmissionState, AdmissionStore, conversation, create_admission_node, reading_as
from graph_nodes.outside import OutsideMemory

AS_ANA: dict[str, Any] = {"user_id": "ana", "thread_id": "t"}
VALUE = {"content": SAID}
Namespace = tuple[str, ...]
Way = Callable[[AdmissionStore, Namespace], Any]


def by_put(store: AdmissionStore, there: Namespace) -> None:
    node_graph(lambda state: store.put(there, "k", VALUE), store).invoke(TALKED, {"configurable": AS_ANA})


def by_aput(store: AdmissionStore, there: Namespace) -> None:
    async def node(state: MessagesState) -> None:
        await store.aput(there, "k", VALUE)

    asyncio.run(node_graph(node, store).ainvoke(TALKED, {"configurable": AS_ANA}))


def by_a_batch_beside_a_read_and_a_write_of_ones_own(store: AdmissionStore, there: Namespace) -> None:
    ops = [GetOp(ANA, "own"), PutOp(ANA, "own", VALUE), PutOp(there, "k", VALUE)]
    node_graph(lambda state: [store.batch(ops), None][1], store).invoke(TALKED, {"configurable": AS_ANA})


def by_an_async_batch(store: AdmissionStore, there: Namespace) -> None:
    async def node(state: MessagesState) -> None:
        await store.abatch([PutOp(there, "k", VALUE)])

    asyncio.run(node_graph(node, store).ainvoke(TALKED, {"configurable": AS_ANA}))


def by_the_runtimes_store(store: AdmissionStore, there: Namespace) -> None:
    def node(state: MessagesState, runtime: Runtime[Any]) -> None:
        assert runtime.store is not None
        runtime.store.put(there, "k", VALUE)

    node_graph(node, store).invoke(TALKED, {"configurable": AS_ANA})


def by_the_functional_api(store: AdmissionStore, there: Namespace) -> None:
    @task
    def save() -> None:
        get_store().put(there, "k", VALUE)

    @entrypoint(store=store)
    def workflow(_: str) -> None:
        with conversation("t", TALK):
            save().result()

    workflow.invoke("", {"configurable": AS_ANA})


def by_the_admission_node(store: AdmissionStore, there: Namespace) -> None:
    graph = StateGraph(AdmissionState).add_node("admission", create_admission_node()).add_edge(START, "admission")
    pending = [{"namespace": list(there), "key": "k", "value": VALUE}]
    graph.compile(store=store).invoke({**TALKED, "pending_writes": pending}, {"configurable": AS_ANA})


def called(made: BaseTool, store: AdmissionStore, **arguments: Any) -> None:
    """By a model's call of the tool; what the tool raises ends the run."""
    tool_graph(made, arguments, store=store).invoke(TALKED, {"configurable": AS_ANA})


def by_a_tool_with_an_injected_store(store: AdmissionStore, there: Namespace) -> None:
    @tool
    def save(namespace: list[str], store: Annotated[BaseStore, InjectedStore()]) -> str:
        """Save it."""
        store.put(tuple(namespace), "k", VALUE)
        return "saved"

    called(save, store, namespace=list(there))


def by_langmem(store: AdmissionStore, there: Namespace) -> None:
    langmem = pytest.importorskip("langmem")
    called(langmem.create_manage_memory_tool(there), store, content=SAID)


def by_an_action_outside_of_the_store(store: AdmissionStore, there: Namespace) -> None:
    kept = OutsideMemory(store, "files")
    node_graph(
        lambda state: [kept.write(there, SAID, lambda: store.inner.put(there, "k", VALUE)), None][1], store
    ).invoke(TALKED, {"configurable": AS_ANA})


WAYS: list[Way] = [
    by_put,
    by_aput,
    by_a_batch_beside_a_read_and_a_write_of_ones_own,
    by_an_async_batch,
    by_the_runtimes_store,
    by_the_functional_api,
    by_the_admission_node,
    by_a_tool_with_an_injected_store,
    by_langmem,
    by_an_action_outside_of_the_store,
]
MODES = ["blocking", "background"]


def everything(store: AdmissionStore) -> list[Namespace]:
    return [item.namespace for item in store.inner.search((), limit=100)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_write_to_somebody_else_is_refused_before_anything_is_done(way: Way, mode: str) -> None:
    with reading_store(writes={"mode": mode}) as store:
        with pytest.raises(BoundaryError, match="which is where this run's principal may write"):
            way(store, BEN)
        assert store.flush()
        assert everything(store) == [] and store.ledger.incomplete() == [] and list(store.ledger.entries()) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_ones_own_is_written_by_the_same_way(way: Way, mode: str) -> None:
    with reading_store(writes={"mode": mode}) as store:
        way(store, ANA)
        assert store.flush() and set(everything(store)) == {ANA}


@pytest.mark.parametrize(
    "there",
    [BEN, ("memories",), ("memories", "an"), ("memories", "anastasia"), ("Memories", "ana"), (*ANA, "facts")],
    ids=["another", "above", "shorter", "longer", "other case", "beneath"],
)
@pytest.mark.parametrize("what", ["put", "delete"])
def test_only_the_principals_own_namespace_is_written_to(there: Namespace, what: str) -> None:
    store = reading_store()
    for namespace in {there, ANA}:
        admitted(store, namespace, "k", SAID)
    before = len(list(store.ledger.entries()))

    def work(guard: BaseStore) -> None:
        with conversation("t", TALK):
            guard.put(there, "k", {"content": "other"}) if what == "put" else guard.delete(there, "k")

    with pytest.raises(BoundaryError):
        in_run(store, work, AS_ANA)
    assert store.inner.get(there, "k") is not None and len(list(store.ledger.entries())) == before
    in_run(store, lambda guard: guard.delete(ANA, "k"), AS_ANA)
    assert store.inner.get(ANA, "k") is None


def test_what_is_kept_outside_of_the_store_is_deleted_only_by_whose_it_is() -> None:
    store = reading_store()
    kept = OutsideMemory(store, "files")
    with pytest.raises(BoundaryError):
        in_run(store, lambda guard: kept.record_delete(BEN, "notes.md"), AS_ANA)
    assert list(store.ledger.entries()) == []
    in_run(store, lambda guard: kept.record_delete(ANA, "notes.md"), AS_ANA)
    assert [entry.kind for entry in store.ledger.entries()] == ["deleted"]


def test_what_lies_beneath_is_written_to_where_it_is_the_principals_own() -> None:
    store = reading_store(reading={"sub_namespaces": True})
    in_run(store, lambda guard: remember(guard, (*ANA, "facts"), "k", SAID), AS_ANA)
    assert everything(store) == [(*ANA, "facts")]


def test_sources_that_disagree_on_who_writes_leave_nobody_free_to_write() -> None:
    store = reading_store()
    forged = {"user_id": "ben", "langgraph_auth_user": {"user_id": "ana"}}
    for there in (ANA, BEN):
        with pytest.raises(BoundaryError, match="different things"):
            in_run(store, lambda guard, there=there: guard.put(there, "k", VALUE), forged)
    assert everything(store) == []


@pytest.mark.parametrize(("writes", "refused"), [("bounded", False), ("open", False), ("strict", True)])
def test_without_a_principal_only_a_strict_deployment_refuses(writes: str, refused: bool) -> None:
    store = reading_store(reading={"writes": writes})
    for number, work in enumerate((lambda: remember(store, BEN, "a", SAID), lambda: in_run(store, save, {}))):
        if refused:
            with pytest.raises(BoundaryError, match="principal"):
                work()
        else:
            work()
            assert len(everything(store)) == number + 1


def save(guard: BaseStore) -> None:
    remember(guard, BEN, "b", SAID)


def test_writes_that_are_open_go_anywhere() -> None:
    store = reading_store(reading={"writes": "open"})
    in_run(store, save, AS_ANA)
    assert everything(store) == [BEN]


def test_trusted_code_says_on_whose_behalf_it_writes_and_is_held_to_it() -> None:
    store = reading_store()

    def work(guard: BaseStore) -> None:
        with reading_as(asker("ben")):
            remember(guard, BEN, "k", SAID)
            with pytest.raises(BoundaryError):
                guard.put(ANA, "k", VALUE)

    in_run(store, work, AS_ANA)
    assert everything(store) == [BEN]


class FailingStore(InMemoryStore):
    """Refuses puts until it is told to work."""

    works = False

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        if not self.works and any(isinstance(op, PutOp) for op in asked):
            raise ConnectionError("down")
        return super().batch(asked)


def test_what_was_let_through_is_recovered_in_whatever_run_comes_first(tmp_path: Path) -> None:
    inner, ledger = FailingStore(), open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}")
    with pytest.raises(ConnectionError):
        in_run(reading_store(inner, ledger=ledger), lambda guard: remember(guard, ANA, "k", SAID), AS_ANA)
    assert [record.state for record in ledger.incomplete()] == ["decided"]
    inner.works = True
    later = reading_store(inner, ledger=ledger)
    assert in_run(later, lambda guard: guard.get(BEN, "x"), {**AS_ANA, "user_id": "ben"}) is None
    assert everything(later) == [ANA] and ledger.incomplete() == []


FRIENDS = [
    {"name": "carers write for those they care for", "access": ["read", "write"], "relations": ["carer"]},
    {"name": "nobody writes to the archive", "access": ["write"], "effect": "deny", "namespace": "memories/old"},
]
CARER = {"subject": "ana", "relation": "carer", "object": "ben", "valid_to": "2999-01-01"}


@pytest.mark.parametrize(
    ("relations", "there", "allowed"),
    [
        ([CARER], BEN, True),
        ([CARER], ANA, True),
        ([], BEN, False),
        ([], ANA, True),
        ([{**CARER, "valid_to": "2001-01-01"}], BEN, False),
        ([{**CARER, "object": "cem"}], BEN, False),
        ([{**CARER, "object": "old"}], ("memories", "old"), False),
    ],
    ids=["related", "one's own", "not related", "one's own all the same", "no longer", "to another", "denied"],
)
def test_relations_open_what_is_somebody_elses(
    relations: list[dict[str, str]], there: Namespace, allowed: bool
) -> None:
    store = reading_store(reading={"policy": FRIENDS, "relations": relations})

    def work(guard: BaseStore) -> None:
        with conversation("t", [HumanMessage(SAID, id="m1")]):
            guard.put(there, "k", VALUE)

    if not allowed:
        with pytest.raises(BoundaryError):
            in_run(store, work, AS_ANA)
    else:
        in_run(store, work, AS_ANA)
    assert everything(store) == ([there] if allowed else [])
    assert READING["policy_default"] == "allow"  # which is about reading: it opens no write
