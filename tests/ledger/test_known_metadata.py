"""What a SQLite ledger remembers of metadata is never older than the last change that anybody's call has made."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from ledger_records import HELD, SPACE, a_report, an_intent

from admission.ledger import Ledger, SqliteLedger, open_ledger
from admission.ledger import known_metadata as of_known
from admission.ledger.known_metadata import KnownMetadata, Place
from admission.ledger.sql_metadata import selected_metadata
from admission.metadata import Lifecycle, RecordMetadata

CURRENT = RecordMetadata(namespace=SPACE, lifecycle=Lifecycle(state="current"))
FORGOTTEN = RecordMetadata(namespace=SPACE, lifecycle=Lifecycle(state="forgotten"))
KEYS = [f"k{n}" for n in range(6)]
PLACES: list[Place] = [(SPACE, key) for key in KEYS]


def store(ledger: Ledger, key: str, text: str = "Ines drinks tea.", metadata: RecordMetadata | None = CURRENT) -> None:
    intent = an_intent({"content": f"{text} {key}"}, key=key)
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, a_report(f"r-{key}-{text}"), intent.value, metadata=metadata)
    ledger.complete(intent.fingerprint)


@pytest.fixture
def here(ledger_file: Path) -> Iterator[SqliteLedger]:
    with closing(SqliteLedger(str(ledger_file))) as ledger:
        for key in KEYS:
            store(ledger, key)
        yield ledger


@pytest.fixture
def elsewhere(here: SqliteLedger) -> Iterator[SqliteLedger]:
    """Another connection to the same file, as another process has one."""
    with closing(SqliteLedger(here.name)) as ledger:
        yield ledger


def lookups(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> list[list[Place]]:
    """What it reads from its database from now on, beside what it remembers."""
    asked: list[list[Place]] = []

    def select(db: sqlite3.Connection, places: Sequence[Place]) -> dict[Place, RecordMetadata]:
        asked.append(list(places))
        return selected_metadata(db, places)

    monkeypatch.setattr(ledger, "_known", KnownMetadata(select))
    return asked


def test_what_another_connection_forgets_is_forgotten_with_the_next_look(
    here: SqliteLedger, elsewhere: SqliteLedger
) -> None:
    assert here.metadata(PLACES) == dict.fromkeys(PLACES, CURRENT)
    for number, place in enumerate(PLACES):
        elsewhere.annotate(*place, FORGOTTEN, by="Ines", why="asked for it")
        found = here.metadata(PLACES)
        assert [found[one] for one in PLACES] == [FORGOTTEN] * (number + 1) + [CURRENT] * (5 - number)


def test_what_another_process_forgets_is_forgotten_when_its_call_has_returned(here: SqliteLedger) -> None:
    script = Path(__file__).with_name("ledger_forgetting_process.py")
    command = [sys.executable, str(script), f"sqlite:///{here.name}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as other:
        assert other.stdin is not None and other.stdout is not None
        for number in range(60):
            place, state = PLACES[number % 6], "forgotten" if number // 6 % 2 == 0 else "current"
            here.metadata(PLACES)
            print(place[1], state, file=other.stdin, flush=True)
            assert other.stdout.readline().split() == [place[1], state]
            assert here.metadata(PLACES)[place].lifecycle.state == state
        other.stdin.close()


def test_a_place_that_had_no_memory_is_known_once_somebody_has_stored_one(
    here: SqliteLedger, elsewhere: SqliteLedger
) -> None:
    new = (SPACE, "new")
    for ledger, metadata in ((here, CURRENT), (elsewhere, FORGOTTEN)):
        place = (SPACE, f"new-{metadata.lifecycle.state}")
        assert here.metadata([new, place]) == {}
        store(ledger, place[1], metadata=metadata)
        assert here.metadata([new, place]) == {place: metadata}


def test_a_memory_that_was_deleted_or_erased_has_none_any_more(here: SqliteLedger, elsewhere: SqliteLedger) -> None:
    here.metadata(PLACES)
    elsewhere.record_delete(SPACE, "k0", thread=None, task=None)
    elsewhere.erase(SPACE, "k1", by="Ines", why="asked for it")
    here.record_delete(SPACE, "k2", thread=None, task=None)
    here.erase(SPACE, "k3", by="Ines", why="asked for it")
    assert set(here.metadata(PLACES)) == {(SPACE, "k4"), (SPACE, "k5")}


def test_a_write_that_is_restored_from_quarantine_brings_its_own(here: SqliteLedger, elsewhere: SqliteLedger) -> None:
    held = an_intent({"content": "Ines drinks coffee."}, key="k0")
    elsewhere.claim(held)
    elsewhere.decide(held.fingerprint, HELD, None, metadata=FORGOTTEN)
    assert here.metadata(PLACES)[SPACE, "k0"] == CURRENT
    elsewhere.restore(held.fingerprint, by="Ada", why="it is right")
    assert here.metadata(PLACES)[SPACE, "k0"] == FORGOTTEN


def test_after_any_changes_by_anybody_it_says_what_a_ledger_says_that_remembers_nothing(
    here: SqliteLedger, elsewhere: SqliteLedger
) -> None:
    chance = random.Random(7)
    for number in range(120):
        ledger, key = chance.choice((here, elsewhere)), chance.choice(KEYS)
        match chance.randrange(6):
            case 0:
                store(ledger, key, f"Ines said {number}.", chance.choice((CURRENT, FORGOTTEN, None)))
            case 1:
                ledger.record_delete(SPACE, key, thread=None, task=None)
            case 2 if ledger.latest(SPACE, key) is not None:
                ledger.annotate(SPACE, key, chance.choice((CURRENT, FORGOTTEN)), by="Ines", why="it changed")
            case 3:
                ledger.record_read("q", {"event": "read"}, namespace=SPACE)
            case 4 if chance.random() < 0.3:
                ledger.erase(SPACE, key, by="Ines", why="asked for it")
            case _:
                ledger.claim(an_intent({"content": f"pending {number}"}, key=key))
        asked = chance.sample(PLACES, chance.randint(1, 6))
        with closing(open_ledger(f"sqlite:///{here.name}")) as fresh:
            expected = fresh.metadata(asked)
        assert here.metadata(asked) == expected, number


def test_what_did_not_change_is_not_read_again(here: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = lookups(here, monkeypatch)
    here.metadata(PLACES)
    here.record_read("q", {"event": "read"}, {"event": "read"}, namespace=SPACE)
    here.metadata(PLACES)
    assert asked == [PLACES]
    here.annotate(SPACE, "k2", FORGOTTEN, by="Ines", why="asked for it")
    here.metadata(PLACES)
    assert asked[1:] == [[(SPACE, "k2")]]


def test_what_is_changed_behind_the_chain_is_read_again(
    here: SqliteLedger, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = lookups(here, monkeypatch)
    here.metadata(PLACES)
    with closing(sqlite3.connect(ledger_file)) as db, db:
        db.execute("UPDATE writes SET thread = 'other' WHERE key = 'k0'")
    here.metadata(PLACES)
    assert asked == [PLACES, PLACES]


def test_a_chain_that_was_cut_and_went_on_otherwise_is_read_anew(
    here: SqliteLedger, elsewhere: SqliteLedger, ledger_file: Path
) -> None:
    here.annotate(SPACE, "k0", FORGOTTEN, by="Ines", why="asked for it")
    assert here.metadata(PLACES)[SPACE, "k0"] == FORGOTTEN
    with closing(sqlite3.connect(ledger_file)) as db, db:  # as a copy from before, put back
        db.execute("DROP TRIGGER entries_are_never_deleted")
        db.execute("DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)")
        db.execute("UPDATE head SET seq = seq - 1, hash = (SELECT hash FROM entries ORDER BY seq DESC LIMIT 1)")
    for key in ("k3", "k4"):
        elsewhere.annotate(SPACE, key, FORGOTTEN, by="Ines", why="asked for it")
    found = here.metadata(PLACES)
    assert [key for _, key in PLACES if found[SPACE, key] == FORGOTTEN] == ["k3", "k4"]


def test_what_a_transaction_sees_that_may_be_taken_back_is_not_remembered(here: SqliteLedger) -> None:
    here.metadata(PLACES)

    class TakenBack(Exception):
        """What ends the transaction."""

    def work(db: sqlite3.Connection) -> None:
        db.execute("DELETE FROM writes WHERE key = 'k0'")
        assert (SPACE, "k0") not in here.metadata(PLACES)
        raise TakenBack

    with pytest.raises(TakenBack):
        here._write(work)  # type: ignore[arg-type]
    assert here.metadata(PLACES)[SPACE, "k0"] == CURRENT


def test_it_keeps_so_many_and_no_more(here: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_known, "MOST", 4)
    asked = lookups(here, monkeypatch)
    for places in (PLACES[:3], PLACES[2:4], PLACES[3:], PLACES):
        assert here.metadata(places) == dict.fromkeys(places, CURRENT)
    assert asked == [PLACES[:3], PLACES[3:4], PLACES[3:], PLACES]


def test_after_very_many_changes_everything_is_read_anew(
    here: SqliteLedger, elsewhere: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_known, "_FOLLOWED", 3)
    here.metadata(PLACES)
    for key in KEYS[:5]:
        elsewhere.annotate(SPACE, key, FORGOTTEN, by="Ines", why="asked for it")
    assert list(here.metadata(PLACES).values()) == [FORGOTTEN] * 5 + [CURRENT]
