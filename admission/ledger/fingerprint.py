"""Which write is it: the fingerprint that names one write over every retry, and the JSON form of a stored value."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json, to_jsonable_python

from admission.errors import LedgerError
from admission.records import Namespace, digest
from admission.text import printable


def plain_value(value: dict[str, Any]) -> dict[str, Any]:
    """The value in JSON types only (tuples become lists, datetimes ISO 8601 text), as it is kept and handed back.

    Halves of surrogate pairs, which a store cannot keep either, become replacement marks. Raises `LedgerError` for
    what JSON cannot say.
    """
    try:
        plain = to_jsonable_python(value if _sayable(value) else _clean(value))
    except (ValueError, RecursionError) as error:
        raise LedgerError("value", f"cannot be written as JSON ({error})", "store a dict of JSON values") from error
    if not isinstance(plain, dict):
        raise LedgerError("value", f"is a {type(value).__name__}", "store a dict of JSON values")
    return plain


def _sayable(value: object) -> bool:
    """Is there nothing to clean? Mostly so, and told much faster than cleaning."""
    try:
        to_json(value)
    except ValueError:
        return False
    return True


def _clean(part: object) -> object:
    if isinstance(part, str):
        return printable(part)
    if isinstance(part, dict):
        return {printable(key) if isinstance(key, str) else key: _clean(inner) for key, inner in part.items()}
    if isinstance(part, list | tuple):
        return [_clean(inner) for inner in part]
    return part


def fingerprint_of(
    thread: str | None,
    task: str | None,
    namespace: Namespace,
    value: dict[str, Any],
    occurrence: int = 0,
    *,
    key: str,
) -> str:
    """SHA-256 (64 hex characters) over the canonical JSON of what makes this write the same write on a retry.

    A retried task (node retry, interrupt and resume, crash and resume) writes the same value under a new random key,
    so inside a task the key is not part of it. `occurrence` (from 0) tells apart equal values that one run of a task
    writes on purpose: count them per task, namespace and value, in the order written. A write from outside any task
    has nothing that names its retries but its key, so there the key is part of it, and its `occurrence` is
    `Ledger.changes(...)`.
    """
    return digest(
        {
            "thread": thread,
            "task": task,
            "namespace": list(namespace),
            "value": plain_value(value),
            "occurrence": occurrence,
            "key": key if task is None else None,
        }
    )
