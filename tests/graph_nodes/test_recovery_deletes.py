"""A delete is finished by the next start, wherever it was broken off, and undoes nothing that came after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

import pytest
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from ledger_places import Place
from scripted_gate import NAMESPACE, SAID, TALK, guarded, stored

from admission.errors import LedgerError
from admission.ledger import Ledger, SqliteLedger, open_ledger
from graph_nodes import AdmissionStore, conversation
from graph_nodes.recovery import Recovery

VALUE = {"content": SAID}
NEWER = {"content": SAID, "number": 2}
ANOTHER = {"content": SAID, "number": 3}


class FakeLeavingStore(InMemoryStore):
    """Fails at the next delete, before or after it has carried it out."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: str | None = None
        self.meanwhile: Callable[[], None] = lambda: None

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops, fails = list(ops), self.fails
        deletes = any(isinstance(op, PutOp) and op.value is None for op in ops)
        if deletes:
            meanwhile, self.meanwhile = self.meanwhile, lambda: None
            meanwhile()
        if deletes and fails == "before":
            raise ConnectionError("the store is away")
        results = super().batch(ops)
        if deletes and fails == "after":
            raise ConnectionError("the store is away")
        return results


@pytest.fixture
def ledger() -> Ledger:
    return open_ledger("sqlite://")


def put(store: AdmissionStore, value: dict[str, Any] = VALUE, key: str = "k") -> None:
    with conversation("t", TALK):
        store.put(NAMESPACE, key, value)


def broken_off(ledger: Ledger, fails: str) -> FakeLeavingStore:
    """A store whose delete of "k" was recorded, and then failed."""
    inner = FakeLeavingStore()
    store = guarded(inner, ledger=ledger)
    put(store)
    put(store, ANOTHER, "kept")
    inner.fails = fails
    with pytest.raises(ConnectionError):
        store.delete(NAMESPACE, "k")
    inner.fails = None
    return inner


@pytest.mark.parametrize("fails", ["before", "after"])
def test_a_delete_that_the_store_refused_is_finished_by_the_next_start(ledger: Ledger, fails: str) -> None:
    inner = broken_off(ledger, fails)
    store = guarded(inner, ledger=ledger)
    assert store.recover() == Recovery(removed=((NAMESPACE, "k"),))
    assert stored(store) == {"kept": ANOTHER}
    assert ledger.deletions() == [] and store.recover() == Recovery()
    assert [entry.kind for entry in ledger.entries()].count("deleted") == 1 and ledger.verify().ok


async def test_the_next_start_of_an_async_process_finishes_it_too(ledger: Ledger) -> None:
    store = guarded(broken_off(ledger, "before"), ledger=ledger)
    assert await store.aget(NAMESPACE, "k") is None
    assert ledger.deletions() == []


def test_in_background_mode_too(ledger: Ledger) -> None:
    inner = FakeLeavingStore()
    with guarded(inner, ledger=ledger, writes={"mode": "background"}) as store:
        put(store)
        assert store.flush()
        inner.fails = "before"
        with pytest.raises(ConnectionError):
            store.delete(NAMESPACE, "k")
        inner.fails = None
        assert store.recover().removed == ((NAMESPACE, "k"),)
        assert stored(store) == {}


def test_a_delete_that_cannot_be_recorded_as_carried_out_is_finished_by_the_next_start() -> None:
    class FakeFullLedger(SqliteLedger):
        full = True

        def removed(self, deletions: Any) -> None:
            if self.full:
                raise LedgerError("ledger", "the disk is full", "free some space")
            super().removed(deletions)

    ledger, inner = FakeFullLedger(), InMemoryStore()
    store = guarded(inner, ledger=ledger)
    put(store)
    with pytest.raises(LedgerError):
        store.delete(NAMESPACE, "k")
    ledger.full = False
    assert guarded(inner, ledger=ledger).recover().removed == ((NAMESPACE, "k"),)
    assert stored(store) == {} and ledger.deletions() == []


def test_a_delete_finished_late_leaves_what_was_written_after_it(ledger: Ledger) -> None:
    inner = broken_off(ledger, "before")
    store = AdmissionStore(inner, gate=guarded().gate, ledger=ledger)
    store._recovered = True  # another process, which was at work before the delete
    put(store, NEWER)
    assert guarded(inner, ledger=ledger).recover().removed == ((NAMESPACE, "k"),)
    assert stored(store) == {"k": NEWER, "kept": ANOTHER}


def test_a_memory_written_by_another_while_a_delete_is_carried_out_is_not_lost(ledger: Ledger) -> None:
    inner = FakeLeavingStore()
    store, other = guarded(inner, ledger=ledger), guarded(inner, ledger=ledger)
    put(store)
    put(other, ANOTHER, "warm")
    inner.meanwhile = lambda: put(other, NEWER)  # after the delete was recorded, before the store has it
    store.delete(NAMESPACE, "k")
    assert stored(store)["k"] == NEWER
    assert ledger.deletions() == []


def test_a_store_that_refuses_a_delete_does_not_keep_the_others_from_being_finished(ledger: Ledger) -> None:
    inner = broken_off(ledger, "before")
    inner.fails = "before"
    store = guarded(inner, ledger=ledger)
    recovery = store.recover()
    assert [name for name, _ in recovery.failed] == [f"delete {ledger.deletions()[0].seq}"]
    inner.fails = None
    assert store.recover().removed == ((NAMESPACE, "k"),)


def test_a_delete_and_a_put_of_one_key_in_one_batch_end_with_the_put(ledger: Ledger) -> None:
    store = guarded(ledger=ledger)
    put(store)
    with conversation("t", TALK):
        store.batch([PutOp(NAMESPACE, "k", None), PutOp(NAMESPACE, "k", NEWER)])
    assert stored(store) == {"k": NEWER} and ledger.deletions() == []


def test_open_deletions_are_kept_by_every_ledger_until_they_are_carried_out(place: Place) -> None:
    with closing(place.open()) as ledger:
        mine = ledger.record_delete(NAMESPACE, "k", thread="t", task=None, store="mine")
        ledger.record_delete(NAMESPACE, "other", thread=None, task=None)
    with closing(place.open()) as ledger:
        assert ledger.deletions() == [mine]
        ledger.removed([mine])
        ledger.removed([mine])
        assert ledger.deletions() == [] and ledger.verify().ok
