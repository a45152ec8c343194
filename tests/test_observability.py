"""What can be watched: a span and metrics a write, a run in LangSmith, a log record; no memory text unless allowed."""

from __future__ import annotations

import asyncio
import builtins
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

sys.path.append(str(Path(__file__).parent / "graph_nodes"))

from langgraph.store.base import PutOp
from scripted_gate import DENIED, NAMESPACE, NEVER_SAID, SAID, TALK, guarded, scripted_gate

from admission.errors import LedgerError
from admission.observability import JsonFormatter, telemetry, watch_queue
from graph_nodes import conversation

TEXTS = (SAID, NEVER_SAID, DENIED, *(str(message.content) for message in TALK))
EXPORTER, READER = InMemorySpanExporter(), InMemoryMetricReader()


@pytest.fixture(scope="module", autouse=True)
def providers() -> None:
    """What an application sets once; a process can set it only once."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(EXPORTER))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([READER]))


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    EXPORTER.clear()
    READER.get_metrics_data()
    yield


def put(store: Any, *memories: str) -> None:
    with conversation("thread-1", TALK):
        store.batch([PutOp(NAMESPACE, str(n), {"content": memory}) for n, memory in enumerate(memories)])


def spans(name: str) -> list[Any]:
    return [span for span in EXPORTER.get_finished_spans() if span.name == name]


def points(name: str) -> dict[tuple[Any, ...], Any]:
    """The metric's value (of a histogram its count) by its attributes."""
    data = READER.get_metrics_data()
    if data is None:
        return {}
    found = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics if m.name == name]
    return {
        tuple(value for _, value in sorted(point.attributes.items())): getattr(point, "value", None)
        if hasattr(point, "value")
        else point.count
        for metric in found
        for point in metric.data.data_points
    }


def test_each_write_has_a_span_with_its_verdict_beneath_the_one_of_its_batch() -> None:
    put(guarded(), SAID, NEVER_SAID)
    (batch,) = spans("admission.decide")
    writes = spans("admission.write")
    assert batch.attributes["admission.writes"] == 2
    assert {span.parent.span_id for span in writes} == {batch.context.span_id}
    seen = {(s.attributes["admission.status"], s.attributes["admission.action"]) for s in writes}
    assert seen == {("repaired", "persist"), ("unresolved", "quarantine")}
    for span in writes:
        assert span.attributes["admission.namespace"] == "memories/ana"
        assert span.attributes["admission.conversation"] == "thread-1"
        assert span.attributes["admission.calls"] > 0
        assert span.end_time - span.start_time == pytest.approx(
            span.attributes["admission.duration_ms"] * 1e6, rel=0.01
        )


async def test_async_writes_have_the_same_spans_within_the_callers_own() -> None:
    store = guarded()
    with trace.get_tracer("app").start_as_current_span("turn") as turn, conversation("thread-1", TALK):
        await asyncio.gather(*(store.aput(NAMESPACE, str(n), {"content": SAID, "n": n}) for n in range(2)))
    assert {span.parent.span_id for span in spans("admission.decide")} == {turn.get_span_context().span_id}
    assert len(spans("admission.write")) == 2
    assert {span.context.trace_id for span in EXPORTER.get_finished_spans()} == {turn.get_span_context().trace_id}


def test_writes_are_counted_by_status_with_their_duration_calls_and_tokens() -> None:
    before = points("admission.writes")
    put(guarded(), SAID, NEVER_SAID)
    after = points("admission.writes")
    assert after["persist", "repaired"] - before.get(("persist", "repaired"), 0) == 1
    assert after["quarantine", "unresolved"] - before.get(("quarantine", "unresolved"), 0) == 1
    assert points("admission.write.duration")[("repaired",)] >= 1
    assert points("admission.verifier.calls")[()] > 0
    assert set(points("admission.verifier.tokens")) == {("input",), ("output",)}


def test_calls_of_the_ledger_are_measured_by_operation_and_outcome() -> None:
    store = guarded()
    put(store, SAID)
    with pytest.raises(LedgerError):
        store.ledger.complete("no such write")
    operations = {span.name.removeprefix("admission.ledger.") for span in EXPORTER.get_finished_spans()}
    assert {"claim", "decide", "complete"} <= operations
    counted = points("admission.ledger.duration")
    assert counted["claim", "ok"] >= 1 and counted["complete", "error"] >= 1


