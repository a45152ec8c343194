"""The answers that a folder of provider output files holds, by the id of the request: in any order, in any files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from admission.batch.provider_lines import Found, found_in
from admission.errors import InputError
from admission.records import Usage
from admission.verifiers.chat.answers import Failure, Reply
from admission.verifiers.chat.exchange import Outcome

REMEDY = "give the folder of output files as the provider wrote them; take out or download again what is damaged"


class _Best(NamedTuple):
    """What is known of one request, and how it is chosen from several lines: the least `order` wins."""

    order: tuple[int, bytes]
    found: Found


class Answers:
    """Outcomes by custom id.

    Where a request has several lines, a reply counts before a failure, and a failure before "not reached"; between two
    of a kind the choice does not depend on their order. `final`: a request that has no answer has failed.
    """

    def __init__(self, *, final: bool = False) -> None:
        self.final = final
        self._best: dict[str, _Best] = {}
        self._used: set[str] = set()

    @classmethod
    def read(cls, folder: Path, *, final: bool = False) -> Answers:
        """All answers in the `*.jsonl` files of `folder` and of the folders in it; request files there are passed over.

        Raises `InputError` with file and line for what is no line of an output file.
        """
        if not folder.is_dir():
            raise InputError("--responses-in", f"{folder} is no folder", "give the folder that holds the output files")
        answers = cls(final=final)
        for file in sorted(folder.rglob("*.jsonl")):
            for raw, line in _lines(file):
                answers.add(raw, line)
        return answers

    def add(self, raw: bytes, line: Mapping[str, Any]) -> None:
        """Take in one line of an output file; `raw` are its bytes."""
        found = found_in(line)
        rank = 0 if isinstance(found.outcome, Reply) else 2 if found.passing else 1
        best = _Best((rank, hashlib.sha256(raw).digest()), found)
        known = self._best.setdefault(line["custom_id"], best)
        if best.order < known.order:
            self._best[line["custom_id"]] = best

    def outcome(self, custom_id: str) -> Outcome | None:
        """What came of the request; None while its answer may still come."""
        known = self._best.get(custom_id)
        if known is None:
            nothing = Failure("missing_answer", "the output files hold no answer to this request", Usage())
            return nothing if self.final else None
        self._used.add(custom_id)
        return known.found.outcome if self.final or not known.found.passing else None

    @property
    def unused(self) -> int:
        """Answers that were not asked for: to writes that have their report, or to requests of other settings."""
        return len(self._best) - len(self._used)

    def __len__(self) -> int:
        """Requests that something is known of."""
        return len(self._best)


def _lines(file: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The lines of an output file, each an object with a `custom_id`; lines that are requests are left out."""
    with file.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            where = f"{file}:{number}"
            try:
                line = json.loads(raw)
            except (ValueError, RecursionError) as error:
                raise InputError("line", f"is not valid JSON ({error})", REMEDY, where=where) from error
            if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
                raise InputError("custom_id", "is missing: this is no line of an output file", REMEDY, where=where)
            if "response" in line or "error" in line or "result" in line:
                yield raw.strip(), line
            elif "params" not in line and "body" not in line:
                raise InputError("line", "has neither a response nor a result", REMEDY, where=where)
