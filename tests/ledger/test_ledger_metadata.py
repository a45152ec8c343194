"""What every ledger keeps of a memory beside its text, and of what was read for a question."""

from __future__ import annotations

import pytest
from ledger_places import Place
from ledger_records import HELD, SPACE, TEA, a_report, an_intent

from admission.errors import LedgerError
from admission.ledger import Ledger, WriteIntent
from admission.metadata import Lifecycle, Permission, Provenance, RecordMetadata
from admission.records import Namespace, Report

TOLD = RecordMetadata(
    namespace=SPACE,
    provenance=Provenance(written_by="ines", channel="langgraph", session="thread-1", authenticated=True),
    policy_tags=("habit",),
    purpose_allow=(),
    lifecycle=Lifecycle(state="current", valid_from="2026-05-01T12:00:00+00:00"),
    created_at="2026-05-01T12:00:00+00:00",
)
FORGOTTEN = TOLD.model_copy(update={"lifecycle": Lifecycle(state="forgotten")})
HERE = (SPACE, "k1")


def stored(ledger: Ledger, intent: WriteIntent, metadata: RecordMetadata | None, report: Report | None = None) -> None:
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, report or a_report(), intent.value, metadata=metadata)
    ledger.complete(intent.fingerprint)


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


# -- metadata --------------------------------------------------------------------------------------------------------


def test_metadata_come_with_the_decision_and_are_read_by_key(ledger: Ledger) -> None:
    stored(ledger, an_intent(), TOLD)
    assert kinds(ledger) == ["report", "metadata", "stored"]
    assert ledger.metadata([HERE]) == {HERE: TOLD}
    assert ledger.metadata_of(an_intent().fingerprint) == TOLD
    assert ledger.verify(ledger.head()).ok


def test_what_nobody_stated_stays_missing_and_an_empty_statement_stays_one(ledger: Ledger) -> None:
    stored(ledger, an_intent(), RecordMetadata(purpose_allow=()))
    found = ledger.metadata([HERE])[HERE]
    assert (found.policy_tags, found.purpose_allow) == (None, ())
    assert (found.namespace, found.provenance.authenticated, found.lifecycle.state) == (None, None, None)


def test_keys_without_a_memory_or_without_metadata_are_absent(ledger: Ledger) -> None:
    stored(ledger, an_intent(), None)
    assert kinds(ledger) == ["report", "stored"]
    assert ledger.metadata([HERE, (SPACE, "unknown")]) == {}
    assert ledger.metadata([]) == {}
    assert ledger.metadata_of(an_intent().fingerprint) is None
    assert ledger.metadata_of("unknown") is None


def test_many_keys_of_several_namespaces_are_asked_for_at_once(ledger: Ledger) -> None:
    other: Namespace = ("acme", "user-8")
    expected = {}
    for n in range(30):
        space = SPACE if n % 2 else other
        told = TOLD.model_copy(update={"namespace": space, "policy_tags": (f"tag-{n}",)})
        stored(ledger, an_intent({"content": f"memory {n}"}, key=f"k{n // 2}", namespace=space), told)
        expected[space, f"k{n // 2}"] = told
    asked = [(space, f"k{n}") for space in (SPACE, other, ("acme",)) for n in range(20)]
    assert ledger.metadata([*asked, *asked]) == expected


def test_the_first_decision_has_the_only_metadata(ledger: Ledger) -> None:
    intent = an_intent()
    stored(ledger, intent, TOLD)
    ledger.decide(intent.fingerprint, a_report(), TEA, metadata=FORGOTTEN)
    assert kinds(ledger) == ["report", "metadata", "stored"]
    assert ledger.metadata([HERE]) == {HERE: TOLD}


def test_a_later_value_has_its_own_metadata_and_none_of_the_earlier_ones(ledger: Ledger) -> None:
    stored(ledger, an_intent(), TOLD)
    later = an_intent({"content": "Ines drinks coffee."})
    stored(ledger, later, FORGOTTEN, a_report("r2"))
    assert ledger.metadata([HERE]) == {HERE: FORGOTTEN}
    stored(ledger, an_intent({"content": "Ines drinks water."}), None, a_report("r3"))
    assert ledger.metadata([HERE]) == {}
    assert ledger.metadata_of(later.fingerprint) == FORGOTTEN


def test_what_is_withheld_from_somebody_stays_so_when_the_memory_is_updated_and_what_is_granted_does_not(
    ledger: Ledger,
) -> None:
    stored(ledger, an_intent(), TOLD)
    deny = Permission(principal="petra", effect="deny", source="t1")
    allow = Permission(principal="tom", effect="allow", source="t2")
    said = TOLD.model_copy(update={"permissions": (deny, allow)})
    ledger.annotate(SPACE, "k1", said, by="ines", why="asked for it")
    stored(ledger, an_intent({"content": "Ines drinks coffee."}), TOLD, a_report("r2"))
    assert ledger.metadata([HERE])[HERE].permissions == (deny,)
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    stored(ledger, an_intent({"content": "Ines drinks water."}), TOLD, a_report("r3"))
    assert ledger.metadata([HERE])[HERE] == TOLD


def test_a_deleted_memory_has_none_until_it_is_written_again(ledger: Ledger) -> None:
    stored(ledger, an_intent(), TOLD)
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    assert ledger.metadata([HERE]) == {}
    stored(ledger, an_intent(occurrence=1), FORGOTTEN, a_report("r2"))
    assert ledger.metadata([HERE]) == {HERE: FORGOTTEN}


