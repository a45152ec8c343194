"""The questions of a deletion audit: each names the memories, or the turns, that its answer needs."""

from __future__ import annotations

from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError, model_validator

from admission.errors import InputError
from admission.records import Namespace, Record, TurnIds

SEE = "see docs/eviction.md, 'What deletions cost'"


class NeededMemory(Record):
    """A memory that an answer needs: the `write` that stored it, by its id in the ledger (`admission list`), or the
    `key` it is stored at. The namespace is the question's where it names none."""

    write: str | None = Field(default=None, min_length=1)
    namespace: Namespace | None = None
    key: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> NeededMemory:
        if (self.write is None) == (self.key is None):
            raise ValueError("needs a write, or a key")
        return self


class AuditQuestion(Record):
    """A line of the file. `memories`: all that the answer needs. Without any, `evidence` does: the turns of
    `conversation` that it needs. Beside memories, `evidence` are the turns they rest on, for where the ledger does not
    say any more. Ids may be whole numbers. Other fields (`question`, `answer`) are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    id: str = Field(min_length=1)
    namespace: Namespace | None = None
    memories: tuple[NeededMemory, ...] = ()
    conversation: str | None = None
    evidence: TurnIds = ()

    @model_validator(mode="after")
    def _can_be_looked_up(self) -> AuditQuestion:
        if not self.memories and not self.evidence:
            raise ValueError("needs memories, or evidence")
        if self.evidence and self.conversation is None:
            raise ValueError("has evidence, and no conversation that its turns are of")
        if any(one.key is not None and (one.namespace or self.namespace) is None for one in self.memories):
            raise ValueError("names a key, and no namespace that it is in")
        return self


def read_questions(file: Path) -> tuple[AuditQuestion, ...]:
    """The questions of a JSONL file, one a line; blank lines are skipped. Raises `InputError` naming file, line and
    field: a line that is no question, an id that comes twice, no question at all."""
    found: dict[str, AuditQuestion] = {}
    for number, line in enumerate(_text(file).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        try:
            question = AuditQuestion.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, first["loc"])) or "line"
            raise InputError(field, first["msg"].removeprefix("Value error, "), SEE, where=where) from error
        if question.id in found:
            raise InputError("id", f"{question.id!r} is there twice", "give each question its own", where=where)
        found[question.id] = question
    if not found:
        raise InputError("QUESTIONS", "holds no question", "write one JSON object a line", where=str(file))
    return tuple(found.values())


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError("QUESTIONS", f"cannot read {file}: {error.strerror}", "give a readable JSONL file") from error
    except UnicodeDecodeError as error:
        raise InputError("QUESTIONS", f"is not UTF-8 ({error.reason})", "save it as UTF-8", where=str(file)) from error
