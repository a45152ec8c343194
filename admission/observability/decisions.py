"""One place where the gate says what it decided: to OpenTelemetry, to LangSmith, and to the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from admission.observability.fields import report_fields
from admission.observability.logs import log_report
from admission.observability.telemetry import batch_span, record_report
from admission.observability.tracing import langsmith_run
from admission.records import Report

Decided = Callable[[Sequence[Report]], None]


@contextmanager
def deciding(writes: int, *, log_text: bool) -> Iterator[Decided]:
    """Around the judging of so many writes; call what it gives with their reports before the block ends.

    Works in coroutines too: it follows the context, and waits for nothing.
    """
    with batch_span(writes), langsmith_run(writes) as show:

        def decided(reports: Sequence[Report]) -> None:
            fields = [report_fields(report, log_text=log_text) for report in reports]
            for report, told in zip(reports, fields, strict=True):
                record_report(report, told)
                log_report(told)
            show(fields)

        yield decided
