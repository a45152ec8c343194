"""What the memory at one key is, has been, and is about to be."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import ValidationError

from admission.errors import LedgerError
from admission.ledger import statements
from admission.ledger.fingerprint import plain_value
from admission.ledger.protocol import Version, WriteRecord
from admission.ledger.rows import Row, write_record
from admission.ledger.statements import Database
from admission.records import Namespace, Report, canonical_json, digest

T = TypeVar("T")


class SqlVersions(ABC):
    """The part of `SqlLedger` that follows one key."""

    @abstractmethod
    def _read(self, work: Callable[[Database], T]) -> T: ...

    def changes(self, namespace: Namespace, key: str, value: dict[str, Any]) -> int:
        place = (canonical_json(namespace), key)
        parameters = (*place, *place, digest(plain_value(value)))
        found = self._read(lambda db: db.execute(statements.CHANGES, parameters).fetchone())
        return int(found["changes"])

    def latest(self, namespace: Namespace, key: str, *, pending: bool = False) -> WriteRecord | None:
        place = (canonical_json(namespace), key)
        select = statements.LATEST_MADE if pending else statements.LATEST

        def newest(db: Database) -> tuple[Row | None, int]:
            deleted = db.execute(statements.LAST_DELETE, place).fetchone()["seq"]
            return db.execute(select, place).fetchone(), deleted or 0

        row, deleted = self._read(newest)
        if row is None or deleted > _since(row):
            return None
        return write_record(row)

    def versions(self, namespace: Namespace, key: str) -> list[Version]:
        place = (canonical_json(namespace), key)
        rows: list[Row] = self._read(lambda db: db.execute(statements.HISTORY, place).fetchall())
        try:
            return _versions(rows)
        except (ValidationError, ValueError, TypeError) as error:
            raise LedgerError("ledger", f"the history of {key!r} cannot be read", "run `admission verify`") from error


def _since(row: Row) -> int:
    """From which entry on a write counts (`Ledger.latest`)."""
    seqs = (row["restored_seq"], row["pending_after"], row["chain_report_seq"])
    return next(int(seq) for seq in seqs if seq is not None)


def _versions(rows: Iterable[Row]) -> list[Version]:
    versions: list[Version] = []
    for row in rows:
        if versions and versions[-1].ended is None:
            ended = {"ended": row["time"], "superseded_by": row["fingerprint"]}
            versions[-1] = versions[-1].model_copy(update=ended)
        if row["kind"] == "stored":
            report = Report.model_validate_json(row["report"])
            versions.append(
                Version(
                    fingerprint=row["fingerprint"],
                    value=json.loads(row["stored_value"]),
                    status=report.status,
                    report_id=report.id,
                    stored=row["time"],
                )
            )
    return versions
