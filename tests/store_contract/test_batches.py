"""A batch means the same through the guard: reads before puts, the last put of a key, results in their places."""

from __future__ import annotations

from typing import Any

import pytest
from contract_stores import Face, shape
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, Op, PutOp, SearchOp

HOME, AWAY = ("memories", "ana"), ("memories", "bo")
TEA, BREAD, SOUP = ({"content": f"Ana likes {what}.", "what": what} for what in ("tea", "bread", "soup"))


async def values(store: Face) -> dict[tuple[str, str], Any]:
    return {(item.namespace[-1], item.key): item.value["what"] for item in await store.search(("memories",), limit=50)}


async def test_an_empty_batch_has_no_results(store: Face) -> None:
    assert await store.batch([]) == []


async def test_results_stand_in_the_places_of_their_operations(store: Face) -> None:
    await store.put(HOME, "k", TEA)
    results = await store.batch(
        [
            PutOp(HOME, "new", BREAD),
            GetOp(HOME, "k"),
            PutOp(HOME, "gone", None),
            SearchOp(HOME),
            GetOp(HOME, "missing"),
            ListNamespacesOp(),
        ]
    )
    item = (HOME, "k", TEA)
    assert shape(results) == [None, item, None, [(*item, None)], None, [HOME]]


async def test_reads_see_the_state_before_the_puts_wherever_they_stand(store: Face) -> None:
    await store.put(HOME, "k", TEA)
    results = await store.batch([PutOp(HOME, "k", BREAD), GetOp(HOME, "k"), PutOp(HOME, "other", SOUP), SearchOp(HOME)])
    assert results[1].value == TEA
    assert [item.value for item in results[3]] == [TEA]
    assert await values(store) == {("ana", "k"): "bread", ("ana", "other"): "soup"}


PUTS: list[tuple[list[Any], str | None]] = [
    ([TEA, BREAD], "bread"),
    ([TEA, BREAD, TEA], "tea"),
    ([TEA, None], None),
    ([None, TEA], "tea"),
    ([TEA, None, SOUP], "soup"),
    ([None, None], None),
]


@pytest.mark.parametrize("before", [None, SOUP])
async def test_the_last_put_of_a_key_wins(store: Face, before: Any) -> None:
    for number, (puts, left) in enumerate(PUTS):
        key = f"k{number}"
        if before is not None:
            await store.put(HOME, key, before)
        assert await store.batch([PutOp(HOME, key, value) for value in puts]) == [None] * len(puts)
        assert (await values(store)).get(("ana", key)) == left, puts


async def test_keys_and_namespaces_of_a_batch_do_not_touch_each_other(store: Face) -> None:
    ops: list[Op] = [
        PutOp(HOME, "k", TEA),
        PutOp(AWAY, "k", BREAD),
        PutOp(HOME, "l", TEA),
        PutOp(AWAY, "gone", None),
        PutOp(HOME, "k", SOUP),
    ]
    await store.batch(ops)
    assert await values(store) == {("ana", "k"): "soup", ("bo", "k"): "bread", ("ana", "l"): "tea"}


async def test_a_large_batch_is_stored_whole(store: Face) -> None:
    await store.batch([PutOp(HOME, str(number), {**TEA, "number": number}) for number in range(60)])
    items = await store.search(HOME, limit=100)
    assert sorted(item.value["number"] for item in items) == list(range(60))


async def test_operations_may_come_from_a_generator(store: Face) -> None:
    assert await store.batch(PutOp(HOME, key, TEA) for key in "ab") == [None, None]
    assert set(await values(store)) == {("ana", "a"), ("ana", "b")}


@pytest.mark.parametrize("kind", ["sqlite", "async-sqlite"])
async def test_a_bad_namespace_refuses_the_whole_batch(store: Face) -> None:
    with pytest.raises(InvalidNamespaceError):
        await store.batch([PutOp(HOME, "k", TEA), PutOp(("a.b",), "k", TEA)])
    assert await store.search(()) == []
