"""The labelled writes of a conversation file through the gate at every strictness; stoppable and resumable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from admission.cli.output import console, warn_of_missing
from admission.conversations import read_conversations
from admission.deliberation import input_digest
from admission.evaluation.grid_log import GridLog
from admission.evaluation.replay_metrics import UNSUPPORTED, VALID, parse_reference
from admission.evaluation.strictness_grid import GridDecision, StrictnessGrid
from admission.gate import AdmissionGate
from admission.history import History, Timeline

if TYPE_CHECKING:
    from admission.records import Candidate, Conversation, Write
    from admission.settings import Settings


class Labelled(NamedTuple):
    """A write whose reference says whether it is valid, and the turns before it."""

    candidate: Candidate
    history: History
    valid: bool


class CalibrationRun:
    """One conversation file, read and checked whole before anything is judged. Raises `InputError` for bad input.

    References admitted, repaired and admitted_or_repaired are valid; unresolved and contradicted unsupported. Other
    writes are left out and counted in `skipped` by what their reference is ("none" without one). `config_digest` is
    that of the configuration with its own strictness, once the judges have been built.
    """

    def __init__(self, file: Path, settings: Settings, decisions: Path | None = None) -> None:
        self.settings = settings
        self.skipped: Counter[str] = Counter()
        self.writes = list(self._read(file))
        self.config_digest = ""
        self._log = GridLog(decisions) if decisions is not None else None
        self._done: dict[tuple[str, str], GridDecision] = {}

    @property
    def keeps_decisions(self) -> bool:
        return self._log is not None

    @property
    def unsupported(self) -> int:
        return sum(not write.valid for write in self.writes)

    @property
    def conversations(self) -> int:
        """How many conversations the unsupported writes come from."""
        return len({write.candidate.conversation for write in self.writes if not write.valid})

    @property
    def remaining(self) -> int:
        return len(self.writes) - len(self._done)

    @property
    def valid(self) -> npt.NDArray[np.bool_]:
        """(writes,) what the labels say."""
        return np.array([write.valid for write in self.writes], dtype=bool)

    @property
    def decisions(self) -> list[GridDecision]:
        """The decision on each write, in the order of `writes`; complete once `go` has returned."""
        return [self._done[_key(write.candidate)] for write in self.writes]

    def go(self) -> None:
        """Judge every write that has no decision yet. Raises `KeyboardInterrupt` when stopped: what is done is kept."""
        from rich.progress import Progress

        gate = AdmissionGate(self.settings)
        warn_of_missing(gate)
        self.config_digest = gate.config_digest
        grid = StrictnessGrid(gate)
        if self._log is not None:
            self._resume(self._log, grid.config_digest)
        err = console(stderr=True)
        with Progress(console=err, disable=not err.is_terminal) as progress:
            task = progress.add_task("judging", total=len(self.writes), completed=len(self._done))
            pending = [(w.candidate, w.history) for w in self.writes if _key(w.candidate) not in self._done]
            for decision in grid.decide(pending):
                if self._log is not None:
                    self._log.append(decision)
                self._done[decision.conversation, decision.id] = decision
                progress.advance(task)

    def _resume(self, log: GridLog, config_digest: str) -> None:
        """Take over the decisions in the file that are on these very writes, whatever else it holds."""
        known = {(d.conversation, d.id, d.input_digest): d for d in log.read(config_digest)}
        for write in self.writes:
            key = _key(write.candidate)
            decision = known.get((*key, input_digest(write.candidate, write.history)))
            if decision is not None:
                self._done[key] = decision

    def _read(self, file: Path) -> Iterator[Labelled]:
        for number, conversation in enumerate(read_conversations(file)):
            chars = self.settings.evidence.passage_chars
            timeline: Timeline | None = None
            for write in conversation.writes:
                status = self._status(file, number, conversation, write)
                if status not in VALID | UNSUPPORTED:
                    self.skipped[status] += 1
                    continue
                if timeline is None:
                    timeline = Timeline(conversation.id, conversation.turns, passage_chars=chars)
                yield Labelled(
                    conversation.candidate(write), timeline.before(write.written_after), valid=status in VALID
                )

    def _status(self, file: Path, number: int, conversation: Conversation, write: Write) -> str:
        if not write.reference:
            return "none"
        where = f"{file}:{_line(file, number)}, {write.id}"
        return parse_reference(write.reference, self.settings.evidence.setting, where=where).status


def _key(candidate: Candidate) -> tuple[str, str]:
    return candidate.conversation, candidate.id


def _line(file: Path, number: int) -> int:
    """Where conversation `number` (from 0) of a file stands: `read_conversations` does not say."""
    with file.open("rb") as lines:
        return next(islice((place for place, line in enumerate(lines, 1) if line.strip()), number, None))
