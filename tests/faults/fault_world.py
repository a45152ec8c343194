"""Where faults happen: one ledger and one memory store, many trials, and the count of what each trial came to."""

from __future__ import annotations

import sqlite3
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

sys.path.append(str(Path(__file__).parents[1] / "graph_nodes"))
sys.path.append(str(Path(__file__).parents[1] / "verifiers" / "chat"))

from langgraph.store.base import BaseStore, Op, PutOp, Result
from langgraph.store.sqlite import SqliteStore
from scripted_gate import NEVER_SAID, SAID, TALK, scripted_gate

from admission.gate import AdmissionGate
from admission.ledger import Ledger, SqliteLedger, open_ledger
from admission.records import Report, digest
from graph_nodes import AdmissionStore, conversation

MEMORIES = (SAID, NEVER_SAID)
STEPS = ("claim", "judging", "decide", "put", "complete")
STEPS_OF_A_DELETE = ("record_delete", "put", "removed")
GONE, KEPT = "gone", "kept"
_STEPS_OF_LEDGER = ("decide", "complete", "record_delete", "removed")


@dataclass
class Tally:
    """What became of all trials of one fault. Everything but `runs` and `outcomes` has to stay 0."""

    runs: int = 0
    lost: int = 0
    doubled: int = 0
    unreported: int = 0
    unsound: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def clean(self) -> bool:
        return not (self.lost or self.doubled or self.unreported or self.unsound)


class Stepper:
    """Calls `action` at one step of a write: by its number, or by name ("before put"), the `skip + 1`st of that name.

    What the action raises is the step's own failure.
    """

    def __init__(self, at: int | str, action: Callable[[], Any], *, skip: int = 0) -> None:
        self._at, self._action, self._skip, self._count = at, action, skip, 0
        self.reached: str | None = None

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepping(*args: Any, **kwargs: Any) -> Any:
            self._step(f"before {name}")
            result = call(*args, **kwargs)
            self._step(f"after {name}")
            return result

        return stepping

    def _step(self, name: str) -> None:
        self._count += 1
        if self.reached is not None or self._at not in (self._count, name):
            return
        if isinstance(self._at, str) and self._skip:
            self._skip -= 1
            return
        self.reached = name
        self._action()


