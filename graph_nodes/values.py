"""What a stored value says: the memory's text, its author's citations, and the value as an action leaves it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langgraph.store.base import PutOp

from admission.ledger import WriteRecord
from admission.records import STORED_ACTIONS, Report
from admission.settings import WriteSettings

# One flat key, because filters on nested keys do not work on every store.
MARK = "admission"
UNJUDGED = "fields_not_judged"


def memory_text(value: dict[str, Any], settings: WriteSettings) -> str:
    """The text to judge: the first text field that says something; where none does, all the value says, a line each."""
    field = _text_field(value, settings)
    if field is not None:
        return "\n".join(_lines(value[field]))
    cited = citation_field(value, settings)
    return "\n".join(_lines({name: part for name, part in value.items() if name != cited}))


def unjudged_fields(value: dict[str, Any], settings: WriteSettings) -> list[str]:
    """The fields that are stored with a memory but were no part of what was judged."""
    judged = _text_field(value, settings)
    cited = citation_field(value, settings)
    return [] if judged is None else sorted(name for name in value if name not in (judged, cited))


def _text_field(value: dict[str, Any], settings: WriteSettings) -> str | None:
    return next((f for f in settings.text_fields if f in value and "".join(_lines(value[f])).strip()), None)


def citation_field(value: dict[str, Any], settings: WriteSettings) -> str | None:
    """The first citation field that holds a list of texts (turn ids)."""
    for field in settings.citation_fields:
        ids = value.get(field)
        if isinstance(ids, list) and all(isinstance(id, str) for id in ids):
            return field
    return None


def value_to_store(value: dict[str, Any], report: Report, settings: WriteSettings) -> dict[str, Any] | None:
    """The value as the report's action leaves it; None where nothing is to be stored.

    The citations become the report's final ones: of a repaired memory those that support it, of any other those of the
    author's that name a turn which may be evidence; what else stands among them may be any text. A marked memory gets
    its status under `MARK`. A mark that the writer put there is taken off: it is the gate's alone.
    """
    if report.action not in STORED_ACTIONS:
        return None
    stored = {name: part for name, part in value.items() if name != MARK}
    cited = citation_field(value, settings)
    if cited is not None:
        stored[cited] = list(report.citations.final)
    if report.action == "persist_marked":
        stored[MARK] = report.status
    return stored


def with_unjudged(value: dict[str, Any], report: Report, settings: WriteSettings) -> Report:
    """The report on a value that is to be stored, with a reason that names the fields nobody has looked at, if any."""
    unjudged = unjudged_fields(value, settings)
    if not unjudged:
        return report
    reason = f"{UNJUDGED}: {', '.join(unjudged)} stored as given (writes.text_fields)"
    return report.model_copy(update={"reasons": (*report.reasons, reason)})


def put_of(record: WriteRecord, indexes_whole_value: bool, op: PutOp | None = None) -> PutOp:
    """The operation that stores what was decided on. `indexes_whole_value`: does the store embed whole values where a
    put names no fields? The mark is no part of what is searched.

    `op`: the put that is being answered. The same value put again under its key may come with another index or ttl.
    """
    intent = record.intent
    value = dict(record.stored_value or {})
    index, ttl = (op.index, op.ttl) if op is not None else (intent.options.get("index"), intent.options.get("ttl"))
    if index is None and indexes_whole_value and MARK in value:
        index = [name for name in value if name != MARK]
    return PutOp(intent.namespace, intent.key, value, index=index, ttl=ttl)


def _lines(part: Any, name: str = "") -> Iterator[str]:
    """Texts as they are; a number or a flag with the name of its field, which is what gives it a meaning. A name that
    may say something itself has a line of its own where no line has it yet."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for key, inner in part.items():
            if _may_be_prose(str(key)) and not _is_number_or_flag(inner):
                yield str(key)
            yield from _lines(inner, str(key))
    elif isinstance(part, list):
        for inner in part:
            yield from _lines(inner, name)
    elif part is not None:
        yield f"{name}: {part}" if name else str(part)


def _may_be_prose(name: str) -> bool:
    """Is it more than one word? Invisible characters can part words as well."""
    return any(char.isspace() or not char.isprintable() for char in name)


def _is_number_or_flag(part: Any) -> bool:
    return part is not None and not isinstance(part, str | dict | list)
