"""Supersession through a real store and ledger: what is marked, what is said of it, and what is left alone."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from labelled_pairs import turn
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore
from ledger_places import Place

from admission.errors import InputError, LedgerError
from admission.gate import AdmissionGate
from admission.ledger import Ledger, SqliteLedger, open_ledger
from admission.metadata import RecordMetadata
from admission.records import Question, Report, Turn
from admission.reports.sentences import explanation
from admission.settings import load_settings
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes import AdmissionStore, collect_reports, conversation

SPACE = ("memories", "ana")
OLD, NEW = "Ana works at Acme.", "Ana works at Globex now."
MARCH, MAY = "2026-03-01T10:00:00+00:00", "2026-05-01T10:00:00+00:00"
SAID_OLD = turn("a1", "I work at Acme.", "Ana", MARCH)
SAID_NEW = turn("b1", "I left Acme in April and I work at Globex now.", "Ana", MAY)
HOME, MOVED = "Ana lives in Boston.", "Ana lives in Denver."
SAID_HOME = turn("c1", "I live in Boston.", "Ana", MARCH)
SAID_MOVED = turn("d1", "I moved to Denver.", "Ana", MAY)
TRUE = {
    OLD: SAID_OLD.text,
    NEW: SAID_NEW.text,
    HOME: SAID_HOME.text,
    MOVED: SAID_MOVED.text,
    "Ana works at Initech.": "I left Globex, I work at Initech now.",
}


class Panel:
    """A fake judge that finds supported what `TRUE` says a passage bears out, and contradicted by an old memory what
    `exclusive` lists."""

    def __init__(self, exclusive: Iterable[str] = ()) -> None:
        self.exclusive = set(exclusive)

    def __call__(self, question: Question) -> tuple[float, float]:
        texts = [passage.text for passage in question.passages]
        if TRUE.get(question.memory) in texts:
            return 1.0, 0.0
        return 0.0, float(question.memory in self.exclusive and question.turn_ids == ("old",))


def guarded(ledger: Ledger | None = None, panel: Panel | None = None, **settings: Any) -> AdmissionStore:
    script = panel or Panel()
    first, second, third = (ScriptedVerifier(name, script) for name in ("first", "second", "third"))
    loaded = load_settings(overrides=settings)
    gate = AdmissionGate(loaded, verifier_a=first, verifier_b=second, adjudicator=third)
    return AdmissionStore(InMemoryStore(), gate=gate, ledger=ledger or open_ledger("sqlite://"))


def put(
    store: AdmissionStore, key: str, memory: str, *turns: Turn, space: tuple[str, ...] = SPACE, thread: str = "talk"
) -> Report:
    with conversation(thread, turns), collect_reports() as reports:
        store.put(space, key, {"content": memory})
        assert store.flush()
    return reports[-1]


def known(store: AdmissionStore, key: str, space: tuple[str, ...] = SPACE) -> RecordMetadata:
    return store.ledger.metadata([(space, key)]).get((space, key), RecordMetadata())


def state(store: AdmissionStore, key: str, space: tuple[str, ...] = SPACE) -> str | None:
    return known(store, key, space).lifecycle.state


@pytest.mark.parametrize("mode", ["blocking", "background"])
def test_a_memory_under_another_key_marks_the_one_it_takes_the_place_of(mode: str) -> None:
    store = guarded(writes={"mode": mode})
    first = put(store, "k1", OLD, SAID_OLD, thread="march")
    second = put(store, "k2", NEW, SAID_NEW, thread="may")
    assert "supersedes_memory: k1" in second.reasons
    assert not any(reason.startswith("supersedes_memory") for reason in first.reasons)
    ended = known(store, "k1").lifecycle
    assert (ended.state, ended.superseded_by, ended.valid_to) == ("superseded", "k2", MAY)
    assert state(store, "k2") != "superseded"
    assert {item.key for item in store.inner.search(SPACE)} == {"k1", "k2"}
    stored = store.ledger.report(second.id)
    assert stored is not None and "supersedes_memory: k1" in stored[1].reasons
    assert store.ledger.verify().ok


async def test_the_asynchronous_side_does_the_same() -> None:
    store = guarded()
    with conversation("march", [SAID_OLD]):
        await store.aput(SPACE, "k1", {"content": OLD})
    with conversation("may", [SAID_NEW]):
        await store.aput(SPACE, "k2", {"content": NEW})
    assert await asyncio.to_thread(state, store, "k1") == "superseded"
    await store.areinstate(SPACE, "k1", by="ana", why="she does both")
    assert await asyncio.to_thread(state, store, "k1") == "current"


def test_both_in_one_batch_are_told_apart_by_the_order_of_what_was_said() -> None:
    store = guarded()
    with conversation("talk", [SAID_OLD, SAID_NEW]):
        store.batch([PutOp(SPACE, "k1", {"content": OLD}), PutOp(SPACE, "k2", {"content": NEW})])
    assert (state(store, "k1"), state(store, "k2")) == ("superseded", None)


@pytest.mark.parametrize("space", [("memories",), ("memories", "ana", "work"), ("memories", "ben")])
def test_no_memory_of_another_namespace_is_ever_touched(space: tuple[str, ...]) -> None:
    store = guarded()
    put(store, "k1", OLD, SAID_OLD, space=space, thread="march")
    report = put(store, "k2", NEW, SAID_NEW, thread="may")
    assert report.action == "persist" and state(store, "k1", space) is None
    assert not any(reason.startswith("supersedes_memory") for reason in report.reasons)


def test_a_memory_that_is_held_back_supersedes_nothing() -> None:
    store = guarded()
    put(store, "k1", OLD, SAID_OLD, thread="march")
    report = put(store, "k2", NEW, turn("b1", "I left Acme. Globex is nice.", "Ana", MAY), thread="may")
    assert report.status == "unresolved" and state(store, "k1") is None


@pytest.mark.parametrize("policy", [{"admitted": "persist_marked", "repaired": "persist_marked"}])
def test_a_memory_that_is_stored_with_a_mark_supersedes_nothing(policy: dict[str, str]) -> None:
    store = guarded(policy=[policy])
    put(store, "k1", OLD, SAID_OLD, thread="march")
    assert put(store, "k2", NEW, SAID_NEW, thread="may").action == "persist_marked"
    assert state(store, "k1") is None


def test_what_was_said_earlier_does_not_supersede_what_was_said_later() -> None:
    store = guarded()
    late = turn("a1", SAID_OLD.text, "Ana", "2026-08-01T10:00:00+00:00")
    put(store, "k1", OLD, late, thread="august")
    put(store, "k2", NEW, SAID_NEW, thread="may")
    assert state(store, "k1") is None


def test_an_update_of_the_same_key_is_a_version_and_no_supersession() -> None:
    store = guarded()
    put(store, "k1", OLD, SAID_OLD, thread="march")
    report = put(store, "k1", NEW, SAID_NEW, thread="may")
    assert report.supersedes is not None and state(store, "k1") is None
    assert not any(reason.startswith("supersedes_memory") for reason in report.reasons)


def test_a_deleted_memory_is_not_marked() -> None:
    store = guarded()
    put(store, "k1", OLD, SAID_OLD, thread="march")
    store.delete(SPACE, "k1")
    report = put(store, "k2", NEW, SAID_NEW, thread="may")
    assert not any(reason.startswith("supersedes_memory") for reason in report.reasons)


def test_a_deployment_can_turn_it_off() -> None:
    store = guarded(writes={"supersede": False})
    put(store, "k1", OLD, SAID_OLD, thread="march")
    put(store, "k2", NEW, SAID_NEW, thread="may")
    assert state(store, "k1") is None


def test_every_memory_that_says_the_same_is_marked_and_what_is_marked_already_stays_so() -> None:
    store = guarded()
    for key in ("k1", "k1b"):
        put(store, key, OLD, SAID_OLD, thread=f"march of {key}")
    put(store, "k2", NEW, SAID_NEW, thread="may")
    last = turn("e1", TRUE["Ana works at Initech."], "Ana", "2026-09-01T10:00:00+00:00")
    report = put(store, "k3", "Ana works at Initech.", last, thread="september")
    assert [reason for reason in report.reasons if reason.startswith("supersedes_memory")] == ["supersedes_memory: k2"]
    by = {key: known(store, key).lifecycle.superseded_by for key in ("k1", "k1b", "k2", "k3")}
    assert by == {"k1": "k2", "k1b": "k2", "k2": "k3", "k3": None}


def test_a_person_can_make_it_current_again_and_a_retry_does_not_undo_that() -> None:
    store = guarded()
    put(store, "k1", OLD, SAID_OLD, thread="march")
    put(store, "k2", NEW, SAID_NEW, thread="may")
    store.reinstate(SPACE, "k1", by="ana", why="she does both")
    lifecycle = known(store, "k1").lifecycle
    assert (lifecycle.state, lifecycle.superseded_by, lifecycle.valid_to) == ("current", None, None)
    put(store, "k2", NEW, SAID_NEW, thread="may")
    assert state(store, "k1") == "current"
    with pytest.raises(InputError, match="not superseded"):
        store.reinstate(SPACE, "k2", by="ana", why="a slip")
    assert store.ledger.verify().ok


@pytest.mark.parametrize(("exclusive", "expected"), [((), None), (("Ana lives in Denver.",), "superseded")])
def test_where_only_the_world_tells_the_verifier_has_to_find_a_contradiction(
    exclusive: tuple[str, ...], expected: str | None
) -> None:
    store = guarded(panel=Panel(exclusive))
    put(store, "k1", HOME, SAID_HOME, thread="march")
    put(store, "k2", MOVED, SAID_MOVED, thread="may")
    assert state(store, "k1") == expected


class FakeFailingOnce(SqliteLedger):
    """A ledger that fails the first time something is to be marked."""

    failed = False

    def annotate(self, *args: Any, **kwargs: Any) -> None:
        if not self.failed:
            self.failed = True
            raise LedgerError("ledger", "the disk is full", "free some space")
        super().annotate(*args, **kwargs)


def test_a_mark_that_was_interrupted_is_made_good_by_the_next_recovery(tmp_path: Path) -> None:
    store = guarded(FakeFailingOnce(str(tmp_path / "ledger.db")))
    put(store, "k1", OLD, SAID_OLD, thread="march")
    with pytest.raises(LedgerError), conversation("may", [SAID_NEW]):
        store.put(SPACE, "k2", {"content": NEW})
    assert state(store, "k1") is None
    store.recover()
    assert state(store, "k1") == "superseded"
    assert {item.key for item in store.inner.search(SPACE)} == {"k1", "k2"}


def test_an_old_record_that_cannot_be_read_costs_no_new_write(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    store = guarded(SqliteLedger(str(file)))
    put(store, "k1", OLD, SAID_OLD, thread="march")
    with sqlite3.connect(file) as planted:
        planted.execute("UPDATE writes SET stored_value = 'no json' WHERE key = 'k1'")
    report = put(store, "k2", NEW, SAID_NEW, thread="may")
    assert report.action == "persist" and store.inner.get(SPACE, "k2") is not None
    assert not any(reason.startswith("supersedes_memory") for reason in report.reasons)


def test_the_ledger_lists_the_newest_value_of_each_key_of_one_namespace(place: Place) -> None:
    store = guarded(place.open())
    put(store, "k1", OLD, SAID_OLD, thread="march")
    put(store, "k2", HOME, SAID_HOME, thread="march")
    put(store, "k1", NEW, SAID_NEW, thread="may")
    put(store, "other", HOME, SAID_HOME, space=(*SPACE, "work"), thread="march")
    assert [(s.key, s.value["content"]) for s in store.ledger.standing(SPACE, limit=10)] == [("k1", NEW), ("k2", HOME)]
    assert [s.key for s in store.ledger.standing(SPACE, limit=1)] == ["k1"]
    store.ledger.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("new", "expected"), [("I moved to Denver last week.", "superseded"), ("I live in Denver.", None)]
)
def test_with_the_embedded_verifiers_a_move_that_is_told_supersedes_the_old_home(
    new: str, expected: str | None
) -> None:
    store = AdmissionStore(InMemoryStore(), settings=load_settings(), ledger=open_ledger("sqlite://"))
    put(store, "k1", HOME, turn("t1", "I live in Boston with my cat.", "Ana", MARCH), thread="march")
    report = put(store, "k2", MOVED, turn("t1", new, "Ana", MAY), thread="may")
    assert report.action == "persist", report.reasons
    assert state(store, "k1") == expected


def test_the_explanation_for_a_person_names_what_it_takes_the_place_of() -> None:
    store = guarded()
    put(store, "k1", OLD, SAID_OLD, thread="march")
    report = put(store, "k2", NEW, SAID_NEW, thread="may")
    assert "It takes the place of the memory k1, which was so before." in explanation(report)
