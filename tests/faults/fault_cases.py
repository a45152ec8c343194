"""The faults that happen inside a process, each as one trial: what is broken, and what the caller does next."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from fault_world import GONE, STEPS, STEPS_OF_A_DELETE, Stepper, Tally, Trial, World
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt
from scripted_chat import ScriptedChat, honest
from scripted_gate import SAID, TALK, said

from admission.gate import AdmissionGate
from admission.ledger import open_ledger
from admission.model_settings import ChatOptions
from admission.records import Judgment
from admission.settings import load_settings
from admission.verifiers.chat import ChatVerifier
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes import AdmissionStore, conversation

NEWER = "Ana moved to Lisbon."
LARGE = [1 / 3] * 2_200  # more than what is free on the pages a database has

Run = Callable[[World, Trial, Tally], str]


@dataclass(frozen=True)
class Fault:
    """`run` lets it happen once and says what came of it. `ledgers`: on which it makes a difference."""

    name: str
    what: str
    run: Run
    ledgers: tuple[str, ...] = ("sqlite", "postgres")


# --- Verifiers --------------------------------------------------------------------------------------------------------


def _held_back(trial: Trial, gate: AdmissionGate, tally: Tally) -> str:
    """One write before a gate whose verifier fails; it must end in quarantine with the reason. Made again: the same."""
    for _ in range(2):
        trial.write(trial.guard(gate=gate))
    (report,) = trial.verdicts(SAID)
    trial.examine(tally, said="held")
    codes = sorted({reason.split(": ")[2] for reason in report.reasons if reason.startswith("verifier_failed:")})
    return f"{report.status}, held back ({', '.join(codes)}), also when written again"


class FakeSlowVerifier(ScriptedVerifier):
    """Answers long after everyone has stopped waiting."""

    def judge(self, questions: Any) -> list[Judgment]:
        time.sleep(0.2)
        return super().judge(questions)


def verifier_timeout(world: World, trial: Trial, tally: Tally) -> str:
    gate = AdmissionGate(
        load_settings(overrides={"verification": {"timeout_s": 0.02}}),
        verifier_a=FakeSlowVerifier("slow", said),
        verifier_b=ScriptedVerifier("second", said),
        adjudicator=ScriptedVerifier("third", said),
    )
    return _held_back(trial, gate, tally)


class FakeShortVerifier(ScriptedVerifier):
    """Answers fewer questions than it was asked."""

    def judge(self, questions: Any) -> list[Judgment]:
        return super().judge(questions)[:-1]


class FakeRamblingVerifier(ScriptedVerifier):
    """Answers with something that is no judgment."""

    def judge(self, questions: Any) -> list[Judgment]:
        return ["certainly!" for _ in questions]  # type: ignore[misc]


def malformed_answer(world: World, trial: Trial, tally: Tally) -> str:
    chat = ChatVerifier(ScriptedChat(script=lambda prompt: "Certainly! It is true."), "chatty", options=ChatOptions())
    broken = (FakeShortVerifier("short", said), FakeRamblingVerifier("rambling", said), chat)[trial.number % 3]
    gate = AdmissionGate(
        load_settings(),
        verifier_a=broken,
        verifier_b=ScriptedVerifier("second", said),
        adjudicator=ScriptedVerifier("third", said),
    )
    return _held_back(trial, gate, tally)


def out_of_budget(world: World, trial: Trial, tally: Tally) -> str:
    """A chat model that may be asked once a write, and that would support the memory if it were asked again."""
    bounds: Any = {"max_calls_per_write": 1} if trial.number % 2 else {"max_tokens_per_write": 50}

    def repairs_only(prompt: Any) -> Any:
        return honest(prompt) if prompt.repairs else "Let me think."

    chat = ChatVerifier(ScriptedChat(script=repairs_only), "dear", options=ChatOptions(**bounds))
    gate = AdmissionGate(
        load_settings(),
        verifier_a=chat,
        verifier_b=ScriptedVerifier("second", said),
        adjudicator=ScriptedVerifier("third", said),
    )
    return _held_back(trial, gate, tally)


# --- Ledger, store and disk -------------------------------------------------------------------------------------------


def _write_and_retry(trial: Trial, broken: AdmissionStore, mend: Callable[[], Any], tally: Tally, **more: Any) -> str:
    """The write that meets the fault, the next start, and the same write made again."""
    error = "nothing raised"
    try:
        trial.write(broken, **more)
    except Exception as raised:  # noqa: BLE001 - whatever the caller gets is what is reported
        error = type(raised).__name__
    mend()
    trial.guard().recover()
    trial.examine(tally, said=None)
    trial.write(trial.guard(), **more)
    trial.examine(tally, said="stored")
    return error


class FakeStranger:
    """Another program that keeps the ledger locked from `lock` until `leave`."""

    def __init__(self, world: World) -> None:
        if world.on_postgres:
            import psycopg

            address, schema = world.ledger_url.split("?schema=")
            self._db: Any = psycopg.connect(address, options=f"-c search_path={schema}")
            self._statement = "LOCK TABLE head, writes, entries IN ACCESS EXCLUSIVE MODE"
        else:
            self._db = sqlite3.connect(world.ledger_url.removeprefix("sqlite:///"), check_same_thread=False)
            self._statement = "BEGIN IMMEDIATE"

    def lock(self) -> None:
        self._db.execute(self._statement)

    def leave(self) -> None:
        self._db.rollback()
        self._db.close()


def ledger_locked(world: World, trial: Trial, tally: Tally) -> str:
    at = ("before claim", "before decide", "before complete")[trial.number % 3]
    ledger, stranger = world.impatient_ledger(), FakeStranger(world)

    def mend() -> None:
        stranger.leave()
        ledger.close()

    store = trial.guard(Stepper(at, stranger.lock), ledger=ledger)
    error = _write_and_retry(trial, store, mend, tally)
    return f"{error} {at}; stored on the retry"


def _fail() -> None:
    raise ConnectionError("the store is away")


def store_fails_before_writing(world: World, trial: Trial, tally: Tally) -> str:
    error = _write_and_retry(trial, trial.guard(Stepper("before put", _fail)), lambda: None, tally)
    return f"{error}; stored at the next start"


def store_fails_after_writing(world: World, trial: Trial, tally: Tally) -> str:
    error = _write_and_retry(trial, trial.guard(Stepper("after put", _fail)), lambda: None, tally)
    return f"{error}; found stored, recorded at the next start"


def ledger_fails_after_the_store(world: World, trial: Trial, tally: Tally) -> str:
    error = _write_and_retry(trial, trial.guard(Stepper("before complete", _fail)), lambda: None, tally)
    return f"{error}; found stored, recorded at the next start"


def delete_fails(world: World, trial: Trial, tally: Tally) -> str:
    """An error before or after a step of a delete; then the next start, and the same delete made again."""
    number = trial.number % (2 * len(STEPS_OF_A_DELETE))
    at = f"{('before', 'after')[number % 2]} {STEPS_OF_A_DELETE[number // 2]}"
    trial.write_two(trial.guard())
    try:
        trial.guard(Stepper(at, _fail)).delete(trial.namespace, GONE)
    except ConnectionError:
        raised = f"failed {at}"
    else:
        raised = "nothing raised"
    trial.guard().recover()
    trial.examine_delete(tally, made=False)
    trial.guard().delete(trial.namespace, GONE)
    trial.examine_delete(tally, made=True)
    return f"{raised}; finished at the next start where it was recorded, else on the retry"


@contextmanager
def connections() -> Iterator[list[sqlite3.Connection]]:
    """The SQLite connections opened in the block."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def watched(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        opened.append(connect(*args, **kwargs))
        return opened[-1]

    with patch("sqlite3.connect", watched):
        yield opened


