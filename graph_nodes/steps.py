"""What the write protocol asks of the outside: three kinds of step, and the two drivers that carry them out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph.store.base import BaseStore, Op, Result

from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Candidate, Report

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


Step = Blocking | Judge | Inner
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
    """Async twin of `drive`: the ledger in a thread, the gate and the wrapped store awaited."""
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


async def _aperform(step: Step, gate: AdmissionGate, inner: BaseStore) -> Any:
    match step:
        case Blocking(call):
            return await asyncio.to_thread(call)
        case Judge(writes):
            return await _ajudge(writes, gate)
        case Inner(ops):
            return await _abatch(ops, inner)


async def _ajudge(writes: Sequence[tuple[Candidate, History]], gate: AdmissionGate) -> list[Report]:
    return list(await asyncio.gather(*(gate.adecide(candidate, history) for candidate, history in writes)))


async def _abatch(ops: Sequence[Op], inner: BaseStore) -> list[Result]:
    try:
        return await inner.abatch(ops)
    except NotImplementedError:
        # A store for synchronous use only (SqliteStore): the guard over it still serves async graphs.
        return await asyncio.to_thread(inner.batch, ops)
