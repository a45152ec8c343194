"""What the write protocol asks of the outside: five kinds of step, and the two drivers that carry them out."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph.store.base import BaseStore, Op, Result

from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Candidate, Namespace, Report
from graph_nodes.purging import apurge, purge

R = TypeVar("R")


@dataclass(frozen=True)
class Blocking:
    """Step: a call that blocks (the ledger). Answered by what it returns."""

    call: Callable[[], Any]


@dataclass(frozen=True)
class Judge:
    """Step: decide on these candidates. Answered by one report each, in order."""

    writes: Sequence[tuple[Candidate, History]]


@dataclass(frozen=True)
class Inner:
    """Step: these operations on the wrapped store, in one batch. Answered by their results, in order."""

    ops: Sequence[Op]


@dataclass(frozen=True)
class Wait:
    """Step: let so many seconds pass. Answered by None."""

    seconds: float


@dataclass(frozen=True)
class Purge:
    """Step: clear what the wrapped store's database keeps of memories deleted at these places. Answered by what could
    not be reached, as sentences."""

    places: Sequence[tuple[Namespace, str]]


Step = Blocking | Judge | Inner | Wait | Purge
Steps = Generator[Step, Any, R]


def drive(steps: Steps[R], gate: AdmissionGate, inner: BaseStore) -> R:
    """Carry out the steps one after another. A step that fails is raised inside `steps`, which may go on."""
    try:
        step = next(steps)
        while True:
            try:
                answer = _perform(step, gate, inner)
            except BaseException as error:  # noqa: BLE001 - what a failed step means is decided in one place, not here
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as stop:
        result: R = stop.value
        return result


async def adrive(steps: Steps[R], gate: AdmissionGate, inner: BaseStore) -> R:
    """Async twin of `drive`: the ledger in a thread, the gate and the wrapped store awaited.

    A cancelled task raises only when the ledger's call under way has ended, so that `steps` knows what is to be undone.
    """
    try:
        step = next(steps)
        while True:
            try:
                answer = await _aperform(step, gate, inner)
            except BaseException as error:  # noqa: BLE001 - as in `drive`
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as stop:
        result: R = stop.value
        return result


def _perform(step: Step, gate: AdmissionGate, inner: BaseStore) -> Any:
    match step:
        case Blocking(call):
            return call()
        case Judge(writes):
            return list(gate.decide_many(writes))
        case Inner(ops):
            return inner.batch(ops)
        case Wait(seconds):
            time.sleep(seconds)
        case Purge(places):
            return purge(inner, places)


async def _aperform(step: Step, gate: AdmissionGate, inner: BaseStore) -> Any:
    match step:
        case Blocking(call):
            return await _in_thread(call)
        case Judge(writes):
            return await _ajudge(writes, gate)
        case Inner(ops):
            return await _abatch(ops, inner)
        case Wait(seconds):
            await asyncio.sleep(seconds)
        case Purge(places):
            return await apurge(inner, places)


async def _in_thread(call: Callable[[], Any]) -> Any:
    """What `call` returns, made in a thread. Where the task is cancelled meanwhile, its end is waited for first."""
    running = asyncio.get_running_loop().run_in_executor(None, contextvars.copy_context().run, call)
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        running.exception()  # it goes unheard; asyncio would complain
        raise cancelled
    return running.result()


async def _ajudge(writes: Sequence[tuple[Candidate, History]], gate: AdmissionGate) -> list[Report]:
    return list(await asyncio.gather(*(gate.adecide(candidate, history) for candidate, history in writes)))


async def _abatch(ops: Sequence[Op], inner: BaseStore) -> list[Result]:
    try:
        return await inner.abatch(ops)
    except NotImplementedError:
        # A store for synchronous use only (SqliteStore): the guard over it still serves async graphs.
        return await asyncio.to_thread(inner.batch, ops)
