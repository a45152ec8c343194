"""What a stored value says: the memory's text, its author's citations, and the value as an action leaves it."""

from __future__ import annotations

from typing import Any

from langgraph.store.base import PutOp

from admission.errors import InputError
from admission.ledger import WriteRecord
from admission.records import STORED_ACTIONS, Report
from admission.settings import WriteSettings
from graph_nodes.fields import Fields, Keys, read_fields

# One flat key, because filters on nested keys do not work on every store.
MARK = "admission"
UNJUDGED = "fields_not_judged"


def memory_text(value: dict[str, Any], settings: WriteSettings) -> str:
    """The text to judge: the first text field that says something, then whatever else says something, a line each
    with what its field is called (`fields.read_fields`). Where no text field says anything, all the value says."""
    fields = _fields(value, settings)
    return "\n".join(leaf.lines() for leaf in (*fields.text, *fields.beside))


def unjudged_fields(value: dict[str, Any], settings: WriteSettings) -> list[str]:
    """The fields that are stored with a memory but were no part of what was judged, as dotted names."""
    return sorted({leaf.path for leaf in _fields(value, settings).labels})


def edited_value(value: dict[str, Any], text: str, settings: WriteSettings) -> dict[str, Any]:
    """`value` with `text` in place of the memory's text. Raises `InputError` where the text was made of several."""
    leaves = _fields(value, settings).text
    (leaf,) = leaves if len(leaves) == 1 else (None,)
    if leaf is None or leaf.keys is None:
        raise InputError("text", "replaces no single text of this memory", "reject it, and have it written anew")
    edited: dict[str, Any] = _with_text(value, leaf.keys, text)
    return edited


def _with_text(part: Any, keys: Keys, text: str) -> Any:
    if not keys:
        return text
    if isinstance(part, list):
        return [_with_text(inner, keys[1:], text) if place == keys[0] else inner for place, inner in enumerate(part)]
    return {name: _with_text(inner, keys[1:], text) if str(name) == keys[0] else inner for name, inner in part.items()}


def _fields(value: dict[str, Any], settings: WriteSettings) -> Fields:
    return read_fields(value, settings, leave_out=(MARK, citation_field(value, settings)))


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
    reason = f"{UNJUDGED}: {', '.join(unjudged)} stored as given (writes.metadata_fields)"
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
