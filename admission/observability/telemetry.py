"""Spans and metrics by OpenTelemetry, where its API is installed; the application says where they go."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from admission.observability.fields import Fields, duration_ms
from admission.records import Report
from admission.version import __version__

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Observation
    from opentelemetry.trace import Tracer

P = ParamSpec("P")
R = TypeVar("R")
Owner = TypeVar("Owner")

SCOPE = "memory_admission"

# The queues that are watched, each as long as its owner lives.
_queues: weakref.WeakKeyDictionary[Any, Callable[[Any], int]] = weakref.WeakKeyDictionary()


class Instruments(NamedTuple):
    """What is measured. Durations are in seconds."""

    tracer: Tracer
    writes: Counter
    write_duration: Histogram
    calls: Counter
    tokens: Counter
    cache_hits: Counter
    ledger_duration: Histogram


@cache
def _instruments() -> Instruments | None:
    """None without the extra `otel`. An application may set its providers before or after: the API passes them on."""
    try:
        from opentelemetry import metrics, trace
    except ImportError:
        return None
    meter = metrics.get_meter(SCOPE, __version__)
    meter.create_observable_gauge(
        "admission.queue.depth", [_queue_depth], unit="{write}", description="Writes pending in background mode"
    )
    return Instruments(
        tracer=trace.get_tracer(SCOPE, __version__),
        writes=meter.create_counter("admission.writes", "{write}", "Decided writes, by status and action"),
        write_duration=meter.create_histogram("admission.write.duration", "s", "From candidate to verdict"),
        calls=meter.create_counter(
            "admission.verifier.calls", "{call}", "Questions to embedded judges, model requests"
        ),
        tokens=meter.create_counter("admission.verifier.tokens", "{token}", "Tokens of language models, by direction"),
        cache_hits=meter.create_counter("admission.verifier.cache_hits", "{answer}", "Answers found in the cache"),
        ledger_duration=meter.create_histogram(
            "admission.ledger.duration", "s", "One call of the ledger, by operation and outcome"
        ),
    )


@contextmanager
def batch_span(writes: int) -> Iterator[None]:
    """The span all rounds of judging so many writes stand in, with the calls of models that are traced themselves."""
    instruments = _instruments()
    if instruments is None:
        yield
        return
    # What an exception says may quote a memory: the span only ends.
    with instruments.tracer.start_as_current_span(
        "admission.decide",
        attributes={"admission.writes": writes},
        record_exception=False,
        set_status_on_exception=False,
    ):
        yield


def record_report(report: Report, fields: Fields) -> None:
    """A span as long as the deliberation took, and the metrics of one decided write."""
    instruments = _instruments()
    if instruments is None:
        return
    end, milliseconds = time.time_ns(), duration_ms(report)
    span = instruments.tracer.start_span(
        "admission.write",
        start_time=end - round(milliseconds * 1e6),
        attributes={f"admission.{name}": value for name, value in fields.items()},
    )
    span.end(end)
    status = {"status": report.status}
    usage = report.usage
    instruments.writes.add(1, {**status, "action": report.action})
    instruments.write_duration.record(milliseconds / 1e3, status)
    instruments.calls.add(usage.calls)
    instruments.tokens.add(usage.input_tokens, {"direction": "input"})
    instruments.tokens.add(usage.output_tokens, {"direction": "output"})
    instruments.cache_hits.add(usage.cache_hits)


def ledger_call(method: Callable[P, R]) -> Callable[P, R]:
    """Decorates a call of the ledger: its span and duration, by its name, and whether it raised."""

    @wraps(method)
    def measured(*args: P.args, **kwargs: P.kwargs) -> R:
        instruments = _instruments()
        if instruments is None:
            return method(*args, **kwargs)
        operation, outcome, began = method.__name__, "error", time.perf_counter()
        with instruments.tracer.start_as_current_span(
            f"admission.ledger.{operation}", record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                result = method(*args, **kwargs)
                outcome = "ok"
                return result
            finally:
                span.set_attribute("admission.outcome", outcome)
                attributes = {"operation": operation, "outcome": outcome}
                instruments.ledger_duration.record(time.perf_counter() - began, attributes)

    return measured


def watch_queue(owner: Owner, depth: Callable[[Owner], int]) -> None:
    """Count `depth(owner)` in the metric `admission.queue.depth` for as long as the owner lives."""
    _queues[owner] = depth


def _queue_depth(options: CallbackOptions) -> Iterable[Observation]:
    from opentelemetry.metrics import Observation

    return [Observation(sum(depth(owner) for owner, depth in list(_queues.items())))]
