"""A program that writes shared and own memories through one ledger (run, four at once, by test_ledger_processes)."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ledger_records import a_report, an_intent
from store_file import put

from admission.ledger import SqliteLedger

SHARED, OWN = 10, 5


def main(folder: Path, worker: str) -> None:
    (folder / f"ready-{worker}").touch()
    while not (folder / "go").exists():  # opening the new file at once is part of the race
        time.sleep(0.001)
    ledger = SqliteLedger(str(folder / "ledger.db"))
    shared = [an_intent({"content": f"shared {n}"}, key=f"shared-{n}-{worker}") for n in range(SHARED)]
    own = [an_intent({"content": f"own {n}"}, key=f"own-{n}-{worker}", task=f"task-{worker}") for n in range(OWN)]
    for intent in [*shared, *own]:
        ledger.claim(intent)
        report = a_report(f"{intent.key} by {worker}")
        record = ledger.decide(intent.fingerprint, report, intent.value, quarantined=False)
        put(folder / "store.db", record)
        ledger.complete(intent.fingerprint)
        assert record.report is not None
        sys.stdout.write(f"{intent.fingerprint} {record.intent.key} {record.report.id}\n")
    ledger.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
