"""Any sequence of operations has the same results raw and guarded, times aside, where the gate admits all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from contract_stores import guard, shape
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from langgraph.store.base import BaseStore, GetOp, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from scripted_gate import TALK

from graph_nodes import conversation

NAMESPACES = st.sampled_from([("m",), ("m", "ana"), ("m", "bo"), ("mm",)])
KEYS = st.sampled_from(["k", "l", "ä 🫖"])
VALUES = st.fixed_dictionaries(
    {"content": st.sampled_from(["Ana drinks tea.", "Ana bakes bread.", "Ana cooks soup."]), "n": st.integers(0, 3)},
    optional={"tag": st.sampled_from(["food", "drink", None]), "parts": st.lists(st.integers(0, 2), max_size=2)},
)
FILTERS = st.sampled_from(
    [None, {"n": 1}, {"n": {"$gte": 2}}, {"n": {"$lt": 2}, "tag": "food"}, {"tag": {"$eq": "drink"}}]
)
LISTINGS = st.builds(
    ListNamespacesOp,
    match_conditions=st.sampled_from(
        [
            (),
            (MatchCondition("prefix", ("m",)),),
            (MatchCondition("suffix", ("*",)),),
            (MatchCondition("suffix", ("bo",)),),
        ]
    ),
    max_depth=st.sampled_from([None, 1, 2]),
    limit=st.integers(1, 4),
    offset=st.integers(0, 2),
)
OPS: st.SearchStrategy[Op] = st.one_of(
    st.builds(PutOp, NAMESPACES, KEYS, VALUES, st.none(), st.none()),
    st.builds(PutOp, NAMESPACES, KEYS, VALUES, st.none(), st.none()),
    st.builds(PutOp, NAMESPACES, KEYS, st.none(), st.none(), st.none()),
    st.builds(GetOp, NAMESPACES, KEYS),
    st.builds(SearchOp, st.sampled_from([(), ("m",), ("m", "ana")]), FILTERS, st.just(1000), st.just(0)),
    LISTINGS,
)
BATCHES = st.lists(st.lists(OPS, min_size=1, max_size=5), min_size=1, max_size=6)


def in_memory() -> BaseStore:
    return InMemoryStore()


def in_sqlite() -> BaseStore:
    import sqlite3

    store = SqliteStore(sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None))
    store.setup()
    return store


def comparable(results: list[Any]) -> list[Any]:
    """Items found by one search in an order of their own: stores order by times."""
    return [sorted(map(shape, found), key=repr) if isinstance(found, list) else shape(found) for found in results]


def assert_same(make: Callable[[], BaseStore], batches: list[list[Op]]) -> None:
    raw, guarded = make(), guard(make())
    with conversation("thread-1", TALK):
        for ops in batches:
            assert comparable(guarded.batch(ops)) == comparable(raw.batch(ops)), ops
    everything = SearchOp((), limit=1000)
    assert comparable(guarded.inner.batch([everything])) == comparable(raw.batch([everything]))
    assert guarded.ledger.quarantine() == [] and guarded.ledger.incomplete() == []
    assert guarded.ledger.verify().ok


@pytest.mark.parametrize("make", [in_memory, in_sqlite])
@given(batches=BATCHES)
@settings(max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
def test_any_batches_come_to_the_same(make: Callable[[], BaseStore], batches: list[list[Op]]) -> None:
    assert_same(make, batches)


@pytest.mark.long
@pytest.mark.parametrize("make", [in_memory, in_sqlite])
@given(batches=BATCHES)
@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_batches_come_to_the_same_many_times(make: Callable[[], BaseStore], batches: list[list[Op]]) -> None:
    assert_same(make, batches)
