"""A thread of one's own: it has lost the run's configuration, and with it the conversation."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from langgraph.graph import MessagesState
from scripted_gate import NAMESPACE, SAID, guarded, stored
from writing_graphs import TALKED, node_graph

PATH = "bare thread, script or HTTP call: a write from outside of any run"
ANSWER = "caught by the store; without a conversation nothing supports it: unresolved, in quarantine"


def test_a_write_from_a_bare_thread_is_judged_without_evidence() -> None:
    store = guarded()

    def spawn(state: MessagesState) -> dict[str, Any]:
        thread = threading.Thread(target=store.put, args=(NAMESPACE, "said", {"content": SAID}))
        thread.start()
        thread.join()
        return {}

    node_graph(spawn, store).invoke(TALKED)
    assert stored(store) == {}
    assert [record.intent.value["content"] for record in store.ledger.quarantine()] == [SAID]


async def test_a_write_from_a_loop_of_another_thread_too() -> None:
    store = guarded()

    def write() -> None:
        asyncio.run(store.aput(NAMESPACE, "said", {"content": SAID}))

    async def spawn(state: MessagesState) -> dict[str, Any]:
        thread = threading.Thread(target=write)
        thread.start()
        await asyncio.get_running_loop().run_in_executor(None, thread.join)
        return {}

    await node_graph(spawn, store).ainvoke(TALKED)
    assert stored(store) == {} and len(store.ledger.quarantine()) == 1
