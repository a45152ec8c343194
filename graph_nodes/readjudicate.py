"""Judging unresolved memories again when their conversation has gone on: on demand, as a node, and every so often."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import MessageLikeRepresentation
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from admission.readjudication import Budget, Readmit
from admission.records import Namespace, Turn
from graph_nodes.docket import Docket, Readjudication
from graph_nodes.held_back import guard_at_hand, thread_at_hand
from graph_nodes.outcome import announce
from graph_nodes.scope import turns_of
from graph_nodes.store import AdmissionStore

__all__ = [
    "Budget",
    "Readjudication",
    "areadjudicate",
    "areadjudicate_every",
    "create_readjudication_node",
    "readjudicate",
    "readjudicate_every",
]

logger = logging.getLogger(__name__)

Messages = Sequence[Turn] | Sequence[MessageLikeRepresentation]
# Where conversations are found: a checkpointer, or what gives a thread's conversation (None: it has none).
Histories = BaseCheckpointSaver[Any] | Callable[[str], Messages | None]

NODE_BUDGET = Budget(writes=4)


def readjudicate(
    store: AdmissionStore,
    histories: Histories,
    *,
    namespace: Namespace | None = None,
    budget: Budget | None = None,
    readmit: Readmit = "review",
) -> Readjudication:
    """Judge unresolved memories of the store's quarantine again where their conversations, as `histories` has them now,
    may hold the missing evidence; the likeliest first, within `budget` (None: no bound).

    Each new report is recorded in place of the former, with a reason `readjudicated` that names it, before anything is
    stored. What the conversation now supports waits for a person (`readmit="review"`), or is stored ("store"). Left
    alone are memories whose key was written or deleted since, and verdicts that failed for want of an answer.
    `namespace`: only memories at or below it.
    """
    docket = Docket(store.ledger, store.settings, readmit)
    docket.call(lambda thread: _turns(histories, thread), namespace=namespace)
    return _go(store, docket, budget or Budget())


async def areadjudicate(
    store: AdmissionStore,
    histories: Histories,
    *,
    namespace: Namespace | None = None,
    budget: Budget | None = None,
    readmit: Readmit = "review",
) -> Readjudication:
    """Async twin of `readjudicate`."""
    docket = Docket(store.ledger, store.settings, readmit)
    threads = await asyncio.to_thread(docket.threads, namespace)
    turns = {thread: await _aturns(histories, thread) for thread in threads}
    await asyncio.to_thread(docket.call, turns.get, namespace=namespace)
    return await _ago(store, docket, budget or Budget())


def create_readjudication_node(
    store: AdmissionStore | None = None, *, budget: Budget = NODE_BUDGET, readmit: Readmit = "review"
) -> Runnable[Mapping[str, Any], dict[str, Any]]:
    """A node over `AdmissionState` that does `readjudicate` for the running thread on `messages`; new reports go to
    `admission_reports`. Put it where a turn of the conversation ends: before a review node, what it finds is reviewed.
    """

    def run(state: Mapping[str, Any]) -> dict[str, Any]:
        guard = guard_at_hand(store)
        docket = Docket(guard.ledger, guard.settings, readmit)
        docket.call(_only(state), thread=thread_at_hand())
        return _update(_go(guard, docket, budget))

    async def arun(state: Mapping[str, Any]) -> dict[str, Any]:
        guard = guard_at_hand(store)
        docket = Docket(guard.ledger, guard.settings, readmit)
        await asyncio.to_thread(docket.call, _only(state), thread=thread_at_hand())
        return _update(await _ago(guard, docket, budget))

    return RunnableLambda(run, arun, name="readjudication")


def readjudicate_every(seconds: float, run: Callable[[], object], stop: threading.Event) -> None:
    """Call `run` (a `readjudicate` with its arguments) now and then every so many seconds after it ended, until `stop`
    is set: for a thread of yours. A run that fails is logged, and the next one goes on."""
    while not stop.is_set():
        try:
            run()
        except Exception as error:  # noqa: BLE001 - the next run may do better
            # Only its type: what the error says may quote a memory.
            logger.error("re-adjudication failed (%s); the next run is in %s s", type(error).__name__, seconds)
        stop.wait(seconds)


async def areadjudicate_every(seconds: float, run: Callable[[], Any], stop: asyncio.Event) -> None:
    """Async twin of `readjudicate_every`: `run` gives an awaitable. To cancel it stops it too."""
    while not stop.is_set():
        try:
            await run()
        except Exception as error:  # noqa: BLE001 - the next run may do better
            # Only its type: what the error says may quote a memory.
            logger.error("re-adjudication failed (%s); the next run is in %s s", type(error).__name__, seconds)
        try:
            await asyncio.wait_for(stop.wait(), seconds)
        except TimeoutError:
            continue


def _go(store: AdmissionStore, docket: Docket, budget: Budget) -> Readjudication:
    for case in docket.within(budget):
        docket.record(case, store.gate.decide(case.candidate, case.history))
    if docket.to_be_stored:
        store.recover()
    return _announced(docket.result())


async def _ago(store: AdmissionStore, docket: Docket, budget: Budget) -> Readjudication:
    for case in docket.within(budget):
        report = await store.gate.adecide(case.candidate, case.history)
        await asyncio.to_thread(docket.record, case, report)
    if docket.to_be_stored:
        await store.arecover()
    return _announced(docket.result())


def _announced(result: Readjudication) -> Readjudication:
    for again in result.judged:
        announce(again.report)
    return result


def _update(result: Readjudication) -> dict[str, Any]:
    return {"admission_reports": [again.report.model_dump(mode="json") for again in result.judged]}


def _only(state: Mapping[str, Any]) -> Callable[[str], Sequence[Turn]]:
    turns = turns_of(state.get("messages") or [])
    return lambda thread: turns


def _turns(histories: Histories, thread: str) -> Sequence[Turn] | None:
    if isinstance(histories, BaseCheckpointSaver):
        return _turns_in(histories.get_tuple(_config(thread)))
    messages = histories(thread)
    return None if messages is None else turns_of(messages)


async def _aturns(histories: Histories, thread: str) -> Sequence[Turn] | None:
    if isinstance(histories, BaseCheckpointSaver):
        return _turns_in(await histories.aget_tuple(_config(thread)))
    return await asyncio.to_thread(_turns, histories, thread)


def _turns_in(found: CheckpointTuple | None) -> Sequence[Turn] | None:
    messages = None if found is None else found.checkpoint["channel_values"].get("messages")
    return turns_of(messages) if isinstance(messages, list | tuple) else None


def _config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}
