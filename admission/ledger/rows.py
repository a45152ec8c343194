"""From rows of a ledger's database, whichever it is, to records; and what a row that was tampered with is taken for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from admission.errors import LedgerError
from admission.ledger.consistency import ChainFacts, WriteFacts, disagreement
from admission.ledger.hashing import Hashing
from admission.ledger.protocol import Entry, Problem, WriteIntent, WriteRecord
from admission.records import Namespace, Report, digest

# A row of `entries`, or one of `writes` joined with the chain's entries on it (`statements.WRITES`), by column name.
Row = Mapping[str, Any]

_SEALED = (
    "id",
    "fingerprint",
    "namespace",
    "key",
    "value_digest",
    "options",
    "thread",
    "task",
    "conversation",
    "pending_after",
)


def utc_text(since: str) -> str:
    """An ISO 8601 time (UTC where it has no offset) in the form of `Entry.time`, to be compared as text."""
    try:
        time = datetime.fromisoformat(since)
    except ValueError as error:
        raise LedgerError("since", f"{since!r} is not a time", "give ISO 8601, such as 2026-05-01T12:00Z") from error
    time = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def entry_of(row: Row) -> Entry:
    try:
        fields = {**_columns(row), "namespace": _namespace(row["namespace"]), "body": json.loads(row["body"])}
        return Entry.model_validate(fields)
    except (ValueError, TypeError) as error:
        raise LedgerError("ledger", f"entry {row['seq']} cannot be read", "run `admission verify`") from error


def entry_as_it_is(row: Row) -> Entry:
    """An entry for checking, whatever was done to it: what cannot be read at all will not fit its hash."""
    fields = _columns(row)
    try:
        fields["namespace"] = _namespace(row["namespace"])
    except (ValueError, TypeError):
        fields["namespace"] = (row["namespace"],)
    try:
        fields["body"] = json.loads(row["body"])
    except ValueError:
        fields["body"] = {"unreadable": row["body"]}
    return Entry.model_construct(**fields)


def report_of(entry: Entry) -> Report:
    try:
        return Report.model_validate(entry.body)
    except ValidationError as error:
        raise LedgerError(
            "ledger",
            f"entry {entry.seq} holds no report this version can read",
            "upgrade memory-admission, or run `admission verify`",
        ) from error


def sealed(row: Row) -> dict[str, object]:
    """What the seal of a row of `writes` covers: all that it came with, and its place among the others."""
    return {name: row[name] for name in _SEALED}


def write_record(row: Row, hashing: Hashing) -> WriteRecord:
    """A write as the caller may act on it; an error where its state is not what the chain says, or its seal is not the
    ledger's."""
    record, bad = _checked(row, row["last_seq"] or 0, hashing)
    if record is None or bad is not None:
        raise LedgerError(
            "ledger",
            f"write {row['fingerprint']}: {bad if bad else 'cannot be read'}",
            "run `admission verify`; the write is not carried out until it is put right",
        )
    return record


def row_problem(row: Row, last: int, hashing: Hashing) -> Problem | None:
    """In what a write's state differs from the chain, which ends at `last`: see `consistency.disagreement`."""
    return _checked(row, last, hashing)[1]


def _checked(row: Row, last: int, hashing: Hashing) -> tuple[WriteRecord | None, Problem | None]:
    try:
        record = _record(row)
        chain = _chain_facts(row, record)
    except (ValueError, TypeError) as error:
        unreadable = f"it cannot be read ({type(error).__name__})"
        return None, Problem(row["chain_report_seq"], "content_changed", unreadable)
    came_with = digest(record.intent.value)
    as_it_came = record.stored_value is None or row["stored_value"] == row["value"]  # mostly: one digest does for both
    write = WriteFacts(
        namespace=record.intent.namespace,
        key=record.intent.key,
        state=record.state,
        to_be_stored=record.stored_value is not None,
        quarantined=record.quarantined,
        value_digest=came_with if as_it_came else digest(record.stored_value),
        intent_intact=row["value_digest"] == came_with,
        has_conversation=record.intent.conversation is not None,
        report_seq=row["report_seq"],
        seal_intact=row["seal"] == hashing.seal(sealed(row)),
    )
    return record, disagreement(write, chain, last)


def _record(row: Row) -> WriteRecord:
    report = None if row["report"] is None else Report.model_validate_json(row["report"])
    return WriteRecord(
        intent=WriteIntent(
            fingerprint=row["fingerprint"],
            namespace=json.loads(row["namespace"]),
            key=row["key"],
            value=json.loads(row["value"]),
            options=json.loads(row["options"]),
            thread=row["thread"],
            task=row["task"],
            conversation=None if row["conversation"] is None else json.loads(row["conversation"]),
        ),
        state=row["state"],
        action=None if report is None else report.action,
        report=report,
        stored_value=None if row["stored_value"] is None else json.loads(row["stored_value"]),
        quarantined=bool(row["quarantined"]),
        overtaken=row["overtaken_seq"] is not None,
    )


def _chain_facts(row: Row, record: WriteRecord) -> ChainFacts | None:
    if record.action is None:
        return None
    return ChainFacts(
        namespace=_namespace(row["chain_namespace"]),
        key=row["chain_key"],
        action=record.action,
        value_digest=row["chain_digest"],
        report_seq=row["chain_report_seq"],
        restored_seq=row["restored_seq"],
        restored_digest=row["restored_digest"],
        stored_seq=row["stored_seq"],
        stored_digest=row["stored_digest"],
        overtaken_seq=row["overtaken_seq"],
    )


def _columns(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in Entry.model_fields}


def _namespace(text: str) -> Namespace:
    labels = json.loads(text)
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"{text} is no namespace")
    return tuple(labels)
