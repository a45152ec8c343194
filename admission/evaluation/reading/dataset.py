"""What a comparison of retrieval routes is measured on: memories with their metadata, questions with what they need."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError, field_validator, model_validator

from admission.errors import InputError
from admission.metadata import RecordMetadata
from admission.reading.context import QueryContext
from admission.records import Record

MEMORIES = "memories.jsonl"
QUESTIONS = "questions.jsonl"

R = TypeVar("R", bound=Record)


class StoredMemory(Record):
    """A memory as the store has it: its text, and the trusted metadata of it. What the data do not say is missing."""

    id: str = Field(min_length=1)
    text: str
    metadata: RecordMetadata = RecordMetadata()

    @field_validator("metadata")
    @classmethod
    def _written_at_a_time(cls, value: RecordMetadata) -> RecordMetadata:
        if value.created_at is not None:
            datetime.fromisoformat(value.created_at)
        return value


class RequiredEvidence(Record):
    """A question: `context` is what is known of it when it is asked, `required` the memories an answer needs.

    `group`: what belongs together in the statistics (a person, a conversation); its questions are drawn together.
    """

    id: str = Field(min_length=1)
    context: QueryContext
    required: tuple[str, ...] = Field(min_length=1)
    group: str

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, value: Any) -> Any:
        """A line of `questions.jsonl`: the question's text beside its context, the namespace as the default group."""
        if not isinstance(value, Mapping) or "question" not in value:
            return value
        line = dict(value)
        context = {**(line.get("context") or {}), "query": line.pop("question"), "question_id": line.get("id")}
        group = line.get("group") or "/".join(map(str, context.get("namespace") or ())) or line.get("id")
        return {**line, "context": context, "group": group}


@dataclass(frozen=True)
class ReadingData:
    """A data set. `digest` is that of everything in it; `about` says in words what was taken and what left out."""

    name: str
    memories: tuple[StoredMemory, ...]
    questions: tuple[RequiredEvidence, ...]
    about: str

    @property
    def digest(self) -> str:
        made = hashlib.sha256()
        for record in (*self.memories, *self.questions):
            made.update(record.model_dump_json().encode() + b"\n")
        return made.hexdigest()


def load(folder: Path) -> ReadingData:
    """The data set in `folder`: RHELM if its files are there, else the package's own format (docs/evaluations.md).

    Raises `InputError`: a file is missing, a line is no memory or question, an id comes twice, a required memory does
    not exist.
    """
    from admission.evaluation.reading import rhelm

    data = rhelm.load(folder) if rhelm.is_there(folder) else _own(folder)
    return _checked(data, folder)


def json_lines(file: Path, lines: Iterator[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line of a JSONL file as an object, with `file:line`. Raises `InputError` where it is none."""
    if lines is None:
        if not file.is_file():
            raise InputError("FOLDER", f"{file.parent} has no {file.name}", "see docs/evaluations.md for the files")
        try:
            lines = iter(file.read_text(encoding="utf-8").split("\n"))
        except UnicodeDecodeError as error:
            raise InputError("FOLDER", f"{file.name} is not UTF-8 ({error.reason})", "save it as UTF-8") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{file.name}:{number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError("line", f"is not JSON ({error})", "give one JSON object a line", where=where) from error
        if not isinstance(value, dict):
            raise InputError("line", "is no JSON object", "give one JSON object a line", where=where)
        yield where, value


def _own(folder: Path) -> ReadingData:
    memories = tuple(_record(StoredMemory, *line) for line in json_lines(folder / MEMORIES))
    questions = tuple(_record(RequiredEvidence, *line) for line in json_lines(folder / QUESTIONS))
    return ReadingData(folder.resolve().name, memories, questions, "All memories and questions of the folder.")


def _record(kind: type[R], where: str, value: dict[str, Any]) -> R:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "line"
        raise InputError(field, first["msg"], "see docs/evaluations.md for the format", where=where) from error


def _checked(data: ReadingData, folder: Path) -> ReadingData:
    for kind, ids in (("memory", [m.id for m in data.memories]), ("question", [q.id for q in data.questions])):
        if not ids:
            raise InputError("FOLDER", f"{folder.name} has no {kind}", "give at least one")
        if len(set(ids)) < len(ids):
            twice = next(id for id in ids if ids.count(id) > 1)
            raise InputError("id", f"two of kind {kind} are called {twice!r}", "give each its own id")
    known = {memory.id for memory in data.memories}
    for question in data.questions:
        missing = [id for id in question.required if id not in known]
        if missing:
            problem = f"question {question.id!r} requires {missing[0]!r}, which is no memory"
            raise InputError("required", problem, "name memories by their ids")
    return data
