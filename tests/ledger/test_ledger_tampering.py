"""What checking finds after someone changed the SQLite file with plain SQL, the triggers dropped first."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ledger_records import HELD, SPACE, TEA, a_report, an_intent

from admission.errors import LedgerError
from admission.ledger import LedgerHead, SqliteLedger, Verification
from admission.ledger.chain import Chain
from admission.records import canonical_json, digest


def attack(path: Path, *statements: str, **values: object) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TRIGGER IF EXISTS entries_are_never_changed")
        db.execute("DROP TRIGGER IF EXISTS entries_are_never_deleted")
        for statement in statements:
            db.execute(statement, {name: v for name, v in values.items() if f":{name}" in statement})


def check(path: Path, head: LedgerHead | None = None, key: bytes | None = None) -> Verification:
    with closing(SqliteLedger(str(path), key=key)) as ledger:
        return ledger.verify(head)


def found(path: Path, head: LedgerHead | None = None, key: bytes | None = None) -> tuple[int | None, str]:
    verification = check(path, head, key)
    assert not verification.ok
    return verification.first_bad, verification.problem.split(":")[0]


def fill(ledger: SqliteLedger) -> LedgerHead:
    """1 a report, 2-3 a write admitted and stored, 4 a write in quarantine, 5 a delete, 6-7 another stored write."""
    ledger.record_report(a_report("audit"))
    for n, held in ((1, False), (2, True)):
        intent = an_intent({"content": f"memory {n}"}, key=f"k{n}")
        ledger.claim(intent)
        if held:
            ledger.decide(intent.fingerprint, HELD, None, quarantined=True)
        else:
            ledger.decide(intent.fingerprint, a_report(f"r{n}"), intent.value, quarantined=False)
            ledger.complete(intent.fingerprint)
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    intent = an_intent({"content": "memory 3"}, key="k3")
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, a_report("r3"), intent.value, quarantined=False)
    ledger.complete(intent.fingerprint)
    return ledger.head()


@pytest.fixture
def head(ledger_file: Path) -> LedgerHead:
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        head = fill(ledger)
        assert (head.seq, ledger.verify(head).ok) == (7, True)
    return head


# -- the entries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", ["UPDATE entries SET body = '{}'", "DELETE FROM entries WHERE seq = 7"])
def test_entries_are_append_only_by_trigger(ledger_file: Path, head: LedgerHead, statement: str) -> None:
    with closing(sqlite3.connect(ledger_file)) as db, pytest.raises(sqlite3.IntegrityError, match="never"):
        db.execute(statement)
    assert check(ledger_file, head).ok


@pytest.mark.parametrize(
    "change",
    [
        "body = json_set(body, '$.status', 'admitted')",
        "body = replace(body, 'unresolved', 'admitted')",
        "body = 'not json'",
        "body = CAST(x'ff22' AS TEXT)",
        "time = '2000-01-01T00:00:00.000000+00:00'",
        'namespace = \'["acme","user-8"]\'',
        "namespace = 'acme'",
        "key = 'k9'",
        "key = NULL",
        "kind = 'review'",
        "kind = 'made up'",
        "fingerprint = NULL",
        "value_digest = ''",
        "hash = ''",
        "previous = ''",
    ],
)
def test_a_changed_entry(ledger_file: Path, head: LedgerHead, change: str) -> None:
    indexes = [f"DROP INDEX {name}" for name in ("reports_by_id",)]  # it would refuse a body that is not JSON
    attack(ledger_file, *indexes, f"UPDATE entries SET {change} WHERE seq = 4")
    assert found(ledger_file) == (4, "content_changed")


def test_a_deleted_entry(ledger_file: Path, head: LedgerHead) -> None:
    attack(ledger_file, "DELETE FROM entries WHERE seq = 5")
    assert found(ledger_file) == (5, "entry_missing")


def test_a_deleted_entry_with_the_gap_closed(ledger_file: Path, head: LedgerHead) -> None:
    attack(
        ledger_file,
        "DELETE FROM entries WHERE seq = 5",
        "UPDATE entries SET seq = 5 WHERE seq = 6",
        "UPDATE entries SET seq = 6 WHERE seq = 7",
        "UPDATE writes SET report_seq = 5 WHERE report_seq = 6",
    )
    assert found(ledger_file) == (5, "entry_missing")


def test_two_entries_swapped(ledger_file: Path, head: LedgerHead) -> None:
    attack(
        ledger_file,
        "UPDATE entries SET seq = -1 WHERE seq = 4",
        "UPDATE entries SET seq = 4 WHERE seq = 5",
        "UPDATE entries SET seq = 5 WHERE seq = -1",
    )
    assert found(ledger_file) == (4, "order_changed")


def test_an_old_entry_replayed(ledger_file: Path, head: LedgerHead) -> None:
    attack(
        ledger_file,
        "INSERT INTO entries SELECT 8, kind, time, fingerprint, namespace, key, value_digest, body, previous, hash"
        " FROM entries WHERE seq = 5",
        "UPDATE head SET seq = 8",
    )
    assert found(ledger_file) == (8, "replayed")


def test_an_entry_put_before_the_first(ledger_file: Path, head: LedgerHead) -> None:
    attack(
        ledger_file,
        "INSERT INTO entries SELECT 0, kind, time, NULL, namespace, key, value_digest, body, previous, hash"
        " FROM entries WHERE seq = 1",
    )
    assert found(ledger_file) == (1, "order_changed")


def forge(path: Path, key: bytes | None = None) -> None:
    """Append an entry, soundly linked as far as someone without the ledger's key can."""
    with closing(sqlite3.connect(path)) as db:
        seq, hash_ = db.execute("SELECT seq, hash FROM head").fetchone()
    last = LedgerHead(seq=seq, hash=hash_)
    body: dict[str, Any] = a_report("planted").model_dump(mode="json")
    entry = Chain(key).following(last, kind="report", namespace=SPACE, key=None, body=body)
    attack(
        path,
        "INSERT INTO entries (seq, kind, time, namespace, body, previous, hash)"
        " VALUES (:seq, 'report', :time, :namespace, :body, :previous, :hash)",
        seq=entry.seq,
        time=entry.time,
        namespace=canonical_json(SPACE),
        body=canonical_json(body),
        previous=entry.previous,
        hash=entry.hash,
    )


