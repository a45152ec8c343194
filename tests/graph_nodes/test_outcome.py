"""Who learns of which report."""

from __future__ import annotations

import asyncio
import contextvars
import threading

from scripted_gate import NAMESPACE, NEVER_SAID, SAID, TALK, guarded

from graph_nodes import collect_reports, conversation


def test_blocks_nest_and_writes_outside_are_not_collected() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "before", {"content": SAID})
        with collect_reports() as outer:
            store.put(NAMESPACE, "k", {"content": SAID})
            with collect_reports() as inner:
                store.put(NAMESPACE, "held", {"content": NEVER_SAID})
    assert [report.status for report in outer] == ["repaired", "unresolved"]
    assert [report.status for report in inner] == ["unresolved"]


async def test_side_by_side_each_gets_its_own() -> None:
    store = guarded()

    async def turn(thread: str, memory: str) -> list[str]:
        with conversation(thread, TALK), collect_reports() as reports:
            await asyncio.gather(*(store.aput(NAMESPACE, f"{thread}{n}", {"content": memory}) for n in range(3)))
        return [report.memory for report in reports]

    first, second = await asyncio.gather(turn("a", SAID), turn("b", NEVER_SAID))
    assert first == [SAID] * 3 and second == [NEVER_SAID] * 3


def test_a_thread_that_runs_in_a_copy_of_the_context_counts() -> None:
    store = guarded()
    with conversation("t", TALK), collect_reports() as reports:
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(store.put, NAMESPACE, "k", {"content": SAID}))
        thread.start()
        thread.join()
    assert [report.status for report in reports] == ["repaired"]
