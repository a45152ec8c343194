"""What every ledger does with writes held back: rejected, superseded, restored otherwise than they came."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from ledger_records import HELD, SPACE, TEA, a_report, an_intent

from admission.errors import LedgerError
from admission.ledger import Ledger, SqliteLedger, WriteIntent
from admission.records import digest

EDITED = {"content": "Ines drinks white tea."}
MARKED = {**TEA, "admission": "approved_over_unresolved"}
BY = {"by": "Ada", "why": "the user said so"}


def held_write(ledger: Ledger, value: dict[str, object] = TEA, **how: object) -> str:
    intent = an_intent(value, **how)  # type: ignore[arg-type]
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, HELD, None)
    return intent.fingerprint


def successor(value: dict[str, object] = EDITED) -> WriteIntent:
    return an_intent(value, task="another task")


def supersede(ledger: Ledger, fingerprint: str, intent: WriteIntent | None = None) -> None:
    ledger.supersede(fingerprint, intent or successor(), a_report("new"), EDITED, **BY)


def waiting(ledger: Ledger) -> list[str]:
    return [record.intent.fingerprint for record in ledger.waiting()]


def test_what_is_held_back_waits_and_can_be_asked_for_by_namespace_and_thread(ledger: Ledger) -> None:
    for n, (namespace, thread) in enumerate([(SPACE, "t1"), (("acme",), "t2"), (("other",), "t1"), (SPACE, None)]):
        held_write(ledger, {"content": f"memory {n}"}, namespace=namespace, thread=thread, key=f"k{n}")
    admitted = an_intent({"content": "fine"}, key="fine")
    ledger.claim(admitted)
    ledger.decide(admitted.fingerprint, a_report(), admitted.value)
    assert [r.intent.key for r in ledger.waiting()] == ["k0", "k1", "k2", "k3"]
    assert [r.intent.key for r in ledger.waiting(("acme",))] == ["k0", "k1", "k3"]
    assert [r.intent.key for r in ledger.waiting(thread="t1")] == ["k0", "k2"]
    assert [r.intent.key for r in ledger.waiting(("acme",), thread="t1")] == ["k0"]


def test_what_is_restored_may_be_stored_otherwise_than_it_came(ledger: Ledger) -> None:
    fingerprint = held_write(ledger)
    record = ledger.restore(fingerprint, stored_value=MARKED, **BY)
    assert (record.stored_value, record.intent.value) == (MARKED, TEA)
    assert ledger.write(fingerprint) == record
    ledger.complete(fingerprint)
    digests = {entry.kind: entry.value_digest for entry in ledger.entries()}
    assert digests == {"report": digest(TEA), "restored": digest(MARKED), "stored": digest(MARKED)}
    assert ledger.verify().ok and ledger.waiting() == []


def test_what_is_rejected_stays_in_quarantine_and_waits_no_longer(ledger: Ledger) -> None:
    fingerprint = held_write(ledger)
    ledger.reject(fingerprint, **BY)
    assert waiting(ledger) == []
    assert [record.intent.fingerprint for record in ledger.quarantine()] == [fingerprint]
    (entry,) = ledger.reviews(fingerprint)
    assert (entry.kind, entry.fingerprint, entry.value_digest) == ("review", fingerprint, None)
    assert entry.body == {"verdict": "rejected", "successor": None, **BY}
    assert ledger.verify().ok


def test_a_rejected_write_is_restored_only_by_who_means_to_overrule(ledger: Ledger) -> None:
    fingerprint = held_write(ledger)
    ledger.reject(fingerprint, **BY)
    with pytest.raises(LedgerError, match="rejected by Ada"):
        ledger.restore(fingerprint, by="Bo", why="Ada did not know")
    ledger.restore(fingerprint, by="Bo", why="Ada did not know", overrule=True)
    assert [(entry.kind, entry.body["by"]) for entry in ledger.reviews(fingerprint)] == [
        ("review", "Ada"),
        ("restored", "Bo"),
    ]
    assert ledger.quarantine() == [] and ledger.verify().ok


def test_another_write_takes_the_place_of_one_that_waits_in_one_step(ledger: Ledger) -> None:
    fingerprint, new = held_write(ledger), successor()
    record = ledger.supersede(fingerprint, new, a_report("new"), EDITED, **BY)
    assert (record.state, record.intent, record.stored_value) == ("decided", new, EDITED)
    assert ledger.incomplete() == [record] and waiting(ledger) == []
    (entry,) = ledger.reviews(fingerprint)
    assert entry.body == {"verdict": "superseded", "successor": new.fingerprint, **BY}
    found = ledger.report("new")
    assert found is not None and found[0].fingerprint == new.fingerprint
    ledger.complete(new.fingerprint)
    assert ledger.verify().ok


def test_a_successor_that_is_held_back_waits_in_its_place(ledger: Ledger) -> None:
    fingerprint, new = held_write(ledger), successor()
    ledger.supersede(fingerprint, new, HELD, None, **BY)
    assert waiting(ledger) == [new.fingerprint]
    assert ledger.verify().ok


def test_to_supersede_again_by_the_same_write_changes_nothing(ledger: Ledger) -> None:
    fingerprint = held_write(ledger)
    supersede(ledger, fingerprint)
    ledger.complete(successor().fingerprint)
    head = ledger.head()
    record = ledger.supersede(fingerprint, successor(), HELD, None, **BY)
    assert (record.state, record.action) == ("done", "persist")
    assert ledger.head() == head


SETTLING: dict[str, Callable[[Ledger, str], object]] = {
    "restore": lambda ledger, fingerprint: ledger.restore(fingerprint, **BY),
    "reject": lambda ledger, fingerprint: ledger.reject(fingerprint, **BY),
    "supersede": supersede,
}


@pytest.mark.parametrize("second", SETTLING)
@pytest.mark.parametrize("first", SETTLING)
def test_what_is_settled_is_settled(ledger: Ledger, first: str, second: str) -> None:
    fingerprint = held_write(ledger)
    SETTLING[first](ledger, fingerprint)
    head = ledger.head()
    if (first, second) == ("supersede", "supersede"):
        with pytest.raises(LedgerError, match="superseded by Ada"):
            supersede(ledger, fingerprint, successor({"content": "something else"}))
        assert ledger.head() == head
    else:
        with pytest.raises(LedgerError, match=r"not in quarantine|(rejected|superseded) by Ada"):
            SETTLING[second](ledger, fingerprint)
        assert ledger.head() == head
    assert ledger.verify().ok


@pytest.mark.parametrize("how", SETTLING)
def test_what_is_not_in_quarantine_is_not_settled(ledger: Ledger, how: str) -> None:
    admitted = an_intent({"content": "fine"}, key="fine")
    ledger.claim(admitted)
    ledger.decide(admitted.fingerprint, a_report(), admitted.value)
    head = ledger.head()
    with pytest.raises(LedgerError, match="not in quarantine"):
        SETTLING[how](ledger, admitted.fingerprint)
    with pytest.raises(LedgerError, match="no such write"):
        SETTLING[how](ledger, "unknown")
    assert ledger.head() == head


@pytest.mark.parametrize(("by", "why"), [("", "because"), ("Ada", " ")])
def test_every_review_says_by_whom_and_why(ledger: Ledger, by: str, why: str) -> None:
    fingerprint = held_write(ledger)
    with pytest.raises(LedgerError, match="say who"):
        ledger.reject(fingerprint, by=by, why=why)
    with pytest.raises(LedgerError, match="say who"):
        ledger.supersede(fingerprint, successor(), a_report("new"), EDITED, by=by, why=why)
    assert waiting(ledger) == [fingerprint]


def test_a_successor_at_odds_with_its_report_is_refused_and_the_first_waits_on(ledger: Ledger) -> None:
    fingerprint = held_write(ledger)
    with pytest.raises(LedgerError, match="agree"):
        ledger.supersede(fingerprint, successor(), HELD, EDITED, **BY)
    assert waiting(ledger) == [fingerprint] and ledger.write(successor().fingerprint) is None


def test_of_many_that_decide_at_once_one_is_heard(ledger: Ledger) -> None:
    fingerprint = held_write(ledger)
    start, done = threading.Barrier(6), []

    def settle(n: int) -> None:
        start.wait()
        try:
            supersede(ledger, fingerprint, successor({"content": f"text {n}"})) if n % 2 else ledger.reject(
                fingerprint, by=f"person {n}", why="no"
            )
        except LedgerError:
            return
        done.append(n)

    threads = [threading.Thread(target=settle, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == len(ledger.reviews(fingerprint)) == 1
    assert ledger.verify().ok


def test_the_last_change_of_a_key(ledger: Ledger) -> None:
    assert ledger.last_change(SPACE, "k1") is None
    fingerprint = held_write(ledger)
    assert ledger.last_change(SPACE, "k1") is None
    ledger.restore(fingerprint, **BY)
    ledger.complete(fingerprint)
    assert ledger.last_change(SPACE, "k1") == 3
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    assert ledger.last_change(SPACE, "k1") == 4
    assert ledger.last_change(("acme",), "k1") is None and ledger.last_change(SPACE, "k2") is None


def test_a_superseded_write_cannot_be_overruled(ledger: Ledger) -> None:
    fingerprint = held_write(ledger)
    supersede(ledger, fingerprint)
    with pytest.raises(LedgerError, match="superseded by Ada"):
        ledger.restore(fingerprint, overrule=True, **BY)


def test_a_supersede_that_fails_on_the_way_changes_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprint = held_write(ledger)
    head = ledger.head()

    def fails(*_: object, **__: object) -> None:
        raise LedgerError("ledger", "the disk is full", "free some space")

    with monkeypatch.context() as full:
        full.setattr(ledger, "_decide", fails)
        with pytest.raises(LedgerError, match="full"):
            supersede(ledger, fingerprint)
    assert (ledger.head(), waiting(ledger)) == (head, [fingerprint])
    assert ledger.write(successor().fingerprint) is None and ledger.incomplete() == []


def test_a_value_changed_after_a_person_approved_it_shows_and_is_not_stored(ledger_file: Path) -> None:
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        fingerprint = held_write(ledger)
        ledger.restore(fingerprint, stored_value=MARKED, **BY)
    with closing(sqlite3.connect(ledger_file, isolation_level=None)) as db:
        db.execute("UPDATE writes SET stored_value = value")
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        found = ledger.verify()
        assert (found.ok, found.first_bad, found.kind) == (False, 2, "content_changed")
        assert ledger.incomplete() == []
        ((named, problem),) = ledger.unsound()
        assert named == fingerprint and "not the one decided on" in problem
