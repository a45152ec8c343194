"""How a caller learns what became of its writes: a collector that follows the context into tools, tasks and threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from admission.records import Report

_COLLECTORS: ContextVar[tuple[list[Report], ...]] = ContextVar("admission_reports", default=())


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
