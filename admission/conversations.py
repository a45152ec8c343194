"""Reading conversation files (JSONL, one conversation a line), streamed; a fault is named by file, line and field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, get_args

from pydantic import ValidationError

from admission.errors import InputError
from admission.records import Conversation, Origin, Role, Turn, Write


def read_conversations(path: Path) -> Iterator[Conversation]:
    """The conversations of a file in the format of the contract, one at a time.

    Fields a data set adds to a conversation, turn or write are ignored; ids may be whole numbers; a conversation
    without a namespace gets its own id as one. Blank lines and a byte order mark are skipped. Raises `InputError` with
    `where="file:line"` on the first fault. A citation that names no turn before the write is not one: it is reported
    with the verdict.
    """
    seen: set[str] = set()
    try:
        lines = path.open("rb")
    except OSError as error:
        raise InputError("file", f"cannot read {path}: {error.strerror}", "give a readable JSONL file") from error
    with lines:
        for number, raw in enumerate(lines, start=1):
            line = _Line(f"{path}:{number}")
            text = line.decode(raw)
            if not text.strip():
                continue
            conversation = line.conversation(text)
            if conversation.id in seen:
                line.fail("id", f"{conversation.id!r} is used twice in this file", "give each conversation its own id")
            seen.add(conversation.id)
            yield conversation


class _Line:
    """One line of a file, read into a conversation; `where` goes into every error."""

    def __init__(self, where: str) -> None:
        self.where = where

    def fail(self, field: str, problem: str, remedy: str) -> NoReturn:
        raise InputError(field, problem, remedy, where=self.where)

    def decode(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            self.fail("line", f"is not UTF-8 (byte {error.start + 1} of the line)", "save the file as UTF-8")

    def conversation(self, text: str) -> Conversation:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.fail("line", f"is not valid JSON ({error})", "write one JSON object a line")
        if "\\ud" in text.lower() and _has_lone_surrogate(data):
            self.fail("line", "holds half of a surrogate pair, which is no character", "remove it or write both halves")
        if not isinstance(data, dict):
            self.fail("line", f"is {_kind(data)}, not an object", "write one JSON object a line")
        try:
            return self._conversation(data)
        except ValidationError as error:
            first = error.errors()[0]
            self.fail(".".join(map(str, first["loc"])) or "line", first["msg"], "correct this field")

    def _conversation(self, data: Mapping[str, Any]) -> Conversation:
        conversation_id = self._id(data.get("id"), "id")
        turns = tuple(
            self._turn(turn, f"turns[{i}]") for i, turn in enumerate(self._objects(data, "turns", required=True))
        )
        self._unique([turn.id for turn in turns], "turns")
        turn_ids = {turn.id for turn in turns}
        writes = tuple(
            self._write(write, f"writes[{i}]", turn_ids) for i, write in enumerate(self._objects(data, "writes"))
        )
        self._unique([write.id for write in writes], "writes")
        namespace = self._texts(data, "namespace", "namespace") or (conversation_id,)
        return Conversation(id=conversation_id, namespace=namespace, turns=turns, writes=writes)

    def _turn(self, data: Mapping[str, Any], field: str) -> Turn:
        time = self._text(data, "time", field)
        if time is not None:
            try:
                datetime.fromisoformat(time)
            except ValueError:
                self.fail(f"{field}.time", f"is not a time: {time!r}", "write ISO 8601, as 2026-03-01T09:30:00+01:00")
        return Turn(
            id=self._id(data.get("id"), f"{field}.id"),
            role=self._one_of(data, "role", field, get_args(Role)),
            speaker=self._text(data, "speaker", field),
            time=time,
            text=self._text(data, "text", field, required=True),
            origin=None if data.get("origin") is None else self._one_of(data, "origin", field, get_args(Origin)),
        )

    def _write(self, data: Mapping[str, Any], field: str, turn_ids: set[str]) -> Write:
        written_after = None
        if data.get("written_after") is not None:
            written_after = self._id(data["written_after"], f"{field}.written_after")
            if written_after not in turn_ids:
                self.fail(
                    f"{field}.written_after",
                    f"names no turn of the conversation: {written_after!r}",
                    "name a turn, or leave it out for the last one",
                )
        reference = data.get("reference")
        if reference is not None and not isinstance(reference, dict):
            self.fail(f"{field}.reference", f"is {_kind(reference)}, not an object", "give an object or leave it out")
        return Write(
            id=self._id(data.get("id"), f"{field}.id"),
            memory=self._text(data, "memory", field, required=True),
            citations=self._texts(data, "citations", f"{field}.citations"),
            written_after=written_after,
            reference=reference,
        )

    def _id(self, value: object, field: str) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            self.fail(
                field, "is missing or empty" if value in (None, "") else f"is {_kind(value)}", "give non-empty text"
            )
        return value

    def _text(self, data: Mapping[str, Any], name: str, parent: str, *, required: bool = False) -> Any:
        value = data.get(name)
        if value is None and required:
            self.fail(f"{parent}.{name}", "is missing", "give it as text")
        if value is not None and not isinstance(value, str):
            self.fail(f"{parent}.{name}", f"is {_kind(value)}, not text", "give it as text")
        return value

    def _one_of(self, data: Mapping[str, Any], name: str, parent: str, allowed: Sequence[str]) -> Any:
        value = data.get(name)
        if value not in allowed:
            self.fail(f"{parent}.{name}", f"is {value!r}", f"use one of {', '.join(allowed)}")
        return value

    def _texts(self, data: Mapping[str, Any], name: str, field: str) -> tuple[str, ...]:
        value = data.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fail(field, f"is {_kind(value)}, not a list", "give a list of texts")
        return tuple(self._id(item, f"{field}[{i}]") for i, item in enumerate(value))

    def _objects(self, data: Mapping[str, Any], name: str, *, required: bool = False) -> list[Mapping[str, Any]]:
        value = data.get(name)
        if value is None and not required:
            return []
        if not isinstance(value, list):
            self.fail(
                name, "is missing" if value is None else f"is {_kind(value)}, not a list", "give a list of objects"
            )
        for i, item in enumerate(value):
            if not isinstance(item, dict):
                self.fail(f"{name}[{i}]", f"is {_kind(item)}, not an object", "give an object")
        return value

    def _unique(self, ids: Sequence[str], field: str) -> None:
        seen: set[str] = set()
        for i, item in enumerate(ids):
            if item in seen:
                self.fail(f"{field}[{i}].id", f"{item!r} is used twice in this conversation", "give each its own id")
            seen.add(item)


def _has_lone_surrogate(data: object) -> bool:
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _kind(value: object) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds = {dict: "an object", list: "a list", str: "text", int: "a number", float: "a number"}
    return kinds.get(type(value), type(value).__name__)
