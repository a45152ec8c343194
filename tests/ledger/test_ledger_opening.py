"""Opening a ledger by URL, and what it says when the file is in no state to be one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ledger_records import TEA, a_report, an_intent

from admission.errors import LedgerError, SettingsError
from admission.ledger import SqliteLedger, open_ledger
from admission.ledger.sqlite_file import SCHEMA_VERSION


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    open_ledger("sqlite:///sub/ledger.db").close()
    assert (tmp_path / "sub" / "ledger.db").is_file()


def test_an_absolute_path_is_kept_to_the_letter(tmp_path: Path) -> None:
    path = tmp_path / "a b?c%20#.db"
    open_ledger(f"sqlite:///{path}").close()
    assert path.is_file()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:"])
def test_in_memory(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(open_ledger(url, key=b"secret")) as ledger:
        ledger.record_report(a_report())
        assert ledger.verify(ledger.head()).ok
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["", "ledger.db", "mysql://user:hunter2@host/db", "sqlite://ledger.db", "sqlite:x.db"])
def test_other_urls_are_a_setting_to_correct(url: str) -> None:
    with pytest.raises(SettingsError, match=r"ledger\.url.*sqlite:///relative") as error:
        open_ledger(url)
    assert "hunter2" not in str(error.value)


def test_what_was_written_is_there_when_opened_again(ledger_file: Path) -> None:
    intent = an_intent()
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        ledger.claim(intent)
        decided = ledger.decide(intent.fingerprint, a_report(), TEA)
        head = ledger.head()
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        assert ledger.incomplete() == [decided]
        assert ledger.verify(head).ok


def test_it_commits_with_full_sync_in_a_write_ahead_log(ledger_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = watch_connections(monkeypatch)
    with closing(SqliteLedger(str(ledger_file))):
        (db,) = opened
        pragmas = {name: next(iter(db.execute(f"PRAGMA {name}").fetchone().values())) for name in PRAGMAS}
    assert pragmas == PRAGMAS


PRAGMAS = {
    "journal_mode": "wal",
    "synchronous": 2,
    "foreign_keys": 1,
    "busy_timeout": 30000,
    "user_version": SCHEMA_VERSION,
}


def watch_connections(
    monkeypatch: pytest.MonkeyPatch, then: Callable[[sqlite3.Connection], object] = lambda db: None
) -> list[sqlite3.Connection]:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def watched(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        db = connect(*args, **kwargs)
        opened.append(db)
        then(db)
        return db

    monkeypatch.setattr(sqlite3, "connect", watched)
    return opened


def refused(path: Path, match: str, **how: Any) -> None:
    with pytest.raises(LedgerError, match=match) as error:
        SqliteLedger(str(path), **how)
    assert error.value.remedy


def test_a_missing_folder(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere" / "ledger.db", r"nowhere does not exist; make it first")


def test_a_folder(tmp_path: Path) -> None:
    refused(tmp_path, "is a folder")


def test_a_file_that_is_no_database(ledger_file: Path) -> None:
    ledger_file.write_text("these are notes, not a database, and long enough to be read as a header\n" * 20)
    before = ledger_file.read_bytes()
    refused(ledger_file, "not an SQLite database.*name another file")
    assert ledger_file.read_bytes() == before


def test_a_database_of_something_else(ledger_file: Path) -> None:
    with closing(sqlite3.connect(ledger_file)) as db:
        db.execute("CREATE TABLE store (prefix TEXT, key TEXT, value TEXT)")
    before = ledger_file.read_bytes()
    refused(ledger_file, "database of something else; give the ledger a file of its own")
    assert ledger_file.read_bytes() == before


def test_a_newer_schema(ledger_file: Path) -> None:
    SqliteLedger(str(ledger_file)).close()
    with closing(sqlite3.connect(ledger_file)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer = f"schema version {SCHEMA_VERSION + 1}.*reads up to {SCHEMA_VERSION}; upgrade memory-admission"
    refused(ledger_file, newer)


NEWER_THAN_THE_FIRST = (
    "DROP INDEX erased_by_key",
    "DROP INDEX reads_by_question",
    "DROP INDEX metadata_by_write",
    "ALTER TABLE entries DROP COLUMN salt",
    "ALTER TABLE writes DROP COLUMN seal",
    "DROP TABLE deletions",
    "DROP INDEX one_overtaken_a_write",
    "DROP INDEX writes_by_key",
    "ALTER TABLE writes DROP COLUMN pending_after",
    "ALTER TABLE writes DROP COLUMN conversation",
    "DROP INDEX reviews_by_write",
    "ALTER TABLE entries DROP COLUMN content_digest",
)


def test_a_file_of_the_first_schema_is_brought_up_to_date_and_verifies(ledger_file: Path) -> None:
    with closing(SqliteLedger(str(ledger_file), key=b"secret")) as ledger:
        ledger.record_report(a_report())
        head = ledger.head()
    with closing(sqlite3.connect(ledger_file)) as db:
        for newer in NEWER_THAN_THE_FIRST:
            db.execute(newer)
        db.execute("PRAGMA user_version = 1")
    for n in range(2):
        with closing(SqliteLedger(str(ledger_file), key=b"secret")) as ledger:
            assert ledger.verify(head).ok
            ledger.record_report(a_report(f"later {n}"))
    with closing(SqliteLedger(str(ledger_file), key=b"secret")) as ledger:
        assert [entry.content_digest is None for entry in ledger.entries()] == [True, False, False]


def test_a_ledger_that_has_to_exist_is_not_begun(ledger_file: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger at sqlite:///"):
        open_ledger(f"sqlite:///{ledger_file}", must_exist=True)
    assert not ledger_file.exists()
    SqliteLedger(str(ledger_file)).close()
    open_ledger(f"sqlite:///{ledger_file}", must_exist=True).close()


def test_an_empty_file_becomes_a_ledger(ledger_file: Path) -> None:
    ledger_file.touch()
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        assert ledger.head().seq == 0


def test_a_damaged_file(ledger_file: Path) -> None:
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        for n in range(40):
            ledger.record_report(a_report(f"r{n}", memory="Ines drinks green tea. " * 40))
    with ledger_file.open("r+b") as file:
        file.seek(3 * 4096)
        file.write(os.urandom(20 * 4096))
    with pytest.raises(LedgerError, match=r"damaged.*backup"), closing(SqliteLedger(str(ledger_file))) as ledger:
        ledger.verify()


def test_a_full_disk_leaves_everything_as_it_was(ledger_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = watch_connections(monkeypatch)
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        intent = an_intent()
        claimed = ledger.claim(intent)
        pages = opened[0].execute("PRAGMA page_count").fetchone()["page_count"]
        opened[0].execute(f"PRAGMA max_page_count = {pages}")
        large = a_report(memory="Ines drinks green tea. " * 2000)
        with pytest.raises(LedgerError, match=r"disk is full.*free some space"):
            ledger.decide(intent.fingerprint, large, TEA)
        assert ledger.incomplete() == [claimed]
        assert ledger.verify().entries == 0
        opened[0].execute("PRAGMA max_page_count = 100000")
        assert ledger.decide(intent.fingerprint, large, TEA).state == "decided"
        assert ledger.verify(ledger.head()).ok


def test_a_ledger_that_may_only_be_read(ledger_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        ledger.record_report(a_report())
    watch_connections(monkeypatch, lambda db: db.execute("PRAGMA query_only = 1"))
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        assert [report.id for _, report in ledger.reports()] == ["report-1"]
        assert ledger.verify().ok
        with pytest.raises(LedgerError, match=r"may not be written to.*make the file and its folder writable"):
            ledger.record_report(a_report("report-2"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to everything")
def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    refused(folder / "ledger.db", "cannot be opened.*may write to")


def test_a_file_another_process_holds(ledger_file: Path) -> None:
    with closing(SqliteLedger(str(ledger_file), timeout_s=0.05)) as ledger, closing(sqlite3.connect(ledger_file)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match=r"another process holds it locked.*try again"):
            ledger.claim(an_intent())
        assert ledger.incomplete() == []
        db.execute("ROLLBACK")
        assert ledger.claim(an_intent()).state == "claimed"


def test_a_writer_that_waits_asks_as_often_as_one_that_comes_later(
    ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    with closing(SqliteLedger(str(ledger_file))) as ledger, closing(sqlite3.connect(ledger_file)) as db:
        db.execute("BEGIN IMMEDIATE")

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 100:
                db.execute("ROLLBACK")

        monkeypatch.setattr("tenacity.nap.time.sleep", pause)
        assert ledger.claim(an_intent()).state == "claimed"
    assert len(pauses) == 100
    assert max(pauses) <= 0.01  # SQLite's own waiting would ask ever more rarely


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_ledger_is_not_used_across_a_fork(ledger_file: Path) -> None:
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        child = os.fork()
        if child == 0:
            try:
                ledger.head()
                os._exit(1)
            except LedgerError as error:
                os._exit(0 if "fork" in str(error) else 2)
            finally:
                os._exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ledger.head().seq == 0
