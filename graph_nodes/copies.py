"""Copies of what a store hands out: what a reader changes in them is no judged write."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import TypeVar, cast

from langgraph.store.base import Item, Result, SearchItem

T = TypeVar("T")

_UNCHANGEABLE = (str, int, float, bool, type(None))


def own(results: list[Result]) -> list[Result]:
    """The same results, the reader's own: InMemoryStore hands out the very dicts it stores."""
    return [
        cast(Result, [_own_item(part) for part in found]) if isinstance(found, list) else _own_item(found)
        for found in results
    ]


def _own_item(part: T) -> T:
    """Of a memory only the value can be changed in place."""
    if not isinstance(part, Item):
        return part
    # Flat values are most, and `deepcopy` is slow.
    flat = all(type(inner) in _UNCHANGEABLE for inner in part.value.values())
    value = dict(part.value) if flat else deepcopy(part.value)
    if isinstance(part, SearchItem) and type(part) is SearchItem:  # what a search has many of
        found = SearchItem(part.namespace, part.key, value, part.created_at, part.updated_at, part.score)
        return cast(T, found)
    copied = copy(part)
    copied.value = value
    return copied
