"""Memories that are kept outside the store: judged and entered into the ledger before the writing action is taken."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from langgraph.store.base import BaseStore, Op, PutOp, Result

from admission.errors import InputError
from admission.records import Namespace
from graph_nodes.scope import running_config
from graph_nodes.store import AdmissionStore
from graph_nodes.write_bounds import check_writes

T = TypeVar("T")


def filled(namespace: tuple[str, ...]) -> Namespace:
    """The namespace with each `{name}` replaced by the running graph's `configurable` value of that name.

    Raises `InputError` for one that the run does not give.
    """
    configurable = running_config().get("configurable", {})
    try:
        return tuple(part.format_map(configurable) for part in namespace)
    except KeyError as error:
        problem = f"needs {error.args[0]!r}, which the run does not give"
        raise InputError("namespace", problem, f'run it with {{"configurable": {{"{error.args[0]}": ...}}}}') from error


class NotWritten(Exception):
    """Raised by a writing action that came to nothing, with what it answered: the write stays open in the ledger."""

    def __init__(self, answer: Any) -> None:
        super().__init__("the memory was not written")
        self.answer = answer


class _Raised(Exception):
    """Carries an action's own error past what a store's errors mean."""


class OutsideMemory:
    """The write protocol over a place that is no LangGraph store: a vendor's client, files, a channel of the state.

    Gate, ledger and settings are those of `guard`. `name` tells the places apart that share a ledger, and has to stay
    the same over restarts. An action whose write was decided before a crash is taken when the same task runs again, at
    least once: the ledger cannot know whether it had an effect. Without that it stays open in the ledger, for nothing
    but the task itself can take it.
    """

    def __init__(self, guard: AdmissionStore, name: str) -> None:
        self.guard = guard
        # The action is at hand only now, whatever the mode of the guard.
        writes = guard.settings.writes.model_copy(update={"mode": "blocking"})
        settings = guard.settings.model_copy(update={"writes": writes})
        self._store = AdmissionStore(
            _Relay(), gate=guard.gate, ledger=guard.ledger, settings=settings, name=name, read_gate=guard.read_gate
        )

    def write(self, namespace: Namespace, text: str, action: Callable[[], T]) -> T | None:
        """What `action` returned, or None where it was not taken: the memory was held back, or this very write was
        finished by an earlier run of the task. Reports go to `collect_reports`."""
        self._store.batch([])  # recovers, while no action is at hand that could be taken for another run's
        with _at_hand(action) as pending:
            try:
                self._store.put(namespace, str(uuid.uuid4()), {"content": text})
            except NotWritten as failed:
                return cast(T, failed.answer)
            return cast("T | None", pending.answer)

    async def awrite(self, namespace: Namespace, text: str, action: Callable[[], Awaitable[T]]) -> T | None:
        """Async twin of `write`."""
        await self._store.abatch([])
        with _at_hand(action) as pending:
            try:
                await self._store.aput(namespace, str(uuid.uuid4()), {"content": text})
            except NotWritten as failed:
                return cast(T, failed.answer)
            except _Raised as raised:
                raise cast(BaseException, raised.__cause__) from None
            return cast("T | None", pending.answer)

    def record_delete(self, namespace: Namespace, key: str) -> None:
        """Append to the ledger that something is deleted there, before it is. Blocks. Raises `BoundaryError` where the
        run's principal may not delete it."""
        check_writes([PutOp(namespace, key, None)], self.guard.read_gate)
        self.guard.ledger.record_delete(namespace, key, thread=None, task=None)


class _Pending:
    """The action of the write that is being judged, and what it answered."""

    def __init__(self, action: Callable[[], Any]) -> None:
        self.action = action
        self.answer: Any = None


_PENDING: ContextVar[_Pending | None] = ContextVar("admission_pending_action", default=None)


@contextmanager
def _at_hand(action: Callable[[], Any]) -> Iterator[_Pending]:
    pending = _Pending(action)
    token = _PENDING.set(pending)
    try:
        yield pending
    finally:
        _PENDING.reset(token)


class _Relay(BaseStore):
    """In the place of a store: an admitted put takes the action at hand."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        results: list[Result] = []
        for op in ops:
            pending = _action_for(op)
            pending.answer = pending.action()
            results.append(None)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        results: list[Result] = []
        for op in ops:
            pending = _action_for(op)
            try:
                pending.answer = await pending.action()
            except NotImplementedError as error:
                raise _Raised from error  # of a store it would mean "for synchronous use only"
            results.append(None)
        return results


def _action_for(op: Op) -> _Pending:
    pending = _PENDING.get()
    if pending is None or not isinstance(op, PutOp) or op.value is None:
        raise InputError("action", "is not at hand", "run the task again that made this write: only it can repeat it")
    return pending
