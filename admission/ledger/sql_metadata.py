"""What is known of a memory beside its text: given with its write, changed later, read for many keys at once."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from admission.errors import LedgerError
from admission.ledger import statements
from admission.ledger.consistency import check_named
from admission.ledger.protocol import Entry, WriteIntent, WriteRecord
from admission.ledger.rows import Row
from admission.ledger.statements import Database
from admission.metadata import RecordMetadata
from admission.observability import ledger_call
from admission.records import Namespace, canonical_json

T = TypeVar("T")
Place = tuple[Namespace, str]

# Databases take only so many parameters in one query: SQLite by default 32,766, Postgres 65,535.
_KEYS = 15_000


class SqlMetadata(ABC):
    """The part of `SqlLedger` for metadata: entries of kind `metadata`, of which the newest of a write counts."""

    @abstractmethod
    def _read(self, work: Callable[[Database], T]) -> T: ...

    @abstractmethod
    def _write(self, work: Callable[[Database], T], *, appends: bool = True) -> T: ...

    @abstractmethod
    def _append(
        self, db: Database, record: WriteRecord, kind: Any, value_digest: str | None, body: dict[str, Any]
    ) -> Entry: ...

    @abstractmethod
    def _latest(self, db: Database, namespace: Namespace, key: str, pending: bool) -> WriteRecord | None: ...

    def metadata(self, keys: Sequence[Place]) -> dict[Place, RecordMetadata]:
        return self._read(lambda db: self._metadata(db, keys)) if keys else {}

    def _metadata(self, db: Any, keys: Sequence[Place]) -> dict[Place, RecordMetadata]:
        """What `metadata` answers; a database that can tell what has changed need not be asked for all of it again."""
        return selected_metadata(db, keys)

    def metadata_of(self, fingerprint: str) -> RecordMetadata | None:
        row = self._read(lambda db: db.execute(statements.METADATA_OF, (fingerprint,)).fetchone())
        return None if row is None else _metadata_of(row)

    @ledger_call
    def annotate(self, namespace: Namespace, key: str, metadata: RecordMetadata, *, by: str, why: str) -> None:
        check_named(by, why, "changes the memory's metadata")

        def commit(db: Database) -> None:
            record = self._latest(db, namespace, key, pending=False)
            if record is None:
                problem = f"{key!r} in {list(namespace)}: no memory that went through the gate"
                raise LedgerError("key", problem, "name one that is stored, or store it through the gate first")
            self._append(db, record, "metadata", None, metadata_body(metadata, by, why))

        self._write(commit)


def selected_metadata(db: Database, keys: Sequence[Place]) -> dict[Place, RecordMetadata]:
    """The metadata of these keys, as the database has them now."""
    places = {(canonical_json(namespace), key): (namespace, key) for namespace, key in keys}
    asked = list(places)
    pages = [asked[start : start + _KEYS] for start in range(0, len(asked), _KEYS)]
    rows = [row for page in pages for row in _rows(db, page)]
    return {places[row["namespace"], row["key"]]: _metadata_of(row) for row in rows}


def still_withheld(db: Database, intent: WriteIntent, metadata: RecordMetadata) -> RecordMetadata:
    """The metadata of a write that is being decided: it is withheld from whom the value is that it is to replace. What
    was granted was granted of that value, and is not passed on."""
    place = (intent.namespace, intent.key)
    replaced = selected_metadata(db, [place]).get(place)
    withheld = [p for p in replaced.permissions if p.effect == "deny"] if replaced is not None else []
    return metadata.model_copy(update={"permissions": (*withheld, *metadata.permissions)}) if withheld else metadata


def _rows(db: Database, places: Sequence[tuple[str, str]]) -> list[Row]:
    """Of up to `_KEYS` keys, in one query."""
    select = statements.METADATA.format(places=", ".join(["(?, ?)"] * len(places)))
    rows: list[Row] = db.execute(select, [part for place in places for part in place]).fetchall()
    return rows


def metadata_body(metadata: RecordMetadata, by: str | None = None, why: str | None = None) -> dict[str, Any]:
    """The body of a `metadata` entry. By nobody: it came with the write."""
    return {"metadata": metadata.model_dump(mode="json"), "by": by, "why": why}


def _metadata_of(row: Row) -> RecordMetadata:
    try:
        return RecordMetadata.model_validate(json.loads(row["body"])["metadata"])
    except (ValidationError, ValueError, TypeError, KeyError) as error:
        raise LedgerError("ledger", "a memory's metadata cannot be read", "run `admission verify`") from error
