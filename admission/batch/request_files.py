"""The files that open requests are written to: one a model and round, split where a provider's bounds want it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import BinaryIO, NamedTuple

from admission.batch.addressing import Letter
from admission.batch.formats import line_of
from admission.records import digest
from admission.reports.jsonl import to_json

# OpenAI's bounds on one file; Anthropic takes more.
# Source: https://platform.openai.com/docs/api-reference/batch/create.
MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000

_NAMED = re.compile(r"round-(\d{3,})\.(.+)\.jsonl")
_PARTIAL = ".partial"


class Written(NamedTuple):
    """The request files of a round: which one, where, how many requests, and whether they were there before."""

    round: int
    files: tuple[Path, ...]
    requests: int
    again: bool


class _Part:
    """One file being written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.requests = 0
        self.bytes = 0
        self.seen = hashlib.sha256()
        self.file: BinaryIO = path.open("wb")

    def has_room(self, line: bytes) -> bool:
        return self.requests < MOST_REQUESTS and self.bytes + len(line) <= MOST_BYTES

    def add(self, line: bytes) -> None:
        self.file.write(line)
        self.seen.update(line)
        self.requests += 1
        self.bytes += len(line)


class RequestFiles:
    """Writes a round of requests into `folder`, as `round-NNN.MODEL.jsonl`, further parts as
    `round-NNN.MODEL.part2.jsonl`.

    Files have their names only when the round is complete (`finish`); `abandon` leaves none. A round that says the same
    as the last one there is that one: nothing is written twice.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts: dict[str, list[_Part]] = {}
        self._ids: set[str] = set()

    def add(self, letter: Letter) -> None:
        """Write one request, unless its id is already in this round: what is asked twice alike is asked once."""
        if letter.custom_id in self._ids:
            return
        self._ids.add(letter.custom_id)
        line = to_json(line_of(letter)).encode() + b"\n"
        parts = self._parts.setdefault(letter.to.named, [])
        if not parts or not parts[-1].has_room(line):
            self.folder.mkdir(parents=True, exist_ok=True)
            name = _slug(letter.to.named) + (f".part{len(parts) + 1}" if parts else "")
            parts.append(_Part(self.folder / f"{name}{_PARTIAL}"))
        parts[-1].add(line)

    def finish(self) -> Written:
        """Give the files their names. With no request there is no file."""
        parts = {part.path.name.removesuffix(_PARTIAL): part for own in self._parts.values() for part in own}
        for part in parts.values():
            part.file.close()
        before = _rounds(self.folder) if parts else {}
        last = max(before, default=0)
        there = {name: _digest_of(path) for name, path in before.get(last, {}).items()}
        again = bool(parts) and there == {name: part.seen.digest() for name, part in parts.items()}
        number = last if again else last + 1
        files = []
        for name, part in parts.items():
            files.append(self.folder / f"round-{number:03d}.{name}.jsonl")
            part.path.replace(files[-1])
        self._parts = {}
        return Written(number, tuple(files), len(self._ids), again)

    def abandon(self) -> None:
        """Remove what was written of an incomplete round."""
        for part in (part for own in self._parts.values() for part in own):
            part.file.close()
            part.path.unlink(missing_ok=True)


def _rounds(folder: Path) -> dict[int, dict[str, Path]]:
    """The complete request files in the folder by round and by the rest of their names."""
    found: dict[int, dict[str, Path]] = {}
    for path in folder.iterdir():
        if match := _NAMED.fullmatch(path.name):
            found.setdefault(int(match.group(1)), {})[match.group(2)] = path
    return found


def _digest_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _slug(named: str) -> str:
    """A file's name for a model, with a digest where the model's own name is none, so that no two share one."""
    joined = named.replace(":", "-", 1)
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", joined)
    return plain if plain == joined else f"{plain}-{digest(named)[:6]}"
