"""The default ledger: one SQLite file (write-ahead log, every commit synced), or one in memory."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from admission.errors import LedgerError
from admission.ledger.chain import Chain
from admission.ledger.consistency import check_decision
from admission.ledger.fingerprint import plain_value
from admission.ledger.protocol import Entry, EntryKind, LedgerHead, Verification, WriteIntent, WriteRecord
from admission.ledger.rows import entry_as_it_is, entry_of, report_of, row_problem, utc_text, write_record
from admission.ledger.sqlite_file import MEMORY, Synchronous, connect, ledger_errors, prepare
from admission.records import Namespace, Report, Status, canonical_json, digest

_PAGE = 200
_CANDIDATES = 5

_WRITES = """
SELECT w.*, r.seq AS chain_report_seq, r.namespace AS chain_namespace, r.key AS chain_key,
       r.value_digest AS chain_digest, r.body AS report, b.seq AS restored_seq, s.seq AS stored_seq,
       s.value_digest AS stored_digest
FROM writes w
LEFT JOIN entries r ON r.fingerprint = w.fingerprint AND r.kind = 'report'
LEFT JOIN entries b ON b.fingerprint = w.fingerprint AND b.kind = 'restored'
LEFT JOIN entries s ON s.fingerprint = w.fingerprint AND s.kind = 'stored'
"""


class SqliteLedger:
    """A `Ledger` in one SQLite file.

    Threads share one connection under a lock rather than having one each: SQLite has a single writer anyway, a ledger
    in memory works the same way, and the ever new threads of a pool leave no connections behind. Processes share the
    file: writes take SQLite's write lock at their start (`BEGIN IMMEDIATE`) and wait for it up to `timeout_s` seconds.

    `synchronous="FULL"` syncs every commit to disk; with `"NORMAL"` a killed process loses nothing, but a power cut may
    lose the last commits. `key` turns the hash chain into a keyed one (`Chain`).
    """

    def __init__(
        self,
        path: str = MEMORY,
        *,
        key: bytes | None = None,
        synchronous: Synchronous = "FULL",
        timeout_s: float = 30.0,
    ) -> None:
        self.path = path
        self._chain = Chain(key)
        self._synchronous: Synchronous = synchronous
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._db: sqlite3.Connection | None = connect(path, synchronous, timeout_s)
        try:
            prepare(self._db, path, self._chain.key_check)
        except BaseException:
            self._db.close()
            raise
        self._db.row_factory = _dict_row

    # -- writes through the gate ---------------------------------------------------------------------------------

    def claim(self, intent: WriteIntent) -> WriteRecord:
        known = self.write(intent.fingerprint)  # a retry needs no write lock
        if known is not None:
            return known
        value = plain_value(intent.value)
        with self._transaction() as db:
            db.execute(
                "INSERT INTO writes (fingerprint, namespace, key, value, value_digest, options, thread, task)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (fingerprint) DO NOTHING",
                (
                    intent.fingerprint,
                    canonical_json(intent.namespace),
                    intent.key,
                    json.dumps(value),
                    digest(value),
                    json.dumps(plain_value(intent.options)),
                    intent.thread,
                    intent.task,
                ),
            )
            return self._required(db, intent.fingerprint)

    def decide(
        self, fingerprint: str, report: Report, stored_value: dict[str, Any] | None, *, quarantined: bool
    ) -> WriteRecord:
        check_decision(report, stored_value, quarantined)
        value = None if stored_value is None else plain_value(stored_value)
        with self._transaction() as db:
            record = self._required(db, fingerprint)
            if record.state != "claimed":
                return record
            intent = record.intent
            entry = self._append(
                db,
                kind="report",
                fingerprint=fingerprint,
                namespace=intent.namespace,
                key=intent.key,
                value_digest=digest(intent.value if value is None else value),
                body=report.model_dump(mode="json"),
            )
            decided = record.model_copy(
                update={
                    "state": "done" if value is None else "decided",
                    "action": report.action,
                    "report": report,
                    "stored_value": value,
                    "quarantined": quarantined,
                }
            )
            db.execute(
                "UPDATE writes SET state = ?, stored_value = ?, quarantined = ?, report_seq = ? WHERE fingerprint = ?",
                (decided.state, None if value is None else json.dumps(value), quarantined, entry.seq, fingerprint),
            )
            return decided

    def complete(self, fingerprint: str) -> None:
        with self._transaction() as db:
            record = self._required(db, fingerprint)
            if record.state == "done":
                return
            if record.stored_value is None:
                raise LedgerError("fingerprint", f"{fingerprint}: not decided yet", "decide before you complete")
            self._append(
                db,
                kind="stored",
                fingerprint=fingerprint,
                namespace=record.intent.namespace,
                key=record.intent.key,
                value_digest=digest(record.stored_value),
                body={},
            )
            db.execute("UPDATE writes SET state = 'done' WHERE fingerprint = ?", (fingerprint,))

    def restore(self, fingerprint: str, *, by: str, why: str) -> WriteRecord:
        if not by.strip() or not why.strip():
            raise LedgerError("by, why", "empty", "say who takes the memory out of quarantine, and why")
        with self._transaction() as db:
            record = self._required(db, fingerprint)
            if not record.quarantined:
                raise LedgerError("fingerprint", f"{fingerprint}: not in quarantine", "list what is: `quarantine()`")
            value = record.intent.value
            self._append(
                db,
                kind="restored",
                fingerprint=fingerprint,
                namespace=record.intent.namespace,
                key=record.intent.key,
                value_digest=digest(value),
                body={"by": by, "why": why},
            )
            db.execute(
                "UPDATE writes SET state = 'decided', stored_value = value, quarantined = 0 WHERE fingerprint = ?",
                (fingerprint,),
            )
            return record.model_copy(update={"state": "decided", "stored_value": value, "quarantined": False})

    def incomplete(self) -> list[WriteRecord]:
        return self._writes("w.state <> 'done'")

    def quarantine(self, namespace: Namespace | None = None) -> list[WriteRecord]:
        where, parameters = _within("w.namespace", namespace)
        return self._writes(f"w.quarantined = 1 AND {where}", parameters)

    def write(self, fingerprint: str) -> WriteRecord | None:
        found = self._writes("w.fingerprint = ?", (fingerprint,))
        return found[0] if found else None

    def changes(self, namespace: Namespace, key: str, value: dict[str, Any]) -> int:
        with self._reading() as db:
            found = db.execute(
                "SELECT count(*) AS changes FROM entries e LEFT JOIN writes w ON w.fingerprint = e.fingerprint"
                " WHERE e.kind IN ('stored', 'deleted') AND e.namespace = ? AND e.key = ?"
                " AND (e.kind = 'deleted' OR w.value_digest IS NOT ?)",
                (canonical_json(namespace), key, digest(plain_value(value))),
            ).fetchone()
        return int(found["changes"])

    # -- records that are not store writes -----------------------------------------------------------------------

    def record_report(self, report: Report) -> None:
        with self._transaction() as db:
            known = db.execute(
                "SELECT 1 FROM entries WHERE kind = 'report' AND json_extract(body, '$.id') = ? AND fingerprint IS NULL"
                " AND json_extract(body, '$.input_digest') = ? AND json_extract(body, '$.config_digest') = ?",
                (report.id, report.input_digest, report.config_digest),
            ).fetchone()
            if known is None:
                body = report.model_dump(mode="json")
                self._append(db, kind="report", namespace=report.namespace, key=None, body=body)

    def record_delete(self, namespace: Namespace, key: str, *, thread: str | None, task: str | None) -> None:
        with self._transaction() as db:
            self._append(db, kind="deleted", namespace=namespace, key=key, body={"thread": thread, "task": task})

    # -- reading -------------------------------------------------------------------------------------------------

    def reports(
        self, *, status: Status | None = None, namespace: Namespace | None = None, since: str | None = None
    ) -> Iterator[tuple[Entry, Report]]:
        within, parameters = _within("namespace", namespace)
        where = f"kind = 'report' AND {within}"
        if since is not None:
            where, parameters = f"{where} AND time >= ?", (*parameters, utc_text(since))
        if status is not None:
            where, parameters = f"{where} AND json_extract(body, '$.status') = ?", (*parameters, status)
        return ((entry, report_of(entry)) for entry in self._entries(where, parameters))

    def report(self, id: str) -> tuple[Entry, Report] | None:
        with self._reading() as db:
            found = db.execute(
                "SELECT max(seq) AS seq FROM entries WHERE kind = 'report' AND json_extract(body, '$.id') = ?", (id,)
            ).fetchone()
            seq = found["seq"]
            if seq is None:
                seq = _the_one_starting_with(db, id)
        for entry in self._entries("seq = ?", (seq,)):
            return entry, report_of(entry)
        return None

    def entries(self) -> Iterator[Entry]:
        return self._entries("TRUE", ())

    def head(self) -> LedgerHead:
        with self._reading() as db:
            return _head(db, self.path)

    def verify(self, head: LedgerHead | None = None) -> Verification:
        with self._snapshot() as db:
            rows = db.execute("SELECT * FROM entries ORDER BY seq")
            found = self._chain.verify(map(entry_as_it_is, rows), recorded=_head(db, self.path), kept=head)
            if not found.ok and not found.problem.startswith("rolled_back"):
                return found
            # A cut that was covered up in the chain shows in the writes, and is no older copy then.
            bad = _write_problem(db, found.head.seq)
        if bad is None or not (found.ok or bad[1].startswith("tail_cut")):
            return found
        return found.model_copy(update={"ok": False, "first_bad": bad[0], "problem": bad[1]})

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    # -- the connection ------------------------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, ledger_errors(self.path):
            if self._db is None:
                raise LedgerError("ledger", f"{self.path}: closed", "open it again")
            if self._process != os.getpid():
                # SQLite's locks do not survive a fork: going on would risk the file.
                raise LedgerError(
                    "ledger", f"{self.path}: opened before this process was forked", "open it after the fork"
                )
            yield self._db

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as db:
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        """One consistent state to read at length: of a file through a connection of its own, so that writes go on."""
        if self.path == MEMORY:
            with self._reading() as db:
                yield db
            return
        with self._reading():
            pass  # closed or forked: say so
        db = connect(self.path, self._synchronous, self._timeout_s)
        try:
            with ledger_errors(self.path):
                db.row_factory = _dict_row
                db.execute("BEGIN")
                yield db
        finally:
            db.close()

    def _append(
        self,
        db: sqlite3.Connection,
        *,
        kind: EntryKind,
        namespace: Namespace,
        key: str | None,
        body: dict[str, Any],
        fingerprint: str | None = None,
        value_digest: str | None = None,
    ) -> Entry:
        entry = self._chain.following(
            _head(db, self.path),
            kind=kind,
            namespace=namespace,
            key=key,
            body=body,
            fingerprint=fingerprint,
            value_digest=value_digest,
        )
        db.execute(
            "INSERT INTO entries (seq, kind, time, fingerprint, namespace, key, value_digest, body, previous, hash)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                entry.seq,
                kind,
                entry.time,
                fingerprint,
                canonical_json(namespace),
                key,
                value_digest,
                canonical_json(body),
                entry.previous,
                entry.hash,
            ),
        )
        db.execute("UPDATE head SET seq = ?, hash = ?", (entry.seq, entry.hash))
        return entry

    def _required(self, db: sqlite3.Connection, fingerprint: str) -> WriteRecord:
        row = db.execute(f"{_WRITES} WHERE w.fingerprint = ?", (fingerprint,)).fetchone()
        if row is None:
            raise LedgerError("fingerprint", f"{fingerprint}: no such write", "claim it first")
        return write_record(row, _head(db, self.path).seq)

    def _writes(self, where: str, parameters: tuple[object, ...] = ()) -> list[WriteRecord]:
        with self._reading() as db:
            rows = db.execute(f"{_WRITES} WHERE {where} ORDER BY w.id", parameters).fetchall()
            last = _head(db, self.path).seq
        return [write_record(row, last) for row in rows]

    def _entries(self, where: str, parameters: tuple[object, ...]) -> Iterator[Entry]:
        # Page by page, so that neither the lock nor a snapshot is held while the caller works on an entry.
        after = 0
        while True:
            with self._reading() as db:
                rows = db.execute(
                    f"SELECT * FROM entries WHERE {where} AND seq > ? ORDER BY seq LIMIT {_PAGE}", (*parameters, after)
                ).fetchall()
            if not rows:
                return
            yield from map(entry_of, rows)
            after = rows[-1]["seq"]


def _dict_row(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def _head(db: sqlite3.Connection, path: str) -> LedgerHead:
    row = db.execute("SELECT seq, hash FROM head").fetchone()
    if row is None:
        raise LedgerError("ledger", f"{path}: its record of the chain's head is gone", "restore a backup")
    return LedgerHead(seq=row["seq"], hash=row["hash"])


def _within(column: str, namespace: Namespace | None) -> tuple[str, tuple[object, ...]]:
    """SQL for namespaces at or below this one: those whose JSON text goes on from it with "," or ends with "]"."""
    if not namespace:
        return "TRUE", ()
    stem = canonical_json(namespace)[:-1]
    return f"({column} >= ? AND {column} < ?)", (stem, stem + "~")


def _the_one_starting_with(db: sqlite3.Connection, start: str) -> int | None:
    """The seq of the newest report whose report id or fingerprint starts with `start`, where there is only one such."""
    names: dict[int, str] = {}
    for name in ("fingerprint", "json_extract(body, '$.id')"):
        rows = db.execute(
            f"SELECT {name} AS name, max(seq) AS seq FROM entries"
            f" WHERE kind = 'report' AND {name} >= ? AND {name} < ? GROUP BY {name} LIMIT {_CANDIDATES + 1}",
            (start, start + "\U0010ffff"),
        )
        names.update((row["seq"], row["name"]) for row in rows)
    if len(names) > 1:
        some = ", ".join(list(names.values())[:_CANDIDATES]) + (", ..." if len(names) > _CANDIDATES else "")
        raise LedgerError("id", f"{start!r} is the start of several: {some}", "give more of it")
    return next(iter(names), None)


def _write_problem(db: sqlite3.Connection, last: int) -> tuple[int | None, str] | None:
    """The first write that disagrees with the chain, or entry about a write that is gone."""
    for row in db.execute(f"{_WRITES} ORDER BY w.id"):
        bad = row_problem(row, last)
        if bad is not None:
            return bad[0], f"{bad[1]} (write {row['fingerprint']})"
    gone = db.execute(
        "SELECT e.seq, e.fingerprint FROM entries e LEFT JOIN writes w ON w.fingerprint = e.fingerprint"
        " WHERE e.fingerprint IS NOT NULL AND w.id IS NULL ORDER BY e.seq LIMIT 1"
    ).fetchone()
    if gone is None:
        return None
    return gone["seq"], f"write_disagrees: the write entry {gone['seq']} is about is gone (write {gone['fingerprint']})"
