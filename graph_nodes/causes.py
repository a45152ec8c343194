"""Why a memory is deleted, carried from whoever deletes it to the ledger's entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_CAUSE: ContextVar[Mapping[str, Any] | None] = ContextVar("admission_deletion_cause", default=None)


def deletion_cause() -> Mapping[str, Any] | None:
    """What the entries of deletes made now are to say beside thread and task."""
    return _CAUSE.get()


@contextmanager
def deleting_for(cause: Mapping[str, Any]) -> Iterator[None]:
    """Deletes within it, on this thread or in this task, have this cause."""
    token = _CAUSE.set(cause)
    try:
        yield
    finally:
        _CAUSE.reset(token)
