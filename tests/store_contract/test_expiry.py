"""Items with a life time: given by the put or by the store, renewed by reads, swept by the store that keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from contract_stores import TTL_KINDS, Face
from langgraph.store.base import PutOp

HOME = ("memories", "ana")
TEA = {"content": "Ana drinks tea."}

with_ttl = pytest.mark.parametrize("kind", TTL_KINDS)


@pytest.fixture
async def store(make_face: Callable[..., Any], guarded: bool) -> Face:
    face: Face = await make_face(guarded, ttl={"refresh_on_read": True})
    return face


@pytest.mark.parametrize("kind", ["memory", "async-memory"])
async def test_a_store_that_keeps_no_time_refuses_a_ttl(make_face: Callable[..., Any], guarded: bool) -> None:
    store = await make_face(guarded)
    with pytest.raises(NotImplementedError):
        await store.put(HOME, "k", TEA, ttl=5)
    assert await store.search(HOME) == []


@with_ttl
async def test_an_item_that_outlived_its_time_is_swept_and_no_other(store: Face) -> None:
    await store.put(HOME, "short", TEA, ttl=5)
    await store.put(HOME, "long", TEA, ttl=600)
    await store.put(HOME, "for ever", TEA)
    await store.expire()
    assert await store.sweep() == 1
    assert {item.key for item in await store.search(HOME)} == {"long", "for ever"}


@with_ttl
async def test_the_ttl_of_a_batch_counts_as_well(store: Face) -> None:
    await store.batch([PutOp(HOME, "short", TEA, ttl=5), PutOp(HOME, "long", TEA, ttl=600)])
    await store.expire()
    assert await store.sweep() == 1
    assert [item.key for item in await store.search(HOME)] == ["long"]


@with_ttl
@pytest.mark.parametrize("refresh", [True, False, None])
async def test_reading_renews_an_item_unless_told_not_to(store: Face, refresh: bool | None) -> None:
    await store.put(HOME, "got", TEA, ttl=5)
    await store.put(HOME, "unread", TEA, ttl=5)
    await store.expire()
    await store.get(HOME, "got", refresh_ttl=refresh)
    await store.sweep()
    assert {item.key for item in await store.search(HOME)} == (set() if refresh is False else {"got"})


@with_ttl
@pytest.mark.parametrize("refresh", [True, False])
async def test_searching_renews_what_it_finds_unless_told_not_to(store: Face, refresh: bool) -> None:
    await store.put(HOME, "k", TEA, ttl=5)
    await store.put(("elsewhere",), "k", TEA, ttl=5)
    await store.expire()
    await store.search(HOME, refresh_ttl=refresh)
    await store.sweep()
    assert {item.namespace for item in await store.search(())} == ({HOME} if refresh else set())


@with_ttl
async def test_the_stores_own_ttl_holds_where_a_put_names_none(make_face: Callable[..., Any], guarded: bool) -> None:
    store = await make_face(guarded, ttl={"default_ttl": 5})
    await store.put(HOME, "default", TEA)
    await store.put(HOME, "longer", TEA, ttl=600)
    await store.put(HOME, "for ever", TEA, ttl=None)
    await store.expire()
    assert await store.sweep() == 1
    assert {item.key for item in await store.search(HOME)} == {"longer", "for ever"}


@with_ttl
@pytest.mark.parametrize(("first", "second", "kept"), [(5, 600, True), (600, 5, False), (5, None, True)])
async def test_the_same_value_put_again_takes_the_new_ttl(store: Face, first: Any, second: Any, kept: bool) -> None:
    await store.put(HOME, "k", TEA, ttl=first)
    await store.put(HOME, "k", TEA, ttl=second)
    await store.expire()
    await store.sweep()
    assert bool(await store.search(HOME)) is kept


@with_ttl
async def test_what_was_swept_can_be_put_again(store: Face) -> None:
    await store.put(HOME, "k", TEA, ttl=5)
    await store.expire()
    await store.sweep()
    await store.put(HOME, "k", TEA, ttl=5)
    assert [item.value for item in await store.search(HOME)] == [TEA]
