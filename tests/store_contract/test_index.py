"""Vector search: what is embedded, what is not, and that the nearest come first, with the same scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from contract_stores import Face, FakeEmbedding, no_vectors

HOME = ("memories", "ana")
TEA = {"content": "Ana drinks green tea", "title": "drinks"}
BREAD = {"content": "Ana bakes rye bread", "title": "baking"}
SOUP = {"content": "Ana cooks lentil soup", "title": "cooking"}

Make = Callable[..., Any]


@pytest.fixture(autouse=True)
def only_where_vectors_are(kind: str, address: str | None) -> None:
    if reason := no_vectors(kind, address):
        pytest.skip(reason)


async def indexed(make_face: Make, guarded: bool, *fields: str) -> Face:
    more = {"fields": {"fields": list(fields)}} if fields else {}
    face: Face = await make_face(guarded, index=FakeEmbedding(), **more)
    return face


async def test_the_nearest_is_found_first_with_its_score(make_face: Make, guarded: bool) -> None:
    store = await indexed(make_face, guarded, "content")
    for key, value in (("tea", TEA), ("bread", BREAD), ("soup", SOUP)):
        await store.put(HOME, key, value)
    items = await store.search(HOME, query="bakes rye bread")
    assert items[0].key == "bread"
    scores = [item.score for item in items]
    assert scores == sorted(scores, reverse=True) and scores[0] > scores[1]


async def test_fields_of_the_store_say_what_is_embedded(make_face: Make, guarded: bool) -> None:
    store = await indexed(make_face, guarded, "title")
    await store.put(HOME, "tea", TEA)
    assert store.embedding is not None and store.embedding.texts == ["drinks"]


async def test_fields_of_a_put_win_over_those_of_the_store(make_face: Make, guarded: bool) -> None:
    store = await indexed(make_face, guarded, "title")
    await store.put(HOME, "tea", TEA, index=["content"])
    assert store.embedding is not None and store.embedding.texts == [TEA["content"]]


async def test_without_fields_the_whole_value_is_embedded_and_nothing_of_the_gates_own(
    make_face: Make, guarded: bool
) -> None:
    store = await indexed(make_face, guarded)
    await store.put(HOME, "tea", TEA)
    (text,) = store.embedding.texts if store.embedding is not None else ()
    assert "green tea" in text and "admission" not in text


async def test_what_is_put_with_index_false_has_no_score(make_face: Make, guarded: bool) -> None:
    store = await indexed(make_face, guarded, "content")
    await store.put(HOME, "tea", TEA)
    await store.put(HOME, "bread", BREAD, index=False)
    assert store.embedding is not None and store.embedding.texts == [TEA["content"]]
    scores = {item.key: item.score for item in await store.search(HOME, query="green tea")}
    assert scores["tea"] is not None and scores.get("bread") is None


async def test_the_same_value_put_again_is_indexed_as_the_second_put_says(make_face: Make, guarded: bool) -> None:
    store = await indexed(make_face, guarded, "content")
    await store.put(HOME, "tea", TEA, index=False)
    await store.put(HOME, "tea", TEA, index=["title"])
    assert store.embedding is not None and store.embedding.texts == ["drinks"]


async def test_filter_and_query_work_together(make_face: Make, guarded: bool) -> None:
    store = await indexed(make_face, guarded, "content")
    for key, value in (("tea", TEA), ("bread", BREAD), ("soup", SOUP)):
        await store.put(HOME, key, value)
    items = await store.search(HOME, query="Ana cooks lentil soup", filter={"title": "baking"})
    assert [item.key for item in items] == ["bread"]


async def test_several_texts_in_a_field_are_each_embedded(make_face: Make, guarded: bool) -> None:
    store = await indexed(make_face, guarded, "notes[*].text")
    notes = [{"text": "green tea"}, {"text": "rye bread"}]
    await store.put(HOME, "notes", {"content": "Ana keeps notes.", "notes": notes})
    assert store.embedding is not None and sorted(store.embedding.texts) == ["green tea", "rye bread"]
    (item,) = await store.search(HOME, query="rye bread")
    assert item.score is not None and item.score > 0.99
