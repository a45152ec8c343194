"""Changing what holds: a memory is forgotten or current again, in its metadata; and how a request for that is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, TypeVar

from langgraph.store.base import Item

from admission.errors import InputError
from admission.ledger import Ledger
from admission.metadata import LifecycleState, RecordMetadata
from admission.reading.forgetting import MARK, redacted
from admission.reading.stored_requests import named_in_request, shown_request
from admission.records import Namespace
from graph_nodes import superseding

ItemT = TypeVar("ItemT", bound=Item)


def forget(
    ledger: Ledger, namespace: Namespace, key: str, *, by: str, why: str, directive_key: str | None = None
) -> None:
    """From now on no question may use what this memory says. `directive_key`: the memory in the same namespace that is
    the request to forget; it stays usable, also where it is forgotten itself. Raises `LedgerError` for a key without a
    memory that went through the gate."""
    if directive_key == key:
        raise InputError("directive_key", "is the memory to be forgotten", "name the memory that holds the request")
    if directive_key is not None:
        directive = known_metadata(ledger, namespace, directive_key)
        ledger.annotate(namespace, directive_key, directive.model_copy(update={"forget": True}), by=by, why=why)
    known = known_metadata(ledger, namespace, key)
    forgotten = known.lifecycle.model_copy(update={"state": "forgotten"})
    ledger.annotate(namespace, key, known.model_copy(update={"lifecycle": forgotten}), by=by, why=why)


def reinstate(ledger: Ledger, namespace: Namespace, key: str, *, by: str, why: str) -> None:
    """Take back that a memory was forgotten or superseded: a forgotten one that something had replaced before is
    superseded again, anything else is current. Raises `InputError` for a memory that is neither."""
    known = known_metadata(ledger, namespace, key)
    if known.lifecycle.state != "forgotten":
        superseding.reinstate(ledger, namespace, key, by=by, why=why)
        return
    before: LifecycleState = "current" if known.lifecycle.superseded_by is None else "superseded"
    again = known.lifecycle.model_copy(update={"state": before})
    ledger.annotate(namespace, key, known.model_copy(update={"lifecycle": again}), by=by, why=why)


def known_metadata(ledger: Ledger, namespace: Namespace, key: str) -> RecordMetadata:
    """The memory's metadata; what nobody stated stays missing."""
    found = ledger.metadata([(namespace, key)]).get((namespace, key))
    return found if found is not None else RecordMetadata(namespace=namespace)


def as_request(item: ItemT) -> ItemT:
    """A memory that is a request to forget, as a reader gets it: what it names is replaced wherever it stands in the
    value, in labels and tags too. The stored value stays as it is."""
    values = named_in_request("\n".join(text for text in _texts(item.value) if _is_prose(text)))
    shown = copy(item)
    shown.value = {name: _without(part, values) for name, part in item.value.items()}
    return shown


def _without(part: Any, values: Sequence[str]) -> Any:
    if isinstance(part, str):
        return shown_request(part, values) if _is_prose(part) else redacted(part, values)
    if isinstance(part, Mapping):
        return {name: _without(inner, values) for name, inner in part.items()}
    if isinstance(part, list | tuple):
        return [_without(inner, values) for inner in part]
    if isinstance(part, int | float) and not isinstance(part, bool) and str(part) in values:
        return MARK
    return part


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping | list | tuple):
        for inner in part.values() if isinstance(part, Mapping) else part:
            yield from _texts(inner)


def _is_prose(text: str) -> bool:
    return " " in text.strip()
