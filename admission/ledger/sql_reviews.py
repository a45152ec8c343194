"""What is decided on writes after they were held back: restored, rejected or superseded, each once and for all."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from admission.errors import LedgerError
from admission.ledger import statements
from admission.ledger.consistency import check_decision, check_named
from admission.ledger.fingerprint import plain_value
from admission.ledger.protocol import Entry, WriteIntent, WriteRecord
from admission.ledger.statements import Database, within
from admission.metadata import RecordMetadata
from admission.observability import ledger_call
from admission.records import Namespace, Report, canonical_json, digest

T = TypeVar("T")


class SqlReviews(ABC):
    """The part of `SqlLedger` for held-back writes. Whether a write still waits is asked inside the transaction that
    settles it: of two people who decide at once, the second is told."""

    @abstractmethod
    def _read(self, work: Callable[[Database], T]) -> T: ...

    @abstractmethod
    def _write(self, work: Callable[[Database], T], *, appends: bool = True) -> T: ...

    @abstractmethod
    def _writes(self, where: str, parameters: tuple[object, ...] = ()) -> list[WriteRecord]: ...

    @abstractmethod
    def _required(self, db: Database, fingerprint: str) -> WriteRecord: ...

    @abstractmethod
    def _claim(self, db: Database, intent: WriteIntent) -> WriteRecord: ...

    @abstractmethod
    def _decide(
        self,
        db: Database,
        record: WriteRecord,
        report: Report,
        value: dict[str, Any] | None,
        metadata: RecordMetadata | None,
    ) -> WriteRecord: ...

    @abstractmethod
    def _append(
        self, db: Database, record: WriteRecord, kind: Any, value_digest: str | None, body: dict[str, Any]
    ) -> Entry: ...

    @abstractmethod
    def _entries_of(self, fingerprint: str, kind: str) -> list[Entry]: ...

    @ledger_call
    def restore(
        self,
        fingerprint: str,
        *,
        by: str,
        why: str,
        stored_value: dict[str, Any] | None = None,
        overrule: bool = False,
    ) -> WriteRecord:
        check_named(by, why, "takes the memory out of quarantine")
        given = None if stored_value is None else plain_value(stored_value)

        def commit(db: Database) -> WriteRecord:
            record = self._required(db, fingerprint)
            reviewed = _review(db, fingerprint)
            overruled = overrule and reviewed.get("verdict") == "rejected"
            if not record.quarantined or (reviewed and not overruled):
                raise _settled(record, reviewed)
            value = record.intent.value if given is None else given
            self._append(db, record, "restored", digest(value), {"by": by, "why": why})
            db.execute(statements.RESTORE, (json.dumps(value), fingerprint))
            return record.model_copy(update={"state": "decided", "stored_value": value, "quarantined": False})

        return self._write(commit)

    def reject(self, fingerprint: str, *, by: str, why: str) -> None:
        check_named(by, why, "rejects the memory")

        def commit(db: Database) -> None:
            self._set_aside(db, fingerprint, {"verdict": "rejected", "by": by, "why": why, "successor": None})

        self._write(commit)

    def supersede(
        self,
        fingerprint: str,
        successor: WriteIntent,
        report: Report,
        stored_value: dict[str, Any] | None,
        *,
        by: str,
        why: str,
        metadata: RecordMetadata | None = None,
    ) -> WriteRecord:
        check_named(by, why, "puts another memory in its place")
        check_decision(report, stored_value)
        value = None if stored_value is None else plain_value(stored_value)
        review = {"verdict": "superseded", "by": by, "why": why, "successor": successor.fingerprint}

        def commit(db: Database) -> WriteRecord:
            if _review(db, fingerprint).get("successor") == successor.fingerprint:
                return self._required(db, successor.fingerprint)
            self._set_aside(db, fingerprint, review)
            return self._decide(db, self._claim(db, successor), report, value, metadata)

        return self._write(commit)

    def quarantine(self, namespace: Namespace | None = None) -> list[WriteRecord]:
        where, parameters = within("w.namespace", namespace)
        return self._writes(f"w.quarantined = 1 AND {where}", parameters)

    def waiting(self, namespace: Namespace | None = None, *, thread: str | None = None) -> list[WriteRecord]:
        where, parameters = within("w.namespace", namespace)
        where = f"{statements.WAITING} AND {where}"
        if thread is not None:
            where, parameters = f"{where} AND w.thread = ?", (*parameters, thread)
        return self._writes(where, parameters)

    def reviews(self, fingerprint: str) -> list[Entry]:
        found = (*self._entries_of(fingerprint, "restored"), *self._entries_of(fingerprint, "review"))
        return sorted(found, key=lambda entry: entry.seq)

    def last_change(self, namespace: Namespace, key: str) -> int | None:
        place = (canonical_json(namespace), key)
        seq: int | None = self._read(lambda db: db.execute(statements.LAST_CHANGE, place).fetchone())["seq"]
        return seq

    def _set_aside(self, db: Database, fingerprint: str, review: dict[str, Any]) -> None:
        record = self._required(db, fingerprint)
        reviewed = _review(db, fingerprint)
        if not record.quarantined or reviewed:
            raise _settled(record, reviewed)
        self._append(db, record, "review", None, review)


def _review(db: Database, fingerprint: str) -> dict[str, Any]:
    """The body of the review that set this write aside; empty where none did."""
    row = db.execute(statements.REVIEW, (fingerprint,)).fetchone()
    body: dict[str, Any] = {} if row is None else json.loads(row["body"])
    return body


def _settled(record: WriteRecord, reviewed: dict[str, Any]) -> LedgerError:
    fingerprint, remedy = record.intent.fingerprint, "list what is waiting: `waiting()`"
    if not record.quarantined:
        return LedgerError("fingerprint", f"{fingerprint}: not in quarantine", remedy)
    how = f"{reviewed['verdict']} by {reviewed['by']}"
    return LedgerError("fingerprint", f"{fingerprint}: was {how}", remedy)
