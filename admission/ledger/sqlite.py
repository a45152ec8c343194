"""The default ledger: one SQLite file (write-ahead log, every commit synced), or one in memory."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from admission.errors import LedgerError
from admission.ledger.holds import FileLocks, NoLocks
from admission.ledger.known_metadata import KnownMetadata
from admission.ledger.sql_ledger import SqlLedger
from admission.ledger.sql_metadata import Place, selected_metadata
from admission.ledger.sqlite_file import GUARD, MEMORY, Synchronous, begin, connect, ledger_errors, prepare
from admission.ledger.statements import Database
from admission.metadata import RecordMetadata
from admission.records import Namespace

T = TypeVar("T")

_HOLDS_SUFFIX = "-holds"


class SqliteLedger(SqlLedger):
    """A `Ledger` in one SQLite file.

    Threads share one connection under a lock rather than having one each: SQLite has a single writer anyway, a ledger
    in memory works the same way, and the ever new threads of a pool leave no connections behind. Processes share the
    file: writes take SQLite's write lock at their start (`BEGIN IMMEDIATE`) and wait for it up to `timeout_s` seconds.
    Holds are locks on a file beside it, `path` with "-holds", made at the first.

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
        super().__init__(path, key=key, locks=NoLocks() if path == MEMORY else FileLocks(Path(path + _HOLDS_SUFFIX)))
        self._synchronous: Synchronous = synchronous
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._db: sqlite3.Connection | None = connect(path, synchronous, timeout_s)
        try:
            prepare(self._db, path, self._chain, timeout_s)
        except BaseException:
            self._db.close()
            raise
        self._db.row_factory = _dict_row
        self._known = KnownMetadata(selected_metadata)

    def close(self) -> None:
        super().close()
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _read(self, work: Callable[[Database], T]) -> T:
        with self._connection() as db:
            return work(db)

    def _write(self, work: Callable[[Database], T], *, appends: bool = True) -> T:
        with self._connection() as db:
            try:
                begin(db, self._timeout_s)  # one writer at a time, whether it appends or not
                result = work(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
        return result

    @contextmanager
    def _snapshot(self) -> Iterator[Database]:
        """Of a file through a connection of its own, so that writes go on."""
        if self.name == MEMORY:
            with self._connection() as db:
                yield db
            return
        with self._connection():
            pass  # closed or forked: say so
        db = connect(self.name, self._synchronous, self._timeout_s)
        try:
            with ledger_errors(self.name):
                db.row_factory = _dict_row
                db.execute("BEGIN")
                yield db
        finally:
            db.close()

    def _metadata(self, db: sqlite3.Connection, keys: Sequence[Place]) -> dict[Place, RecordMetadata]:
        return self._known.of(db, keys)

    def _lock_key(self, db: Database, namespace: Namespace, key: str) -> None:
        pass  # one writer at a time

    @contextmanager
    def _unguarded(self, db: Database) -> Iterator[None]:
        db.execute("DROP TRIGGER IF EXISTS entries_are_never_changed")
        yield
        db.execute(GUARD)

    def _purge(self) -> None:
        """The file is written anew, and the write-ahead log emptied into it."""
        with self._connection() as db:
            db.execute("VACUUM")
            left = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if left["busy"]:
            problem = f"{self.name}: erased, but the write-ahead log still has it: another process is reading"
            raise LedgerError("ledger", problem, "erase the same key again when that has ended")

    def _field(self, name: str) -> str:
        return f"json_extract(body, '$.{name}')"

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._lock, ledger_errors(self.name):
            if self._db is None:
                raise LedgerError("ledger", f"{self.name}: closed", "open it again")
            if self._process != os.getpid():
                # SQLite's locks do not survive a fork: going on would risk the file.
                raise LedgerError(
                    "ledger", f"{self.name}: opened before this process was forked", "open it after the fork"
                )
            yield self._db


def _dict_row(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}
