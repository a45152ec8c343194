"""Stores of several names on one ledger: a key is one store's, and the others are told so."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore
from ledger_places import Place
from scripted_gate import NAMESPACE, SAID, TALK, scripted_gate, stored

from admission.errors import LedgerError
from admission.ledger import Ledger, open_ledger
from graph_nodes import AdmissionStore, conversation

VALUE = {"content": SAID}
NEWER = {"content": SAID, "number": 2}


def named(name: str, ledger: Ledger) -> AdmissionStore:
    return AdmissionStore(InMemoryStore(), gate=scripted_gate(), ledger=ledger, name=name)


def put(store: AdmissionStore, value: dict[str, Any] = VALUE, key: str = "k") -> None:
    with conversation("t", TALK):
        store.put(NAMESPACE, key, value)


@pytest.mark.parametrize("second", ["second", "store"])
def test_another_stores_key_is_refused_and_the_first_ones_memory_stays(second: str) -> None:
    ledger = open_ledger("sqlite://")
    first, other = named("first", ledger), named(second, ledger)
    put(first)
    with pytest.raises(LedgerError, match="give stores that share a ledger namespaces of their own"):
        put(other, NEWER)
    with pytest.raises(LedgerError, match="is a memory of the store 'first'"):
        other.delete(NAMESPACE, "k")
    assert stored(first) == {"k": {"content": SAID}} and stored(other) == {}
    latest = ledger.latest(NAMESPACE, "k")
    assert latest is not None and latest.stored_value == {"content": SAID}
    assert ledger.incomplete() == [] and ledger.verify().ok


def test_other_keys_of_the_same_namespace_are_each_stores_own() -> None:
    ledger = open_ledger("sqlite://")
    first, second = named("first", ledger), named("second", ledger)
    put(first)
    put(second, key="other")
    put(first, NEWER)
    first.delete(NAMESPACE, "k")
    assert stored(first) == {} and stored(second) == {"other": {"content": SAID}}


def test_of_two_stores_that_claim_a_key_at_once_one_is_refused(place: Place) -> None:
    start, refused = threading.Barrier(2, timeout=60), list[str]()

    def write(name: str) -> None:
        with closing(place.open()) as ledger:
            store = named(name, ledger)
            store.batch([])
            for number in range(10):
                start.wait()
                try:
                    put(store, {"content": SAID, "number": number}, f"k{number}")
                except LedgerError as error:
                    refused.append(error.field)

    place.open().close()
    threads = [threading.Thread(target=write, args=(name,)) for name in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == ["key"] * 10
