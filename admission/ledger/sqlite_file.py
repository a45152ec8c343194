"""A ledger's SQLite database: opening it safely, its schema, and SQLite's errors in terms of what to do about them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from admission.errors import LedgerError
from admission.ledger.chain import EMPTY
from admission.ledger.consistency import check_key
from admission.ledger.hashing import Hashing
from admission.ledger.rows import sealed
from admission.ledger.statements import SEAL

Synchronous = Literal["FULL", "NORMAL"]

MEMORY = ":memory:"
SCHEMA_VERSION = 5
_SEALS_SINCE = 5
_APPLICATION_ID = int.from_bytes(b"ADML", "big")
_OLDEST_SQLITE = (3, 38, 0)  # STRICT tables, JSON functions always built in

GUARD = """CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'ledger entries are never changed'); END"""
_SCHEMA = f"""
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    time TEXT NOT NULL,
    fingerprint TEXT,
    namespace TEXT NOT NULL,
    key TEXT,
    value_digest TEXT,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    content_digest TEXT,
    salt TEXT
) STRICT;
{GUARD};
CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'ledger entries are never deleted'); END;
CREATE UNIQUE INDEX one_report_a_write ON entries (fingerprint) WHERE kind = 'report';
CREATE UNIQUE INDEX one_restored_a_write ON entries (fingerprint) WHERE kind = 'restored';
CREATE UNIQUE INDEX one_stored_a_write ON entries (fingerprint) WHERE kind = 'stored';
CREATE INDEX reports_by_id ON entries (json_extract(body, '$.id')) WHERE kind = 'report';
CREATE INDEX changes_by_key ON entries (namespace, key) WHERE kind IN ('stored', 'deleted');
CREATE INDEX reviews_by_write ON entries (fingerprint) WHERE kind = 'review';
CREATE UNIQUE INDEX one_overtaken_a_write ON entries (fingerprint) WHERE kind = 'overtaken';
CREATE INDEX metadata_by_write ON entries (fingerprint) WHERE kind = 'metadata';
CREATE INDEX reads_by_question ON entries (key) WHERE kind = 'read';
CREATE INDEX erased_by_key ON entries (namespace, key) WHERE kind = 'erased';

CREATE TABLE writes (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    value_digest TEXT NOT NULL,
    options TEXT NOT NULL,
    thread TEXT,
    task TEXT,
    state TEXT NOT NULL DEFAULT 'claimed' CHECK (state IN ('claimed', 'decided', 'done')),
    stored_value TEXT,
    quarantined INTEGER NOT NULL DEFAULT 0 CHECK (quarantined IN (0, 1)),
    report_seq INTEGER UNIQUE REFERENCES entries (seq),
    conversation TEXT,
    pending_after INTEGER,
    seal TEXT,
    CHECK ((state = 'claimed') = (report_seq IS NULL))
) STRICT;
CREATE INDEX writes_incomplete ON writes (id) WHERE state <> 'done';
CREATE INDEX writes_quarantined ON writes (id) WHERE quarantined = 1;
CREATE INDEX writes_by_key ON writes (namespace, key);

CREATE TABLE deletions (
    seq INTEGER PRIMARY KEY REFERENCES entries (seq),
    store TEXT NOT NULL
) STRICT;

CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    key_check TEXT NOT NULL
) STRICT;
"""

# What brings a file of an older version to the next, by the version it has.
_MIGRATIONS = {
    1: "ALTER TABLE entries ADD COLUMN content_digest TEXT;",
    2: "CREATE INDEX reviews_by_write ON entries (fingerprint) WHERE kind = 'review';",
    3: """
ALTER TABLE writes ADD COLUMN conversation TEXT;
ALTER TABLE writes ADD COLUMN pending_after INTEGER;
CREATE INDEX writes_by_key ON writes (namespace, key);
CREATE UNIQUE INDEX one_overtaken_a_write ON entries (fingerprint) WHERE kind = 'overtaken';
""",
    4: """
