"""A ledger of the version before there were metadata, salts, seals and erasures is brought up to date by opening it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ledger_erasing import OTHER, SECRET, a_turn, a_write, found_in, hold_back, remember
from ledger_places import Place, PostgresPlace, SqlitePlace
from ledger_records import SPACE

from admission.ledger import Ledger, LedgerHead, open_ledger
from admission.ledger.sqlite_file import SCHEMA_VERSION
from admission.metadata import RecordMetadata

KEY = b"secret"  # with a key the entries of that version and of this one are the same
TABLES = {
    "entries": "seq, kind, time, fingerprint, namespace, key, value_digest, body, previous, hash, content_digest",
    "writes": "id, fingerprint, namespace, key, value, value_digest, options, thread, task, state, stored_value,"
    " quarantined, report_seq, conversation, pending_after",
}

# As version 4 made its files, to the letter.
SQLITE_4 = """
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
    content_digest TEXT
) STRICT;
CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'ledger entries are never changed'); END;
CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'ledger entries are never deleted'); END;
CREATE UNIQUE INDEX one_report_a_write ON entries (fingerprint) WHERE kind = 'report';
CREATE UNIQUE INDEX one_restored_a_write ON entries (fingerprint) WHERE kind = 'restored';
CREATE UNIQUE INDEX one_stored_a_write ON entries (fingerprint) WHERE kind = 'stored';
CREATE INDEX reports_by_id ON entries (json_extract(body, '$.id')) WHERE kind = 'report';
CREATE INDEX changes_by_key ON entries (namespace, key) WHERE kind IN ('stored', 'deleted');
CREATE INDEX reviews_by_write ON entries (fingerprint) WHERE kind = 'review';
CREATE UNIQUE INDEX one_overtaken_a_write ON entries (fingerprint) WHERE kind = 'overtaken';
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
    CHECK ((state = 'claimed') = (report_seq IS NULL))
) STRICT;
CREATE INDEX writes_incomplete ON writes (id) WHERE state <> 'done';
CREATE INDEX writes_quarantined ON writes (id) WHERE quarantined = 1;
CREATE INDEX writes_by_key ON writes (namespace, key);
CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    key_check TEXT NOT NULL
) STRICT;
PRAGMA application_id = 1094995276;
PRAGMA user_version = 4;
"""

Rows = dict[str, list[tuple[Any, ...]]]


def filled(ledger: Ledger) -> LedgerHead:
    """A stored memory with an earlier version, one in quarantine, a pending and an undecided one, a deleted one."""
    remember(ledger, OTHER, "k1")
    remember(ledger, SECRET, "k1")
    hold_back(ledger, f"{SECRET} She says so.", "k2")
    ledger.claim(a_write(OTHER, "k3").model_copy(update={"conversation": (a_turn(SECRET),)}))
    ledger.claim(a_write("Zoë has two cats.", "k4"))
    remember(ledger, "Zoë sings in a choir.", "k5")
    ledger.record_delete(SPACE, "k5", thread=None, task=None)
    return ledger.head()


def rows_of_the_version_before(tmp_path: Path) -> tuple[Rows, tuple[int, str, str]]:
    place = SqlitePlace(tmp_path / "new")
    place.file.parent.mkdir()
    with closing(place.open(KEY)) as ledger:
        filled(ledger)
    (head,) = place.rows("SELECT seq, hash, key_check FROM head")
    return {table: place.rows(f"SELECT {columns} FROM {table}") for table, columns in TABLES.items()}, head


def old_sqlite(place: SqlitePlace, rows: Rows, head: tuple[int, str, str]) -> None:
    with closing(sqlite3.connect(place.file)) as db, db:
        db.executescript(SQLITE_4)
        for table, columns in TABLES.items():
            marks = ", ".join("?" * len(columns.split(",")))
            db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows[table])
        db.execute("INSERT INTO head VALUES (1, ?, ?, ?)", head)


def old_postgres(place: PostgresPlace, rows: Rows, head: tuple[int, str, str]) -> None:
    import psycopg

    from admission.ledger.postgres_schema import MIGRATIONS

    with psycopg.connect(place.address) as db:
        db.execute(f'CREATE SCHEMA "{place.schema}"'.encode())
        db.execute(f'SET search_path = "{place.schema}"'.encode())
        db.execute("CREATE TABLE ledger_versions (version integer PRIMARY KEY, applied timestamptz DEFAULT now())")
        for number, script in enumerate(MIGRATIONS[:3], start=1):  # those that were released are never changed
            db.execute(script.encode())
            db.execute("INSERT INTO ledger_versions (version) VALUES (%s)", (number,))
        for table, columns in TABLES.items():
            marks = ", ".join(["%s"] * len(columns.split(",")))
            insert = f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE VALUES ({marks})"
            with db.cursor() as cursor:
                cursor.executemany(insert.encode(), rows[table])
        db.execute("SELECT setval(pg_get_serial_sequence('writes', 'id'), (SELECT max(id) FROM writes))")
        db.execute("INSERT INTO head VALUES (1, %s, %s, %s)", head)
        db.execute("ANALYZE writes")


@pytest.fixture
def old(place: Place, tmp_path: Path) -> tuple[Place, LedgerHead]:
    rows, head = rows_of_the_version_before(tmp_path)
    make: Callable[[Any, Rows, tuple[int, str, str]], None]
    make = old_sqlite if isinstance(place, SqlitePlace) else old_postgres
    make(place, rows, head)
    return place, LedgerHead(seq=head[0], hash=head[1])


def contents(fingerprinted: Iterable[Any]) -> list[str]:
    return [record.intent.value["content"] for record in fingerprinted]


def test_everything_is_as_it_was_and_verifies(old: tuple[Place, LedgerHead]) -> None:
    place, head = old
    for _ in range(2):
        with closing(place.open(KEY)) as ledger:
            assert ledger.head() == head
            assert ledger.verify(head).ok
            assert [version.value["content"] for version in ledger.versions(SPACE, "k1")] == [OTHER, SECRET]
            assert contents(ledger.quarantine()) == [f"{SECRET} She says so."]
            assert contents(ledger.incomplete()) == [OTHER, "Zoë has two cats."]


def test_an_old_memory_can_be_given_metadata_and_be_erased(old: tuple[Place, LedgerHead]) -> None:
    place, head = old
    told = RecordMetadata(namespace=SPACE)
    with closing(place.open(KEY)) as ledger:
        assert ledger.metadata([(SPACE, "k1")]) == {}
        ledger.annotate(SPACE, "k1", told, by="Ada", why="known from the directory")
        assert ledger.metadata([(SPACE, "k1")]) == {(SPACE, "k1"): told}
        ledger.erase(SPACE, "k1", by="Ada", why="asked for it")
        assert ledger.verify(head).ok
    assert found_in(place, SECRET) == []


def test_an_old_ledger_is_not_opened_with_another_key_and_stays_as_it_is(old: tuple[Place, LedgerHead]) -> None:
    place, head = old
    with pytest.raises(Exception, match="begun with another key"):
        place.open(b"another")
    with closing(place.open(KEY)) as ledger:
        assert ledger.verify(head).ok


def test_the_tables_are_those_of_a_new_ledger(tmp_path: Path) -> None:
    rows, head = rows_of_the_version_before(tmp_path)
    place = SqlitePlace(tmp_path)
    old_sqlite(place, rows, head)
    place.open(KEY).close()
    new = SqlitePlace(tmp_path / "new")
    tables = "SELECT type, name, tbl_name FROM sqlite_master ORDER BY 1, 2"
    columns = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c ORDER BY 1, 2"
    assert place.rows(tables) == new.rows(tables)
    assert place.rows(columns) == new.rows(columns)
    assert place.rows("PRAGMA user_version") == [(SCHEMA_VERSION,)]


@pytest.mark.server
def test_a_migrated_ledger_keeps_no_samples_of_texts_for_the_planner(
    postgres_place: PostgresPlace, tmp_path: Path
) -> None:
    rows, head = rows_of_the_version_before(tmp_path)
    old_postgres(postgres_place, rows, head)
    sampled = f"SELECT attname FROM pg_stats WHERE schemaname = '{postgres_place.schema}' AND attname = 'value'"
    assert postgres_place.rows(sampled) == [("value",)]
    open_ledger(postgres_place.url, key=KEY).close()
    postgres_place.rows("ANALYZE writes")
    assert postgres_place.rows(sampled) == []