class SteppingLedger:
    """A ledger whose steps of a write are watched; all else is the ledger's."""

    def __init__(self, ledger: Ledger, stepper: Stepper) -> None:
        self._ledger = ledger
        for step, name in (("claim", "claim_and_hold"), *((name, name) for name in _STEPS_OF_LEDGER)):
            setattr(self, name, stepper.around(step, getattr(ledger, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


class SteppingStore(BaseStore):
    """A store whose puts are watched."""

    def __init__(self, kept: BaseStore, stepper: Stepper) -> None:
        self._kept = kept
        self._put = stepper.around("put", kept.batch)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        return self._put(ops) if any(isinstance(op, PutOp) for op in ops) else self._kept.batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        raise NotImplementedError  # as SqliteStore: the guard calls `batch` in a thread


def open_memories(file: Path) -> SqliteStore:
    store = SqliteStore(sqlite3.connect(file, check_same_thread=False, isolation_level=None, timeout=30))
    store.setup()
    return store


class Trial:
    """One fault of many: a thread, a namespace and a store name that no other trial has."""

    def __init__(self, number: int, ledger: Ledger, memories: SqliteStore) -> None:
        self.number = number
        self.thread = f"thread-{number}"
        self.namespace = ("memories", f"user-{number}")
        self.name = f"store-{number}"
        self.ledger, self.memories = ledger, memories

    def guard(
        self, stepper: Stepper | None = None, *, gate: AdmissionGate | None = None, ledger: Ledger | None = None
    ) -> AdmissionStore:
        """The guarded store as a process finds it when it starts, with its steps watched by `stepper`."""
        gate = gate if gate is not None else scripted_gate()
        inner: BaseStore = self.memories
        kept: Any = ledger if ledger is not None else self.ledger
        if stepper is not None:
            kept, inner = SteppingLedger(kept, stepper), SteppingStore(self.memories, stepper)
            judge = gate.verifiers["verifier_a"]
            judge.judge = stepper.around("judging", judge.judge)  # type: ignore[method-assign]
        return AdmissionStore(inner, gate=gate, ledger=kept, name=self.name)

    def puts(self, **more: Any) -> list[Op]:
        """Both memories under fresh keys, as memory tools write them."""
        return [PutOp(self.namespace, str(uuid.uuid4()), {"content": memory, **more}) for memory in MEMORIES]

    def write(self, store: AdmissionStore, **more: Any) -> None:
        with conversation(self.thread, TALK):
            store.batch(self.puts(**more))

    def write_two(self, store: AdmissionStore) -> None:
        """A memory that is to be deleted, and one that is to stay."""
        with conversation(self.thread, TALK):
            store.put(self.namespace, GONE, {"content": SAID})
            store.put(self.namespace, KEPT, {"content": SAID, "number": 1})

    def examine_delete(self, tally: Tally, *, made: bool) -> None:
        """Count what is wrong after `GONE` was deleted. A delete that was recorded has to be carried out; `made`: it
        was made to its end."""
        kept = [item.key for item in self.memories.search(self.namespace, limit=100)]
        recorded = self.ledger.versions(self.namespace, GONE)[-1].ended is not None
        tally.lost += (GONE in kept) == (made or recorded)  # a delete that was forgotten, or a memory nobody deleted
        tally.lost += KEPT not in kept
        tally.doubled += max(0, len(kept) - 2)
        tally.unreported += self._unreported()
        tally.unsound += sum(one.namespace == self.namespace for one in self.ledger.deletions())

    def verdicts(self, memory: str) -> list[Report]:
        """Reports on a memory; the record that a write was interrupted is no verdict."""
        interrupted = self.interrupted()
        reports = (report for _, report in self.ledger.reports(namespace=self.namespace))
        return [report for report in reports if report.memory == memory and report not in interrupted]

    def interrupted(self) -> list[Report]:
        """The records that a write was broken off before its verdict."""
        reports = (report for _, report in self.ledger.reports(namespace=self.namespace))
        return [report for report in reports if report.reasons[0].startswith("interrupted:")]

    def stored(self) -> list[str]:
        return [item.value["content"] for item in self.memories.search(self.namespace, limit=100)]

    def examine(self, tally: Tally, *, said: Literal["stored", "held"] | None) -> None:
        """Count what is wrong now. `said`: where the memory that was said has to be; None: the writes have not been
        made to their end, and one that has not begun is not missed."""
        stored = self.stored()
        held = [record.intent.value["content"] for record in self.ledger.quarantine(self.namespace)]
        for memory in MEMORIES:
            verdicts = self.verdicts(memory)
            tally.doubled += max(0, stored.count(memory) - 1) + max(0, len(verdicts) - 1)
            if said is not None:
                goes_to_store = memory == SAID and said == "stored"
            elif verdicts:
                goes_to_store = verdicts[-1].action == "persist"
            else:
                continue
            tally.lost += memory not in (stored if goes_to_store else held)
            tally.unreported += memory in stored and not goes_to_store
        tally.unreported += self._unreported()
        if said is not None:
            tally.unsound += sum(write.intent.namespace == self.namespace for write in self.ledger.incomplete())

    def _unreported(self) -> int:
        """Memories in the store without a report that admits this very value under this key."""
        admitted = {
            (entry.key, entry.value_digest)
            for entry, report in self.ledger.reports(namespace=self.namespace)
            if report.action == "persist"
        }
        items = self.memories.search(self.namespace, limit=100)
        return sum((item.key, digest(item.value)) not in admitted for item in items)


class World:
    """One ledger and one store on disk; `ledger_url` names the ledger, which the world begins."""

    def __init__(self, folder: Path, ledger_url: str) -> None:
        self.folder, self.ledger_url = folder, ledger_url
        self.memories_file = folder / "memories.db"
        self.memories = open_memories(self.memories_file)
        self.ledger = open_ledger(ledger_url)

    @property
    def on_postgres(self) -> bool:
        return self.ledger_url.startswith("postgres")

    def trial(self, number: int) -> Trial:
        return Trial(number, self.ledger, self.memories)

    def impatient_ledger(self) -> Ledger:
        """The same ledger, for a process that does not wait long."""
        if self.on_postgres:
            from admission.ledger.postgres import PostgresLedger

            return PostgresLedger(self.ledger_url, timeout_s=0.3)
        return SqliteLedger(self.ledger_url.removeprefix("sqlite:///"), timeout_s=0.05)

    def close(self) -> None:
        self.ledger.close()
        self.memories.conn.close()


def repeated(world: World, run: Callable[[World, Trial, Tally], str], runs: int) -> Tally:
    """The fault so many times, each in a trial of its own; then whether the ledger's chain is whole."""
    tally = Tally()
    for number in range(runs):
        tally.outcomes[run(world, world.trial(number), tally)] += 1
        tally.runs += 1
    tally.unsound += not world.ledger.verify().ok
    return tally
