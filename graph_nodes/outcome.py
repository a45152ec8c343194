"""How a caller learns what became of its writes: a collector that follows the context into tools, tasks and threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from admission.records import Namespace, Record, Report

ReadProblemKind = Literal["changed", "unknown", "deleted", "unverifiable"]


class ReadProblem(Record):
    """A memory that a read found otherwise than the ledger has it (`writes.verify_on_read`).

    `changed`: its value is not the one that was stored. `unknown`: no write of it passed the gate. `deleted`: it was
    deleted, and is there all the same. `unverifiable`: the ledger's own record of it cannot be read or was tampered
    with. `hidden`: was it kept from the reader?
    """

    namespace: Namespace
    key: str
    kind: ReadProblemKind
    hidden: bool


_COLLECTORS: ContextVar[tuple[list[Report], ...]] = ContextVar("admission_reports", default=())
_PROBLEM_COLLECTORS: ContextVar[tuple[list[ReadProblem], ...]] = ContextVar("admission_read_problems", default=())


@contextmanager
def collect_reports() -> Iterator[list[Report]]:
    """Collect the report on every write made inside the block, in the order decided.

    Follows the context: writes in awaited calls, tasks made inside, `asyncio.to_thread` and LangGraph's tools count;
    other conversations running at the same time do not. A retried write reports its first decision again. Blocks nest.
    """
    reports: list[Report] = []
    token = _COLLECTORS.set((*_COLLECTORS.get(), reports))
    try:
        yield reports
    finally:
        _COLLECTORS.reset(token)


def announce(report: Report) -> None:
    """Tell every collector of the current context."""
    for reports in _COLLECTORS.get():
        reports.append(report)


@contextmanager
def collect_read_problems() -> Iterator[list[ReadProblem]]:
    """Collect what reads inside the block find otherwise than the ledger has it. Follows the context, as
    `collect_reports` does."""
    problems: list[ReadProblem] = []
    token = _PROBLEM_COLLECTORS.set((*_PROBLEM_COLLECTORS.get(), problems))
    try:
        yield problems
    finally:
        _PROBLEM_COLLECTORS.reset(token)


def announce_problem(problem: ReadProblem) -> None:
    """Tell every collector of the current context."""
    for problems in _PROBLEM_COLLECTORS.get():
        problems.append(problem)