class FakeFullDisk:
    """Lets a database grow no further, which it answers as it does a disk without space, until there is `room`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def fill(self) -> None:
        pages = next(iter(_row(self._db, "PRAGMA page_count")))
        self._db.execute(f"PRAGMA max_page_count = {pages}")

    def room(self) -> None:
        self._db.execute("PRAGMA max_page_count = 1000000")


def _row(db: sqlite3.Connection, statement: str) -> list[Any]:
    row = db.execute(statement).fetchone()
    return list(row.values()) if isinstance(row, dict) else list(row)


def disk_full(world: World, trial: Trial, tally: Tally) -> str:
    at = ("before claim", "before decide", "before put")[trial.number % 3]
    with connections() as opened:
        ledger = world.impatient_ledger()
    disk = FakeFullDisk(trial.memories.conn if at == "before put" else opened[0])
    try:
        stepper = Stepper(at, disk.fill)
        store = trial.guard(stepper, ledger=ledger)
        error = _write_and_retry(trial, store, disk.room, tally, embedding=LARGE)
    finally:
        ledger.close()
    return f"{error} {at}; stored once there is space"


def another_start(world: World, trial: Trial, tally: Tally) -> str:
    """Another process starts, and finishes what it takes for left behind, at any step of a write."""
    number = trial.number % (2 * len(STEPS))
    at = f"{('before', 'after')[number % 2]} {STEPS[number // 2]}"
    with closing(open_ledger(world.ledger_url)) as ledger:
        other = trial.guard(ledger=ledger)
        stepper = Stepper(at, other.recover)
        trial.write(trial.guard(stepper))
    trial.examine(tally, said="stored")
    tally.doubled += len(trial.interrupted())
    trial.write(trial.guard())
    trial.examine(tally, said="stored")
    return f"started {stepper.reached}; takes nothing from its writer"


# --- Time and tasks ---------------------------------------------------------------------------------------------------


def clock_goes_back(world: World, trial: Trial, tally: Tally) -> str:
    """An hour back between any two steps of a write, and a day back before it is updated."""
    moved = [timedelta()]

    def fake_now() -> str:
        return (datetime.now(UTC) + moved[-1]).isoformat(timespec="microseconds")

    step = STEPS[trial.number % len(STEPS)]
    with patch("admission.ledger.chain.utc_now", fake_now):
        trial.write(trial.guard(Stepper(f"after {step}", lambda: moved.append(timedelta(hours=-1)))))
        trial.examine(tally, said="stored")
        moved.append(timedelta(days=-1))
        store, (item,) = trial.guard(), trial.memories.search(trial.namespace)
        with conversation(trial.thread, TALK):
            store.put(trial.namespace, item.key, {"content": NEWER})
        report = store.report_for(trial.namespace, item.key)
    if report is None or report.memory != NEWER or trial.stored() != [NEWER]:
        tally.lost += 1
    return "stored and updated; the newest is told by number, not by time"


def cancelled_task(world: World, trial: Trial, tally: Tally) -> str:
    """The task that writes is cancelled at one step of the write; then the caller makes the write again."""

    async def cancelled() -> str:
        loop = asyncio.get_running_loop()
        number = trial.number % (2 * len(STEPS))
        at = f"{('before', 'after')[number % 2]} {STEPS[number // 2]}"
        task: asyncio.Task[Any]

        def cancel() -> None:
            loop.call_soon_threadsafe(task.cancel)
            time.sleep(0.005)  # the step goes on in its thread while the task that waits for it ends

        store = trial.guard(Stepper(at, cancel))

        async def write() -> None:
            with conversation(trial.thread, TALK):
                await store.abatch(trial.puts())

        task = asyncio.create_task(write())
        try:
            await task
        except asyncio.CancelledError:
            return f"cancelled {at}"
        return "done before it could be cancelled"

    async def whole() -> str:
        outcome = await cancelled()
        store = trial.guard()
        if trial.number // (2 * len(STEPS)) % 2:
            await asyncio.get_running_loop().shutdown_default_executor()  # the step that went on is over
            trial.guard().recover()
            trial.examine(tally, said=None)
            return outcome
        with conversation(trial.thread, TALK):  # at once, while that step may still be at work
            await store.abatch(trial.puts())
        return outcome

    outcome = asyncio.run(whole())
    trial.guard().recover()
    trial.write(trial.guard())
    trial.examine(tally, said="stored")
    return f"{outcome}; stored on the retry"


class FakeBreakdown(Exception):
    """What goes wrong in a node after its writes."""


def _graph(trial: Trial, after: Callable[[], None], **node_args: Any) -> Any:
    def write(state: MessagesState) -> dict[str, Any]:
        for op in trial.puts():
            get_store().batch([op])
        after()
        return {}

    graph = StateGraph(MessagesState).add_node("write", write, **node_args).add_edge(START, "write")
    return graph.compile(store=trial.guard(), checkpointer=InMemorySaver())


def node_retry(world: World, trial: Trial, tally: Tally) -> str:
    failures = iter([FakeBreakdown, FakeBreakdown, None])

    def break_down() -> None:
        failure = next(failures)
        if failure is not None:
            raise failure

    policy = RetryPolicy(retry_on=FakeBreakdown, initial_interval=0.001, jitter=False, max_attempts=3)
    config: Any = {"configurable": {"thread_id": trial.thread}}
    _graph(trial, break_down, retry_policy=policy).invoke({"messages": TALK}, config)
    trial.examine(tally, said="stored")
    return "three attempts, one row, one verdict"


def interrupt_and_resume(world: World, trial: Trial, tally: Tally) -> str:
    graph = _graph(trial, lambda: interrupt("go on?"))
    config: Any = {"configurable": {"thread_id": trial.thread}}
    graph.invoke({"messages": TALK}, config)
    trial.examine(tally, said="stored")
    graph.invoke(Command(resume="yes"), config)
    trial.examine(tally, said="stored")
    return "written before and again after the resume: one row, one verdict"


IN_PROCESS = (
    Fault("verifier time-out", "a verifier answers after `timeout_s`", verifier_timeout),
    Fault("malformed answer", "too few judgments, no judgments, a chat model's small talk", malformed_answer),
    Fault("out of budget", "a chat model may not be asked again", out_of_budget),
    Fault("ledger locked", "before claim, decide or complete, for longer than it waits", ledger_locked),
    Fault("store fails before writing", "the memory store raises and has written nothing", store_fails_before_writing),
    Fault("store fails after writing", "the memory store has written and raises", store_fails_after_writing),
    Fault("ledger fails after the store", "the completion cannot be recorded", ledger_fails_after_the_store),
    Fault("delete fails", "the ledger or the memory store, before or after a step of a delete", delete_fails),
    Fault("disk full", "of the ledger (claim, decide) or of the store", disk_full, ("sqlite",)),
    Fault("another start", "another process recovers at every step of a write", another_start),
    Fault("clock goes back", "an hour between two steps, a day before an update", clock_goes_back),
    Fault("cancelled task", "at every step of an asynchronous write", cancelled_task),
    Fault("node retry", "the node fails twice after its writes", node_retry),
    Fault("interrupt and resume", "the node interrupts after its writes", interrupt_and_resume),
)
