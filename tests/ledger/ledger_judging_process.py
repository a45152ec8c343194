"""A program that wants to judge the same writes as others do (run, several at once, by test_ledger_holds).

Argument: the ledger's URL. For each fingerprint it prints "judged", when it was the one to verify, or "told". With a
second argument it stops, holding the first write, until it is killed.
"""

from __future__ import annotations

import sys
import time
from contextlib import closing

from ledger_records import a_report, an_intent

from admission.ledger import Ledger, WriteIntent, open_ledger

WRITES = 6


def intents() -> list[WriteIntent]:
    return [an_intent({"content": f"contended {n}"}, key=f"k{n}") for n in range(WRITES)]


def settle(ledger: Ledger, intent: WriteIntent) -> str:
    """Judge the write, or wait until whoever does has decided."""
    record = ledger.claim(intent)
    while record.state == "claimed":
        if ledger.hold(intent.fingerprint):
            time.sleep(0.02)  # the verifiers at work
            ledger.decide(intent.fingerprint, a_report(), intent.value)
            return "judged"
        time.sleep(0.005)
        record = ledger.claim(intent)
    return "told"


def main(url: str, stop: bool) -> None:
    with closing(open_ledger(url)) as ledger:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        if stop:
            first = intents()[0]
            ledger.claim(first)
            sys.stdout.write(f"{ledger.hold(first.fingerprint)}\n")
            sys.stdout.flush()
            sys.stdin.readline()
        for intent in intents():
            sys.stdout.write(f"{settle(ledger, intent)}\n")


if __name__ == "__main__":
    main(sys.argv[1], len(sys.argv) > 2)
