"""Who judges a claimed write: one holder over threads, ledger objects and processes, and another when that one dies."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from ledger_judging_process import WRITES, intents
from ledger_places import Place, SqlitePlace
from ledger_records import HELD, TEA, a_report, an_intent

from admission.errors import LedgerError
from admission.ledger import Ledger, open_ledger

pytest.importorskip("fcntl")
PROCESSES = 4
PATIENCE_S = 120.0


def test_a_claimed_write_is_held_by_one(ledger: Ledger) -> None:
    intent = an_intent()
    ledger.claim(intent)
    assert ledger.hold(intent.fingerprint)
    assert not ledger.hold(intent.fingerprint)
    ledger.release(intent.fingerprint)
    ledger.release(intent.fingerprint)
    assert ledger.hold(intent.fingerprint)


def test_what_is_unknown_or_decided_is_not_held(ledger: Ledger) -> None:
    intent = an_intent()
    assert not ledger.hold(intent.fingerprint)
    ledger.claim(intent)
    assert ledger.hold(intent.fingerprint)
    ledger.decide(intent.fingerprint, HELD, None)
    assert not ledger.hold(intent.fingerprint)


def test_a_hold_keeps_nobody_from_deciding(ledger: Ledger) -> None:
    intent = an_intent()
    ledger.claim(intent)
    assert ledger.hold(intent.fingerprint)
    thread = threading.Thread(target=ledger.decide, args=(intent.fingerprint, a_report(), TEA))
    thread.start()
    thread.join()
    record = ledger.write(intent.fingerprint)
    assert record is not None
    assert record.state == "decided"


def test_another_ledger_object_on_the_same_place_sees_a_hold_until_it_ends(shared: Place) -> None:
    one, other = an_intent(), an_intent({"content": "another"}, key="k2")
    with closing(shared.open()) as first, closing(shared.open()) as second:
        first.claim(one)
        first.claim(other)
        assert first.hold(one.fingerprint)
        assert not second.hold(one.fingerprint)
        assert second.hold(other.fingerprint)
        first.release(one.fingerprint)
        assert second.hold(one.fingerprint)
        second.close()
        assert first.hold(other.fingerprint)


def test_ledgers_beside_each_other_do_not_share_holds(place: Place) -> None:
    intent = an_intent()
    with closing(place.open()) as here, closing(open_ledger(place.sibling("_other"))) as there:
        for ledger in (here, there):
            ledger.claim(intent)
            assert ledger.hold(intent.fingerprint)


def test_a_file_for_holds_that_cannot_be_made_is_an_error_with_what_to_do(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    intent = an_intent()
    with closing(place.open()) as ledger:
        ledger.claim(intent)
        Path(f"{place.file}-holds").mkdir()
        with pytest.raises(LedgerError, match=r"cannot be locked.*folder writable"):
            ledger.hold(intent.fingerprint)


@contextmanager
def judging(place: Place, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    script = Path(__file__).with_name("ledger_judging_process.py")
    process = subprocess.Popen(
        [sys.executable, str(script), place.url, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_of_four_processes_on_the_same_writes_one_verifies_each(shared: Place) -> None:
    with judging(shared) as a, judging(shared) as b, judging(shared) as c, judging(shared) as d:
        processes = [a, b, c, d]
        assert [line(process) for process in processes] == ["ready"] * PROCESSES
        for process in processes:
            go_on(process)
        outputs = [process.communicate(timeout=PATIENCE_S) for process in processes]
    assert [(process.returncode, err) for process, (_, err) in zip(processes, outputs, strict=True)] == [
        (0, "")
    ] * PROCESSES
    answers = Counter(word for out, _ in outputs for word in out.split())
    assert answers == {"judged": WRITES, "told": WRITES * (PROCESSES - 1)}
    with closing(shared.open()) as ledger:
        assert [entry.kind for entry in ledger.entries()] == ["report"] * WRITES
        assert ledger.verify(ledger.head()).ok


def test_the_writes_of_a_process_that_is_killed_are_taken_over(shared: Place) -> None:
    first = intents()[0]
    with judging(shared, "stop") as process, closing(shared.open()) as ledger:
        assert line(process) == "ready"
        go_on(process)
        assert line(process) == "True"
        assert ledger.claim(first).state == "claimed"
        assert not ledger.hold(first.fingerprint)
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + PATIENCE_S
        while not ledger.hold(first.fingerprint):  # a server learns of the death a moment later
            assert time.monotonic() < deadline
            time.sleep(0.01)
        decided = ledger.decide(first.fingerprint, a_report(), first.value)
        assert decided.state == "decided"
        assert [entry.kind for entry in ledger.entries()] == ["report"]
