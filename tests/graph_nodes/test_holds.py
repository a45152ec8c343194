"""A write is verified once, however many threads, tasks and processes make it at the same time."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore
from ledger_places import Place
from scripted_gate import (
    NAMESPACE,
    NEVER_SAID,
    SAID,
    TALK,
    FakeFullLedger,
    asked,
    guarded,
    judges,
    stored,
    verifications,
)

from admission.errors import LedgerError
from admission.ledger import SqliteLedger, open_ledger
from graph_nodes import AdmissionStore, collect_reports, conversation

pytest.importorskip("fcntl")
FORK = multiprocessing.get_context("fork")
VERDICT_S = 0.02
PATIENCE_S = 60.0


def slowed(store: AdmissionStore) -> AdmissionStore:
    """Its verdicts take so long that others come meanwhile."""
    judge, ajudge = store.gate.decide_many, store.gate.adecide

    def slowly(writes: Any) -> Any:
        time.sleep(VERDICT_S)
        return judge(writes)

    async def aslowly(*args: Any) -> Any:
        await asyncio.sleep(VERDICT_S)
        return await ajudge(*args)

    store.gate.decide_many, store.gate.adecide = slowly, aslowly  # type: ignore[method-assign]
    return store


def store_at(place: Place, folder: Path) -> AdmissionStore:
    """The guarded store over a file in `folder`; its ledger is to be closed."""
    connection = sqlite3.connect(folder / "store.db", check_same_thread=False, isolation_level=None, timeout=60)
    inner = SqliteStore(connection)
    inner.setup()
    return slowed(guarded(inner, ledger=place.open()))


def write(store: AdmissionStore) -> None:
    with conversation("t", TALK):
        for number in range(3):
            store.put(NAMESPACE, f"said {number}", {"content": SAID, "number": number})
            store.put(NAMESPACE, f"held {number}", {"content": NEVER_SAID, "number": number})


def questions(store: AdmissionStore) -> list[int]:
    """How many each verifier was asked."""
    return [len(judge.asked) for judge in judges(store)]


def race(place: Place, folder: Path, told: Connection) -> None:
    """In a process of its own: say when ready, make the writes when told to, and tell how many questions it took."""
    store = store_at(place, folder)
    with closing(store.ledger):
        told.send("ready")
        told.recv()
        write(store)
    told.send(questions(store))


def stop_judging(place: Place, folder: Path, told: Connection) -> None:
    """In a process of its own: say when a verdict has begun, and never come to it."""
    store = store_at(place, folder)

    def never(_: Any) -> Any:
        told.send("judging")
        return told.recv()

    store.gate.decide_many = never  # type: ignore[method-assign]
    write(store)


@contextmanager
def process(run: Callable[[Place, Path, Connection], None], place: Place, folder: Path) -> Iterator[Connection]:
    """What `run` says in a process of its own, which is killed in the end."""
    here, there = FORK.Pipe()
    child = FORK.Process(target=run, args=(place, folder, there), daemon=True)
    child.start()
    there.close()
    try:
        yield here
    finally:
        child.kill()
        child.join()


def test_of_processes_that_make_the_same_writes_one_verifies_each(shared: Place, tmp_path: Path) -> None:
    store_at(shared, tmp_path).ledger.close()  # the store's own setup is not safe for two processes at once
    with process(race, shared, tmp_path) as one, process(race, shared, tmp_path) as other:
        assert [one.recv(), other.recv()] == ["ready", "ready"]
        one.send("go")
        other.send("go")
        counts = one.recv(), other.recv()
    alone = guarded()
    write(alone)
    assert [sum(each) for each in zip(*counts, strict=True)] == questions(alone)
    store = store_at(shared, tmp_path)
    with closing(store.ledger):
        assert set(stored(store)) == {"said 0", "said 1", "said 2"}
        assert verifications(store) == 6
        assert store.ledger.incomplete() == [] and store.ledger.verify().ok


def test_the_write_of_a_judge_that_is_killed_is_taken_over(shared: Place, tmp_path: Path) -> None:
    with process(stop_judging, shared, tmp_path) as other:
        assert other.recv() == "judging"
        store = store_at(shared, tmp_path)
        store.search(())  # its recovery is over: now it waits for the verdict
        writing = threading.Thread(target=write, args=(store,))
        writing.start()
    writing.join(PATIENCE_S)
    with closing(store.ledger):
        assert set(stored(store)) == {"said 0", "said 1", "said 2"}
        assert verifications(store) == 6
        assert store.ledger.verify().ok


def test_threads_that_make_the_same_write_are_told_the_same_verdict() -> None:
    store = slowed(guarded())

    def put(_: int) -> list[str]:
        with conversation("t", TALK), collect_reports() as reports:
            store.put(NAMESPACE, "k", {"content": SAID})
        return [report.status for report in reports]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(put, range(4))) == [["repaired"]] * 4
    assert verifications(store) == 1
    assert all(len(judge.asked) == len(set(judge.asked)) for judge in judges(store))


async def test_a_task_that_waits_for_a_verdict_does_not_hold_up_its_loop() -> None:
    store = slowed(guarded())  # the judge needs the loop, too: a wait that blocked it would never end
    with conversation("t", TALK), collect_reports() as reports:
        await asyncio.gather(*(store.aput(NAMESPACE, "k", {"content": SAID}) for _ in range(4)))
    assert [report.status for report in reports] == ["repaired"] * 4
    assert verifications(store) == 1


def test_two_that_need_each_others_writes_both_get_done() -> None:
    store = slowed(guarded())
    values = [{"content": SAID, "number": number} for number in range(6)]

    def put(order: int) -> None:
        with conversation("t", TALK):
            store.batch([PutOp(NAMESPACE, str(v["number"]), v) for v in values[::order]])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(put, (1, -1)))
    assert verifications(store) == len(values)
    assert set(stored(store)) == {str(number) for number in range(len(values))}


async def test_a_cancelled_task_gives_up_its_hold() -> None:
    store = guarded()
    judging, real = asyncio.Event(), store.gate.adecide

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
        store.gate.adecide = real  # type: ignore[method-assign]
        await store.aput(NAMESPACE, "k", {"content": SAID})
    assert stored(store) == {"k": {"content": SAID}}


async def test_a_task_cancelled_while_it_asks_for_the_hold_gives_it_up_all_the_same() -> None:
    asking, go = threading.Event(), threading.Event()

    class FakeSlowLedger(SqliteLedger):
        def claim_and_hold(self, intent: Any) -> Any:
            asking.set()
            go.wait(PATIENCE_S)
            return super().claim_and_hold(intent)

    store = guarded(ledger=FakeSlowLedger())
    with conversation("t", TALK):
        write = asyncio.create_task(store.aput(NAMESPACE, "k", {"content": SAID}))
        await asyncio.to_thread(asking.wait)
        write.cancel()
        await asyncio.sleep(0)
        write.cancel()
        await asyncio.sleep(0)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await write
    (record,) = store.ledger.incomplete()
    assert store.ledger.hold(record.intent.fingerprint)


def test_an_error_gives_up_the_hold() -> None:
    ledger = FakeFullLedger()
    store = guarded(ledger=ledger)
    with conversation("t", TALK):
        with pytest.raises(LedgerError):
            store.put(NAMESPACE, "k", {"content": SAID})
        ledger.full = False
        store.put(NAMESPACE, "k", {"content": SAID})
    assert stored(store) == {"k": {"content": SAID}}


def test_a_holder_that_is_halted_does_not_halt_the_others_for_ever() -> None:
    ledger = open_ledger("sqlite://")
    store = guarded(ledger=ledger, verification={"timeout_s": 0.05})
    claim = ledger.claim_and_hold

    def claimed_by_a_halted_one(intent: Any) -> Any:
        record, _ = claim(intent)
        return record, False

    ledger.claim_and_hold = claimed_by_a_halted_one  # type: ignore[method-assign]
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID})
        store.put(NAMESPACE, "held", {"content": NEVER_SAID})
    assert stored(store) == {"k": {"content": SAID}}
    assert asked(store) and verifications(store) == 2
