"""Writes left unfinished: by a store that failed, by a process that ended. Finished once, or set aside, never lost."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from typing import Any, Literal

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from langgraph.types import RetryPolicy
from ledger_places import Place
from scripted_gate import (
    NAMESPACE,
    NEVER_SAID,
    SAID,
    TALK,
    asked,
    guarded,
    judges,
    scripted_gate,
    stored,
    verifications,
)

from admission.history import History
from admission.ledger import Ledger, SqliteLedger, fingerprint_of, open_ledger
from graph_nodes import AdmissionStore, collect_reports, conversation
from graph_nodes.outside import OutsideMemory
from graph_nodes.recovery import Recovery
from graph_nodes.review_desk import ReviewAnswer, ReviewDecision, ReviewDesk
from graph_nodes.scope import turns_of

OTHER = "Ana moved to Lisbon."


class Failing(InMemoryStore):
    """Refuses puts while `broken`."""

    broken = True

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        if self.broken and any(isinstance(op, PutOp) for op in ops):
            raise ConnectionError("the store is away")
        return super().batch(ops)


def left_decided(inner: Failing, ledger: Ledger) -> AdmissionStore:
    """A store that goes on after a write of "k" was admitted while the store beneath was away."""
    live = guarded(inner, ledger=ledger)
    fail_to_put(live, inner, "k", SAID)
    return live


def fail_to_put(live: AdmissionStore, inner: Failing, key: str, memory: str) -> None:
    inner.broken = True
    with conversation("t", TALK), pytest.raises(ConnectionError):
        live.put(NAMESPACE, key, {"content": memory})
    inner.broken = False


def left_claimed(ledger: Ledger) -> None:
    """A write whose process ended before the verdict, made after the same conversation as `put_again`."""
    store = guarded(ledger=ledger)

    def killed(*_: Any, **__: Any) -> Any:
        raise SystemExit

    store.gate.decide_many = killed  # type: ignore[method-assign]
    with conversation("t", TALK), pytest.raises(SystemExit):
        store.put(NAMESPACE, "k", {"content": SAID})


def run_in_a_task(node: Callable[[MessagesState], dict[str, Any]], retry: RetryPolicy | None = None) -> None:
    graph = StateGraph(MessagesState).add_node("node", node, retry_policy=retry).add_edge(START, "node").compile()
    graph.invoke({"messages": TALK})


def named(name: str, ledger: Ledger, inner: InMemoryStore | None = None) -> AdmissionStore:
    return AdmissionStore(inner or InMemoryStore(), gate=scripted_gate(), ledger=ledger, name=name)


def decided_on(store: AdmissionStore, verdict: Literal["reject", "edit"], text: str | None = None) -> None:
    """A person decides on the one memory in quarantine."""
    (held,) = store.ledger.waiting()
    assert held.report is not None
    decision = ReviewDecision(id=held.report.id, verdict=verdict, why="Ana asked", text=text)
    answer, desk = ReviewAnswer(by="Kim", decisions=[decision]), ReviewDesk(store.ledger, store.settings)
    edits = desk.edits(answer, [held], ())
    reports = store.gate.decide_many([(edit.candidate, History.of("t", turns_of(TALK))) for edit in edits.values()])
    desk.settle(answer, [held], edits, list(reports))
    store.recover()


def put_again(store: AdmissionStore, key: str) -> None:
    with conversation("t", TALK):
        store.put(NAMESPACE, key, {"content": SAID})


@pytest.fixture
def ledger() -> Ledger:
    return open_ledger("sqlite://")


def test_an_error_of_the_store_is_the_callers_and_a_retry_finishes_the_write_under_its_first_key(
    ledger: Ledger,
) -> None:
    store = left_decided(Failing(), ledger)
    questions = len(asked(store))
    put_again(store, "a new key")
    assert stored(store) == {"k": {"content": SAID}}
    assert verifications(store) == 1 and len(asked(store)) == questions
    assert ledger.incomplete() == [] and ledger.verify().ok


def test_the_next_start_finishes_what_was_decided(ledger: Ledger) -> None:
    inner = Failing()
    left_decided(inner, ledger)
    store = guarded(inner, ledger=ledger)
    assert stored(store) == {"k": {"content": SAID}}
    assert ledger.incomplete() == [] and verifications(store) == 1


async def test_the_next_start_of_an_async_process_does_too(ledger: Ledger) -> None:
    inner = Failing()
    left_decided(inner, ledger)
    store = guarded(inner, ledger=ledger)
    first, second = await asyncio.gather(store.aget(NAMESPACE, "k"), store.aget(NAMESPACE, "k"))
    assert first is not None and second is not None
    assert ledger.incomplete() == []


def test_what_was_written_or_deleted_since_is_not_undone(ledger: Ledger) -> None:
    inner = Failing()
    live = left_decided(inner, ledger)
    fail_to_put(live, inner, "gone", "Ana moved in May.")
    with conversation("t", TALK):
        live.put(NAMESPACE, "k", {"content": OTHER})
    live.delete(NAMESPACE, "gone")
    recovery = guarded(inner, ledger=ledger).recover()
    assert len(recovery.overtaken) == 2 and recovery.stored == ()
    assert stored(live) == {"k": {"content": OTHER}}
    assert {e.fingerprint for e in ledger.entries() if e.kind == "overtaken"} == set(recovery.overtaken)
    assert ledger.incomplete() == []
    assert ledger.verify().ok


def test_of_two_unfinished_writes_of_one_key_the_later_stays(ledger: Ledger) -> None:
    inner = Failing()
    live = left_decided(inner, ledger)
    fail_to_put(live, inner, "k", OTHER)
    assert stored(guarded(inner, ledger=ledger)) == {"k": {"content": OTHER}}


def test_a_write_the_store_still_refuses_is_named_and_holds_up_nothing(ledger: Ledger) -> None:
    inner = Failing()
    left_decided(inner, ledger)
    inner.broken = True
    store = guarded(inner, ledger=ledger)
    assert store.search(NAMESPACE) == []
    (failed,) = store.recover().failed
    assert failed[1] == "ConnectionError: the store is away"
    inner.broken = False
    assert store.recover().stored == (failed[0],)
    assert stored(store) == {"k": {"content": SAID}}


def test_a_write_without_a_verdict_is_quarantined_as_unresolved(ledger: Ledger) -> None:
    left_claimed(ledger)
    store = guarded(ledger=ledger)
    assert stored(store) == {}
    report = store.report_for(NAMESPACE, "k")
    assert report is not None and (report.status, report.action) == ("unresolved", "quarantine")
    assert report.reasons[0].startswith("interrupted:")
    assert [record.intent.key for record in ledger.quarantine()] == ["k"]


@pytest.mark.parametrize("recovered_first", [False, True])
def test_a_retry_of_a_write_without_a_verdict_gets_a_real_one_and_one_row(
    ledger: Ledger, recovered_first: bool
) -> None:
    store = guarded(ledger=ledger)
    if not recovered_first:
        store.search(())  # this one was running before the other's process ended
    left_claimed(ledger)
    with collect_reports() as reports:
        put_again(store, "second try")
        put_again(store, "third try")
    assert [report.status for report in reports] == ["repaired", "repaired"]
    assert stored(store) == {"k": {"content": SAID}}
    assert all(len(judge.asked) == len(set(judge.asked)) for judge in judges(store))  # no question twice
    assert ledger.verify().ok


@pytest.mark.parametrize("key", ["k", "a new key"])
def test_an_interrupted_write_that_was_rejected_stays_rejected_when_it_is_made_again(ledger: Ledger, key: str) -> None:
    left_claimed(ledger)
    store = guarded(ledger=ledger)
    store.recover()
    decided_on(store, "reject")
    with collect_reports() as reports:
        put_again(store, key)
    assert [report.action for report in reports] == ["quarantine"]
    assert stored(store) == {} and ledger.waiting() == []


@pytest.mark.parametrize("key", ["k", "a new key"])
@pytest.mark.parametrize(("text", "result"), [(OTHER, {"k": {"content": OTHER}}), (NEVER_SAID, {})])
def test_an_interrupted_write_that_was_edited_stays_as_edited_when_it_is_made_again(
    ledger: Ledger, key: str, text: str, result: dict[str, Any]
) -> None:
    left_claimed(ledger)
    store = guarded(ledger=ledger)
    store.recover()
    decided_on(store, "edit", text)
    assert stored(store) == result
    with collect_reports() as reports:
        put_again(store, key)
    assert [report.memory for report in reports] == [text]
    assert stored(store) == result and ledger.verify().ok


def recovering_while_it_judges(store: AdmissionStore, *others: AdmissionStore) -> list[Recovery]:
    """What recoveries by the others do to a write that `store` is judging."""
    recoveries: list[Recovery] = []
    judge = store.gate.decide_many

    def meanwhile(writes: Any) -> Any:
        recoveries.extend(other.recover() for other in others)
        return judge(writes)

    store.gate.decide_many = meanwhile  # type: ignore[method-assign]
    put_again(store, "k")
    return recoveries


def test_a_recovery_leaves_a_write_that_is_being_judged_alone(place: Place) -> None:
    with closing(place.open()) as ledger, closing(place.open()) as elsewhere:
        store = guarded(ledger=ledger)
        others = guarded(ledger=ledger), guarded(ledger=elsewhere)
        assert recovering_while_it_judges(store, *others) == [Recovery(), Recovery()]
        assert stored(store) == {"k": {"content": SAID}}
        assert verifications(store) == 1
        assert ledger.incomplete() == [] and ledger.verify().ok


def test_where_nothing_keeps_processes_apart_a_recovery_does_not_take_a_live_write_from_its_writer() -> None:
    class FakeUnlockedLedger(SqliteLedger):
        def hold(self, fingerprint: str) -> bool:
            return True

    ledger = FakeUnlockedLedger()
    store = guarded(ledger=ledger)
    (recovery,) = recovering_while_it_judges(store, guarded(ledger=ledger))
    assert len(recovery.interrupted) == 1
    assert stored(store) == {"k": {"content": SAID}}
    assert verifications(store) == 2  # the interruption, and the verdict
    assert ledger.incomplete() == [] and ledger.verify().ok


async def test_a_cancelled_write_is_finished_or_set_aside_at_the_next_start(ledger: Ledger) -> None:
    store = guarded(ledger=ledger)
    judging = asyncio.Event()

    async def never(*_: Any) -> Any:
        judging.set()
        await asyncio.Event().wait()

    store.gate.adecide = never  # type: ignore[method-assign]
    with conversation("t", TALK):
        write = asyncio.create_task(store.aput(NAMESPACE, "k", {"content": SAID}))
    await judging.wait()
    write.cancel()
    with pytest.raises(asyncio.CancelledError):
        await write
    store = guarded(ledger=ledger)
    await store.asearch(NAMESPACE)
    assert [record.intent.key for record in ledger.quarantine()] == ["k"]


def test_a_memory_taken_out_of_quarantine_is_stored_at_the_next_start(ledger: Ledger) -> None:
    inner = InMemoryStore()
    with conversation("t", TALK):
        guarded(inner, ledger=ledger).put(NAMESPACE, "k", {"content": NEVER_SAID})
    (held,) = ledger.quarantine()
    ledger.restore(held.intent.fingerprint, by="a reviewer", why="Ana told me on the phone")
    assert stored(guarded(inner, ledger=ledger)) == {"k": {"content": NEVER_SAID}}


def test_a_store_in_memory_gets_its_memories_back_when_they_are_written_again(ledger: Ledger) -> None:
    first = guarded(ledger=ledger)
    put_again(first, "k")
    after_restart = guarded(ledger=ledger)
    put_again(after_restart, "k")
    assert stored(after_restart) == {"k": {"content": SAID}}
    assert asked(after_restart) == []


def test_a_retried_task_does_not_undo_a_later_update_under_a_new_key(ledger: Ledger) -> None:
    store, keys = guarded(ledger=ledger), ["k", "a new key"]

    def node(state: MessagesState) -> dict[str, Any]:
        store.put(NAMESPACE, keys.pop(0), {"content": SAID})
        if keys:
            with conversation("elsewhere", TALK):
                store.put(NAMESPACE, "k", {"content": OTHER})
            raise ConnectionError("the node fails after its write")
        return {}

    run_in_a_task(node, RetryPolicy(initial_interval=0.001, max_attempts=2))
    assert keys == []
    assert stored(store) == {"k": {"content": OTHER}}


def test_a_store_finishes_only_its_own_writes_where_two_share_a_ledger(ledger: Ledger) -> None:
    with conversation("t", TALK), pytest.raises(ConnectionError):
        named("first", ledger, Failing()).put(NAMESPACE, "k", {"content": SAID})
    assert stored(named("second", ledger)) == {}
    assert stored(named("first", ledger)) == {"k": {"content": SAID}}


def test_of_stores_that_share_a_ledger_ones_write_is_no_retry_of_anothers(ledger: Ledger) -> None:
    stores = [named("first", ledger), named("second", ledger), guarded(ledger=ledger)]

    def node(state: MessagesState) -> dict[str, Any]:
        for store in stores:
            store.put(NAMESPACE, str(uuid.uuid4()), {"content": SAID})
        return {}

    run_in_a_task(node)
    assert [list(stored(store).values()) for store in stores] == [[{"content": SAID}]] * 3


def test_a_store_without_a_name_knows_the_writes_of_ledgers_from_before_names_told_them_apart(ledger: Ledger) -> None:
    guarded(ledger=ledger).put(NAMESPACE, "k", {"content": SAID})
    assert ledger.write(fingerprint_of(None, None, NAMESPACE, {"content": SAID}, key="k")) is not None


def test_of_watched_places_that_share_a_ledger_each_gets_its_write(ledger: Ledger) -> None:
    store, taken = guarded(ledger=ledger), list[str]()

    def node(state: MessagesState) -> dict[str, Any]:
        for place in ("tool:mem0", "tool:notes"):
            OutsideMemory(store, place).write(NAMESPACE, SAID, partial(taken.append, place))
        return {}

    run_in_a_task(node)
    assert taken == ["tool:mem0", "tool:notes"]