def test_the_depth_of_watched_queues_is_their_sum_for_as_long_as_they_live() -> None:
    class FakeQueue:
        depth = 3

    first, second = FakeQueue(), FakeQueue()
    put(guarded(), SAID)
    empty = points("admission.queue.depth")[()]
    for queue in (first, second):
        watch_queue(queue, lambda owner: owner.depth)
    assert points("admission.queue.depth")[()] == empty + 6
    del second, queue
    assert points("admission.queue.depth")[()] == empty + 3


@pytest.mark.parametrize("log_text", [False, True])
def test_spans_hold_memory_text_only_where_that_is_allowed(log_text: bool) -> None:
    put(guarded(observability={"log_text": log_text}), SAID, NEVER_SAID, DENIED)
    told = json.dumps([dict(span.attributes) for span in EXPORTER.get_finished_spans()], default=str)
    assert any(text in told for text in TEXTS) is log_text


@pytest.mark.parametrize("log_text", [False, True])
def test_logs_hold_memory_text_only_where_that_is_allowed(log_text: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.handler.setFormatter(JsonFormatter())
    put(guarded(observability={"log_text": log_text}), SAID, NEVER_SAID, DENIED)
    lines = [json.loads(caplog.handler.format(record)) for record in caplog.records if record.name.startswith("adm")]
    assert [(line["status"], line["logger"]) for line in lines] == [
        ("repaired", "admission.decisions"),
        ("unresolved", "admission.decisions"),
        ("contradicted", "admission.decisions"),
    ]
    assert lines[1]["reason_codes"] == ["insufficient"] and lines[1]["action"] == "quarantine"
    assert any(text in json.dumps(lines) for text in TEXTS) is log_text


def test_messages_that_cannot_be_read_are_not_quoted_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    from langgraph.config import get_store
    from langgraph.graph import START, StateGraph
    from typing_extensions import TypedDict

    class Unreadable(TypedDict):
        messages: list[Any]

    def remember(state: Any) -> dict[str, Any]:
        get_store().put(NAMESPACE, "k", {"content": SAID})
        return {}

    store = guarded()
    graph = StateGraph(Unreadable).add_node(remember).add_edge(START, "remember").compile(store=store)
    graph.invoke({"messages": [{"text": "my secret"}]})
    assert caplog.records and "secret" not in caplog.text


def test_a_traceback_is_kept_in_a_json_line() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        record = logging.LogRecord("app", logging.ERROR, "f.py", 1, "failed %s", ("here",), sys.exc_info())
    line = json.loads(JsonFormatter().format(record))
    assert line["message"] == "failed here" and "ValueError: broken" in line["error"] and line["level"] == "ERROR"


def test_without_the_extra_writes_go_on_and_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    importing = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return importing(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    telemetry._instruments.cache_clear()
    try:
        store = guarded()
        put(store, SAID)
        assert [item.key for item in store.search(NAMESPACE)] == ["0"]
    finally:
        telemetry._instruments.cache_clear()
    assert EXPORTER.get_finished_spans() == ()


def test_a_langsmith_run_nests_in_the_callers_and_tells_the_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    from langsmith import Client, traceable, tracing_context

    session = MagicMock()
    client = Client(api_url="http://localhost:1", api_key="none", session=session, auto_batch_tracing=False)
    store = guarded()

    @traceable(name="turn", client=client)
    def turn() -> None:
        put(store, SAID, NEVER_SAID)

    with tracing_context(enabled=True):
        turn()
    sent = [json.loads(call.kwargs["data"]) for call in session.request.mock_calls if call.kwargs.get("data")]
    begun = {run["name"]: run for run in sent if "name" in run}
    assert begun["admission.decide"]["parent_run_id"] == begun["turn"]["id"]
    told = json.dumps(sent)
    assert '"quarantine"' in told and '"repaired"' in told
    assert not any(text in told for text in TEXTS)


def test_the_reports_are_the_same_with_and_without_text_in_the_logs() -> None:
    quiet, open_ = scripted_gate(), scripted_gate(observability={"log_text": True})
    assert quiet.config_digest == open_.config_digest
