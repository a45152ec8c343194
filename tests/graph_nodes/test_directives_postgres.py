"""The directive node over a store and a ledger in Postgres: forgotten and withheld, for every process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore
from ledger_places import PostgresPlace
from reading_store import ANA, BEN, admitted, in_run, reading_store, remember

from admission.reading.directives import Person
from graph_nodes import AdmissionStore, DirectiveState, conversation, create_directive_node

pytestmark = pytest.mark.server

CODE, REQUEST = "Ana's locker code is LK-4471.", "Ana asked to forget her locker code LK-4471."
ASKS = "Please delete my locker code LK-4471."
WITHHOLDS = "Please don't tell Petra about my diagnosis."
PEOPLE = (Person(principal="petra", names=("Petra",)),)
# Ana's memories are in a namespace that Petra reads too.
SHARED: dict[str, Any] = {"namespace": ["memories"], "sub_namespaces": True, "owner": ["memories", "{owner}"]}


@pytest.fixture
def address(postgres_place: PostgresPlace) -> str:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_place.address, autocommit=True) as db:
        db.execute(f'CREATE SCHEMA IF NOT EXISTS "{postgres_place.schema}"')
    postgres_place.open().close()  # a ledger takes no schema in which there is something else already
    return f"{postgres_place.address}?options=-csearch_path%3D{postgres_place.schema}"


@pytest.fixture
def inner(address: str) -> Iterator[BaseStore]:
    postgres = pytest.importorskip("langgraph.store.postgres")
    with postgres.PostgresStore.from_conn_string(address) as store:
        store.setup()
        yield store


def graph(store: AdmissionStore) -> Any:
    node = create_directive_node(people=PEOPLE)
    return StateGraph(DirectiveState).add_node("directives", node).add_edge(START, "directives").compile(store=store)


def said(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text, id="u1")]}


AS_ANA: Any = {"configurable": {"user_id": "ana", "thread_id": "t"}}


def keys(heard: dict[str, Any], field: str) -> list[str]:
    return [memory["key"] for memory in heard[field]]


def test_a_request_is_carried_out_once_and_shown_without_what_it_names(
    inner: BaseStore, postgres_place: PostgresPlace
) -> None:
    with closing(postgres_place.open()) as ledger, closing(postgres_place.open()) as elsewhere:
        store, other = reading_store(inner, ledger=ledger), reading_store(inner, ledger=elsewhere)
        remember(store, ANA, "locker", CODE)
        remember(store, ANA, "request", REQUEST)
        admitted(store, BEN, "locker", "Ben's locker code is LK-4471.")
        for _ in range(2):
            (heard,) = graph(store).invoke(said(ASKS), AS_ANA)["admission_forgotten"]
            assert heard["outcome"] == "forgotten" and keys(heard, "forgotten") == ["locker"]
        assert sum(entry.kind == "metadata" and entry.body["by"] == "ana" for entry in ledger.entries()) == 1
        for guard in (store, other):
            found = in_run(guard, lambda reader: reader.search(ANA), AS_ANA["configurable"])
            assert [item.value["content"] for item in found] == ["Ana asked to forget her locker code [forgotten]."]
        assert ledger.metadata([(BEN, "locker")])[BEN, "locker"].lifecycle.state == "current" and ledger.verify().ok
        other.reinstate(ANA, "locker", by="clerk", why="a mistake")
        found = in_run(store, lambda reader: reader.search(ANA), AS_ANA["configurable"])
        assert {item.key for item in found} == {"locker", "request"}


def test_what_is_withheld_from_somebody_is_so_for_every_process(
    inner: BaseStore, postgres_place: PostgresPlace
) -> None:
    with closing(postgres_place.open()) as ledger, closing(postgres_place.open()) as elsewhere:
        store = reading_store(inner, ledger=ledger, reading=SHARED)
        other = reading_store(inner, ledger=elsewhere, reading=SHARED)
        admitted(store, ANA, "diagnosis", "Ana's diagnosis is asthma.")
        admitted(store, ANA, "ride", "Ana's ride is at 9.")
        (heard,) = graph(store).invoke(said(WITHHOLDS), AS_ANA)["admission_access"]
        assert heard["outcome"] == "changed" and keys(heard, "changed") == ["diagnosis"]
        for user, seen in (("petra", {"ride"}), ("ana", {"ride", "diagnosis"})):
            found = in_run(other, lambda reader: reader.search(ANA), {"user_id": user})
            assert {item.key for item in found} == seen


async def test_async_graphs_over_an_asynchronous_store_do_the_same(address: str, postgres_place: PostgresPlace) -> None:
    postgres = pytest.importorskip("langgraph.store.postgres.aio")
    async with postgres.AsyncPostgresStore.from_conn_string(address) as inner:
        await inner.setup()
        with closing(postgres_place.open()) as ledger:
            store = reading_store(inner, ledger=ledger, reading=SHARED)
            state = await graph(store).ainvoke(said("Hello."), AS_ANA)
            assert (state["admission_forgotten"], state["admission_access"]) == ([], [])
            with conversation("t", [HumanMessage(CODE, id="m9")]):
                await store.aput(ANA, "locker", {"content": CODE})
            state = await graph(store).ainvoke(said(ASKS), AS_ANA)
            assert keys(state["admission_forgotten"][0], "forgotten") == ["locker"]
            assert ledger.metadata([(ANA, "locker")])[ANA, "locker"].lifecycle.state == "forgotten"
