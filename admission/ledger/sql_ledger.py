"""What every ledger does, in the SQL its databases share; each says how to reach its own."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

from admission.errors import LedgerError
from admission.ledger import statements
from admission.ledger.chain import Chain, failed
from admission.ledger.consistency import check_decision, headless
from admission.ledger.erasing import accounts
from admission.ledger.fingerprint import plain_value
from admission.ledger.hashing import Hashing
from admission.ledger.holds import Holds, Locks
from admission.ledger.protocol import (
    Entry,
    EntryKind,
    LedgerHead,
    Problem,
    Verification,
    WriteIntent,
    WriteRecord,
)
from admission.ledger.rows import Row, entry_as_it_is, entry_of, report_of, row_problem, sealed, utc_text, write_record
from admission.ledger.sql_deletions import SqlDeletions
from admission.ledger.sql_erasure import SqlErasure
from admission.ledger.sql_metadata import SqlMetadata, metadata_body, still_withheld
from admission.ledger.sql_reads import SqlReads
from admission.ledger.sql_reviews import SqlReviews
from admission.ledger.sql_versions import SqlVersions
from admission.ledger.statements import Database, within
from admission.metadata import RecordMetadata
from admission.observability import ledger_call
from admission.records import QUARANTINED_ACTIONS, Namespace, Report, Status, canonical_json, digest

T = TypeVar("T")

_PAGE = 200
_CANDIDATES = 5
_UNFINISHED = "w.state <> 'done'"


class SqlLedger(SqlReviews, SqlVersions, SqlMetadata, SqlReads, SqlDeletions, SqlErasure):
    """A `Ledger` over an SQL database. `name` tells people which one. A kind of database adds how transactions are made
    on it; what happens inside them is the same for all and stands here."""

    def __init__(self, name: str, *, key: bytes | None, locks: Locks) -> None:
        self.name = name
        self._chain = Chain(key)
        self._holds = Holds(locks)

    @abstractmethod
    def _read(self, work: Callable[[Database], T]) -> T:
        """What `work` reads; each of its statements may see another state."""

    @abstractmethod
    def _write(self, work: Callable[[Database], T], *, appends: bool = True) -> T:
        """What `work` returns, in one durable transaction. With `appends`, none of another process that appends to the
        chain runs at the same time. `work` may be called again after a transaction that failed."""

    @abstractmethod
    def _snapshot(self) -> AbstractContextManager[Database]:
        """One consistent state to read at length, while others write."""

    @abstractmethod
    def _lock_key(self, db: Database, namespace: Namespace, key: str) -> None:
        """Keep all others from claiming a write of this key until the transaction ends."""

    @abstractmethod
    def _field(self, name: str) -> str:
        """SQL for a text field of an entry's `body`."""

    # -- writes through the gate ---------------------------------------------------------------------------------

    @ledger_call
    def claim(self, intent: WriteIntent) -> WriteRecord:
        known = self.write(intent.fingerprint)  # a retry needs no transaction
        if known is not None and (intent.conversation is None or known.state != "claimed"):
            return known
        if known is not None and known.intent.conversation is not None:
            return known
        return self._write(lambda db: self._claim(db, intent), appends=False)

    def claim_and_hold(self, intent: WriteIntent) -> tuple[WriteRecord, bool]:
        # Held before it is there: a hold is on the name alone.
        ours = self._holds.take(intent.fingerprint)
        try:
            record = self.claim(intent)
        except BaseException:
            if ours:
                self.release(intent.fingerprint)
            raise
        if ours and record.state != "claimed":
            self.release(intent.fingerprint)
            ours = False
        return record, ours

    def hold(self, fingerprint: str) -> bool:
        if not self._holds.take(fingerprint):
            return False
        try:
            # Whoever held it before may have decided since the caller last looked.
            record = self.write(fingerprint)
        except BaseException:
            self.release(fingerprint)
            raise
        if record is None or record.state != "claimed":
            self.release(fingerprint)
            return False
        return True

    def release(self, fingerprint: str) -> None:
        self._holds.give_back(fingerprint)

    @ledger_call
    def decide(
        self,
        fingerprint: str,
        report: Report,
        stored_value: dict[str, Any] | None,
        *,
        metadata: RecordMetadata | None = None,
    ) -> WriteRecord:
        check_decision(report, stored_value)
        value = None if stored_value is None else plain_value(stored_value)

        def commit(db: Database) -> WriteRecord:
            return self._decide(db, self._required(db, fingerprint), report, value, metadata)

        decided = self._write(commit)
        self.release(fingerprint)
        return decided

    @ledger_call
    def complete(self, fingerprint: str) -> None:
        self._end(fingerprint, "stored")

    def overtake(self, fingerprint: str) -> None:
        self._end(fingerprint, "overtaken")

    def incomplete(self) -> list[WriteRecord]:
        return [write_record(row, self._chain) for row in self._rows(_UNFINISHED) if self._problem(row) is None]

    def unsound(self) -> list[tuple[str, str]]:
        checked = ((row["fingerprint"], self._problem(row)) for row in self._rows(_UNFINISHED))
        return [(fingerprint, str(problem)) for fingerprint, problem in checked if problem is not None]

    def write(self, fingerprint: str) -> WriteRecord | None:
        found = self._writes("w.fingerprint = ?", (fingerprint,))
        return found[0] if found else None

    # -- records that are not store writes -----------------------------------------------------------------------

    @ledger_call
    def record_report(self, report: Report) -> None:
        same = " AND ".join(f"{self._field(name)} = ?" for name in ("id", "input_digest", "config_digest"))
        known = f"SELECT 1 AS known FROM entries WHERE kind = 'report' AND fingerprint IS NULL AND {same}"

        def commit(db: Database) -> None:
            names = (report.id, report.input_digest, report.config_digest)
            if db.execute(known, names).fetchone() is None:
                self._append_to_chain(
                    db, kind="report", namespace=report.namespace, key=None, body=report.model_dump(mode="json")
                )

        self._write(commit)

    # -- reading -------------------------------------------------------------------------------------------------

    def reports(
        self, *, status: Status | None = None, namespace: Namespace | None = None, since: str | None = None
    ) -> Iterator[tuple[Entry, Report]]:
        below, parameters = within("namespace", namespace)
        where = f"kind = 'report' AND {below}"
        if since is not None:
            where, parameters = f"{where} AND time >= ?", (*parameters, utc_text(since))
        if status is not None:
            where, parameters = f"{where} AND {self._field('status')} = ?", (*parameters, status)
        return ((entry, report_of(entry)) for entry in self._entries(where, parameters))

    def report(self, id: str) -> tuple[Entry, Report] | None:
        newest = f"SELECT max(seq) AS seq FROM entries WHERE kind = 'report' AND {self._field('id')} = ?"
        seq = self._read(lambda db: db.execute(newest, (id,)).fetchone())["seq"]
        if seq is None:
            seq = self._the_one_starting_with(id)
        if seq is None:
            return None
        for entry in self._entries("seq = ?", (seq,)):
            return entry, report_of(entry)
        return None

    def entries(self) -> Iterator[Entry]:
        return self._entries("TRUE", ())

    def head(self) -> LedgerHead:
        return self._read(self._head)

    def verify(self, head: LedgerHead | None = None) -> Verification:
        with self._snapshot() as db:
            recorded = self._head(db)
            erased = accounts(map(entry_as_it_is, db.execute(statements.ERASURES)))
            rows = db.execute("SELECT * FROM entries ORDER BY seq")
            found = self._chain.verify(map(entry_as_it_is, rows), recorded=recorded, kept=head, erased=erased)
            if not found.ok and found.kind != "rolled_back":
                return found
            # A cut that was covered up in the chain shows in the writes, and is no older copy then.
            bad = _write_problem(db, found.head.seq, self._chain)
        if bad is None or not (found.ok or bad.kind == "tail_cut"):
            return found
        return failed(found.head, bad)

    def close(self) -> None:
        self._holds.close()

    # -- inside a transaction ------------------------------------------------------------------------------------

    def _claim(self, db: Database, intent: WriteIntent) -> WriteRecord:
        value = plain_value(intent.value)
        row = (
            intent.fingerprint,
            canonical_json(intent.namespace),
            intent.key,
            json.dumps(value),
            digest(value),
            json.dumps(plain_value(intent.options)),
            intent.thread,
            intent.task,
        )
        self._lock_key(db, intent.namespace, intent.key)
        self._check_owner(db, intent.namespace, intent.key, intent.options.get("store"))
        made: list[Row] = db.execute(statements.CLAIM, row).fetchall()
        if not made:
            self._required(db, intent.fingerprint)  # sound as it is, before anything is added to it
        if intent.conversation is not None:
            turns = json.dumps([turn.model_dump(mode="json") for turn in intent.conversation])
            db.execute(statements.KEEP_PENDING, (turns, intent.fingerprint))
        if made or intent.conversation is not None:
            self._seal(db, intent.fingerprint)
        return self._required(db, intent.fingerprint)

    def _seal(self, db: Database, fingerprint: str) -> None:
        """Seal a write as it is now, by `fingerprint`: whoever calls has made it so, or has checked it."""
        row: Row = db.execute("SELECT * FROM writes WHERE fingerprint = ?", (fingerprint,)).fetchone()
        db.execute(statements.SEAL, (self._chain.seal(sealed(row)), row["id"]))

    def _decide(
        self,
        db: Database,
        record: WriteRecord,
        report: Report,
        value: dict[str, Any] | None,
        metadata: RecordMetadata | None,
    ) -> WriteRecord:
        """The first decision stands; `value` as JSON says it."""
        if record.state != "claimed":
            return record
        about = record.intent.value if value is None else value
        quarantined = report.action in QUARANTINED_ACTIONS
        entry = self._append(db, record, "report", digest(about), report.model_dump(mode="json"))
        if metadata is not None:
            self._append(db, record, "metadata", None, metadata_body(still_withheld(db, record.intent, metadata)))
        decided = record.model_copy(
            update={
                "state": "done" if value is None else "decided",
                "action": report.action,
                "report": report,
                "stored_value": value,
                "quarantined": quarantined,
                "intent": record.intent.model_copy(update={"conversation": None}),
            }
        )
        to_store = None if value is None else json.dumps(value)
        row = (decided.state, to_store, int(quarantined), entry.seq, record.intent.fingerprint)
        db.execute(statements.DECIDE, row)
        if record.intent.conversation is not None:
            self._seal(db, record.intent.fingerprint)  # it no longer keeps its conversation
        return decided

    def _end(self, fingerprint: str, kind: EntryKind) -> None:
        def commit(db: Database) -> None:
            record = self._required(db, fingerprint)
            if record.state == "done":
                return
            if record.stored_value is None:
                raise LedgerError("fingerprint", f"{fingerprint}: not decided yet", "decide before you complete")
            self._append(db, record, kind, digest(record.stored_value), {})
            db.execute(statements.COMPLETE, (fingerprint,))

        self._write(commit)

    def _append(
        self, db: Database, record: WriteRecord, kind: Any, value_digest: str | None, body: dict[str, Any]
    ) -> Entry:
        """The next entry of the chain, about this write."""
        intent = record.intent
        return self._append_to_chain(
            db,
            kind=kind,
            fingerprint=intent.fingerprint,
            namespace=intent.namespace,
            key=intent.key,
            value_digest=value_digest,
            body=body,
        )

    def _append_to_chain(self, db: Database, **content: Any) -> Entry:
        """The next entry of the chain; `content` as `Chain.following` takes it."""
        body = canonical_json(content["body"])
        entry = self._chain.following(self._head(db), **content, text=body)
        db.execute(statements.APPEND, statements.appended(entry, body))
        db.execute(statements.MOVE_HEAD, (entry.seq, entry.hash))
        return entry

    def _required(self, db: Database, fingerprint: str) -> WriteRecord:
        row = db.execute(f"{statements.WRITES} WHERE w.fingerprint = ?", (fingerprint,)).fetchone()
        if row is None:
            raise LedgerError("fingerprint", f"{fingerprint}: no such write", "claim it first")
        return write_record(row, self._chain)

    def _head(self, db: Database) -> LedgerHead:
        row = db.execute("SELECT seq, hash FROM head").fetchone()
        if row is None:
            raise headless(self.name)
        return LedgerHead(seq=row["seq"], hash=row["hash"])

    # -- pages and pieces ----------------------------------------------------------------------------------------

    def _writes(self, where: str, parameters: tuple[object, ...] = ()) -> list[WriteRecord]:
        return [write_record(row, self._chain) for row in self._rows(where, parameters)]

    def _problem(self, row: Row) -> Problem | None:
        return row_problem(row, row["last_seq"] or 0, self._chain)

    def _rows(self, where: str, parameters: tuple[object, ...] = ()) -> list[Row]:
        select = f"{statements.WRITES} WHERE {where} ORDER BY w.id"
        rows: list[Row] = self._read(lambda db: db.execute(select, parameters).fetchall())
        return rows

    def _entries(self, where: str, parameters: tuple[object, ...]) -> Iterator[Entry]:
        # Page by page, so that neither a lock nor a snapshot is held while the caller works on an entry.
        page = f"SELECT * FROM entries WHERE {where} AND seq > ? ORDER BY seq LIMIT {_PAGE}"
        after = 0

        def select(db: Database) -> list[Row]:
            rows: list[Row] = db.execute(page, (*parameters, after)).fetchall()
            return rows

        while rows := self._read(select):
            yield from map(entry_of, rows)
            after = rows[-1]["seq"]

    def _entries_of(self, fingerprint: str, kind: str) -> list[Entry]:
        # One kind at a time, and written out: each has an index of its own.
        return list(self._entries(f"kind = '{kind}' AND fingerprint = ?", (fingerprint,)))

    def _the_one_starting_with(self, start: str) -> int | None:
        """The seq of the newest report whose id or fingerprint starts with `start`, where there is only one such."""
        names: dict[int, str] = {}
        for name in ("fingerprint", self._field("id")):
            select = partial(statements.newest_reports_starting_with, name=name, start=start, limit=_CANDIDATES + 1)
            names.update((row["seq"], row["name"]) for row in self._read(select))
        if len(names) > 1:
            some = ", ".join(list(names.values())[:_CANDIDATES]) + (", ..." if len(names) > _CANDIDATES else "")
            raise LedgerError("id", f"{start!r} is the start of several: {some}", "give more of it")
        return next(iter(names), None)


def _write_problem(db: Database, last: int, hashing: Hashing) -> Problem | None:
    """The first write that disagrees with the chain, or entry about a write that is gone."""
    for row in db.execute(f"{statements.WRITES} ORDER BY w.id"):
        bad = row_problem(row, last, hashing)
        if bad is not None:
            return bad._replace(detail=f"{bad.detail} (write {row['fingerprint']})")
    gone = db.execute(statements.ABOUT_NO_WRITE).fetchone()
    if gone is None:
        return None
    detail = f"the write entry {gone['seq']} is about is gone (write {gone['fingerprint']})"
    return Problem(gone["seq"], "write_disagrees", detail)
