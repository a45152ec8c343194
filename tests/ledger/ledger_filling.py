"""A ledger with a bit of everything in it, for tests that tamper with it."""

from __future__ import annotations

from ledger_records import HELD, SPACE, a_report, an_intent

from admission.ledger import Ledger, LedgerHead


def fill(ledger: Ledger) -> LedgerHead:
    """1 a report, 2-3 a write admitted and stored, 4 a write in quarantine, 5 a delete, 6-7 another stored write."""
    ledger.record_report(a_report("audit"))
    for n, held in ((1, False), (2, True)):
        intent = an_intent({"content": f"memory {n}"}, key=f"k{n}")
        ledger.claim(intent)
        if held:
            ledger.decide(intent.fingerprint, HELD, None)
        else:
            ledger.decide(intent.fingerprint, a_report(f"r{n}"), intent.value)
            ledger.complete(intent.fingerprint)
    ledger.record_delete(SPACE, "k1", thread=None, task=None)
    intent = an_intent({"content": "memory 3"}, key="k3")
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, a_report("r3"), intent.value)
    ledger.complete(intent.fingerprint)
    return ledger.head()
