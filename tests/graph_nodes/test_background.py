"""Background mode: a put returns at once, its memory shows when it was judged, and nothing of it is ever lost."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from langgraph.types import RetryPolicy
from ledger_places import Place
from scripted_gate import (
    DENIED,
    NAMESPACE,
    NEVER_SAID,
    SAID,
    TALK,
    FakeFullLedger,
    asked,
    judges,
    scripted_gate,
    stored,
    verifications,
)

from admission.errors import InputError, LedgerError
from admission.ledger import Ledger, SqliteLedger, open_ledger
from admission.records import Report
from graph_nodes import AdmissionStore, collect_reports, conversation

OTHER = "Ana moved to Lisbon."
PATIENCE_S = 60.0
FORK = multiprocessing.get_context("fork")


class FakeVerdicts:
    """A gate whose verdicts come when they are let through."""

    def __init__(self, store: AdmissionStore) -> None:
        self.begun = threading.Event()
        self._go = threading.Event()
        self._judge = store.gate.decide_many
        store.gate.decide_many = self._when_let  # type: ignore[method-assign]

    def let_through(self) -> None:
        self._go.set()

    def _when_let(self, writes: Any) -> Any:
        self.begun.set()
        assert self._go.wait(PATIENCE_S)
        return self._judge(writes)


def background(
    inner: Any = None,
    ledger: Ledger | None = None,
    on_report: Callable[[Report], None] | None = None,
    **writes: Any,
) -> AdmissionStore:
    return AdmissionStore(
        inner if inner is not None else InMemoryStore(),
        gate=scripted_gate(writes={"mode": "background", **writes}),
        ledger=ledger if ledger is not None else open_ledger("sqlite://"),
        on_report=on_report,
    )


def put(store: AdmissionStore, key: str, memory: str, talk: list[Any] = TALK) -> None:
    """In a thread of its own for each key: an equal value in the same one would be taken for a retry."""
    with conversation(f"thread of {key}", talk):
        store.put(NAMESPACE, key, {"content": memory})


# --- Pending ----------------------------------------------------------------------------------------------------------


def test_a_put_returns_before_the_verdict_and_shows_after_it() -> None:
    store = background()
    verdicts = FakeVerdicts(store)
    put(store, "k", SAID)
    put(store, "held", NEVER_SAID)
    assert store.list_namespaces() == [] and store.search(()) == [] and store.inner.search(()) == []
    assert store.get(NAMESPACE, "k") is None
    assert [(r.intent.key, r.state) for r in store.pending()] == [("k", "claimed"), ("held", "claimed")]
    assert store.report_for(NAMESPACE, "k") is None
    assert not store.flush(timeout=0)
    verdicts.let_through()
    assert store.flush()
    assert stored(store) == {"k": {"content": SAID}}
    assert store.pending() == []
    assert [record.intent.key for record in store.ledger.quarantine()] == ["held"]
    assert store.ledger.verify().ok


async def test_an_async_put_does_so_too() -> None:
    store = background()
    verdicts = FakeVerdicts(store)
    with conversation("t", TALK):
        await store.aput(NAMESPACE, "k", {"content": SAID})
    assert await store.asearch(()) == []
    assert [record.intent.key for record in await store.apending()] == ["k"]
    assert not await store.aflush(timeout=0)
    verdicts.let_through()
    assert await store.aflush()
    assert (await store.aget(NAMESPACE, "k")).value == {"content": SAID}  # type: ignore[union-attr]


async def test_the_store_beneath_may_need_the_event_loop() -> None:
    async with AsyncSqliteStore.from_conn_string(":memory:") as inner:
        await inner.setup()
        async with background(inner) as store:
            with conversation("t", TALK):
                await store.aput(NAMESPACE, "k", {"content": SAID})
            assert await store.aflush()
            assert [item.key for item in await store.asearch(NAMESPACE)] == ["k"]


def test_what_is_said_after_the_put_is_not_evidence() -> None:
    store = background()
    verdicts = FakeVerdicts(store)
    talk = TALK[1:]
    with conversation("t", talk):
        store.put(NAMESPACE, "k", {"content": SAID})
    with conversation("t", [*talk, TALK[0]]):
        store.put(NAMESPACE, "another", {"content": NEVER_SAID})
    verdicts.let_through()
    assert store.flush()
    assert stored(store) == {}
    assert {p.turn_id for question in asked(store) for p in question.passages if question.obligation.text == SAID} <= {
        "m2",
        "m3",
    }


def test_a_value_changed_by_the_caller_afterwards_is_not_what_is_stored() -> None:
    store = background()
    verdicts = FakeVerdicts(store)
    value = {"content": SAID}
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", value)
    value["content"] = NEVER_SAID
    verdicts.let_through()
    assert store.flush() and stored(store) == {"k": {"content": SAID}}


def test_the_ledger_keeps_the_conversation_until_the_decision_and_no_longer(place: Place) -> None:
    with closing(place.open()) as ledger:
        store = background(ledger=ledger)
        verdicts = FakeVerdicts(store)
        put(store, "k", SAID)
        put(store, "held", NEVER_SAID)
        kept = [record.intent.conversation for record in store.pending()]
        assert [[turn.id for turn in turns or ()] for turns in kept] == [["m1", "m2", "m3"]] * 2
        verdicts.let_through()
        assert store.flush()
        assert place.rows("SELECT conversation FROM writes") == [(None,), (None,)]


# --- How a caller learns ----------------------------------------------------------------------------------------------


def test_collectors_of_the_caller_and_on_report_learn_of_every_verdict() -> None:
    heard: list[Report] = []
    store = background(on_report=heard.append)
    with collect_reports() as reports:
        put(store, "k", SAID)
        put(store, "held", NEVER_SAID)
        assert store.flush()
    with collect_reports() as others:
        put(store, "denied", DENIED)
    assert store.flush()
    assert [report.status for report in reports] == ["repaired", "unresolved"]
    assert [report.status for report in others] == ["contradicted"]
    assert heard == [*reports, *others]


def test_an_audience_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Report) -> None:
        raise RuntimeError("nobody listens")

    store = background(on_report=fail)
    put(store, "k", SAID)
    assert store.flush() and stored(store) == {"k": {"content": SAID}}
    assert "on_report failed" in caplog.text


# --- In graphs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run_async", [False, True])
async def test_in_a_graph_the_messages_at_the_put_are_the_evidence(run_async: bool) -> None:
    store = background()
    verdicts = FakeVerdicts(store)

    def write(state: MessagesState) -> dict[str, Any]:
        get_store().put(NAMESPACE, "k", {"content": SAID})
        get_store().put(NAMESPACE, "late", {"content": "Ana plays the harp."})
        return {"messages": [HumanMessage("Ana plays the harp.", id="later")]}

    graph = StateGraph(MessagesState).add_node(write).add_edge(START, "write").compile(store=store)
    with collect_reports() as reports:
        if run_async:
            await graph.ainvoke({"messages": TALK})
        else:
            graph.invoke({"messages": TALK})
    assert store.search(()) == []
    verdicts.let_through()
    assert await store.aflush()
    assert stored(store) == {"k": {"content": SAID}}
    assert sorted(report.status for report in reports) == ["repaired", "unresolved"]


def test_a_node_that_is_retried_writes_once() -> None:
    store = background()
    verdicts = FakeVerdicts(store)
    tries: list[str] = []

    def write(state: MessagesState) -> dict[str, Any]:
        tries.append(f"key of try {len(tries)}")
        get_store().put(NAMESPACE, tries[-1], {"content": SAID})
        if len(tries) < 3:
            raise ConnectionError
        return {}

    policy = RetryPolicy(initial_interval=0.001, jitter=False)
    graph = StateGraph(MessagesState).add_node("write", write, retry_policy=policy).add_edge(START, "write")
    graph.compile(store=store).invoke({"messages": TALK}, {"configurable": {"thread_id": "t"}})
    assert len(tries) == 3
    verdicts.let_through()
    assert store.flush()
    assert stored(store) == {"key of try 0": {"content": SAID}}
    assert verifications(store) == 1
    assert all(len(judge.asked) == len(set(judge.asked)) for judge in judges(store))


# --- The queue --------------------------------------------------------------------------------------------------------


def test_a_put_waits_for_room_in_a_full_queue() -> None:
    store = background(queue=2)
    verdicts = FakeVerdicts(store)
    put(store, "a", SAID)
    put(store, "b", SAID)
    with ThreadPoolExecutor(1) as pool:
        third = pool.submit(put, store, "c", SAID)
        with pytest.raises(TimeoutError):
            third.result(timeout=0.1)
        assert [record.intent.key for record in store.pending()] == ["a", "b"]
        verdicts.let_through()
        third.result(timeout=PATIENCE_S)
    assert store.flush() and set(stored(store)) == {"a", "b", "c"}


async def test_an_async_put_waits_for_room_and_the_loop_goes_on() -> None:
    store = background(queue=1)
    verdicts = FakeVerdicts(store)
    with conversation("t", TALK):
        await store.aput(NAMESPACE, "a", {"content": SAID})
        second = asyncio.create_task(store.aput(NAMESPACE, "b", {"content": SAID}))
        done, _ = await asyncio.wait({second}, timeout=0.1)
        assert not done
        given_up = asyncio.create_task(store.aput(NAMESPACE, "c", {"content": SAID}))
        await asyncio.sleep(0.05)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
    verdicts.let_through()
    await second
    assert await store.aflush() and set(stored(store)) == {"a", "b"}
    assert store.pending() == []


def test_a_batch_larger_than_the_queue_is_taken_when_it_is_empty() -> None:
    store = background(queue=2)
    with conversation("t", TALK):
        store.batch([PutOp(NAMESPACE, str(n), {"content": SAID, "n": n}) for n in range(5)])
    assert store.flush() and len(stored(store)) == 5


def test_a_closed_store_takes_no_puts_and_has_settled_those_before() -> None:
    with background() as store:
        put(store, "k", SAID)
    assert stored(store) == {"k": {"content": SAID}}
    with pytest.raises(InputError, match="closed"):
        put(store, "another", SAID)
    assert store.close()


def test_what_another_process_is_judging_keeps_nobody_waiting_and_is_not_judged_twice(place: Place) -> None:
    inner = InMemoryStore()
    with closing(place.open()) as one, closing(place.open()) as another:
        elsewhere, store = background(inner, one), background(inner, another)
        verdicts = FakeVerdicts(elsewhere)
        put(elsewhere, "k", SAID)
        assert verdicts.begun.wait(PATIENCE_S)
        store.search(())
        put(store, "k", SAID)
        put(store, "later", SAID)
        deadline = time.monotonic() + PATIENCE_S
        while set(stored(store)) != {"later"}:
            assert time.monotonic() < deadline
        assert not store.flush(timeout=0)
        verdicts.let_through()
        assert store.flush() and elsewhere.flush()
        assert set(stored(store)) == {"k", "later"}
        assert verifications(store) == 2 and store.pending() == []


# --- Order ------------------------------------------------------------------------------------------------------------


def test_the_last_put_of_a_key_that_is_admitted_is_what_it_has() -> None:
    store = background()
    verdicts = FakeVerdicts(store)
    put(store, "k", SAID)
    put(store, "k", OTHER)
    put(store, "k", NEVER_SAID)
    put(store, "back", SAID)
    put(store, "back", OTHER)
    put(store, "back", SAID)
    verdicts.let_through()
    assert store.flush()
    assert stored(store) == {"k": {"content": OTHER}, "back": {"content": SAID}}
    assert store.pending() == [] and store.ledger.verify().ok


def test_a_delete_after_a_pending_put_wins_and_a_put_after_it_again() -> None:
    store = background()
    verdicts = FakeVerdicts(store)
    put(store, "gone", SAID)
    put(store, "again", SAID)
    with conversation("thread of again", TALK):
        store.delete(NAMESPACE, "gone")
        store.batch([PutOp(NAMESPACE, "again", None), PutOp(NAMESPACE, "again", {"content": SAID})])
    verdicts.let_through()
    assert store.flush()
    assert stored(store) == {"again": {"content": SAID}}
    assert store.report_for(NAMESPACE, "gone").status == "repaired"  # type: ignore[union-attr]
    assert store.pending() == [] and store.ledger.verify().ok


def test_a_verdict_that_comes_late_does_not_undo_what_others_wrote_meanwhile() -> None:
    inner, ledger = InMemoryStore(), open_ledger("sqlite://")
    late = background(inner, ledger)
    verdicts = FakeVerdicts(late)
    put(late, "k", SAID)
    put(late, "gone", SAID)
    prompt = AdmissionStore(inner, gate=scripted_gate(), ledger=ledger)
    with conversation("another", TALK):
        prompt.put(NAMESPACE, "k", {"content": OTHER})
        prompt.delete(NAMESPACE, "gone")
    verdicts.let_through()
    assert late.flush()
    assert stored(prompt) == {"k": {"content": OTHER}}
    assert [entry.kind for entry in ledger.entries()].count("overtaken") == 2
    assert ledger.incomplete() == [] and ledger.verify().ok


@pytest.mark.parametrize("what", ["put", "delete"])
def test_who_writes_while_a_late_value_is_put_still_has_the_last_word(what: str) -> None:
    class FakeSlowStore(InMemoryStore):
        def batch(self, ops: Iterable[Op]) -> list[Result]:
            ops = list(ops)
            if any(isinstance(op, PutOp) and op.value == {"content": SAID} for op in ops):
                self.meanwhile()
            return super().batch(ops)

        def meanwhile(self) -> None:
            with conversation("another", TALK):
                if what == "put":
                    prompt.put(NAMESPACE, "k", {"content": OTHER})
                else:
                    prompt.delete(NAMESPACE, "k")

    inner, ledger = FakeSlowStore(), open_ledger("sqlite://")
    prompt = AdmissionStore(inner, gate=scripted_gate(), ledger=ledger)
    prompt.search(())
    late = background(inner, ledger)
    put(late, "k", SAID)
    assert late.flush()
    assert stored(prompt) == ({"k": {"content": OTHER}} if what == "put" else {})
    assert ledger.incomplete() == [] and ledger.verify().ok


KEYS = st.sampled_from(["a", "b"])
VALUES = st.sampled_from([{"content": SAID}, {"content": OTHER}, None])
BATCHES = st.lists(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=3), max_size=6)


@settings(deadline=None, max_examples=40)
@given(BATCHES)
def test_where_all_is_admitted_the_store_ends_as_it_would_without_the_guard(
    batches: list[list[tuple[str, dict[str, Any] | None]]],
) -> None:
    raw, store = InMemoryStore(), background(queue=3)
    with conversation("t", TALK):
        for ops in batches:
            puts = [PutOp(NAMESPACE, key, value) for key, value in ops]
            raw.batch(puts)
            store.batch(puts)
    assert store.flush()
    assert stored(store) == stored(raw)
    for key in ("a", "b"):
        latest = store.ledger.latest(NAMESPACE, key)
        assert stored(raw).get(key) == (latest.stored_value if latest is not None else None)
    assert store.pending() == [] and store.ledger.verify().ok


def test_many_writers_of_few_keys_leave_the_store_as_the_ledger_says() -> None:
    inner, ledger = InMemoryStore(), open_ledger("sqlite://")
    stores = [background(inner, ledger) for _ in range(3)]

    def write(number: int) -> None:
        store = stores[number % 3]
        with conversation(f"t{number}", TALK):
            if number % 5 == 4:
                store.delete(NAMESPACE, f"k{number % 2}")
            else:
                store.put(NAMESPACE, f"k{number % 2}", {"content": SAID, "number": number})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(60)))
    assert all(store.flush() for store in stores)
    for key in ("k0", "k1"):
        latest = ledger.latest(NAMESPACE, key)
        assert stored(inner).get(key) == (latest.stored_value if latest is not None else None)
    assert ledger.incomplete() == [] and ledger.verify().ok


# --- Failures ---------------------------------------------------------------------------------------------------------


def test_a_verifier_that_fails_leaves_the_memory_unresolved() -> None:
    def broken(question: Any) -> tuple[float, float]:
        raise RuntimeError("out of memory")

    store = background()
    store.gate.verifiers["verifier_a"]._script = broken  # type: ignore[attr-defined]
    put(store, "k", SAID)
    assert store.flush() and stored(store) == {}
    assert store.report_for(NAMESPACE, "k").status == "unresolved"  # type: ignore[union-attr]


def test_what_the_store_beneath_refuses_stays_decided_and_is_stored_at_a_later_flush() -> None:
    class FakeAwayStore(InMemoryStore):
        away = True

        def batch(self, ops: Iterable[Op]) -> list[Result]:
            ops = list(ops)
            if self.away and any(isinstance(op, PutOp) and op.key == "k" for op in ops):
                raise ConnectionError("the store is away")
            return super().batch(ops)

    store = background(FakeAwayStore())
    put(store, "k", SAID)
    put(store, "another", SAID)
    assert not store.flush()
    assert [(record.intent.key, record.state) for record in store.pending()] == [("k", "decided")]
    assert set(stored(store)) == {"another"}
    store.inner.away = False  # type: ignore[attr-defined]
    assert store.recover().failed == ()
    assert set(stored(store)) == {"another", "k"} and store.pending() == []
    assert store.flush()


def test_what_the_ledger_refuses_stays_pending_and_is_judged_at_a_later_flush() -> None:
    ledger = FakeFullLedger()
    store = background(ledger=ledger)
    put(store, "k", SAID)
    with pytest.raises(LedgerError):
        store.flush()
    assert [record.state for record in store.pending()] == ["claimed"] and stored(store) == {}
    ledger.full = False
    assert store.recover().judged
    assert stored(store) == {"k": {"content": SAID}} and store.flush()


async def test_a_put_cancelled_while_it_is_made_is_judged_all_the_same() -> None:
    claiming, go = threading.Event(), threading.Event()

    class FakeSlowLedger(SqliteLedger):
        def claim(self, intent: Any) -> Any:
            claiming.set()
            assert go.wait(PATIENCE_S)
            return super().claim(intent)

    store = background(ledger=FakeSlowLedger())
    with conversation("t", TALK):
        write = asyncio.create_task(store.aput(NAMESPACE, "k", {"content": SAID}))
    await asyncio.to_thread(claiming.wait)
    write.cancel()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await write
    assert await store.aflush() and stored(store) == {"k": {"content": SAID}}


class FakeRefusingStore(InMemoryStore):
    """Refuses puts while `away`."""

    away = True

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        if self.away and any(isinstance(op, PutOp) for op in ops):
            raise ConnectionError("the store is away")
        return super().batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return self.batch(ops)


def test_flush_and_close_say_false_for_as_long_as_something_is_not_stored() -> None:
    inner = FakeRefusingStore()
    store = background(inner)
    put(store, "k", SAID)
    assert not store.flush() and not store.flush() and not store.close()
    inner.away = False
    assert store.flush() and stored(store) == {"k": {"content": SAID}}


async def test_aflush_and_aclose_do_so_too() -> None:
    inner = FakeRefusingStore()
    store = background(inner)
    put(store, "k", SAID)
    assert not await store.aflush() and not await store.aflush() and not await store.aclose()
    inner.away = False
    assert await store.aflush() and stored(store) == {"k": {"content": SAID}}


def test_a_flush_that_raised_is_not_followed_by_one_that_says_all_is_well() -> None:
    store = background(FakeRefusingStore())
    put(store, "k", SAID)
    assert not store.flush()
    incomplete = store.ledger.incomplete

    def refuse() -> Any:
        raise LedgerError("ledger", "cannot be read", "look at the disk")

    store.ledger.incomplete = refuse  # type: ignore[method-assign]
    with pytest.raises(LedgerError):
        store.flush()
    store.ledger.incomplete = incomplete  # type: ignore[method-assign]
    assert not store.flush()


@pytest.mark.parametrize("use_async", [False, True])
async def test_what_the_first_use_could_not_finish_counts_as_unfinished_at_a_flush(use_async: bool) -> None:
    inner, ledger = FakeRefusingStore(), open_ledger("sqlite://")
    earlier = AdmissionStore(inner, gate=scripted_gate(), ledger=ledger)
    with pytest.raises(ConnectionError):
        put(earlier, "k", SAID)
    store = background(inner, ledger)
    assert (await store.aget(NAMESPACE, "k") if use_async else store.get(NAMESPACE, "k")) is None
    assert not (await store.aflush() if use_async else store.flush())
    inner.away = False
    assert store.flush() and stored(store) == {"k": {"content": SAID}}


# --- on_report uses the store -----------------------------------------------------------------------------------------


def finishes(call: Callable[[], Any]) -> bool:
    """Does this call end? In a thread that a hang does not take the tests with it."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(PATIENCE_S / 6)
    return not thread.is_alive()