def test_an_entry_the_ledger_did_not_write(ledger_file: Path, head: LedgerHead) -> None:
    forge(ledger_file)
    assert found(ledger_file) == (8, "forged")


# -- the tail and older copies ---------------------------------------------------------------------------------------


def test_a_cut_tail_shows_by_the_head_in_the_file(ledger_file: Path, head: LedgerHead) -> None:
    attack(ledger_file, "DELETE FROM entries WHERE seq > 4")
    assert found(ledger_file) == found(ledger_file, head) == (5, "tail_cut")


SET_HEAD = "UPDATE head SET seq = 4, hash = (SELECT hash FROM entries WHERE seq = 4)"


def test_a_cut_tail_with_the_head_in_the_file_moved_shows_by_the_writes(ledger_file: Path, head: LedgerHead) -> None:
    attack(ledger_file, "DELETE FROM entries WHERE seq > 4", SET_HEAD)
    assert found(ledger_file) == found(ledger_file, head) == (5, "tail_cut")


def test_a_cut_tail_with_every_trace_removed_needs_a_head_kept_elsewhere(ledger_file: Path, head: LedgerHead) -> None:
    attack(ledger_file, "DELETE FROM entries WHERE seq > 4", SET_HEAD, "DELETE FROM writes WHERE report_seq > 4")
    assert check(ledger_file).ok
    assert found(ledger_file, head) == (5, "rolled_back")  # it cannot be told from an older copy


def test_an_older_copy_needs_a_head_kept_elsewhere(ledger_file: Path, tmp_path: Path) -> None:
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        fill(ledger)
    copy = tmp_path / "copy.db"
    shutil.copy(ledger_file, copy)
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        ledger.record_report(a_report("later"))
        head = ledger.head()
    shutil.copy(copy, ledger_file)
    assert check(ledger_file).ok
    assert found(ledger_file, head) == (8, "rolled_back")
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        ledger.record_report(a_report("something else"))
        ledger.record_report(a_report("and more"))
    assert check(ledger_file).ok
    assert found(ledger_file, head) == (8, "rolled_back")


