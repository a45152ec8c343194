"""A file of grid decisions that is only appended to, so that a long measurement can be stopped and taken up again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from admission.errors import InputError
from admission.evaluation.strictness_grid import GridDecision

_FIELD = "--decisions"
_BEGINS = b'{"id":"'


class GridLog:
    """JSON lines, one a write. A last line cut short by a kill is dropped, and a file of anything else is refused."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._end = 0
        self._size = 0

    def read(self, config_digest: str) -> Iterator[GridDecision]:
        """The decisions in the file. Raises `InputError` if it holds other things, or another configuration's."""
        if not self.path.exists():
            return
        self._size = self.path.stat().st_size
        with open(self.path, "rb") as file:
            for number, line in enumerate(file, 1):
                decision = self._parsed(line, number)
                if decision is None:
                    return
                if decision.config_digest != config_digest:
                    problem = f"{self.path} holds decisions of another configuration ({decision.config_digest[:12]})"
                    raise InputError(_FIELD, problem, f"give another file for this one ({config_digest[:12]})")
                self._end += len(line)
                yield decision

    def append(self, decision: GridDecision) -> None:
        """Add one, durably, after what `read` found whole."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "r+b" if self.path.exists() else "w+b") as file:
            if file.seek(0, os.SEEK_END) != self._size:
                problem = f"{self.path} was written by another run meanwhile"
                raise InputError(_FIELD, problem, "wait for it and start again, or give another file")
            file.seek(self._end)
            file.truncate()
            file.write(decision.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self._end = self._size = file.tell()

    def _parsed(self, line: bytes, number: int) -> GridDecision | None:
        """The decision of a line; None for a last one cut short."""
        whole = line.endswith(b"\n")
        try:
            decision = GridDecision.model_validate(json.loads(line))
        except ValidationError as error:
            raise self._no_decision(number) from error
        except ValueError as error:
            if whole or not (line.startswith(_BEGINS) or _BEGINS.startswith(line)):
                raise self._no_decision(number) from error
            return None
        return decision if whole else None

    def _no_decision(self, number: int) -> InputError:
        remedy = "give a new file, or one that `admission calibrate --decisions` wrote"
        return InputError(_FIELD, "the line is no decision", remedy, where=f"{self.path}:{number}")