def leave_without_verdict(ledger: Ledger) -> None:
    """A write that is pending in the ledger, and that nobody is at."""
    store = background(ledger=ledger)

    def killed(*_: Any) -> Any:
        raise SystemExit

    store.gate.decide_many = killed  # type: ignore[method-assign]
    put(store, "k", SAID)
    with pytest.raises(SystemExit):
        store.flush()


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.get(NAMESPACE, "another"),
        lambda store: asyncio.run(store.aget(NAMESPACE, "another")),
        lambda store: store.recover(),
        lambda store: asyncio.run(store.arecover()),
        lambda store: store.put(("audit",), "k", {"content": SAID}),
        lambda store: store.flush(),
    ],
    ids=["get", "aget", "recover", "arecover", "put", "flush"],
)
def test_on_report_may_use_a_store_whose_first_use_is_finishing_pending_writes(
    use: Callable[[AdmissionStore], Any],
) -> None:
    ledger, used = open_ledger("sqlite://"), []
    leave_without_verdict(ledger)

    def on_report(_: Report) -> None:
        if not used:
            used.append("begun")
            use(store)
            used.append("ended")

    store = AdmissionStore(InMemoryStore(), gate=scripted_gate(), ledger=ledger, on_report=on_report)
    assert finishes(lambda: store.get(NAMESPACE, "k"))
    assert used == ["begun", "ended"]
    assert stored(store) == {"k": {"content": SAID}} and store.pending() == []


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.flush(),
        lambda store: store.flush(0),
        lambda store: asyncio.run(store.aflush()),
        lambda store: store.close(),
        lambda store: asyncio.run(store.aclose()),
    ],
    ids=["flush", "flush with a timeout", "aflush", "close", "aclose"],
)
def test_on_report_is_told_that_it_cannot_flush_or_close_what_waits_for_it(
    use: Callable[[AdmissionStore], Any],
) -> None:
    errors: list[InputError] = []

    def on_report(_: Report) -> None:
        try:
            use(store)
        except InputError as error:
            errors.append(error)

    store = background(on_report=on_report)
    put(store, "k", SAID)
    assert finishes(store.flush)
    (error,) = errors
    assert "on_report" in error.problem and "another thread" in error.remedy
    put(store, "not closed", SAID)
    assert store.flush() and set(stored(store)) == {"k", "not closed"}


