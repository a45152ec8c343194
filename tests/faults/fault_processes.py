"""The faults of whole processes: killed at a step by SIGKILL, resumed after it, two at once on one write.

The processes are forked from a clean one (`forkserver`) that has imported all, so that a hundred of them are cheap.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from functools import cache, partial
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fault_cases import Fault
from fault_world import GONE, STEPS_OF_A_DELETE, Stepper, Tally, Trial, World, open_memories
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from scripted_gate import TALK, asked

from admission.ledger import open_ledger
from graph_nodes import conversation

WAIT_S = 120.0
STEPS_OF_A_WRITE = 20  # of both memories, in a graph or in a batch: the last few numbers may find it done

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["fault_processes", "pytest"])  # pytest, for it may be the main module


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Place:
    """What a new process needs to find the trial's ledger and store."""

    def __init__(self, world: World, number: int) -> None:
        self.memories, self.ledger_url, self.number = world.memories_file, world.ledger_url, number
        self.checkpoints = world.folder / f"checkpoints-{number}.db"

    def open(self) -> Trial:
        return Trial(self.number, open_ledger(self.ledger_url), open_memories(self.memories))


def _told(place: _Place, step: str | None) -> None:
    """Leave word of the step before dying: nothing comes back from a killed process."""
    place.checkpoints.with_suffix(".step").write_text(step or "")


def _stepper(place: _Place, at: int | None) -> Stepper | None:
    if at is None:
        return None

    def kill() -> None:
        _told(place, stepper.reached)
        _kill()

    stepper = Stepper(at, kill)
    return stepper


def write_in_batch(place: _Place, at: int | None) -> None:
    """Both memories in one batch, outside of any graph."""
    trial = place.open()
    trial.write(trial.guard(_stepper(place, at)))


def write_in_graph(place: _Place, at: int | None, durability: Any) -> None:
    """Both memories by a node of a graph: begun, or resumed from its checkpoint where there is one."""
    trial = place.open()

    def write(state: MessagesState) -> dict[str, Any]:
        for op in trial.puts():
            get_store().batch([op])
        return {}

    config: Any = {"configurable": {"thread_id": trial.thread}}
    with SqliteSaver.from_conn_string(str(place.checkpoints)) as saver:
        graph = StateGraph(MessagesState).add_node("write", write).add_edge(START, "write")
        begun = saver.get_tuple(config) is not None
        runnable = graph.compile(store=trial.guard(_stepper(place, at)), checkpointer=saver)
        runnable.invoke(None if begun else {"messages": TALK}, config, durability=durability)


def delete_one(place: _Place, at: int | None) -> None:
    """A memory of two is deleted."""
    trial = place.open()
    store = trial.guard(_stepper(place, at))
    store.delete(trial.namespace, GONE)


def write_side_by_side(place: _Place, start: Barrier, questions: Any) -> None:
    """The same write as another process makes at the same time; `questions` counts what verifiers were asked."""
    trial = place.open()
    store = trial.guard()
    with conversation(trial.thread, TALK):
        store.batch([])
        start.wait(WAIT_S)
        store.batch(trial.puts())
    with questions.get_lock():
        questions.value += len(asked(store))


@cache
def _ready() -> None:
    """Start the process the others are forked from. It finds what to import by the environment alone: before Python
    3.13 it is not told `sys.path`, and leaves out in silence what it does not find."""
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):
        forkserver.ensure_running()


def _run(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    _ready()
    process = _processes.Process(target=target, args=arguments)
    process.start()
    return process


def _ended(process: BaseProcess) -> int:
    process.join(WAIT_S)
    code = process.exitcode
    if code not in (0, -signal.SIGKILL):
        raise RuntimeError(f"a process of the fault ended with {code}")
    return code


def _killed_and_made_good(write: Callable[..., None], world: World, trial: Trial, tally: Tally, *how: Any) -> str:
    """Killed at the step of this trial; then the next start; then the same write again in a third process."""
    place = _Place(world, trial.number)
    code = _ended(_run(write, place, trial.number % STEPS_OF_A_WRITE + 1, *how))
    step = place.checkpoints.with_suffix(".step").read_text() if code else ""
    trial.guard().recover()
    trial.examine(tally, said=None)
    _ended(_run(write, place, None, *how))
    trial.examine(tally, said="stored")
    return f"killed {step}; stored on the retry" if step else "done before the step came"


def killed(world: World, trial: Trial, tally: Tally) -> str:
    return _killed_and_made_good(write_in_batch, world, trial, tally)


def crash_and_resume(durability: str, world: World, trial: Trial, tally: Tally) -> str:
    return _killed_and_made_good(write_in_graph, world, trial, tally, durability)


def killed_in_a_delete(world: World, trial: Trial, tally: Tally) -> str:
    """Killed before or after a step of a delete; then the next start; then the same delete in a third process."""
    place = _Place(world, trial.number)
    trial.write_two(trial.guard())
    code = _ended(_run(delete_one, place, trial.number % (2 * len(STEPS_OF_A_DELETE)) + 1))
    step = place.checkpoints.with_suffix(".step").read_text() if code else ""
    trial.guard().recover()
    trial.examine_delete(tally, made=False)
    _ended(_run(delete_one, place, None))
    trial.examine_delete(tally, made=True)
    end = "finished at the next start where it was recorded, else on the retry"
    return f"killed {step}; {end}" if step else "done before the step came"


def two_processes(world: World, trial: Trial, tally: Tally) -> str:
    place, start, questions = _Place(world, trial.number), _processes.Barrier(2), _processes.Value("i", 0)
    both = [_run(write_side_by_side, place, start, questions) for _ in range(2)]
    for process in both:
        _ended(process)
    trial.examine(tally, said="stored")
    by = "one" if questions.value == _questions_of_one() else "both"
    return f"verified by {by}; decided once"


@cache
def _questions_of_one() -> int:
    """How many questions both memories cost when written once."""
    trial = Trial(0, open_ledger("sqlite://"), open_memories(Path(":memory:")))
    store = trial.guard()
    trial.write(store)
    return len(asked(store))


OF_PROCESSES = (
    Fault("process killed", "by SIGKILL before and after every step of both writes", killed),
    Fault("process killed in a delete", "by SIGKILL before and after every step of a delete", killed_in_a_delete),
    *(
        Fault(f"crash and resume, durability {how}", "killed at every step of the node", partial(crash_and_resume, how))
        for how in ("sync", "async", "exit")
    ),
    Fault("two processes on one fingerprint", "both write at the same moment", two_processes),
)
