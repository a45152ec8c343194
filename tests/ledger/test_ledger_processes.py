"""Sixteen writers in four processes on one ledger."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from ledger_places import Place
from ledger_racing_writer import OWN, SHARED, THREADS
from store_file import memories

PROCESSES = 4
WRITERS = PROCESSES * THREADS


def test_sixteen_writers_on_the_same_and_different_writes_give_one_report_each(place: Place, tmp_path: Path) -> None:
    script = Path(__file__).with_name("ledger_racing_writer.py")
    workers = [
        subprocess.Popen(
            [sys.executable, str(script), str(tmp_path), place.url, str(n)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(PROCESSES)
    ]
    try:
        deadline = time.monotonic() + 120
        while len(list(tmp_path.glob("ready-*"))) < PROCESSES and time.monotonic() < deadline:
            time.sleep(0.01)
        (tmp_path / "go").touch()
        outputs = [worker.communicate(timeout=300) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    assert [(worker.returncode, err) for worker, (_, err) in zip(workers, outputs, strict=True)] == [
        (0, "")
    ] * PROCESSES

    told = [tuple(line.split(" ", 2)) for out, _ in outputs for line in out.splitlines()]
    writes = SHARED + WRITERS * OWN
    assert len(told) == WRITERS * (SHARED + OWN)
    assert len(set(told)) == writes  # everyone was told the same key and decision
    with closing(place.open()) as ledger:
        kinds = [entry.kind for entry in ledger.entries()]
        assert sorted(kinds) == ["report"] * writes + ["stored"] * writes
        assert ledger.incomplete() == []
        assert ledger.verify(ledger.head()).ok
    assert {key for key, _ in memories(tmp_path / "store.db")} == {key for _, key, _ in told}
