"""Which of the known formats a folder or file has, and reading it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from admission.errors import InputError
from admission.evaluation.reading import rhelm
from admission.evaluation.reading.dataset import QUESTIONS
from admission.eviction.histories import conversations, locomo, longmemeval
from admission.eviction.histories.conversations import MemoriesAre, load_contract
from admission.eviction.histories.json_items import array_items
from admission.eviction.histories.locomo import load_locomo
from admission.eviction.histories.longmemeval import load_longmemeval
from admission.eviction.histories.rhelm import load_rhelm
from admission.eviction.records import AuditData, checked

SEE = "see docs/eviction.md for the files"
_SUFFIXES = (".json", ".jsonl")
_BOM = b"\xef\xbb\xbf"
_SOME = 4096
Loader = Callable[[Path], AuditData]


def load(path: Path, memories: MemoriesAre = "turns") -> AuditData:
    """What a folder or a file holds. Raises `InputError` for others, and for files of another shape.

    A folder is LoCoMo's or RHELM's by the names of its files. Any other has one file that is known by its content, as
    is a file that is given: LoCoMo's, LongMemEval's, or conversations with questions. Only these have `writes` to take
    as memories.
    """
    if not path.is_dir():
        return checked(_read(_loader(path), path, memories))
    if (path / locomo.FILE).is_file():
        return checked(_read(load_locomo, path / locomo.FILE, memories))
    if rhelm.is_there(path):
        return checked(_read(load_rhelm, path, memories))
    file, loader = _the_only_one(path)
    return checked(_read(loader, file, memories))


def _read(loader: Loader, path: Path, memories: MemoriesAre) -> AuditData:
    if loader is load_contract:
        return load_contract(path, memories)
    if memories != "turns":
        raise InputError("--memories", f"{path.name} has no writes", "leave it out, or give conversations with writes")
    return loader(path)


def _the_only_one(folder: Path) -> tuple[Path, Loader]:
    found: dict[Path, Loader] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix in _SUFFIXES and file.is_file():
            try:
                found[file] = _loader(file)
            except InputError:
                continue  # some other file beside the data
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise InputError("FOLDER", f"{folder} has several: {names}", "name the file")
    if not found:
        problem = f"{folder} has neither {locomo.FILE} nor {rhelm.TURNS} and {QUESTIONS}, nor a file of a known format"
        raise InputError("FOLDER", problem, SEE)
    return next(iter(found.items()))


def _loader(file: Path) -> Loader:
    """Who reads a file, by its first object. Raises `InputError` where nobody does."""
    loader: Loader | None = None
    if _begins_an_array(file):
        _, first = next(array_items(file), ("", {}))
        loader = load_longmemeval if longmemeval.is_item(first) else load_locomo if locomo.is_sample(first) else None
    elif conversations.is_line(_first_line(file)):
        loader = load_contract
    if loader is None:
        problem = "is neither LoCoMo's, nor LongMemEval's, nor a file of conversations"
        raise InputError("file", problem, SEE, where=file.name)
    return loader


def _begins_an_array(file: Path) -> bool:
    return _read_some(file, lambda opened: opened.read(_SOME)).removeprefix(_BOM).lstrip().startswith(b"[")


def _first_line(file: Path) -> dict[str, Any]:
    """The first object of a JSONL file; empty where it does not begin with one."""
    try:
        value = json.loads(_read_some(file, _first_with_text))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _first_with_text(lines: BinaryIO) -> bytes:
    return next((line for raw in lines if (line := raw.removeprefix(_BOM).strip())), b"")


def _read_some(file: Path, some: Callable[[BinaryIO], bytes]) -> bytes:
    try:
        with file.open("rb") as opened:
            return some(opened)
    except OSError as error:
        problem = f"cannot read {file}: {error.strerror}"
        raise InputError("file", problem, "give a folder, or a readable file") from error
