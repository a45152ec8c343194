"""A tool that is handed the store: by `InjectedStore`, and as `ToolRuntime.store`; two calls at once."""

from __future__ import annotations

from typing import Annotated

import pytest
from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedStore, ToolRuntime
from langgraph.store.base import BaseStore
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, guarded
from writing_graphs import TALKED, assert_only_what_was_said_is_stored, tool_graph

PATH = "tool that is handed the store: `InjectedStore`, `ToolRuntime.store`"
ANSWER = "caught by the store; two calls at once are told apart"


@tool
def remember(text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Remember a text."""
    store.put(NAMESPACE, text, {"content": text})
    return "done"


@tool
async def aremember(text: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Remember a text."""
    await store.aput(NAMESPACE, text, {"content": text})
    return "done"


@tool
def note(text: str, runtime: ToolRuntime) -> str:
    """Note a text."""
    assert runtime.store is not None
    runtime.store.put(NAMESPACE, text, {"content": text})
    return "done"


@pytest.mark.parametrize("memory_tool", [remember, note])
async def test_sync(memory_tool: BaseTool, sync_inner: BaseStore) -> None:
    store = guarded(sync_inner)
    tool_graph(memory_tool, {"text": SAID}, {"text": NEVER_SAID}, store=store).invoke(TALKED)
    await assert_only_what_was_said_is_stored(store)


@pytest.mark.parametrize("memory_tool", [aremember, remember, note])
async def test_async(memory_tool: BaseTool, async_inner: BaseStore) -> None:
    store = guarded(async_inner)
    await tool_graph(memory_tool, {"text": SAID}, {"text": NEVER_SAID}, store=store).ainvoke(TALKED)
    await assert_only_what_was_said_is_stored(store)
