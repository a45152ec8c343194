"""A program whose threads write shared and own memories through one ledger (run, four at once, by a test)."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from ledger_records import a_report, an_intent
from store_file import put

from admission.ledger import Ledger, open_ledger

THREADS, SHARED, OWN = 4, 5, 3


def write_all(ledger: Ledger, folder: Path, writer: str) -> list[str]:
    shared = [an_intent({"content": f"shared {n}"}, key=f"shared-{n}-{writer}") for n in range(SHARED)]
    own = [an_intent({"content": f"own {n}"}, key=f"own-{n}-{writer}", task=f"task-{writer}") for n in range(OWN)]
    told = []
    for intent in [*shared, *own]:
        ledger.claim(intent)
        report = a_report(f"{intent.key} by {writer}")
        record = ledger.decide(intent.fingerprint, report, intent.value)
        put(folder / "store.db", record)
        ledger.complete(intent.fingerprint)
        assert record.report is not None
        told.append(f"{intent.fingerprint} {record.intent.key} {record.report.id}\n")
    return told


def main(folder: Path, url: str, worker: str) -> None:
    (folder / f"ready-{worker}").touch()
    while not (folder / "go").exists():  # opening the new ledger at once is part of the race
        time.sleep(0.001)
    with closing(open_ledger(url)) as ledger, ThreadPoolExecutor(THREADS) as pool:
        writers = [pool.submit(write_all, ledger, folder, f"{worker}-{n}") for n in range(THREADS)]
        for writer in writers:
            sys.stdout.writelines(writer.result())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
