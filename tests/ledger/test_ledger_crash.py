"""A write killed by SIGKILL before each of its steps: nothing lost, nothing doubled, nothing stored unreported."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from ledger_places import Place
from ledger_records import HELD, MARKED, TEA, a_report, an_intent
from store_file import memories, put

from admission.ledger import Ledger, WriteIntent, open_ledger

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
]


def kill_at_every_step(folder: Path, url: str, held: str) -> int:
    script = Path(__file__).with_name("ledger_crashing_writer.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder), url, held], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def finish(ledger: Ledger, store: Path) -> None:
    """What a start after a crash does."""
    for record in ledger.incomplete():
        if record.state == "claimed":
            assert ledger.hold(record.intent.fingerprint)
            record = ledger.decide(record.intent.fingerprint, a_report(), MARKED)
        put(store, record)
        ledger.complete(record.intent.fingerprint)


def retry(ledger: Ledger, store: Path, intent: WriteIntent) -> None:
    """What the agent does that runs its task again."""
    ledger.claim(intent)
    finish(ledger, store)


def test_a_write_killed_at_any_step(place: Place, tmp_path: Path) -> None:
    url = place.sibling("_{n}")
    killed = kill_at_every_step(tmp_path, url, "admitted")
    assert killed >= 20
    states = set()
    for n in range(1, killed + 1):
        store = tmp_path / str(n) / "store.db"
        with closing(open_ledger(url.format(n=n))) as ledger:
            reports = [report.id for _, report in ledger.reports()]
            found = ledger.write(an_intent().fingerprint)
            states.add((found.state if found else None, len(memories(store))))
            assert ledger.verify(ledger.head()).ok, n
            assert len(reports) == (found is not None and found.state != "claimed"), n
            if memories(store):
                assert reports == ["report-1"], n
            if n % 2:  # in turns: the start finishes it first, or the retry comes at once
                finish(ledger, store)
            retry(ledger, store, an_intent(key="a new key"))
            key = "k1" if found else "a new key"
            assert memories(store) == [(key, MARKED)], n
            assert [e.kind for e in ledger.entries()] == ["report", "stored"], n
            assert ledger.incomplete() == [], n
            assert ledger.verify(ledger.head()).ok, n
    assert states == {(None, 0), ("claimed", 0), ("decided", 0), ("decided", 1), ("done", 1)}


def test_a_restore_killed_at_any_step(place: Place, tmp_path: Path) -> None:
    url = place.sibling("_{n}")
    killed = kill_at_every_step(tmp_path, url, "held")
    assert killed >= 20
    for n in range(1, killed + 1):
        store = tmp_path / str(n) / "store.db"
        with closing(open_ledger(url.format(n=n))) as ledger:
            intent = an_intent()
            if ledger.claim(intent).state == "claimed":
                ledger.decide(intent.fingerprint, HELD, None)
            assert bool(memories(store)) <= ("restored" in [e.kind for e in ledger.entries()]), n
            if ledger.quarantine():
                assert memories(store) == [], n
                ledger.restore(intent.fingerprint, by="Ada", why="the user confirmed it")
            finish(ledger, store)
            assert memories(store) == [("k1", TEA)], n
            assert [e.kind for e in ledger.entries()] == ["report", "restored", "stored"], n
            assert ledger.verify(ledger.head()).ok, n
