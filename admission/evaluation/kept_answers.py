"""Answers kept between runs in a file of lines that is only appended to, also after a run that was stopped in one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path


class KeptAnswers:
    """Answers by prompt and reader in a JSONL file, so that a stopped run goes on and none is paid for twice."""

    def __init__(self, file: Path | None, reader: str) -> None:
        self._file = file
        self._reader = reader
        self._known: dict[str, str] = {}
        end_last_line(file)
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                try:
                    kept = json.loads(line)
                    self._known[kept["key"]] = kept["answer"]
                except (ValueError, KeyError, TypeError):
                    continue  # the line a stopped run was writing: its answer is asked for again

    def get(self, prompt: str) -> str | None:
        return self._known.get(self._key(prompt))

    def keep(self, prompt: str, answer: str) -> None:
        self._known[self._key(prompt)] = answer
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"key": self._key(prompt), "answer": answer}) + "\n")

    def _key(self, prompt: str) -> str:
        return hashlib.sha256(f"{self._reader}\0{prompt}".encode()).hexdigest()


def end_last_line(file: Path | None) -> None:
    """End a last line that a stop cut short, so that the next one is not written behind it and lost with it."""
    if file is None or not file.is_file():
        return
    with file.open("r+b") as lines:
        if lines.seek(0, 2) == 0:
            return
        lines.seek(-1, 2)
        if lines.read(1) != b"\n":
            lines.write(b"\n")
