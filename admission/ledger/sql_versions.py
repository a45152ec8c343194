"""What the memory at one key is, has been, and is about to be."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import ValidationError

from admission.errors import LedgerError
from admission.ledger import statements
from admission.ledger.chain import Chain
from admission.ledger.fingerprint import plain_value
from admission.ledger.protocol import Standing, Version, WriteRecord
from admission.ledger.rows import Row, write_record
from admission.ledger.statements import Database
from admission.records import Namespace, Report, canonical_json, digest

T = TypeVar("T")


class SqlVersions(ABC):
    """The part of `SqlLedger` that follows one key."""

    _chain: Chain

    @abstractmethod
    def _read(self, work: Callable[[Database], T]) -> T: ...

    def changes(self, namespace: Namespace, key: str, value: dict[str, Any]) -> int:
        place = (canonical_json(namespace), key)
        parameters = (*place, *place, digest(plain_value(value)))

        def count(db: Database) -> int:
            changes = db.execute(statements.CHANGES, parameters).fetchone()["changes"]
            erased = db.execute(statements.ALL_ERASED, place).fetchall()
            return int(changes) + sum(int(json.loads(row["body"])["writes"]) for row in erased)

        return self._read(count)

    def latest(self, namespace: Namespace, key: str, *, pending: bool = False) -> WriteRecord | None:
        return self._read(lambda db: self._latest(db, namespace, key, pending))

    def versions(self, namespace: Namespace, key: str) -> list[Version]:
        place = (canonical_json(namespace), key)
        rows: list[Row] = self._read(lambda db: db.execute(statements.HISTORY, place).fetchall())
        try:
            return _versions(rows)
        except (ValidationError, ValueError, TypeError) as error:
            raise LedgerError("ledger", f"the history of {key!r} cannot be read", "run `admission verify`") from error

    def standing(self, namespace: Namespace, *, limit: int) -> list[Standing]:
        parameters = (canonical_json(namespace), limit)
        rows: list[Row] = self._read(lambda db: db.execute(statements.STANDING, parameters).fetchall())
        newest: dict[str, Standing] = {}
        for row in rows:
            newest.setdefault(row["key"], Standing(row["key"], json.loads(row["stored_value"])))
        return list(newest.values())

    def _latest(self, db: Database, namespace: Namespace, key: str, pending: bool) -> WriteRecord | None:
        place = (canonical_json(namespace), key)
        deleted = db.execute(statements.LAST_DELETE, place).fetchone()["seq"] or 0
        row = db.execute(statements.LATEST_MADE if pending else statements.LATEST, place).fetchone()
        return None if row is None or deleted > _since(row) else write_record(row, self._chain)


def _since(row: Row) -> int:
    """From which entry on a write counts (`Ledger.latest`)."""
    seqs = (row["restored_seq"], row["pending_after"], row["chain_report_seq"])
    return next(int(seq) for seq in seqs if seq is not None)


def _versions(rows: Iterable[Row]) -> list[Version]:
    versions: list[Version] = []
    for row in rows:
        if versions and versions[-1].ended is None:
            by = "" if row["kind"] == "stored" and row["fingerprint"] is None else row["fingerprint"]
            ended = {"ended": row["time"], "superseded_by": by}
            versions[-1] = versions[-1].model_copy(update=ended)
        if row["kind"] == "stored" and row["fingerprint"] is None:
            versions.append(_erased_version(row))
        elif row["kind"] == "stored":
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


def _erased_version(row: Row) -> Version:
    """One of which no more is left than that there was one, on which verdict, and until when."""
    left = json.loads(row["body"])
    named = {"status": left["status"], "report_id": left["report_id"]}
    return Version(fingerprint="", value={}, stored=row["time"], erased=True, **named)
