"""A write that was planted or changed beside the ledger before its verdict is neither judged nor stored."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from ledger_places import Place
from ledger_records import HELD, TEA, a_report, an_intent

from admission.errors import LedgerError
from admission.ledger import Ledger, WriteIntent
from admission.ledger.hashing import Hashing
from admission.ledger.rows import sealed
from admission.records import Turn, canonical_json, digest

KEY = b"a secret"
TALK = (Turn(id="t1", role="user", text="I drink green tea.", origin="conversation"),)
PLANTED = (Turn(id="t1", role="user", text="I drink whatever you say.", origin="conversation"),)


def pending(key: str = "k1") -> WriteIntent:
    return an_intent(key=key, options={"store": "store"}).model_copy(update={"conversation": TALK})


def turns(conversation: tuple[Turn, ...]) -> str:
    return json.dumps([turn.model_dump(mode="json") for turn in conversation])


def plant(place: Place, seal: str | None) -> None:
    """A pending write with a conversation of the attacker's choosing."""
    place.attack(
        "INSERT INTO writes"
        " (fingerprint, namespace, key, value, value_digest, options, conversation, pending_after, seal)"
        " VALUES ('f', '[\"acme\"]', 'k9', :value, :digest, '{}', :turns, 0, :seal)",
        value=json.dumps(TEA),
        digest=digest(TEA),
        turns=turns(PLANTED),
        seal=seal,
    )


def assert_forged(ledger: Ledger, fingerprint: str) -> None:
    assert [name for name, _ in ledger.unsound()] == [fingerprint]
    assert fingerprint not in [record.intent.fingerprint for record in ledger.incomplete()]
    with pytest.raises(LedgerError, match="forged"):
        ledger.write(fingerprint)
    with pytest.raises(LedgerError, match="forged"):
        ledger.decide(fingerprint, a_report(), TEA)
    found = ledger.verify()
    assert not found.ok and found.kind == "forged" and fingerprint in found.problem


def test_a_planted_pending_write_is_named_and_never_judged(place: Place) -> None:
    with closing(place.open(KEY)) as ledger:
        ledger.claim(pending())
    plant(place, None)
    with closing(place.open(KEY)) as ledger:
        assert_forged(ledger, "f")
        assert [record.intent.key for record in ledger.incomplete()] == ["k1"]  # the true one goes on


def test_a_seal_made_without_the_key_is_none(place: Place) -> None:
    place.open(KEY).close()
    plant(place, None)
    columns = "id, fingerprint, namespace, key, value_digest, options, thread, task, conversation, pending_after"
    (values,) = place.rows(f"SELECT {columns} FROM writes")
    row = dict(zip(columns.split(", "), values, strict=True))
    place.attack("UPDATE writes SET seal = :seal", seal=Hashing(b"a guess").seal(sealed(row)))
    with closing(place.open(KEY)) as ledger:
        assert_forged(ledger, "f")


def test_the_seal_of_one_write_is_no_seal_of_another(place: Place) -> None:
    with closing(place.open(KEY)) as ledger:
        ledger.claim(pending())
    ((seal,),) = place.rows("SELECT seal FROM writes")
    plant(place, seal)
    with closing(place.open(KEY)) as ledger:
        assert_forged(ledger, "f")


CHANGES = [
    "id = id + 5",
    'options = \'{"store": "another"}\'',
    "thread = 'another'",
    "task = NULL",
    "pending_after = 7",
    "key = 'k2'",
    'namespace = \'["acme","user-8"]\'',
    'value = \'{"content": "planted"}\'',
    "conversation = NULL",
    "seal = NULL",
]


@pytest.mark.parametrize("key", [KEY, None])
def test_a_pending_write_that_was_changed_is_named(place: Place, key: bytes | None) -> None:
    intent = pending()
    changes = [*CHANGES, f"conversation = '{turns(PLANTED)}'"]
    for change in changes if "sqlite" in place.url else changes[1:]:  # Postgres gives ids itself
        with closing(place.open(key)) as ledger:
            ledger.claim(intent)
            assert ledger.verify().ok and ledger.unsound() == []
        place.attack(f"UPDATE writes SET {change}")
        with closing(place.open(key)) as ledger:
            assert_forged(ledger, intent.fingerprint)
        place.attack("DELETE FROM writes")


@pytest.mark.parametrize("change", CHANGES[1:5])
def test_of_a_decided_write_what_no_entry_covers_is_sealed_too(place: Place, change: str) -> None:
    with closing(place.open(KEY)) as ledger:
        ledger.claim(pending())
        ledger.decide(pending().fingerprint, HELD, None)
        assert ledger.verify().ok
    place.attack(f"UPDATE writes SET {change}")
    with closing(place.open(KEY)) as ledger:
        found = ledger.verify()
        assert (found.kind, found.first_bad) == ("metadata_changed", 1)
        with pytest.raises(LedgerError, match="metadata_changed"):
            ledger.waiting()


def test_a_write_that_becomes_pending_is_sealed_with_its_conversation(place: Place) -> None:
    with closing(place.open(KEY)) as ledger:
        ledger.claim(pending().model_copy(update={"conversation": None}))
        assert ledger.claim(pending()).intent.conversation == TALK
        assert ledger.verify().ok
        decided = ledger.decide(pending().fingerprint, a_report(), TEA)
        assert decided.state == "decided" and ledger.verify().ok


def test_a_ledger_from_before_there_were_seals_gets_them_when_it_is_opened(place: Place) -> None:
    if "sqlite" not in place.url:
        pytest.skip("the migration of Postgres is tested with its schema")
    with closing(place.open(KEY)) as ledger:
        ledger.claim(pending())
        ledger.claim(an_intent({"content": "other"}, key="k3"))
    place.attack(
        "ALTER TABLE writes DROP COLUMN seal",
        "ALTER TABLE entries DROP COLUMN salt",
        "DROP TABLE deletions",
        "DROP INDEX metadata_by_write",
        "DROP INDEX reads_by_question",
        "DROP INDEX erased_by_key",
        "PRAGMA user_version = 4",
    )
    with closing(place.open(KEY)) as ledger:
        assert ledger.verify().ok and len(ledger.incomplete()) == 2
    place.attack("UPDATE writes SET thread = 'another' WHERE key = 'k3'")
    with closing(place.open(KEY)) as ledger:
        assert canonical_json(len(ledger.unsound())) == "1"
