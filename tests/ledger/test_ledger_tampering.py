"""What checking finds after someone changed the database with plain SQL, away with what guards the entries first."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from ledger_attacks import COLUMNS, CUT, FIT_HEAD, TAMPERINGS, Tampering, fill_and_copy, forge
from ledger_filling import fill
from ledger_places import Place, SqlitePlace
from ledger_records import TEA, a_report, an_intent

from admission.errors import LedgerError
from admission.ledger import LedgerHead, Verification
from admission.ledger.chain import EMPTY, Chain
from admission.records import canonical_json, digest


def check(place: Place, head: LedgerHead | None = None, key: bytes | None = None) -> Verification:
    with closing(place.open(key)) as ledger:
        return ledger.verify(head)


def found(place: Place, head: LedgerHead | None = None, key: bytes | None = None) -> tuple[int | None, str | None]:
    verification = check(place, head, key)
    assert not verification.ok
    return verification.first_bad, verification.kind


@pytest.fixture
def head(place: Place) -> LedgerHead:
    with closing(place.open()) as ledger:
        head = fill(ledger)
        assert (head.seq, ledger.verify(head).ok) == (7, True)
    return head


# -- every kind, on every ledger -------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [None, b"secret"], ids=["plain", "keyed"])
@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda tampering: tampering.name)
def test_each_kind_of_tampering_is_named_with_the_first_bad_record(
    place: Place, tampering: Tampering, key: bytes | None
) -> None:
    head = fill_and_copy(place, key)
    assert check(place, head, key).ok
    tampering.commit(place)
    named = (tampering.first_bad, tampering.kind)
    assert found(place, head, key) == named
    if tampering.without_head:
        assert found(place, key=key) == named
    else:
        assert check(place, key=key).ok


def hash_anew(place: Place) -> None:
    """What someone does who knows the format, where there is no key: change an entry and make all the rest fit."""
    with closing(place.open()) as ledger:
        entries = list(ledger.entries())
    chain, last = Chain(), EMPTY
    for entry in entries:
        body = {**entry.body, "memory": "planted"} if entry.seq == 4 else entry.body
        again = entry.model_copy(update={"previous": last.hash, "body": body})
        last = LedgerHead(seq=entry.seq, hash=chain.hash_of(again))
        place.attack(
            "UPDATE entries SET body = :body, previous = :previous, hash = :hash, content_digest = :digest"
            " WHERE seq = :seq",
            body=canonical_json(body),
            previous=again.previous,
            hash=last.hash,
            digest=chain.content_digest(again),
            seq=entry.seq,
        )
    place.attack("UPDATE head SET hash = :hash", hash=last.hash)


def test_a_whole_chain_hashed_anew_needs_a_head_kept_elsewhere(place: Place, head: LedgerHead) -> None:
    hash_anew(place)
    assert check(place).ok
    assert found(place, head) == (7, "rolled_back")


# -- the entries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", ["UPDATE entries SET body = '{}'", "DELETE FROM entries WHERE seq = 7"])
def test_entries_are_append_only_by_trigger(place: Place, head: LedgerHead, statement: str) -> None:
    with pytest.raises(Exception, match="never"):
        place.rows(statement)
    assert check(place, head).ok


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("body = 'not json'", "content_changed"),
        ("body = '[]'", "content_changed"),
        ("value_digest = ''", "content_changed"),
        ("namespace = 'acme'", "moved"),
        ("namespace = '[[1]]'", "moved"),
        ("key = NULL", "metadata_changed"),
        ("kind = 'review'", "metadata_changed"),
        ("kind = 'made up'", "metadata_changed"),
        ("fingerprint = NULL", "metadata_changed"),
        ("hash = ''", "metadata_changed"),
        ("previous = ''", "metadata_changed"),
        ("content_digest = ''", "metadata_changed"),
        ("content_digest = NULL, key = 'k9'", "content_changed"),
    ],
)
def test_a_changed_entry(place: Place, head: LedgerHead, change: str, kind: str) -> None:
    place.attack(f"UPDATE entries SET {change} WHERE seq = 4")
    assert found(place) == (4, kind)


def test_text_that_is_no_text(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)  # Postgres keeps valid UTF-8 only
    with closing(place.open()) as ledger:
        fill(ledger)
    place.attack("UPDATE entries SET body = CAST(x'ff22' AS TEXT) WHERE seq = 4")
    assert found(place) == (4, "content_changed")


def test_an_entry_put_before_the_first(place: Place, head: LedgerHead) -> None:
    without = COLUMNS.replace("fingerprint, ", "")
    place.attack(f"INSERT INTO entries (seq, {without}) SELECT 0, {without} FROM entries WHERE seq = 1")
    assert found(place) == (1, "order_changed")


def test_a_forged_entry_that_the_head_was_fitted_to_needs_a_key(place: Place) -> None:
    with closing(place.open(b"secret")) as ledger:
        fill(ledger)
    forge(place)
    place.attack("UPDATE head SET seq = 8, hash = (SELECT hash FROM entries WHERE seq = 8)")
    assert found(place, key=b"secret") == (8, "forged")


# -- the tail and older copies ---------------------------------------------------------------------------------------


def test_an_older_copy_that_was_written_on_needs_a_head_kept_elsewhere(place: Place) -> None:
    head = fill_and_copy(place)
    place.put_back()
    with closing(place.open()) as ledger:
        ledger.record_report(a_report("something else"))
        ledger.record_report(a_report("and more"))
    assert check(place).ok
    assert found(place, head) == (8, "rolled_back")


def test_a_cut_tail_shows_by_the_writes_and_not_as_an_older_copy(place: Place, head: LedgerHead) -> None:
    place.attack(CUT, FIT_HEAD)
    verification = check(place, head)
    assert (verification.first_bad, verification.kind, verification.entries) == (5, "tail_cut", 4)


# -- the writes beside the chain -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "bad", "kind"),
    [
        # released from quarantine behind the ledger's back
        ("state = 'decided', stored_value = value, quarantined = 0 WHERE key = 'k2'", 4, "write_disagrees"),
        ("quarantined = 0 WHERE key = 'k2'", 4, "write_disagrees"),
        # a value exchanged while it waits in quarantine, or after it was stored
        ("value = '{\"content\": \"planted\"}' WHERE key = 'k2'", 4, "content_changed"),
        ("value = 'not json' WHERE key = 'k2'", 4, "content_changed"),
        ("stored_value = '{\"content\": \"planted\"}' WHERE key = 'k1'", 2, "content_changed"),
        # what it came with, or the digest that tells it from later values of its key
        ("value = '{\"content\": \"planted\"}' WHERE key = 'k1'", 2, "content_changed"),
        ("value_digest = '00' WHERE key = 'k1'", 2, "content_changed"),
        ("value_digest = '00' WHERE key = 'k2'", 4, "content_changed"),
        # the conversation of a pending write goes with the decision
        ("conversation = '[]' WHERE key = 'k1'", 2, "write_disagrees"),
        # moved
        ("namespace = '[\"acme\",\"user-8\"]' WHERE key = 'k2'", 4, "moved"),
        ("key = 'k9' WHERE key = 'k2'", 4, "metadata_changed"),
        # to be stored again, or not at all
        ("state = 'decided' WHERE key = 'k1'", 3, "write_disagrees"),
        ("stored_value = NULL WHERE key = 'k1'", 2, "write_disagrees"),
        ("state = 'claimed', report_seq = NULL, quarantined = 0 WHERE key = 'k2'", 4, "write_disagrees"),
        ("report_seq = 5 WHERE key = 'k2'", 4, "write_disagrees"),
    ],
)
def test_a_write_changed_beside_the_chain(place: Place, head: LedgerHead, change: str, bad: int, kind: str) -> None:
    place.attack(f"UPDATE writes SET {change}")
    assert found(place) == (bad, kind)


@pytest.mark.parametrize(("action", "quarantined"), [("review", True), ("quarantine", True), ("drop", False)])
def test_who_is_in_quarantine_is_as_the_report_says(place: Place, action: str, quarantined: bool) -> None:
    intent = an_intent(key="k1")
    with closing(place.open()) as ledger:
        ledger.claim(intent)
        held = a_report(status="contradicted", action=action)
        ledger.decide(intent.fingerprint, held, None)
        assert ledger.verify().ok
    place.attack(f"UPDATE writes SET quarantined = {0 if quarantined else 1}")
    assert found(place) == (1, "write_disagrees")


def test_what_was_restored_is_in_quarantine_no_more(place: Place) -> None:
    with closing(place.open()) as ledger:
        fill(ledger)
        ledger.restore(an_intent({"content": "memory 2"}, key="k2").fingerprint, by="Ada", why="it is right")
        assert ledger.verify().ok
    place.attack("UPDATE writes SET quarantined = 1 WHERE key = 'k2'")
    assert found(place) == (8, "write_disagrees")


def test_a_changed_write_is_not_carried_out(place: Place, head: LedgerHead) -> None:
    place.attack("UPDATE writes SET value = '{\"content\": \"planted\"}' WHERE key = 'k2'")
    held = an_intent({"content": "memory 2"}, key="k2")
    with closing(place.open()) as ledger:
        for call in (
            lambda: ledger.restore(held.fingerprint, by="Ada", why="it looks right"),
            lambda: ledger.claim(held),
            ledger.quarantine,
        ):
            with pytest.raises(LedgerError, match="value is not the one decided on"):
                call()


def test_a_decided_write_without_a_report(place: Place, head: LedgerHead) -> None:
    planted = canonical_json({"content": "planted"})
    place.attack(
        "INSERT INTO writes"
        " (fingerprint, namespace, key, value, value_digest, options, state, stored_value, report_seq)"
        " VALUES ('f', '[\"acme\"]', 'k9', :value, :digest, '{}', 'decided', :value, 1)",
        value=planted,
        digest=digest(json.loads(planted)),
    )
    assert found(place) == (1, "write_disagrees")
    with closing(place.open()) as ledger:
        ((name, problem),) = ledger.unsound()
        assert name == "f" and "no entry reports on it" in problem
        assert ledger.incomplete() == []
        with pytest.raises(LedgerError, match="no entry reports on it"):
            ledger.write("f")


def test_a_write_that_is_gone(place: Place, head: LedgerHead) -> None:
    place.attack("DELETE FROM writes WHERE key = 'k2'")
    assert found(place) == (4, "write_disagrees")


def test_the_recorded_head_gone(place: Place, head: LedgerHead) -> None:
    place.attack("DELETE FROM head")
    with pytest.raises(LedgerError, match="head is gone"):
        check(place)


# -- keyed -----------------------------------------------------------------------------------------------------------


def test_a_keyed_ledger_is_opened_with_its_key_only(place: Place) -> None:
    place.open(b"secret").close()
    with pytest.raises(LedgerError, match="begun with another key"):
        place.open(b"another")
    with pytest.raises(LedgerError, match="begun with a key"):
        place.open()
    place.open(b"secret").close()
    stored = "".join(str(place.rows(f"SELECT * FROM {table}")) for table in ("entries", "writes", "head"))
    assert "secret" not in stored


def test_a_ledger_begun_without_a_key_is_opened_without_one(place: Place) -> None:
    place.open().close()
    with pytest.raises(LedgerError, match="begun without a key"):
        place.open(b"secret")


def test_checking_does_not_hold_up_writers(place: Place) -> None:
    with closing(place.open()) as writer, closing(place.open()) as checker:
        fill(writer)
        for n in range(3):
            assert checker.verify().entries == 7 + n
            writer.record_report(a_report(f"more {n}", memory=str(TEA)))
