"""langmem's manage_memory tool: create, update, delete."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import BaseStore
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, asked, guarded
from writing_graphs import TALKED, assert_only_what_was_said_is_stored, tool_graph

PATH = "langmem's `manage_memory` tool: create, update, delete"
ANSWER = "caught by the store: an update is judged anew, a delete passes and is recorded"

langmem = pytest.importorskip("langmem")
CREATE_BOTH: list[dict[str, Any]] = [{"content": SAID}, {"content": NEVER_SAID}]


async def test_create(sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    tool_graph(langmem.create_manage_memory_tool(NAMESPACE), *CREATE_BOTH, store=store).invoke(TALKED)
    await assert_only_what_was_said_is_stored(store)


async def test_create_in_an_async_run(async_inner: BaseStore) -> None:
    store = guarded(async_inner)
    await tool_graph(langmem.create_manage_memory_tool(NAMESPACE), *CREATE_BOTH, store=store).ainvoke(TALKED)
    await assert_only_what_was_said_is_stored(store)


async def test_update_is_judged_and_delete_passes(async_inner: BaseStore) -> None:
    store = guarded(async_inner)
    tool = langmem.create_manage_memory_tool(NAMESPACE)
    await tool_graph(tool, {"content": SAID}, store=store).ainvoke(TALKED)
    (item,) = await store.asearch(NAMESPACE)
    change = {"action": "update", "id": item.key, "content": NEVER_SAID}
    await tool_graph(tool, change, store=store).ainvoke(TALKED)
    assert [found.value for found in await store.asearch(NAMESPACE)] == [{"content": SAID}]
    questions = len(asked(store))
    await tool_graph(tool, {"action": "delete", "id": item.key}, store=store).ainvoke(TALKED)
    assert await store.asearch(NAMESPACE) == []
    assert len(asked(store)) == questions
    assert [entry.kind for entry in store.ledger.entries()] == ["report", "stored", "report", "deleted"]
