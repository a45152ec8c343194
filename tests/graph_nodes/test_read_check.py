"""Reads held against the ledger: what was changed behind the gate, or never passed it, is named and can be hidden."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import pytest
from langgraph.store.base import Op, Result
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from ledger_places import Place, PostgresPlace
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, TALK, guarded, stored

from admission.ledger import Ledger
from graph_nodes import AdmissionStore, collect_read_problems, conversation

OTHER = "Ana moved to Lisbon."


def verifying(how: str = "hide", inner: Any = None, ledger: Ledger | None = None) -> AdmissionStore:
    """A store with three memories that passed the gate."""
    store = guarded(inner, ledger=ledger, writes={"verify_on_read": how})
    with conversation("t", TALK):
        for number, key in enumerate(("good", "target", "gone")):
            store.put(NAMESPACE, key, {"content": SAID, "number": number})
    return store


def change(store: AdmissionStore) -> tuple[str, str]:
    store.inner.put(NAMESPACE, "target", {"content": NEVER_SAID})
    return "target", "changed"


def plant(store: AdmissionStore) -> tuple[str, str]:
    store.inner.put(NAMESPACE, "planted", {"content": SAID, "number": 0})
    return "planted", "unknown"


def put_back_an_older_value(store: AdmissionStore) -> tuple[str, str]:
    old = store.inner.get(NAMESPACE, "target")
    assert old is not None
    with conversation("t", TALK):
        store.put(NAMESPACE, "target", {"content": OTHER})
    store.inner.put(NAMESPACE, "target", {"content": SAID, "number": 1})
    return "target", "changed"


def undelete(store: AdmissionStore) -> tuple[str, str]:
    store.delete(NAMESPACE, "gone")
    store.inner.put(NAMESPACE, "gone", {"content": SAID, "number": 2})
    return "gone", "deleted"


def mark_as_verified(store: AdmissionStore) -> tuple[str, str]:
    store.inner.put(NAMESPACE, "target", {"content": SAID, "number": 1, "admission": "verified"})
    return "target", "changed"


ATTACKS = [change, plant, put_back_an_older_value, undelete, mark_as_verified]


def kinds(problems: Iterable[Any]) -> list[tuple[str, str]]:
    return [(problem.key, problem.kind) for problem in problems]


def test_what_passed_the_gate_is_returned_without_a_word() -> None:
    store = verifying()
    with collect_read_problems() as problems:
        assert set(stored(store)) == {"good", "target", "gone"}
        assert store.get(NAMESPACE, "good") is not None and store.get(NAMESPACE, "nothing") is None
        assert store.list_namespaces() == [NAMESPACE]
    assert problems == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_did_not_is_named_and_hidden_from_get_and_search(attack: Any, caplog: pytest.LogCaptureFixture) -> None:
    store = verifying()
    key, kind = attack(store)
    with caplog.at_level(logging.WARNING), collect_read_problems() as problems:
        assert store.get(NAMESPACE, key) is None
        assert key not in stored(store) and "good" in stored(store)
    assert kinds(problems) == [(key, kind)] * 3 and all(problem.hidden for problem in problems)
    assert kind in caplog.text and "Ana moved" not in caplog.text


@pytest.mark.parametrize("attack", ATTACKS)
async def test_async_reads_flag_it_and_return_it_where_that_is_asked_for(attack: Any) -> None:
    store = verifying("flag")
    key, kind = attack(store)
    with collect_read_problems() as problems:
        assert await store.aget(NAMESPACE, key) is not None
        assert key in {item.key for item in await store.asearch(NAMESPACE)}
    assert kinds(problems) == [(key, kind)] * 2 and not any(problem.hidden for problem in problems)


def test_by_default_reads_are_not_held_against_the_ledger() -> None:
    store = guarded()
    store.inner.put(NAMESPACE, "planted", {"content": NEVER_SAID})
    with collect_read_problems() as problems:
        assert store.get(NAMESPACE, "planted") is not None
    assert problems == []


def test_a_memory_whose_own_record_was_tampered_with_is_not_trusted(place: Place) -> None:
    with closing(place.open()) as ledger:
        store = verifying(ledger=ledger)
        store.inner.put(NAMESPACE, "target", {"content": NEVER_SAID})
        place.attack(
            "UPDATE writes SET stored_value = :value WHERE key = 'target'",
            value='{"content": "Ana moved to Oslo in June."}',
        )
        with collect_read_problems() as problems:
            assert store.get(NAMESPACE, "target") is None
        assert kinds(problems) == [("target", "unverifiable")]


def test_marks_and_repaired_citations_are_part_of_what_was_stored() -> None:
    with SqliteStore.from_conn_string(":memory:") as inner:
        inner.setup()
        policy = [{"namespace": "*", "unresolved": "persist_marked"}]
        store = guarded(inner, policy=policy, writes={"verify_on_read": "hide"})
        with conversation("t", TALK):
            store.put(NAMESPACE, "repaired", {"content": SAID, "citations": ["m2"]})
            store.put(NAMESPACE, "marked", {"content": NEVER_SAID, "size": 1.5, "parts": ("a", None)})
        with collect_read_problems() as problems:
            assert set(stored(store)) == {"repaired", "marked"}
        assert problems == []


@pytest.mark.server
def test_numbers_that_postgres_writes_otherwise_are_no_change(postgres_place: PostgresPlace) -> None:
    psycopg, postgres = pytest.importorskip("psycopg"), pytest.importorskip("langgraph.store.postgres")
    with psycopg.connect(postgres_place.address, autocommit=True) as db:
        db.execute(f'CREATE SCHEMA "{postgres_place.schema}"')
    address = f"{postgres_place.address}?options=-csearch_path%3D{postgres_place.schema}"
    with postgres.PostgresStore.from_conn_string(address) as inner:
        inner.setup()
        store = guarded(inner, writes={"verify_on_read": "hide"})
        with conversation("t", TALK), collect_read_problems() as problems:
            store.put(NAMESPACE, "k", {"content": SAID, "vector": [1e22, 1e16, 1e300, -0.0, 0.1, 5e-324, 10**30]})
            assert store.get(NAMESPACE, "k") is not None
    assert problems == []


@pytest.mark.parametrize(
    ("recorded", "found"),
    [(1e22, 10**22), (1e300, 10**300), (-0.0, 0.0), (7, 7.0), ({"a": [1e16]}, {"a": [10**16]})],
    ids=lambda value: repr(value)[:12],
)
def test_numbers_are_compared_by_value(recorded: Any, found: Any) -> None:
    assert problems_with(recorded, found) == []


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        (1e22, 10**22 * 2),
        (1e300, 10**400),
        (2**60, 2**60 + 1),
        (2**60 + 1, float(2**60)),
        (1, True),
        (0.0, None),
        (1.0, "1.0"),
        ({"a": 1.0}, {"a": 1, "b": 1}),
        ([1.0, 2], [1]),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_another_number_or_another_kind_of_value_is_a_change(recorded: Any, found: Any) -> None:
    assert problems_with(recorded, found) == [("k", "changed")]


def problems_with(recorded: Any, found: Any) -> list[tuple[str, str]]:
    """What is said of a memory that has `found` where `recorded` was stored."""
    store = guarded(writes={"verify_on_read": "hide", "metadata_fields": ("measured", "a")})
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID, "measured": recorded})
    store.inner.put(NAMESPACE, "k", {"content": SAID, "measured": found})
    with collect_read_problems() as problems:
        store.get(NAMESPACE, "k")
    return kinds(problems)


def test_a_memory_that_is_written_while_it_is_read_is_no_problem() -> None:
    class FakeBusyStore(InMemoryStore):
        """Between a read and its answer, somebody writes."""

        writing = False

        def batch(self, ops: Iterable[Op]) -> list[Result]:
            results = super().batch(ops)
            if self.writing:
                self.writing = False
                with conversation("t", TALK):
                    store.put(NAMESPACE, "target", {"content": OTHER})
            return results

    inner = FakeBusyStore()
    store = verifying(inner=inner)
    inner.writing = True
    with collect_read_problems() as problems:
        assert store.get(NAMESPACE, "target") is not None
    assert problems == []
