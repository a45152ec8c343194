"""The deletion audit: what each kind of deletion made of a question, and from where it can be mended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deletion_worlds import (
    BY,
    SAID,
    SPACE,
    TALK,
    audited,
    costs,
    needs,
    piece_of,
    remember,
    remembering,
    report_of,
    rests_on,
    whence,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from ledger_places import Place, SqlitePlace
from scripted_gate import guarded

from admission.errors import LedgerError
from admission.eviction.deletions.audit import audit_deletions
from admission.eviction.deletions.questions import AuditQuestion
from admission.eviction.policies import Fifo
from admission.ledger import SqliteLedger, open_ledger
from admission.metadata import Lifecycle, RecordMetadata
from graph_nodes import AdmissionStore, conversation, evict
from graph_nodes.causes import deleting_for


def words(texts: object) -> list[int]:
    assert isinstance(texts, list)
    return [len(text.split()) for text in texts]


def by_write(store: AdmissionStore, key: str) -> AuditQuestion:
    return AuditQuestion.model_validate({"id": "q", "memories": [{"write": report_of(store, key)}]})


def test_what_is_stored_is_unaffected_whatever_else_was_deleted() -> None:
    store = remembering()
    store.delete(SPACE, "k2")
    found = audited(store, needs("k1", "k3"), rests_on("t1", "t4", id="turns"))
    assert [question.outcome for question in found.questions] == ["unaffected", "unaffected"]
    assert costs(found) == [("delete", ("k2",), (), ())]
    assert found.outcomes == {"unaffected": 2, "recoverable": 0, "unanswerable": 0, "unknown": 0}


def test_a_deleted_memory_can_be_brought_back_from_its_write_and_the_turns_it_cites() -> None:
    store = remembering()
    with conversation("thread-9", []):
        store.delete(SPACE, "k2")
    found = audited(store, needs("k1", "k2"))
    assert [piece.outcome for piece in found.questions[0].pieces] == ["unaffected", "recoverable"]
    assert found.questions[0].outcome == "recoverable"
    lost = found.questions[0].pieces[1]
    assert (lost.name, lost.key, whence(lost)) == ("memories[1]", "k2", [("ledger", "k2"), ("turns", None)])
    assert costs(found) == [("delete", ("k2",), (), ("q",))]
    assert found.deletions[0].deletion.thread == "thread-9"


def test_another_memory_of_the_same_turns_is_named_first_and_one_of_fewer_turns_is_not() -> None:
    store = remembering()
    remember(store, "both", f"{SAID['t1']} {SAID['t2']}", "t1", "t2")
    remember(store, "again", "Ana moved to Lisbon.", "t1")
    store.delete(SPACE, "k1")
    assert whence(piece_of(store, needs("k1")))[:2] == [("stored_memory", "both"), ("stored_memory", "again")]
    store.delete(SPACE, "both")
    assert whence(piece_of(store, needs("both"))) == [("ledger", "both"), ("turns", None)]


def test_another_persons_memory_of_the_same_turns_is_no_way_back() -> None:
    store = remembering()
    with conversation("talk-1", ["Ana moved to Lisbon in May."]):
        store.put(("memories", "ben"), "k1", {"content": SAID["t1"]})
    store.delete(SPACE, "k1")
    assert "stored_memory" not in dict(whence(piece_of(store, needs("k1"))))


def test_a_copy_that_was_held_back_is_a_way_back_and_by_itself_never_was_stored() -> None:
    store = remembering()
    remember(store, "held", "Ana moved to Lisbon for her work.", "t1")
    store.delete(SPACE, "k1")
    assert ("held_back", "held") in whence(piece_of(store, needs("k1")))
    held = piece_of(store, needs("held"))
    assert (held.outcome, held.lost_to) == ("unknown", ())
    assert "held back" in held.reason


def test_a_restored_write_is_stored_like_any_other() -> None:
    store = remembering()
    remember(store, "held", "Ana moved to Lisbon for her work.", "t1")
    (record,) = store.ledger.waiting()
    store.ledger.restore(record.intent.fingerprint, by="reviewer", why="she said so")
    store.recover()
    assert piece_of(store, needs("held")).outcome == "unaffected"
    store.delete(SPACE, "k1")
    assert whence(piece_of(store, needs("k1")))[0] == ("stored_memory", "held")


def test_a_forgotten_memory_is_lost_to_whoever_forgot_it_until_it_is_reinstated() -> None:
    store = remembering()
    store.forget(SPACE, "k3", **BY)
    found = audited(store, needs("k3"))
    assert costs(found) == [("forgetting", ("k3",), (), ("q",))]
    assert (found.deletions[0].deletion.by, found.deletions[0].deletion.why) == ("officer", "request 7")
    assert whence(found.questions[0].pieces[0]) == [("store", "k3"), ("turns", None)]
    store.reinstate(SPACE, "k3", by="officer", why="a mistake")
    assert costs(audited(store, needs("k3"))) == [("forgetting", ("k3",), (), ())]


def test_a_request_to_forget_that_was_forgotten_itself_stays_usable() -> None:
    store = remembering()
    store.forget(SPACE, "k3", directive_key="k4", **BY)
    store.forget(SPACE, "k4", **BY)
    assert piece_of(store, needs("k4")).outcome == "unaffected"


def test_an_erased_memory_is_gone_for_good_and_nothing_of_it_is_told() -> None:
    store = remembering()
    remember(store, "held", "Ana keeps a grey parrot and a cat.", "t2")
    store.erase(SPACE, "k2", **BY)
    found = audited(store, needs("k2", evidence=["t2"], conversation="talk-1"))
    assert costs(found) == [("erasure", ("k2",), ("q",), ())]
    (lost,) = found.questions[0].pieces
    assert (lost.outcome, lost.sources) == ("unanswerable", ())
    assert lost.reason.startswith("erased")
    assert "parrot" not in found.model_dump_json()


def test_of_an_erased_memory_only_another_stored_one_is_a_way_back() -> None:
    store = remembering()
    remember(store, "bird", "Ana keeps a parrot.", "t2")
    remember(store, "held", "Ana keeps a grey parrot and a cat.", "t2")
    store.erase(SPACE, "k2", **BY)
    labelled = needs("k2", evidence=["t2"], conversation="talk-1")
    assert whence(piece_of(store, labelled)) == [("stored_memory", "bird")]
    assert piece_of(store, needs("k2")).outcome == "unanswerable"  # nobody says what it rested on
    store.delete(SPACE, "bird")
    assert costs(audited(store, labelled)) == [("erasure", ("k2",), ("q",), ()), ("delete", ("bird",), (), ())]


def test_a_memory_is_found_by_its_report_after_its_erasure_too() -> None:
    store = remembering()
    question = by_write(store, "k1")
    assert piece_of(store, question).outcome == "unaffected"
    store.erase(SPACE, "k1", **BY)
    lost = piece_of(store, question)
    assert (lost.outcome, lost.report) == ("unanswerable", question.memories[0].write)


def test_what_was_deleted_first_and_erased_later_is_lost_to_both() -> None:
    store = remembering()
    store.delete(SPACE, "k1")
    assert costs(audited(store, needs("k1"))) == [("delete", ("k1",), (), ("q",))]
    store.erase(SPACE, "k1", **BY)
    assert costs(audited(store, needs("k1"))) == [("delete", ("k1",), ("q",), ()), ("erasure", ("k1",), ("q",), ())]


def test_an_erasure_of_several_memories_that_say_the_same_is_one_deletion() -> None:
    store = remembering()
    remember(store, "copy", f"{SAID['t1']} {SAID['t2']}", "t1", "t2")
    store.erase(SPACE, "k1", **BY)
    store.erase(SPACE, "k4", by="officer", why="request 8")
    found = audited(store, needs("k1", id="q1"), needs("copy", id="q2"), needs("k4", id="q4"))
    assert [(cost.deletion.cause, set(cost.deletion.keys), cost.unanswerable) for cost in found.deletions] == [
        ("erasure", {"k1", "copy"}, ("q1", "q2")),
        ("erasure", {"k4"}, ("q4",)),
    ]
    assert [(of.cause, of.deletions, of.unanswerable) for of in found.causes] == [("erasure", 2, 3)]


def test_a_key_that_says_what_was_erased_is_told_by_nobody() -> None:
    store = guarded()
    remember(store, SAID["t2"], SAID["t2"], "t2")
    question = by_write(store, SAID["t2"])
    store.erase(SPACE, SAID["t2"], **BY)
    found = audited(store, question, needs(SAID["t2"], id="by key"))
    assert [q.outcome for q in found.questions] == ["unanswerable", "unknown"]
    assert found.deletions[0].deletion.keys == (None,)
    assert "parrot" not in found.model_dump_json()


def test_a_memory_that_expires_is_lost_when_its_time_is_over_and_stays_in_the_store() -> None:
    store = remembering()
    until = RecordMetadata(namespace=SPACE, lifecycle=Lifecycle(state="current", valid_to="2026-06-09"))
    store.ledger.annotate(SPACE, "k4", until, by="calendar", why="it is over then")
    before, after = datetime(2026, 6, 9, 12, tzinfo=UTC), datetime(2026, 6, 10, tzinfo=UTC)
    assert piece_of(store, needs("k4"), now=before).outcome == "unaffected"
    found = audited(store, needs("k4"), now=after)
    assert costs(found) == [("expiry", ("k4",), (), ("q",))]
    assert (found.deletions[0].deletion.time, found.deletions[0].deletion.by) == ("2026-06-09", "calendar")
    assert whence(found.questions[0].pieces[0])[0] == ("store", "k4")


def test_a_superseded_memory_is_stored_still() -> None:
    store = remembering()
    ended = Lifecycle(state="superseded", superseded_by="k2", valid_to="2020-01-01")
    store.ledger.annotate(SPACE, "k1", RecordMetadata(lifecycle=ended), by="test", why="moved")
    assert piece_of(store, needs("k1")).outcome == "unaffected"


def test_what_a_store_removes_by_its_time_to_live_is_unknown_from_then_on() -> None:
    with SqliteStore.from_conn_string(":memory:") as inner:
        inner.setup()
        store = guarded(inner)
        remember(store, "k", SAID["t1"], "t1", ttl=30)
        soon, later = datetime.now(UTC) + timedelta(minutes=29), datetime.now(UTC) + timedelta(minutes=31)
        assert piece_of(store, needs("k"), now=soon).outcome == "unaffected"
        found = audited(store, needs("k"), now=later)
    (piece,) = found.questions[0].pieces
    assert (found.questions[0].outcome, piece.lost_to, found.deletions) == ("unknown", (), ())
    assert "time to live" in piece.reason


def test_evictions_name_their_policy_and_cost_what_they_took() -> None:
    store = remembering()
    evict(store, SPACE, 15, Fifo(), count=words)
    found = audited(store, needs("k1", id="q1"), needs("k2", "k4", id="q2"), needs("k4", id="q4"))
    assert costs(found) == [("eviction", ("k1",), (), ("q1",)), ("eviction", ("k2",), (), ("q2",))]
    assert found.deletions[0].deletion.detail == {"policy": "fifo", "budget": 15, "tokens": 28}


def test_whatever_reason_an_entry_states_is_the_cause_and_who_it_names_is_told() -> None:
    store = remembering()
    with deleting_for({"reason": "retention", "by": "officer", "why": "after 30 days", "days": 30}):
        store.delete(SPACE, "k1")
    with deleting_for({"reason": ["no", "text"]}):
        store.delete(SPACE, "k2")
    first, second = (cost.deletion for cost in audited(store, needs("k1")).deletions)
    assert (first.cause, first.by, first.why, first.detail) == ("retention", "officer", "after 30 days", {"days": 30})
    assert (second.cause, second.by, second.detail) == ("delete", None, {"reason": ["no", "text"]})


def test_of_what_no_gate_had_seen_the_ledger_keeps_nothing_but_that_it_was_evicted() -> None:
    plain, ledger = InMemoryStore(), open_ledger("sqlite://")
    plain.put(SPACE, "old", {"content": SAID["t1"]})
    plain.put(SPACE, "new", {"content": SAID["t2"]})
    evict(plain, SPACE, 7, Fifo(), ledger=ledger, count=words)
    found = audit_deletions(ledger, [needs("old", id="old"), needs("new", id="new")])
    assert [question.outcome for question in found.questions] == ["unanswerable", "unknown"]
    assert costs(found) == [("eviction", ("old",), ("old",), ())]
    assert "knows no memory" in found.questions[1].pieces[0].reason


def test_a_turn_is_lost_with_the_last_memory_that_rests_on_it() -> None:
    store = remembering()
    remember(store, "again", "Ana moved to Lisbon.", "t1")
    store.delete(SPACE, "k1")
    assert costs(audited(store, rests_on("t1"))) == [("delete", ("k1",), (), ())]
    store.delete(SPACE, "again")
    found = audited(store, rests_on("t1"))
    assert costs(found) == [("delete", ("k1",), (), ()), ("delete", ("again",), (), ("q",))]
    assert whence(found.questions[0].pieces[0]) == [("ledger", "k1"), ("ledger", "again"), ("turns", None)]


def test_a_turn_that_no_memory_ever_rested_on_is_unknown_and_one_that_was_erased_is_not() -> None:
    store = guarded()
    remember(store, "k1", SAID["t1"], "t1")
    remember(store, "k2", SAID["t2"], "t2")
    assert piece_of(store, rests_on("t3")).outcome == "unknown"
    assert piece_of(store, rests_on("t1", conversation="another talk")).outcome == "unknown"
    remember(store, "held", "Ana keeps a grey parrot and a cat.")  # its report quotes the talk
    store.erase(SPACE, "k2", **BY)
    found = audited(store, rests_on("t2", id="erased"), rests_on("t1", id="other"))
    assert [question.outcome for question in found.questions] == ["unanswerable", "unaffected"]
    assert costs(found) == [("erasure", ("k2",), ("erased",), ())]


def test_an_update_ends_the_write_and_not_the_memory_at_its_key() -> None:
    store = remembering()
    named, by_key = by_write(store, "k1"), needs("k1", id="by key")
    remember(store, "k1", "Ana keeps a parrot.", "t2")
    found = audited(store, named, by_key)
    assert [question.outcome for question in found.questions] == ["recoverable", "unaffected"]
    assert costs(found) == [("replacement", ("k1",), (), ("q",))]
    assert costs(audited(store, by_key)) == []


def test_a_key_that_was_deleted_and_written_again_does_not_say_which_memory_is_meant() -> None:
    store = remembering()
    named = by_write(store, "k1")
    store.delete(SPACE, "k1")
    remember(store, "k1", "Ana keeps a parrot.", "t2")
    piece = piece_of(store, needs("k1"))
    assert (piece.outcome, piece.lost_to) == ("unknown", ())
    assert "name the write" in piece.reason
    assert piece_of(store, named).outcome == "recoverable"
    store.delete(SPACE, "k1")
    assert piece_of(store, needs("k1")).outcome == "recoverable"  # whichever is meant
    store.erase(SPACE, "k4", **BY)
    remember(store, "k4", "Ana plays the cello.", "t3")
    store.delete(SPACE, "k4")
    assert piece_of(store, needs("k4")).outcome == "unknown"
    store.delete(SPACE, "k2")
    remember(store, "k2", SAID["t2"], "t2")  # the same again is the same memory
    assert piece_of(store, needs("k2")).outcome == "unaffected"


def test_one_unanswerable_piece_outweighs_all_others_and_one_unknown_the_recoverable() -> None:
    store = remembering()
    store.delete(SPACE, "k1")
    store.erase(SPACE, "k2", **BY)
    found = audited(store, needs("k1", "k2", "nowhere", id="a"), needs("k1", "nowhere", id="b"), needs("k1", id="c"))
    assert [question.outcome for question in found.questions] == ["unanswerable", "unknown", "recoverable"]
    assert costs(found) == [("delete", ("k1",), (), ("a", "b", "c")), ("erasure", ("k2",), ("a",), ())]


def test_an_id_that_names_no_one_write_is_unknown() -> None:
    store = remembering()
    for written in ("no such id", "0" * 64):
        piece = piece_of(store, AuditQuestion.model_validate({"id": "q", "memories": [{"write": written}]}))
        assert (piece.outcome, piece.report) == ("unknown", None)


def test_a_chain_that_cannot_be_read_is_an_error_that_says_what_to_run(tmp_path: Path) -> None:
    ledger = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}")
    assert isinstance(ledger, SqliteLedger)
    store = remembering(ledger=ledger)
    SqlitePlace(tmp_path).attack("UPDATE entries SET body = '{}' WHERE kind = 'report'")
    with pytest.raises(LedgerError, match="admission verify"):
        audited(store, needs("k1"))


def test_every_ledger_tells_the_same(place: Place) -> None:
    store = remembering(ledger=place.open())
    store.delete(SPACE, "k1")
    evict(store, SPACE, 20, Fifo(), count=words)
    store.forget(SPACE, "k3", **BY)
    store.erase(SPACE, "k4", **BY)
    found = audited(store, *(needs(f"k{n}", id=f"q{n}") for n in range(1, 5)))
    assert costs(found) == [
        ("delete", ("k1",), (), ("q1",)),
        ("eviction", ("k2",), (), ("q2",)),
        ("forgetting", ("k3",), (), ("q3",)),
        ("erasure", ("k4",), ("q4",), ()),
    ]
    assert [whence(question.pieces[0])[:1] for question in found.questions] == [
        [("ledger", "k1")], [("ledger", "k2")], [("store", "k3")], []
    ]  # fmt: skip
    store.ledger.close()


KEYS = ("k1", "k2", "k3")
DONE = ("put", "put", "delete", "evict", "forget", "reinstate", "erase")
STEPS = st.lists(st.tuples(st.sampled_from(DONE), st.sampled_from(KEYS)), max_size=9)


def carry_out(store: AdmissionStore, step: str, key: str, number: int) -> None:
    known = store.ledger.metadata([(SPACE, key)]).get((SPACE, key))
    state = None if known is None else known.lifecycle.state
    if step == "put":
        turn = f"t{1 + number % len(SAID)}"
        with conversation("talk-1", TALK):
            store.put(SPACE, key, {"content": SAID[turn], "citations": [turn], "number": number})
    elif step == "delete" and store.versions(SPACE, key):
        store.delete(SPACE, key)
    elif step == "evict":
        evict(store, SPACE, 15, Fifo(), count=words)
    elif step == "erase":
        store.erase(SPACE, key, **BY)
    elif step == "forget" and store.ledger.latest(SPACE, key) is not None:
        store.forget(SPACE, key, **BY)
    elif step == "reinstate" and state == "forgotten":
        store.reinstate(SPACE, key, **BY)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_whatever_was_done_the_audit_says_of_each_key_what_the_store_has(steps: list[tuple[str, str]]) -> None:
    store = guarded()
    ever: set[str] = set()
    for number, (step, key) in enumerate(steps):
        carry_out(store, step, key, number)
        ever |= {item.key for item in store.inner.search(SPACE)}
    found = audited(store, *(needs(key, id=key) for key in KEYS))
    erased = any(step == "erase" for step, _ in steps)
    for question in found.questions:
        (piece,), key = question.pieces, question.id
        known = store.ledger.metadata([(SPACE, key)]).get((SPACE, key))
        forgotten = known is not None and known.lifecycle.state == "forgotten"
        if store.inner.get(SPACE, key) is None:
            assert question.outcome != "unaffected"
            assert key in ever or question.outcome == "unknown"
            assert bool(piece.lost_to) == (question.outcome != "unknown")
        elif forgotten:
            assert question.outcome in ("recoverable", "unknown")
        else:
            assert question.outcome in ("unaffected", "unknown")
        assert question.outcome != "unanswerable" or erased
        for seq in piece.lost_to:
            assert [cost.deletion.seq for cost in found.deletions].count(seq) == 1
    assert sum(found.outcomes.values()) == len(KEYS)
    assert not any(text in found.model_dump_json() for text in SAID.values())
