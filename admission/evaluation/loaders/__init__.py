"""Data sets as conversations with recorded writes, whatever known format a file has; the data stays where it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from admission.conversations import read_conversations
from admission.errors import InputError
from admission.evaluation.loaders.foreign import FORMATS
from admission.evaluation.loaders.halumem import load_halumem
from admission.evaluation.loaders.locomo import load_locomo
from admission.records import Conversation

_SQLITE = b"SQLite format 3\x00"
_BOM = b"\xef\xbb\xbf"


def load_conversations(path: Path) -> Iterator[Conversation]:
    """The conversations of a file, one at a time where the format allows it.

    Known by their content: the contract's JSONL, LoCoMo's `locomo10.json`, HaluMem's JSONL. What is none of these is
    read as the contract's. A store dump has no conversations yet, since whose thread a memory was written in may have
    to be said: it is refused with what to do. Raises `InputError` naming file, field and remedy.
    """
    yield from _reader(path)(path)


def _reader(path: Path) -> Callable[[Path], Iterator[Conversation]]:
    if path.exists() and not path.is_file():
        raise InputError("file", f"{path} is no regular file", "write it to a file first: it is read twice")
    try:
        with path.open("rb") as file:
            first = next((line for line in file if line.removeprefix(_BOM).strip()), b"")
    except OSError as error:
        raise InputError("file", f"cannot read {path}: {error.strerror}", "give a readable file") from error
    first = first.removeprefix(_BOM).strip()
    if first.startswith(_SQLITE):
        _refuse(path, "is an SQLite database")
    if first.startswith(b"["):
        return load_locomo
    if first == b"{":
        _refuse(path, "is one JSON object over many lines")
    fields = _fields(first)
    if {"items", "threads"} <= fields:
        _refuse(path, "is a store dump")
    return load_halumem if {"uuid", "sessions"} <= fields else read_conversations


def _fields(line: bytes) -> set[str]:
    """The fields of an object in a line of JSON; none of anything else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return set()
    return set(value) if isinstance(value, dict) else set()


def _refuse(path: Path, problem: str) -> NoReturn:
    raise InputError("file", problem, f"give conversations, or make them of a store ({FORMATS})", where=str(path))
