"""A LangSmith run around judging, where LangSmith is installed and tracing: it nests in the graph's own run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

from admission.observability.fields import report_fields
from admission.records import Report

RUN_NAME = "admission.decide"

Show = Callable[[Sequence[Report], bool], None]


@contextmanager
def langsmith_run(writes: int) -> Iterator[Show]:
    """A run of type chain named `admission.decide`; what it gives takes the reports to show as its outputs."""
    if not _tracing():
        yield _show_nobody
        return
    from langsmith.run_helpers import trace

    with trace(RUN_NAME, run_type="chain", inputs={"writes": writes}, tags=["memory-admission"]) as run:

        def show(reports: Sequence[Report], log_text: bool) -> None:
            run.end(outputs={"reports": [report_fields(report, log_text=log_text) for report in reports]})

        yield show


def _tracing() -> bool:
    if not _installed():
        return False
    from langsmith.utils import tracing_is_enabled

    return bool(tracing_is_enabled())


@cache
def _installed() -> bool:
    return find_spec("langsmith") is not None


def _show_nobody(reports: Sequence[Report], log_text: bool) -> None:
    """Nobody is watching."""