@pytest.mark.parametrize("use_async", [False, True])
def test_a_put_in_on_report_does_not_wait_for_the_room_it_is_to_make(use_async: bool) -> None:
    heard: list[Report] = []

    def on_report(report: Report) -> None:
        heard.append(report)
        if len(heard) == 1:
            with conversation("audit", TALK):
                if use_async:
                    asyncio.run(store.aput(NAMESPACE, "audit", {"content": SAID}))
                else:
                    store.put(NAMESPACE, "audit", {"content": SAID})

    store = background(on_report=on_report, queue=1)
    put(store, "k", SAID)
    assert finishes(store.flush)
    assert set(stored(store)) == {"k", "audit"} and len(heard) == 2


def test_on_report_may_use_the_store_while_a_loop_that_is_at_its_first_use_flushes() -> None:
    store = background(on_report=lambda _: store.get(NAMESPACE, "another"))

    async def put_and_flush() -> None:
        await asyncio.sleep(0)  # the async first use has begun, and cannot go on before this returns
        put(store, "k", SAID)
        assert store.flush()

    async def both() -> None:
        await asyncio.gather(store.aget(NAMESPACE, "another"), put_and_flush())

    assert finishes(lambda: asyncio.run(both()))
    assert stored(store) == {"k": {"content": SAID}}


