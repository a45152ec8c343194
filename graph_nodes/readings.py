"""How a caller learns what the read gate let through and why not: a collector that follows the context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from admission.metadata import Lifecycle
from admission.reading.axes import Admissibility
from admission.records import Namespace, Record

Route = Literal["get", "search"]


class Reading(Record):
    """One memory that a read found, and what the read gate said of it; never its text.

    `rank` counts from 1 among what the store ranked, over all pages; `score` is the store's own, where it has one.
    `exposed` False: the reader did not get it, and `admissibility` has the reasons. `lifecycle`: None where the ledger
    knows nothing of the memory.
    """

    namespace: Namespace
    key: str
    route: Route
    rank: int = 1
    score: float | None = None
    admissibility: Admissibility
    exposed: bool
    lifecycle: Lifecycle | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the reasons it was kept back for, without their details; empty for what was exposed."""
        if self.exposed:
            return ()
        return tuple(reason.partition(":")[0] for reason in self.admissibility.reasons)


_COLLECTORS: ContextVar[tuple[list[Reading], ...]] = ContextVar("admission_readings", default=())


@contextmanager
def collect_readings() -> Iterator[list[Reading]]:
    """Collect what reads inside the block found, exposed or not, in order. Empty while the read gate is off. Follows
    the context, as `collect_reports` does. Blocks nest."""
    readings: list[Reading] = []
    token = _COLLECTORS.set((*_COLLECTORS.get(), readings))
    try:
        yield readings
    finally:
        _COLLECTORS.reset(token)


def announce_readings(found: list[Reading]) -> None:
    """Tell every collector of the current context."""
    for readings in _COLLECTORS.get():
        readings.extend(found)
