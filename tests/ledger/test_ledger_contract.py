"""What every ledger does, whatever it is kept in."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest
from ledger_records import DROPPED, HELD, MARKED, SPACE, TEA, a_report, an_intent

from admission.errors import LedgerError
from admission.ledger import Ledger
from admission.records import digest


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


# -- claim -----------------------------------------------------------------------------------------------------------


def test_a_claimed_write_is_known_and_undecided(ledger: Ledger) -> None:
    intent = an_intent(options={"index": ["content"], "ttl": 60.0})
    record = ledger.claim(intent)
    assert record.intent == intent
    assert (record.state, record.action, record.report, record.stored_value) == ("claimed", None, None, None)
    assert ledger.write(intent.fingerprint) == record
    assert ledger.write("unknown") is None


def test_claiming_is_working_state_and_no_entry(ledger: Ledger) -> None:
    ledger.claim(an_intent())
    assert kinds(ledger) == []
    assert ledger.head().seq == 0


def test_the_first_key_of_a_retried_write_wins(ledger: Ledger) -> None:
    ledger.claim(an_intent(key="first"))
    assert ledger.claim(an_intent(key="second")).intent.key == "first"
    assert len(ledger.incomplete()) == 1


def test_a_retry_of_a_decided_write_learns_the_decision(ledger: Ledger) -> None:
    intent = an_intent()
    ledger.claim(intent)
    decided = ledger.decide(intent.fingerprint, a_report(), TEA)
    assert ledger.claim(an_intent(key="second")) == decided


def test_values_come_back_as_json_says_them(ledger: Ledger) -> None:
    value = {
        "when": datetime(2026, 5, 1, 12, 30),
        "pair": (1, 2),
        "text": "caf\u00e9 \U0001f375 \ud83d \x00",
        "n": None,
    }
    assert ledger.claim(an_intent(value)).intent.value == {
        "when": "2026-05-01T12:30:00",
        "pair": [1, 2],
        "text": "caf\u00e9 \U0001f375 \ufffd \x00",
        "n": None,
    }


def test_a_value_json_cannot_say_is_refused(ledger: Ledger) -> None:
    intent = an_intent().model_copy(update={"value": {"content": object()}})
    with pytest.raises(LedgerError, match="value"):
        ledger.claim(intent)


def test_a_key_that_is_not_unicode_is_refused(ledger: Ledger) -> None:
    intent = an_intent().model_copy(update={"key": "\ud800"})
    with pytest.raises(LedgerError, match="Unicode"):
        ledger.claim(intent)


# -- decide, complete ------------------------------------------------------------------------------------------------


def test_a_decision_commits_report_action_and_value(ledger: Ledger) -> None:
    intent = an_intent()
    ledger.claim(intent)
    report = a_report(status="repaired")
    record = ledger.decide(intent.fingerprint, report, MARKED)
    assert (record.state, record.action, record.report) == ("decided", "persist", report)
    assert record.stored_value == MARKED
    assert ledger.write(intent.fingerprint) == record
    (entry,) = ledger.entries()
    assert (entry.seq, entry.kind, entry.fingerprint) == (1, "report", intent.fingerprint)
    assert (entry.namespace, entry.key, entry.value_digest) == (SPACE, "k1", digest(MARKED))
    assert entry.body == report.model_dump(mode="json")


def test_the_first_decision_stands(ledger: Ledger) -> None:
    intent = an_intent()
    ledger.claim(intent)
    first = ledger.decide(intent.fingerprint, a_report(), TEA)
    assert ledger.decide(intent.fingerprint, HELD, None) == first
    assert kinds(ledger) == ["report"]


def test_completing_appends_that_it_is_stored(ledger: Ledger) -> None:
    intent = an_intent()
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, a_report(), MARKED)
    ledger.complete(intent.fingerprint)
    ledger.complete(intent.fingerprint)
    assert kinds(ledger) == ["report", "stored"]
    stored = list(ledger.entries())[1]
    assert (stored.fingerprint, stored.namespace, stored.key) == (intent.fingerprint, SPACE, "k1")
    assert (stored.value_digest, stored.body) == (digest(MARKED), {})
    record = ledger.write(intent.fingerprint)
    assert record is not None
    assert record.state == "done"
    assert ledger.decide(intent.fingerprint, HELD, None) == record


@pytest.mark.parametrize(
    ("report", "quarantined"),
    [
        (HELD, True),
        (DROPPED, False),
        (a_report(status="contradicted", action="review"), True),
    ],
)
def test_what_is_not_to_be_stored_is_done_at_once(ledger: Ledger, report: object, quarantined: bool) -> None:
    intent = an_intent()
    ledger.claim(intent)
    record = ledger.decide(intent.fingerprint, report, None)  # type: ignore[arg-type]
    assert (record.state, record.stored_value, record.quarantined) == ("done", None, quarantined)
    assert record.intent.value == TEA
    ledger.complete(intent.fingerprint)
    assert kinds(ledger) == ["report"]
    assert ledger.incomplete() == []
    assert ledger.verify().ok


@pytest.mark.parametrize(
    ("report", "value"),
    [(HELD, TEA), (DROPPED, TEA), (a_report(status="contradicted", action="review"), TEA), (a_report(), None)],
)
def test_a_decision_at_odds_with_its_report_is_refused(
    ledger: Ledger, report: object, value: dict[str, object] | None
) -> None:
    intent = an_intent()
    ledger.claim(intent)
    with pytest.raises(LedgerError, match="agree"):
        ledger.decide(intent.fingerprint, report, value)  # type: ignore[arg-type]
    assert kinds(ledger) == []


def test_a_write_is_claimed_before_it_is_decided_before_it_is_complete(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="claim it first"):
        ledger.decide("unknown", a_report(), TEA)
    with pytest.raises(LedgerError, match="claim it first"):
        ledger.complete("unknown")
    intent = an_intent()
    ledger.claim(intent)
    with pytest.raises(LedgerError, match="not decided"):
        ledger.complete(intent.fingerprint)


def test_incomplete_writes_are_the_claimed_and_the_decided_oldest_first(ledger: Ledger) -> None:
    intents = [an_intent({"content": f"memory {n}"}, key=f"k{n}") for n in range(4)]
    for intent in intents:
        ledger.claim(intent)
    ledger.decide(intents[3].fingerprint, a_report(), intents[3].value)
    ledger.decide(intents[1].fingerprint, a_report(), intents[1].value)
    ledger.complete(intents[1].fingerprint)
    ledger.decide(intents[0].fingerprint, HELD, None)
    assert [(r.intent.key, r.state) for r in ledger.incomplete()] == [("k2", "claimed"), ("k3", "decided")]


# -- quarantine, restore ---------------------------------------------------------------------------------------------


def quarantined_write(ledger: Ledger, value: dict[str, object] = TEA, **how: object) -> str:
    intent = an_intent(value, **how)  # type: ignore[arg-type]
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, HELD, None)
    return intent.fingerprint


def test_quarantine_lists_what_is_held_back_under_a_namespace(ledger: Ledger) -> None:
    for n, namespace in enumerate([("acme", "user-7"), ("acme",), ("acme", "user-70"), ("acme-2",)]):
        quarantined_write(ledger, {"content": f"memory {n}"}, namespace=namespace, key=f"k{n}")
    assert [r.intent.key for r in ledger.quarantine()] == ["k0", "k1", "k2", "k3"]
    assert [r.intent.key for r in ledger.quarantine(("acme",))] == ["k0", "k1", "k2"]
    assert [r.intent.key for r in ledger.quarantine(("acme", "user-7"))] == ["k0"]


def test_a_restored_write_is_to_be_stored_with_its_own_value(ledger: Ledger) -> None:
    fingerprint = quarantined_write(ledger)
    record = ledger.restore(fingerprint, by="Ada", why="the user confirmed it")
    assert (record.state, record.stored_value, record.quarantined) == ("decided", TEA, False)
    assert ledger.write(fingerprint) == record
    assert ledger.quarantine() == []
    assert ledger.incomplete() == [record]
    ledger.complete(fingerprint)
    entries = list(ledger.entries())
    assert [e.kind for e in entries] == ["report", "restored", "stored"]
    assert entries[1].body == {"by": "Ada", "why": "the user confirmed it"}
    assert entries[1].value_digest == digest(TEA)
    assert ledger.verify().ok


def test_only_what_is_in_quarantine_is_restored_and_once(ledger: Ledger) -> None:
    admitted = an_intent({"content": "admitted"}, key="k2")
    ledger.claim(admitted)
    with pytest.raises(LedgerError, match="not in quarantine"):
        ledger.restore(admitted.fingerprint, by="Ada", why="because")
    ledger.decide(admitted.fingerprint, a_report(), admitted.value)
    with pytest.raises(LedgerError, match="not in quarantine"):
        ledger.restore(admitted.fingerprint, by="Ada", why="because")
    with pytest.raises(LedgerError, match="no such write"):
        ledger.restore("unknown", by="Ada", why="because")
    held = quarantined_write(ledger)
    ledger.restore(held, by="Ada", why="because")
    with pytest.raises(LedgerError, match="not in quarantine"):
        ledger.restore(held, by="Ada", why="because")


def test_a_restore_says_by_whom_and_why(ledger: Ledger) -> None:
    held = quarantined_write(ledger)
    for by, why in (("", "because"), ("Ada", " ")):
        with pytest.raises(LedgerError, match="say who"):
            ledger.restore(held, by=by, why=why)
    assert len(ledger.quarantine()) == 1


# -- what happened to a key ------------------------------------------------------------------------------------------


def test_an_earlier_value_put_back_outside_any_task_is_a_new_write(ledger: Ledger) -> None:
    def put(value: dict[str, object]) -> bool:
        occurrence = ledger.changes(SPACE, "k1", value)
        intent = an_intent(value, thread=None, task=None, occurrence=occurrence)
        if ledger.claim(intent).state == "done":
            return False
        ledger.decide(intent.fingerprint, a_report(), {**value, "mark": 1})
        ledger.complete(intent.fingerprint)
        return True

    green, black = {"content": "green tea"}, {"content": "black tea"}
    assert [put(green), put(green), put(black), put(black), put(green), put(green)] == [1, 0, 1, 0, 1, 0]
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    assert [put(green), put(green)] == [1, 0]
    assert ledger.changes(SPACE, "k2", green) == 0


# -- reports and deletes ---------------------------------------------------------------------------------------------


def test_a_report_without_a_write_is_recorded_once_for_each_input_and_configuration(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.record_report(a_report())
        ledger.record_report(a_report(input_digest="input-2"))
        ledger.record_report(a_report(config_digest="config-2"))
        ledger.record_report(a_report("report-2"))
    assert kinds(ledger) == ["report"] * 4
    first = next(ledger.entries())
    assert (first.fingerprint, first.key, first.namespace) == (None, None, SPACE)


def test_a_write_with_the_same_report_is_still_reported(ledger: Ledger) -> None:
    ledger.record_report(a_report())
    intent = an_intent()
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, a_report(), TEA)
    ledger.record_report(a_report())
    assert [e.fingerprint for e in ledger.entries()] == [None, intent.fingerprint]


def test_a_delete_is_recorded(ledger: Ledger) -> None:
    ledger.record_delete(SPACE, "k1", thread="thread-1", task=None)
    (entry,) = ledger.entries()
    assert (entry.kind, entry.namespace, entry.key) == ("deleted", SPACE, "k1")
    assert entry.body == {"thread": "thread-1", "task": None}


def test_reports_are_filtered_by_status_namespace_and_time(ledger: Ledger) -> None:
    ledger.record_report(a_report("r1", namespace=("acme", "user-7")))
    ledger.record_report(a_report("r2", namespace=("acme",), status="unresolved", action="quarantine"))
    ledger.record_delete(("acme",), "k1", thread=None, task=None)
    ledger.record_report(a_report("r3", namespace=("acme", 'us"er', "a,b")))
    ledger.record_report(a_report("r4", namespace=("acme2",)))

    def ids(**filters: object) -> list[str]:
        return [report.id for _, report in ledger.reports(**filters)]  # type: ignore[arg-type]

    assert ids() == ["r1", "r2", "r3", "r4"]
    assert ids(status="admitted") == ["r1", "r3", "r4"]
    assert ids(namespace=("acme",)) == ["r1", "r2", "r3"]
    assert ids(namespace=("acme", 'us"er')) == ["r3"]
    assert ids(namespace=("acme", "user")) == []
    assert ids(namespace=()) == ["r1", "r2", "r3", "r4"]
    third = list(ledger.entries())[3].time
    assert ids(since=third) == ["r3", "r4"]
    assert ids(since=third, status="admitted", namespace=("acme",)) == ["r3"]
    elsewhere = datetime.fromisoformat(third) + timedelta(hours=2)
    assert ids(since=elsewhere.replace(tzinfo=None).isoformat() + "+02:00") == ["r3", "r4"]
    assert ids(since=third[:10]) == ["r1", "r2", "r3", "r4"]
    assert ids(since="2999-01-01") == []
    with pytest.raises(LedgerError, match="ISO 8601"):
        ids(since="yesterday")


def test_many_reports_are_read_in_order_while_more_are_written(ledger: Ledger) -> None:
    for n in range(205):
        ledger.record_report(a_report(f"r{n}"))
    seen = []
    for entry, report in ledger.reports():
        if entry.seq == 1:
            ledger.record_report(a_report("late"))
        seen.append(report.id)
    assert seen == [f"r{n}" for n in range(205)] + ["late"]


def test_a_report_is_found_by_id_newest_first_or_by_an_unambiguous_start(ledger: Ledger) -> None:
    ledger.record_report(a_report("report-1"))
    ledger.record_report(a_report("report-1", config_digest="config-2"))
    ledger.record_report(a_report("report-10"))
    intent = an_intent()
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, a_report("w%"), TEA)

    def found(id: str) -> tuple[int, str] | None:
        pair = ledger.report(id)
        return None if pair is None else (pair[0].seq, pair[1].id)

    assert found("report-1") == (2, "report-1")
    assert found("report-10") == (3, "report-10")
    assert found("w") == (4, "w%")
    assert found(intent.fingerprint) == found(intent.fingerprint[:12]) == (4, "w%")
    assert found("%") is None
    assert found("nothing") is None
    with pytest.raises(LedgerError) as ambiguous:
        found("report")
    assert "report-1, report-10" in str(ambiguous.value) or "report-10, report-1" in str(ambiguous.value)


def test_a_start_that_many_reports_share_names_some_of_them(ledger: Ledger) -> None:
    for n in range(9):
        ledger.record_report(a_report(f"report-{n}"))
    with pytest.raises(LedgerError, match=r"report-0.*\.\.\."):
        ledger.report("report-")


# -- chain, head, closing --------------------------------------------------------------------------------------------


def test_entries_are_chained_and_verify(ledger: Ledger) -> None:
    assert ledger.verify().ok
    assert ledger.verify(ledger.head()).entries == 0
    quarantined_write(ledger)
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    ledger.record_report(a_report())
    entries = list(ledger.entries())
    assert [e.seq for e in entries] == [1, 2, 3]
    assert [e.previous for e in entries] == ["0" * 64, entries[0].hash, entries[1].hash]
    head = ledger.head()
    assert (head.seq, head.hash) == (3, entries[2].hash)
    found = ledger.verify(head)
    assert (found.ok, found.entries, found.first_bad, found.problem, found.head) == (True, 3, None, "", head)
    ledger.record_report(a_report("later"))
    assert ledger.verify(head).ok


def test_times_are_utc_and_fixed_width(ledger: Ledger) -> None:
    ledger.record_report(a_report())
    time = next(ledger.entries()).time
    assert datetime.fromisoformat(time).utcoffset() == timedelta(0)
    assert len(time) == len("2026-05-01T12:00:00.000000+00:00")


def test_a_closed_ledger_says_so(ledger: Ledger) -> None:
    ledger.close()
    ledger.close()
    for call in (ledger.head, ledger.incomplete, ledger.verify, lambda: ledger.claim(an_intent())):
        with pytest.raises(LedgerError, match="closed"):
            call()


# -- threads ---------------------------------------------------------------------------------------------------------


def test_eight_threads_on_the_same_and_different_writes_give_one_report_each(ledger: Ledger) -> None:
    shared = [an_intent({"content": f"shared {n}"}, key=f"s{n}") for n in range(10)]
    start, failures = threading.Barrier(8), []
    decisions: list[tuple[str, str]] = []

    def work(worker: int) -> None:
        own = [an_intent({"content": f"own {n}"}, key=f"o{n}", task=f"task-{worker}") for n in range(5)]
        start.wait()
        try:
            for intent in [*shared, *own]:
                ledger.claim(intent.model_copy(update={"key": f"{intent.key}-{worker}"}))
                report = a_report(f"{intent.key} by {worker}")
                record = ledger.decide(intent.fingerprint, report, intent.value)
                assert record.report is not None
                decisions.append((intent.fingerprint, record.report.id))
                ledger.complete(intent.fingerprint)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(decisions) == 8 * 15
    assert len(set(decisions)) == 10 + 8 * 5  # everyone was told the same decision
    assert sorted(kinds(ledger)) == ["report"] * 50 + ["stored"] * 50
    assert ledger.incomplete() == []
    assert ledger.verify(ledger.head()).ok