# --- The end of a process ---------------------------------------------------------------------------------------------


def store_at(place: Place, folder: Path) -> AdmissionStore:
    connection = sqlite3.connect(folder / "store.db", check_same_thread=False, isolation_level=None, timeout=60)
    inner = SqliteStore(connection)
    inner.setup()
    return background(inner, place.open())


def leave_pending(place: Place, folder: Path, told: Connection) -> None:
    store = store_at(place, folder)
    verdicts = FakeVerdicts(store)
    put(store, "k", SAID)
    put(store, "held", NEVER_SAID)
    verdicts.begun.wait(PATIENCE_S)
    told.send("pending")
    told.recv()


@contextmanager
def process(run: Callable[..., None], *args: Any) -> Iterator[Connection]:
    here, there = FORK.Pipe()
    child = FORK.Process(target=run, args=(*args, there), daemon=True)
    child.start()
    there.close()
    try:
        yield here
    finally:
        child.kill()
        child.join()


@pytest.mark.parametrize("mode", ["background", "blocking"])
def test_pending_writes_of_a_killed_process_are_judged_by_the_next_and_not_before(
    place: Place, tmp_path: Path, mode: str
) -> None:
    store = store_at(place, tmp_path)
    if mode == "blocking":
        store = AdmissionStore(store.inner, gate=scripted_gate(), ledger=store.ledger)
    with closing(store.ledger):
        with process(leave_pending, place, tmp_path) as other:
            assert other.recv() == "pending"
            while_it_lives = store.recover()
            assert (while_it_lives.judged, while_it_lives.interrupted) == ((), ())
            assert len(store.pending()) == 2
        deadline = time.monotonic() + PATIENCE_S
        while len(store.recover().judged) < 2 and store.pending():  # a server learns of the death a moment later
            assert time.monotonic() < deadline
        assert stored(store) == {"k": {"content": SAID}}
        assert [record.intent.key for record in store.ledger.quarantine()] == ["held"]
        assert {report.status for _, report in store.ledger.reports()} == {"repaired", "unresolved"}
        assert store.pending() == [] and store.ledger.verify().ok


