"""put, get, delete, search and list_namespaces: what LangGraph promises holds raw and through the guard."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from contract_stores import Face
from langgraph.store.base import InvalidNamespaceError

HOME = ("memories", "ana")
TEA = {"content": "Ana drinks green tea.", "cups": 3, "hot": True, "kind": "drink"}
BREAD = {"content": "Ana bakes rye bread.", "cups": 0, "hot": False, "kind": "food"}
SOUP = {"content": "Ana cooks lentil soup.", "cups": 5, "hot": True, "kind": "food"}


async def filled(store: Face) -> None:
    for key, value in (("tea", TEA), ("bread", BREAD), ("soup", SOUP)):
        await store.put(HOME, key, value)


NOT_FOR_READS: list[Any] = [("",), ("a.b",), ("a", ""), ("a", "b.c"), ("a", 1), ("a\0b",)]
NOT_FOR_PUTS = [*NOT_FOR_READS, (), ("langgraph",), ("langgraph", "x")]


async def found(store: Face, *prefix: str, **how: Any) -> set[str]:
    return {item.key for item in await store.search(prefix or HOME, **how)}


async def test_what_was_put_is_got_back_with_its_times(store: Face) -> None:
    await store.put(HOME, "tea", TEA)
    item = await store.get(HOME, "tea")
    assert (item.namespace, item.key, item.value) == (HOME, "tea", TEA)
    assert isinstance(item.created_at, datetime) and item.updated_at - item.created_at < timedelta(minutes=1)


async def test_what_was_never_put_is_none(store: Face) -> None:
    assert await store.get(HOME, "tea") is None
    assert await store.search(HOME) == []
    assert await store.list_namespaces(prefix=("memories",), max_depth=5) in ([], [HOME])  # memory lists what was asked


async def test_a_second_put_replaces_the_value(store: Face) -> None:
    await store.put(HOME, "tea", TEA)
    await store.put(HOME, "tea", BREAD)
    assert (await store.get(HOME, "tea")).value == BREAD
    await store.put(HOME, "tea", TEA)
    assert (await store.get(HOME, "tea")).value == TEA


async def test_the_same_value_may_be_put_twice_and_under_two_keys(store: Face) -> None:
    for key in ("tea", "tea", "more tea"):
        await store.put(HOME, key, TEA)
    assert await found(store) == {"tea", "more tea"}


async def test_the_same_value_may_be_put_into_two_namespaces(store: Face) -> None:
    await store.put(HOME, "tea", TEA)
    await store.put(("memories", "bo"), "tea", TEA)
    assert sorted(item.namespace for item in await store.search(("memories",))) == [HOME, ("memories", "bo")]


async def test_a_delete_removes_and_a_second_one_is_no_error(store: Face) -> None:
    await store.put(HOME, "tea", TEA)
    for _ in range(2):
        await store.delete(HOME, "tea")
        assert await store.get(HOME, "tea") is None
    assert await store.search(()) == []


async def test_putting_none_deletes(store: Face) -> None:
    await store.put(HOME, "tea", TEA)
    await store.put(HOME, "tea", None)
    assert await store.search(HOME) == []


async def test_what_was_deleted_can_be_put_again(store: Face) -> None:
    await store.put(HOME, "tea", TEA)
    await store.delete(HOME, "tea")
    await store.put(HOME, "tea", TEA)
    assert (await store.get(HOME, "tea")).value == TEA


async def test_keys_are_any_text(store: Face) -> None:
    namespace = ("memories", "åsa 🫖")
    for key in ["päällä", "一", "🫖 tea", "a/b.c:d", " ", "'; --", "%_*?[", "x" * 500]:
        await store.put(namespace, key, {**TEA, "key": key})
        item = await store.get(namespace, key)
        assert (item.namespace, item.key, item.value) == (namespace, key, {**TEA, "key": key})


async def test_values_are_any_json(store: Face) -> None:
    value = {
        "content": "Ana says: ”höyry” 🫖\n\tand\\more\" 'quoted'",
        "nested": {"list": [1, -2.5, True, None, [], {}, "x"], "deep": {"a": {"b": {"c": ["d"]}}}},
        "large": 2**53,
        "no": None,
        "": "an empty name",
        "long": "word " * 5000,
    }
    await store.put(HOME, "k", value)
    assert (await store.get(HOME, "k")).value == value


async def test_a_namespace_that_cannot_be_is_refused_on_put(store: Face) -> None:
    for namespace in NOT_FOR_PUTS:
        with pytest.raises(InvalidNamespaceError):
            await store.put(namespace, "k", TEA)
    assert await store.search(()) == []


async def test_a_namespace_that_cannot_be_is_refused_on_read_and_delete(store: Face) -> None:
    for namespace in NOT_FOR_READS:
        for call in (
            store.get(namespace, "k"),
            store.delete(namespace, "k"),
            store.search(namespace),
            store.list_namespaces(prefix=namespace),
            store.list_namespaces(suffix=namespace),
        ):
            with pytest.raises(InvalidNamespaceError):
                await call


# --- Search -----------------------------------------------------------------------------------------------------------


async def test_a_prefix_matches_whole_labels_below_it(store: Face) -> None:
    for namespace in (("m",), ("m", "x"), ("m", "x", "y"), ("mm",), ("M",), ("x", "m")):
        await store.put(namespace, "k", TEA)
    assert {item.namespace for item in await store.search(("m",))} == {("m",), ("m", "x"), ("m", "x", "y")}
    assert {item.namespace for item in await store.search(("m", "x"))} == {("m", "x"), ("m", "x", "y")}
    assert len(await store.search(())) == 6


FILTERS: list[tuple[Any, set[str]]] = [
    (None, {"tea", "bread", "soup"}),
    ({}, {"tea", "bread", "soup"}),
    ({"kind": "food"}, {"bread", "soup"}),
    ({"kind": "food", "hot": True}, {"soup"}),
    ({"kind": "stone"}, set()),
    ({"missing": "x"}, set()),
    ({"cups": 3}, {"tea"}),
    ({"hot": False}, {"bread"}),
    ({"kind": {"$eq": "drink"}}, {"tea"}),
    ({"kind": {"$ne": "drink"}}, {"bread", "soup"}),
    ({"cups": {"$gt": 3}}, {"soup"}),
    ({"cups": {"$gte": 3}}, {"tea", "soup"}),
    ({"cups": {"$lt": 3}}, {"bread"}),
    ({"cups": {"$lte": 3}}, {"tea", "bread"}),
    ({"cups": {"$gt": 0, "$lt": 5}}, {"tea"}),
    ({"cups": {"$gt": 0}, "kind": "food"}, {"soup"}),
    ({"content": BREAD["content"]}, {"bread"}),
]


async def test_filters_select_by_value(store: Face) -> None:
    await filled(store)
    for filter, keys in FILTERS:
        assert await found(store, filter=filter) == keys, filter


async def test_a_replaced_value_is_filtered_by_what_it_says_now(store: Face) -> None:
    await store.put(HOME, "k", TEA)
    await store.put(HOME, "k", SOUP)
    assert await found(store, filter={"kind": "drink"}) == set()
    assert await found(store, filter={"kind": "food"}) == {"k"}


async def test_limit_and_offset_page_through_all_once(store: Face) -> None:
    for number in range(7):
        await store.put(HOME, f"k{number}", {**TEA, "cups": number})
    pages = [await store.search(HOME, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert sorted(item.key for page in pages for item in page) == [f"k{number}" for number in range(7)]


async def test_ten_are_found_where_no_limit_is_given(store: Face) -> None:
    for number in range(12):
        await store.put(HOME, f"k{number}", {**TEA, "cups": number})
    assert len(await store.search(HOME)) == 10


async def test_limits_count_what_the_filter_lets_through(store: Face) -> None:
    await filled(store)
    first = await store.search(HOME, filter={"kind": "food"}, limit=1)
    second = await store.search(HOME, filter={"kind": "food"}, limit=1, offset=1)
    assert {item.key for item in (*first, *second)} == {"bread", "soup"}


async def test_a_query_on_a_store_without_an_index_finds_without_ranking(store: Face) -> None:
    await filled(store)
    items = await store.search(HOME, query="tea")
    assert {item.key for item in items} == {"tea", "bread", "soup"}
    assert {item.score for item in items} == {None}


# --- Namespaces -------------------------------------------------------------------------------------------------------

TREE = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "x", "c"), ("b", "b", "c"), ("a",)]


LISTINGS: list[tuple[dict[str, Any], list[tuple[str, ...]]]] = [
    ({}, sorted(TREE)),
    ({"prefix": ("a",)}, [("a",), ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "x", "c")]),
    ({"prefix": ("a", "b")}, [("a", "b", "c"), ("a", "b", "d", "e")]),
    ({"suffix": ("c",)}, [("a", "b", "c"), ("a", "x", "c"), ("b", "b", "c")]),
    ({"prefix": ("a", "*", "c")}, [("a", "b", "c"), ("a", "x", "c")]),
    ({"suffix": ("*", "c")}, [("a", "b", "c"), ("a", "x", "c"), ("b", "b", "c")]),
    ({"prefix": ("a",), "suffix": ("e",)}, [("a", "b", "d", "e")]),
    ({"max_depth": 1}, [("a",), ("b",)]),
    ({"max_depth": 2}, [("a",), ("a", "b"), ("a", "x"), ("b", "b")]),
    ({"prefix": ("a",), "max_depth": 2}, [("a",), ("a", "b"), ("a", "x")]),
    ({"limit": 2}, sorted(TREE)[:2]),
    ({"limit": 2, "offset": 1}, sorted(TREE)[1:3]),
    ({"prefix": ("z",)}, []),
]


async def test_namespaces_are_listed_by_their_ends_and_depth(store: Face) -> None:
    for namespace in TREE:
        await store.put(namespace, "k", TEA)
    for how, expected in LISTINGS:
        assert await store.list_namespaces(**how) == expected, how
