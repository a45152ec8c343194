"""The durable, tamper-evident record of reports, actions and quarantined writes."""

from __future__ import annotations

from admission.ledger.fingerprint import fingerprint_of
from admission.ledger.opening import open_ledger
from admission.ledger.protocol import (
    Deletion,
    Entry,
    EntryKind,
    Erasure,
    Ledger,
    LedgerHead,
    Verification,
    Version,
    WriteIntent,
    WriteRecord,
    WriteState,
)
from admission.ledger.sqlite import SqliteLedger

__all__ = [
    "Deletion",
    "Entry",
    "EntryKind",
    "Erasure",
    "Ledger",
    "LedgerHead",
    "SqliteLedger",
    "Verification",
    "Version",
    "WriteIntent",
    "WriteRecord",
    "WriteState",
    "fingerprint_of",
    "open_ledger",
]
