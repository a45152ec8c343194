"""Changing what holds: a memory is forgotten, or current again, in its metadata; its text stays where it is."""

from __future__ import annotations

from admission.errors import InputError
from admission.ledger import Ledger
from admission.metadata import LifecycleState, RecordMetadata
from admission.records import Namespace
from graph_nodes import superseding


def forget(
    ledger: Ledger, namespace: Namespace, key: str, *, by: str, why: str, directive_key: str | None = None
) -> None:
    """From now on no question may use what this memory says. `directive_key`: the memory in the same namespace that is
    the request to forget; it stays usable, also where it is forgotten itself. Raises `LedgerError` for a key without a
    memory that went through the gate."""
    if directive_key == key:
        raise InputError("directive_key", "is the memory to be forgotten", "name the memory that holds the request")
    if directive_key is not None:
        directive = _known(ledger, namespace, directive_key)
        ledger.annotate(namespace, directive_key, directive.model_copy(update={"forget": True}), by=by, why=why)
    known = _known(ledger, namespace, key)
    forgotten = known.lifecycle.model_copy(update={"state": "forgotten"})
    ledger.annotate(namespace, key, known.model_copy(update={"lifecycle": forgotten}), by=by, why=why)


def reinstate(ledger: Ledger, namespace: Namespace, key: str, *, by: str, why: str) -> None:
    """Take back that a memory was forgotten or superseded: a forgotten one that something had replaced before is
    superseded again, anything else is current. Raises `InputError` for a memory that is neither."""
    known = _known(ledger, namespace, key)
    if known.lifecycle.state != "forgotten":
        superseding.reinstate(ledger, namespace, key, by=by, why=why)
        return
    before: LifecycleState = "current" if known.lifecycle.superseded_by is None else "superseded"
    again = known.lifecycle.model_copy(update={"state": before})
    ledger.annotate(namespace, key, known.model_copy(update={"lifecycle": again}), by=by, why=why)


def _known(ledger: Ledger, namespace: Namespace, key: str) -> RecordMetadata:
    """The memory's metadata; what nobody stated stays missing."""
    found = ledger.metadata([(namespace, key)]).get((namespace, key))
    return found if found is not None else RecordMetadata(namespace=namespace)
