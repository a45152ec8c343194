"""A process that writes two memories and is killed on the way, at every step in turn. Run by test_crash.py.

    python crashing_writer.py FOLDER MODE POINT ...

For each point a forked child writes in FOLDER/POINT and kills itself with SIGKILL when it gets there. "7" is the 7th
step of a first run; "7.2" the second step of a run after that crash; "7.none" is a run after it that nothing stops;
"after put" is the first step of that name.
Prints a line a point: what each of its runs came to.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "graph_nodes"))

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.sqlite import SqliteStore
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, TALK, guarded

from admission.ledger import SqliteLedger
from graph_nodes import AdmissionStore, conversation

CONFIG: Any = {"configurable": {"thread_id": "thread-1"}}


class KillSwitch:
    """Counts the steps of a run and ends the process at one of them, by number or name."""

    def __init__(self, at: str, log: Path) -> None:
        self._at, self._log, self._count = at, log, 0

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepping(*args: Any, **kwargs: Any) -> Any:
            self._step(f"before {name}")
            result = call(*args, **kwargs)
            self._step(f"after {name}")
            return result

        return stepping

    def _step(self, name: str) -> None:
        self._count += 1
        if self._at in (str(self._count), name):
            self._log.write_text(name)
            os.kill(os.getpid(), signal.SIGKILL)


class SteppingStore(SqliteStore):
    def __init__(self, connection: sqlite3.Connection, switch: KillSwitch) -> None:
        super().__init__(connection)
        self._put = switch.around("put", super().batch)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        return self._put(ops) if any(isinstance(op, PutOp) for op in ops) else super().batch(ops)


def open_store(folder: Path, switch: KillSwitch | None = None) -> AdmissionStore:
    """The guarded store over the files in `folder`, its steps watched by `switch`."""
    connection = sqlite3.connect(folder / "store.db", check_same_thread=False, isolation_level=None)
    inner = SteppingStore(connection, switch) if switch is not None else SqliteStore(connection)
    inner.setup()
    store = guarded(inner, ledger=SqliteLedger(str(folder / "ledger.db")))
    if switch is not None:
        for name in ("claim", "decide", "complete"):
            setattr(store.ledger, name, switch.around(name, getattr(store.ledger, name)))
        verifier = store.gate.verifiers["verifier_a"]
        verifier.judge = switch.around("judging", verifier.judge)  # type: ignore[method-assign]
    return store


def write_in_a_graph(folder: Path, store: AdmissionStore) -> None:
    """A node that puts both memories under fresh keys; begun, or resumed from its checkpoint."""

    def write(state: MessagesState) -> dict[str, Any]:
        for memory in (SAID, NEVER_SAID):
            get_store().put(NAMESPACE, str(uuid.uuid4()), {"content": memory})
        return {}

    with SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
        graph = StateGraph(MessagesState).add_node(write).add_edge(START, "write")
        begun = saver.get_tuple(CONFIG) is not None
        graph.compile(store=store, checkpointer=saver).invoke(
            None if begun else {"messages": TALK}, CONFIG, durability="sync"
        )


def write_async(folder: Path, store: AdmissionStore) -> None:
    """Both memories at once, in one batch, outside of any graph."""

    async def write() -> None:
        with conversation("thread-1", TALK):
            await store.abatch(
                [PutOp(NAMESPACE, str(uuid.uuid4()), {"content": memory}) for memory in (SAID, NEVER_SAID)]
            )

    asyncio.run(write())


WRITERS = {"graph": write_in_a_graph, "async": write_async}


def run(folder: Path, mode: str, at: str) -> str:
    """Write in a child; what became of it."""
    folder.mkdir(exist_ok=True)
    log = folder / "killed"
    log.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        WRITERS[mode](folder, open_store(folder, KillSwitch(at, log)))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return log.read_text()
    return "finished" if status == 0 else f"failed with {status}"


def main(folder: Path, mode: str, points: list[str]) -> None:
    for point in points:
        reached = [run(folder / point, mode, at) for at in point.split(".")]
        sys.stdout.write(f"{point}: {'; '.join(reached)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
