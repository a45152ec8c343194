"""A LangSmith run around judging, where LangSmith is installed and tracing: it nests in the graph's own run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

from admission.observability.fields import Fields

RUN_NAME = "admission.decide"

Show = Callable[[Sequence[Fields]], None]


@contextmanager
def langsmith_run(writes: int) -> Iterator[Show]:
    """A run of type chain named `admission.decide`; what it gives takes the reports' fields as its outputs."""
    if not _tracing():
        yield _show_nobody
        return
    from langsmith.run_helpers import trace

    with trace(RUN_NAME, run_type="chain", inputs={"writes": writes}, tags=["memory-admission"]) as run:

        def show(fields: Sequence[Fields]) -> None:
            run.end(outputs={"reports": list(fields)})

        yield show


def _tracing() -> bool:
    if not _installed():
        return False
    from langsmith.utils import tracing_is_enabled

    return bool(tracing_is_enabled())


@cache
def _installed() -> bool:
    return find_spec("langsmith") is not None


def _show_nobody(fields: Sequence[Fields]) -> None:
    """Nobody is watching."""
