"""One key over time: what it is, what it has been, what is pending for it, and what came too late."""

from __future__ import annotations

from typing import Any

import pytest
from ledger_places import Place
from ledger_records import HELD, SPACE, TEA, a_report, an_intent

from admission.errors import LedgerError
from admission.ledger import Ledger, WriteIntent
from admission.records import Turn

GREEN, BLACK, MINT = ({"content": f"Ines drinks {tea} tea."} for tea in ("green", "black", "mint"))
TALK = (
    Turn(
        id="t1", role="user", speaker="Ines", time="2026-05-01T10:00:00", text="I drink \x00 \u2028 tea.", origin="tool"
    ),
    Turn(id="t2", role="assistant", text="Noted.", origin="conversation"),
)


def pending(value: dict[str, Any], *, key: str = "k1", occurrence: int = 0) -> WriteIntent:
    return an_intent(value, key=key, occurrence=occurrence).model_copy(update={"conversation": TALK})


def decide(ledger: Ledger, intent: WriteIntent, report_id: str = "report-1") -> None:
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, a_report(report_id), intent.value)


def store(ledger: Ledger, intent: WriteIntent, report_id: str = "report-1") -> None:
    decide(ledger, intent, report_id)
    ledger.complete(intent.fingerprint)


def latest(ledger: Ledger, *, pending: bool = False, key: str = "k1") -> dict[str, Any] | None:
    found = ledger.latest(SPACE, key, pending=pending)
    return found.intent.value if found is not None else None


# -- pending -----------------------------------------------------------------------------------------------------------


def test_the_conversation_of_a_pending_write_is_kept_until_the_decision(ledger: Ledger) -> None:
    intent = pending(GREEN)
    assert ledger.claim(intent).intent == intent
    assert [record.intent for record in ledger.incomplete()] == [intent]
    decided = ledger.decide(intent.fingerprint, HELD, None)
    assert decided.intent.conversation is None
    assert ledger.write(intent.fingerprint) == decided
    assert ledger.claim(intent) == decided
    assert ledger.verify().ok


def test_a_claimed_write_becomes_pending_when_it_is_made_again_with_its_conversation(ledger: Ledger) -> None:
    intent = pending(GREEN)
    ledger.claim(an_intent(GREEN))
    assert ledger.claim(intent).intent.conversation == TALK
    other = intent.model_copy(update={"conversation": TALK[:1]})
    assert ledger.claim(other).intent.conversation == TALK
    assert ledger.claim(an_intent(GREEN)).intent.conversation == TALK


# -- which value a key has ---------------------------------------------------------------------------------------------


def test_a_key_has_the_value_decided_last(ledger: Ledger) -> None:
    assert latest(ledger) is None
    store(ledger, an_intent(GREEN))
    decide(ledger, an_intent(BLACK))
    store(ledger, an_intent(MINT, key="k2"))
    assert latest(ledger) == BLACK
    held = an_intent(MINT)
    ledger.claim(held)
    ledger.decide(held.fingerprint, HELD, None)
    assert latest(ledger) == BLACK
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    assert latest(ledger) is None and latest(ledger, key="k2") == MINT
    store(ledger, an_intent(TEA))
    assert latest(ledger) == TEA


def test_a_pending_write_has_its_turn_from_its_claim_on(ledger: Ledger) -> None:
    green, black, mint = pending(GREEN), pending(BLACK), an_intent(MINT, task="task-2")
    ledger.claim(green)
    ledger.claim(black)
    assert latest(ledger) is None and latest(ledger, pending=True) == BLACK
    decide(ledger, black)
    decide(ledger, green)
    assert latest(ledger) == BLACK
    store(ledger, mint)
    assert latest(ledger) == latest(ledger, pending=True) == MINT


def test_a_delete_after_the_claim_counts_and_one_before_does_not(ledger: Ledger) -> None:
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    ledger.claim(pending(GREEN))
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    ledger.claim(pending(BLACK))
    decide(ledger, pending(GREEN))
    assert latest(ledger) is None
    decide(ledger, pending(BLACK))
    assert latest(ledger) == BLACK


def test_a_restored_write_counts_from_its_restoration(ledger: Ledger) -> None:
    green = pending(GREEN)
    ledger.claim(green)
    ledger.decide(green.fingerprint, HELD, None)
    store(ledger, an_intent(BLACK))
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    assert latest(ledger) is None
    ledger.restore(green.fingerprint, by="a reviewer", why="she told me")
    assert latest(ledger) == GREEN


# -- what came too late ------------------------------------------------------------------------------------------------


def test_an_overtaken_write_is_done_and_the_chain_says_why_it_was_not_stored(ledger: Ledger) -> None:
    green = pending(GREEN)
    ledger.claim(green)
    with pytest.raises(LedgerError, match="not decided yet"):
        ledger.overtake(green.fingerprint)
    decide(ledger, green)
    ledger.overtake(green.fingerprint)
    ledger.overtake(green.fingerprint)
    ledger.complete(green.fingerprint)
    record = ledger.write(green.fingerprint)
    assert record is not None
    assert (record.state, record.overtaken, record.stored_value) == ("done", True, GREEN)
    assert [entry.kind for entry in ledger.entries()] == ["report", "overtaken"]
    assert ledger.incomplete() == [] and ledger.verify(ledger.head()).ok


@pytest.mark.parametrize(
    "released",
    ["UPDATE writes SET state = 'decided'", "UPDATE entries SET kind = 'stored' WHERE kind = 'overtaken'"],
)
def test_an_overtaken_write_that_is_released_beside_the_chain_shows(place: Place, released: str) -> None:
    ledger = place.open()
    decide(ledger, pending(GREEN))
    ledger.overtake(pending(GREEN).fingerprint)
    ledger.close()
    place.attack(released)
    ledger = place.open()
    found = ledger.verify()
    assert (found.ok, found.first_bad) == (False, 2)
    ledger.close()


# -- what a key has been -----------------------------------------------------------------------------------------------


def test_versions_are_what_was_stored_with_what_took_its_place(ledger: Ledger) -> None:
    green, black, mint = (an_intent(value) for value in (GREEN, BLACK, MINT))
    store(ledger, green, "first")
    store(ledger, black, "second")
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    decide(ledger, an_intent(TEA))  # not stored yet
    store(ledger, mint, "third")
    store(ledger, an_intent(GREEN, key="k2"))
    versions = ledger.versions(SPACE, "k1")
    assert [(v.value, v.report_id, v.status) for v in versions] == [
        (GREEN, "first", "admitted"),
        (BLACK, "second", "admitted"),
        (MINT, "third", "admitted"),
    ]
    assert [v.superseded_by for v in versions] == [black.fingerprint, None, None]
    assert [v.ended is None for v in versions] == [False, False, True]
    assert versions[0].stored < versions[1].stored == versions[0].ended
    assert ledger.versions(SPACE, "nobody's") == []


def test_every_value_made_for_a_key_and_every_delete_is_a_change(ledger: Ledger) -> None:
    ledger.claim(pending(GREEN))
    assert (ledger.changes(SPACE, "k1", GREEN), ledger.changes(SPACE, "k1", BLACK)) == (0, 1)
    ledger.claim(pending(BLACK))
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    before = ledger.changes(SPACE, "k1", GREEN), ledger.changes(SPACE, "k1", BLACK)
    assert before == (2, 2)
    decide(ledger, pending(BLACK))
    ledger.overtake(pending(BLACK).fingerprint)
    ledger.decide(pending(GREEN).fingerprint, HELD, None)
    assert (ledger.changes(SPACE, "k1", GREEN), ledger.changes(SPACE, "k1", BLACK)) == before