ALTER TABLE entries ADD COLUMN salt TEXT;
ALTER TABLE writes ADD COLUMN seal TEXT;
CREATE TABLE deletions (seq INTEGER PRIMARY KEY REFERENCES entries (seq), store TEXT NOT NULL) STRICT;
CREATE INDEX metadata_by_write ON entries (fingerprint) WHERE kind = 'metadata';
CREATE INDEX reads_by_question ON entries (key) WHERE kind = 'read';
CREATE INDEX erased_by_key ON entries (namespace, key) WHERE kind = 'erased';
""",
}

_REMEDIES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "free some space; nothing was half written"),
    sqlite3.SQLITE_READONLY: ("it may not be written to", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_PERM: ("access is denied", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_AUTH: ("access is denied", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened",
        "check that the path is a file in a folder this user may write to",
    ),
    sqlite3.SQLITE_NOTADB: ("it is not an SQLite database", "name another file, or restore this one from a backup"),
    sqlite3.SQLITE_CORRUPT: ("the file is damaged", "keep a copy for inspection and restore a backup"),
    sqlite3.SQLITE_BUSY: ("another process holds it locked", "end the program that holds it, then try again"),
    sqlite3.SQLITE_LOCKED: ("another connection holds it locked", "end the program that holds it, then try again"),
    sqlite3.SQLITE_IOERR: ("reading or writing the file failed", "check the disk and its free space, then try again"),
    sqlite3.SQLITE_TOOBIG: ("the value is larger than SQLite can hold", "store smaller memories"),
    sqlite3.SQLITE_CONSTRAINT: ("its tables contradict each other", "run `admission verify` to see what was changed"),
}


@contextmanager
def ledger_errors(path: str) -> Iterator[None]:
    """Turns whatever SQLite raises inside into a `LedgerError` about `path`."""
    try:
        yield
    except sqlite3.Error as error:
        problem, remedy = _REMEDIES.get(
            _code(error), ("SQLite refused", "check that the file is a ledger of this version, and the disk")
        )
        raise LedgerError("ledger", f"{path}: {problem} ({error})", remedy) from error
    except UnicodeEncodeError as error:
        raise LedgerError(
            "ledger", f"{path}: a name or text is not valid Unicode ({error.reason})", "correct it"
        ) from error


def connect(path: str, synchronous: Synchronous, timeout_s: float) -> sqlite3.Connection:
    """Open the file (made if missing, its folder is not) after making sure that it is a ledger or empty."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise LedgerError(
            "ledger", f"SQLite {sqlite3.sqlite_version} is too old", "use a Python with SQLite 3.38 or newer"
        )
    if path != MEMORY:
        if not Path(path).parent.is_dir():
            raise LedgerError("ledger", f"{path}: the folder {Path(path).parent} does not exist", "make it first")
        if Path(path).is_dir():
            raise LedgerError("ledger", f"{path}: is a folder", "name a file in it")
    with ledger_errors(path):
        # Autocommit: transactions are begun and ended by hand. Threads share the connection under the ledger's lock.
        db = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
        try:
            # A changed byte must show as a broken hash, not as an exception on reading.
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            _check_owner(db, path)
            db.execute("PRAGMA foreign_keys = ON")
            _use_write_ahead_log(db, timeout_s)
            db.execute(f"PRAGMA synchronous = {synchronous}")
        except BaseException:
            db.close()
            raise
    return db


def prepare(db: sqlite3.Connection, path: str, hashing: Hashing, timeout_s: float) -> None:
    """Make the tables, or bring older ones up to date, and check that the ledger was begun with the key given now."""
    with ledger_errors(path):
        if _version(db) < SCHEMA_VERSION:
            begin(db, timeout_s)
            try:
                version = _version(db)  # another process may have been faster
                if version == 0:
                    _create(db, hashing.key_check)
                else:
                    _check_key(db, path, hashing)
                    _migrate(db, version, hashing)
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise
        _check_key(db, path, hashing)


def begin(db: sqlite3.Connection, timeout_s: float) -> None:
    """Begin a transaction that writes, when it is its turn.

    SQLite's own waiting asks ever more rarely, so that among many writers those that came last win, and one may wait
    without end. Here all ask equally often.
    """
    db.execute("PRAGMA busy_timeout = 0")
    try:
        try:
            db.execute("BEGIN IMMEDIATE")  # mostly it is free
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            _until_free(timeout_s)(db.execute, "BEGIN IMMEDIATE")
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(timeout_s * 1000)}")


def _use_write_ahead_log(db: sqlite3.Connection, timeout_s: float) -> None:
    # While another process is in a new file too, SQLite refuses this one change at once instead of waiting its turn.
    _until_free(timeout_s)(db.execute, "PRAGMA journal_mode = WAL")


def _until_free(timeout_s: float) -> Retrying:
    return Retrying(
        retry=retry_if_exception(_is_busy),
        stop=stop_after_delay(timeout_s),
        wait=wait_random(0.001, 0.01),
        reraise=True,
    )


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.Error) and _code(error) == sqlite3.SQLITE_BUSY


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 where Python itself raised the error."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _create(db: sqlite3.Connection, key_check: str) -> None:
    _run(db, _SCHEMA)
    db.execute("INSERT INTO head VALUES (1, ?, ?, ?)", (EMPTY.seq, EMPTY.hash, key_check))
    db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _check_key(db: sqlite3.Connection, path: str, hashing: Hashing) -> None:
    row = db.execute("SELECT key_check FROM head").fetchone()
    check_key(path, row and row[0], hashing.key_check)


def _migrate(db: sqlite3.Connection, version: int, hashing: Hashing) -> None:
    for older in range(version, SCHEMA_VERSION):
        _run(db, _MIGRATIONS[older])
    if version < _SEALS_SINCE:
        _seal_all(db, hashing)
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _seal_all(db: sqlite3.Connection, hashing: Hashing) -> None:
    writes = db.execute("SELECT * FROM writes")
    columns = [column[0] for column in writes.description]
    for values in writes.fetchall():
        row = dict(zip(columns, values, strict=True))
        db.execute(SEAL, (hashing.seal(sealed(row)), row["id"]))


def _run(db: sqlite3.Connection, script: str) -> None:
    # Not executescript: it would commit the transaction that keeps two processes from both making the tables.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def _check_owner(db: sqlite3.Connection, path: str) -> None:
    # One statement, so that all three are of one moment while another process makes the tables.
    application, version, tables = db.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),"
        " (SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if application != _APPLICATION_ID and (application or version or tables):
        raise LedgerError("ledger", f"{path}: is a database of something else", "give the ledger a file of its own")
    if version > SCHEMA_VERSION:
        raise LedgerError(
            "ledger",
            f"{path}: has schema version {version}, this version of memory-admission reads up to {SCHEMA_VERSION}",
            "upgrade memory-admission",
        )


def _version(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)