# -- the writes beside the chain -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "bad"),
    [
        # released from quarantine behind the ledger's back
        ("state = 'decided', stored_value = value, quarantined = 0 WHERE key = 'k2'", 4),
        ("quarantined = 0 WHERE key = 'k2'", 4),
        # a value exchanged while it waits in quarantine, or after it was stored
        ("value = '{\"content\": \"planted\"}' WHERE key = 'k2'", 4),
        ("value = 'not json' WHERE key = 'k2'", 4),
        ("stored_value = '{\"content\": \"planted\"}' WHERE key = 'k1'", 2),
        # moved
        ("namespace = '[\"acme\",\"user-8\"]' WHERE key = 'k2'", 4),
        ("key = 'k9' WHERE key = 'k2'", 4),
        # to be stored again, or not at all
        ("state = 'decided' WHERE key = 'k1'", 3),
        ("stored_value = NULL WHERE key = 'k1'", 2),
        ("state = 'claimed', report_seq = NULL, quarantined = 0 WHERE key = 'k2'", 4),
        ("report_seq = 5 WHERE key = 'k2'", 4),
    ],
)
def test_a_write_changed_beside_the_chain(ledger_file: Path, head: LedgerHead, change: str, bad: int) -> None:
    attack(ledger_file, f"UPDATE writes SET {change}")
    assert found(ledger_file) == (bad, "write_disagrees")


def test_a_changed_write_is_not_carried_out(ledger_file: Path, head: LedgerHead) -> None:
    attack(ledger_file, "UPDATE writes SET value = '{\"content\": \"planted\"}' WHERE key = 'k2'")
    held = an_intent({"content": "memory 2"}, key="k2")
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        for call in (
            lambda: ledger.restore(held.fingerprint, by="Ada", why="it looks right"),
            lambda: ledger.claim(held),
            ledger.quarantine,
        ):
            with pytest.raises(LedgerError, match="value is not the one decided on"):
                call()


def test_a_decided_write_without_a_report(ledger_file: Path, head: LedgerHead) -> None:
    planted = canonical_json({"content": "planted"})
    attack(
        ledger_file,
        "INSERT INTO writes"
        " (fingerprint, namespace, key, value, value_digest, options, state, stored_value, report_seq)"
        " VALUES ('f', '[\"acme\"]', 'k9', :value, :digest, '{}', 'decided', :value, 1)",
        value=planted,
        digest=digest(json.loads(planted)),
    )
    assert found(ledger_file) == (1, "write_disagrees")
    with closing(SqliteLedger(str(ledger_file))) as ledger, pytest.raises(LedgerError, match="no entry reports on it"):
        ledger.incomplete()


def test_a_write_that_is_gone(ledger_file: Path, head: LedgerHead) -> None:
    attack(ledger_file, "DELETE FROM writes WHERE key = 'k2'")
    assert found(ledger_file) == (4, "write_disagrees")


def test_the_head_in_the_file_gone(ledger_file: Path, head: LedgerHead) -> None:
    attack(ledger_file, "DELETE FROM head")
    with pytest.raises(LedgerError, match="head is gone"):
        check(ledger_file)


# -- keyed -----------------------------------------------------------------------------------------------------------


def test_a_keyed_ledger_shows_what_was_hashed_anew_without_the_key(ledger_file: Path) -> None:
    with closing(SqliteLedger(str(ledger_file), key=b"secret")) as ledger:
        head = fill(ledger)
        assert ledger.verify(head).ok
    forge(ledger_file)
    assert found(ledger_file, key=b"secret") == (8, "content_changed")


def test_a_keyed_ledger_is_opened_with_its_key_only(ledger_file: Path) -> None:
    SqliteLedger(str(ledger_file), key=b"secret").close()
    with pytest.raises(LedgerError, match="begun with another key"):
        SqliteLedger(str(ledger_file), key=b"another")
    with pytest.raises(LedgerError, match="begun with a key"):
        SqliteLedger(str(ledger_file))
    SqliteLedger(str(ledger_file), key=b"secret").close()
    plain = ledger_file.with_name("plain.db")
    SqliteLedger(str(plain)).close()
    with pytest.raises(LedgerError, match="begun without a key"):
        SqliteLedger(str(plain), key=b"secret")
    assert b"secret" not in ledger_file.read_bytes()


def test_checking_does_not_hold_up_writers(ledger_file: Path) -> None:
    with closing(SqliteLedger(str(ledger_file))) as writer, closing(SqliteLedger(str(ledger_file))) as checker:
        fill(writer)
        for n in range(3):
            assert checker.verify().entries == 7 + n
            writer.record_report(a_report(f"more {n}", memory=str(TEA)))