def test_the_first_use_after_a_crash_does_not_wait_for_the_verdicts(place: Place, tmp_path: Path) -> None:
    with process(leave_pending, place, tmp_path) as other:
        assert other.recv() == "pending"
    store = store_at(place, tmp_path)
    with closing(store.ledger):
        deadline = time.monotonic() + PATIENCE_S
        while not all(store.ledger.hold(record.intent.fingerprint) for record in store.pending()):
            assert time.monotonic() < deadline
        for record in store.pending():
            store.ledger.release(record.intent.fingerprint)
        verdicts = FakeVerdicts(store)
        assert store.get(NAMESPACE, "k") is None and len(store.pending()) == 2
        verdicts.let_through()
        assert store.flush() and stored(store) == {"k": {"content": SAID}}


SCRIPT = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
sys.path[:0] = sys.argv[2:]
from test_background import background, put
from admission.ledger import open_ledger
from scripted_gate import SAID
store = background(ledger=open_ledger(sys.argv[1]))
judge = store.gate.decide_many
def in_a_pool(writes):
    time.sleep(0.5)  # the main thread has ended
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: list(judge(writes))).result()
store.gate.decide_many = in_a_pool
put(store, "k", SAID)
"""


def test_a_process_does_not_end_before_its_writes_are_settled(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "ledger")]
    subprocess.run([sys.executable, "-c", SCRIPT, url, *folders], check=True)
    with closing(open_ledger(url)) as ledger:
        assert [entry.kind for entry in ledger.entries()] == ["report", "stored"]