def test_a_write_held_back_keeps_its_metadata_for_itself_until_it_is_restored(ledger: Ledger) -> None:
    stored(ledger, an_intent(), TOLD)
    held = an_intent({"content": "Ines drinks coffee."})
    ledger.claim(held)
    ledger.decide(held.fingerprint, HELD, None, metadata=FORGOTTEN)
    assert ledger.metadata([HERE]) == {HERE: TOLD}
    assert ledger.metadata_of(held.fingerprint) == FORGOTTEN
    ledger.restore(held.fingerprint, by="Ada", why="it is right")
    assert ledger.metadata([HERE]) == {HERE: FORGOTTEN}


def test_a_write_that_takes_the_place_of_a_held_one_comes_with_metadata(ledger: Ledger) -> None:
    held, edited = an_intent(), an_intent({"content": "Ines likes green tea."})
    ledger.claim(held)
    ledger.decide(held.fingerprint, HELD, None)
    ledger.supersede(held.fingerprint, edited, a_report("r2"), edited.value, by="Ada", why="shorter", metadata=TOLD)
    assert ledger.metadata([HERE]) == {HERE: TOLD}


def test_annotating_says_who_and_why_and_the_newest_counts(ledger: Ledger) -> None:
    stored(ledger, an_intent(), TOLD)
    ledger.annotate(SPACE, "k1", FORGOTTEN, by="Ines", why="asked for it")
    assert ledger.metadata([HERE]) == {HERE: FORGOTTEN}
    ledger.annotate(SPACE, "k1", TOLD, by="Ines", why="changed her mind")
    assert ledger.metadata([HERE]) == {HERE: TOLD}
    given, *annotated = [entry for entry in ledger.entries() if entry.kind == "metadata"]
    assert (given.body["by"], given.body["why"]) == (None, None)
    assert [entry.body["why"] for entry in annotated] == ["asked for it", "changed her mind"]
    assert {entry.fingerprint for entry in annotated} == {an_intent().fingerprint}
    assert ledger.verify(ledger.head()).ok


@pytest.mark.parametrize(("by", "why"), [("", "asked for it"), ("Ines", " ")])
def test_nobody_annotates_for_no_reason(ledger: Ledger, by: str, why: str) -> None:
    stored(ledger, an_intent(), TOLD)
    with pytest.raises(LedgerError, match="by, why: empty"):
        ledger.annotate(SPACE, "k1", FORGOTTEN, by=by, why=why)


def test_only_a_memory_that_went_through_the_gate_is_annotated(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="no memory that went through the gate"):
        ledger.annotate(SPACE, "k1", FORGOTTEN, by="Ines", why="asked for it")
    stored(ledger, an_intent(), TOLD)
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    with pytest.raises(LedgerError, match="no memory that went through the gate"):
        ledger.annotate(SPACE, "k1", FORGOTTEN, by="Ines", why="asked for it")


# -- reads -----------------------------------------------------------------------------------------------------------


def test_the_events_of_a_question_are_found_by_its_id_oldest_first(ledger: Ledger) -> None:
    events = [{"event": "retrieved", "ranked": [["k1", 1, 0.5]]}, {"event": "disclosed", "ids": []}]
    ledger.record_read("q1", events[0], namespace=SPACE)
    ledger.record_read("q2", {"event": "retrieved", "ranked": []})
    ledger.record_read("q1", events[1], namespace=SPACE)
    found = ledger.reads("q1")
    assert [(entry.kind, entry.key, entry.namespace, entry.body) for entry in found] == [
        ("read", "q1", SPACE, event) for event in events
    ]
    assert [entry.namespace for entry in ledger.reads("q2")] == [()]
    assert ledger.reads("q3") == []
    assert ledger.verify(ledger.head()).ok


def test_events_given_together_are_kept_in_their_order_and_all_or_none(ledger: Ledger) -> None:
    ledger.record_read("q1", {"event": "first"}, {"event": "second"}, namespace=SPACE)
    with pytest.raises(LedgerError, match="JSON"):
        ledger.record_read("q1", {"event": "third"}, {"event": object()}, namespace=SPACE)
    assert [entry.body["event"] for entry in ledger.reads("q1")] == ["first", "second"]
    assert ledger.verify(ledger.head()).ok


def test_a_question_without_an_id_has_no_trace(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="question_id: empty"):
        ledger.record_read("", {})


def test_a_trace_says_nothing_about_a_key_of_the_same_name(ledger: Ledger) -> None:
    stored(ledger, an_intent(), TOLD)
    ledger.record_read("k1", {"event": "retrieved"}, namespace=SPACE)
    assert ledger.metadata([HERE]) == {HERE: TOLD}
    assert [version.ended for version in ledger.versions(SPACE, "k1")] == [None]


# -- tampering -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("body = replace(body, 'current', 'forgotten') WHERE kind = 'metadata'", "content_changed"),
        ("fingerprint = 'f' WHERE kind = 'metadata'", "metadata_changed"),
        ("salt = NULL WHERE kind = 'metadata'", "metadata_changed"),
    ],
)
def test_changed_metadata_are_found(place: Place, change: str, kind: str) -> None:
    ledger = place.open()
    stored(ledger, an_intent(), TOLD)
    ledger.close()
    place.attack(f"UPDATE entries SET {change}")
    ledger = place.open()
    found = ledger.verify()
    ledger.close()
    assert (found.ok, found.first_bad, found.kind) == (False, 2, kind)
