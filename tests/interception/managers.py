"""langmem's memory manager over a scripted model that extracts the same memories each time."""

from __future__ import annotations

from typing import Any

from agents import ScriptedChatModel
from langchain_core.messages import AIMessage
from langmem import create_memory_store_manager
from scripted_gate import NAMESPACE


def manager_of(*memories: str, **manager_args: Any) -> Any:
    extracted = [{"name": "Memory", "args": {"content": text}, "id": f"m-{n}"} for n, text in enumerate(memories)]
    model = ScriptedChatModel(responses=[AIMessage("", tool_calls=extracted)])
    return create_memory_store_manager(model, namespace=NAMESPACE, **manager_args)
