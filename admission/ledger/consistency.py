"""Whether the working state of one write agrees with the chain: what the store is told must be what was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from admission.errors import LedgerError
from admission.ledger.protocol import WriteState
from admission.records import Action, Namespace, Report

HELD_BACK: frozenset[Action] = frozenset({"quarantine", "review", "drop"})


@dataclass(frozen=True)
class ChainFacts:
    """What the chain says of one write: its `report`, `restored` and `stored` entries, and its value's digest."""

    namespace: Namespace
    key: str | None
    action: Action
    value_digest: str | None
    report_seq: int
    restored_seq: int | None = None
    stored_seq: int | None = None
    stored_digest: str | None = None


@dataclass(frozen=True)
class WriteFacts:
    """What the working state says of one write. `value_digest` is of the value to be stored, else of the one kept."""

    namespace: Namespace
    key: str
    state: WriteState
    to_be_stored: bool
    quarantined: bool
    value_digest: str
    report_seq: int | None


def check_decision(report: Report, stored_value: dict[str, Any] | None, quarantined: bool) -> None:
    """Refuses a decision whose parts contradict each other: what is held back is not stored, and the reverse."""
    held = report.action in HELD_BACK
    if held != (stored_value is None):
        what = "a value is to be stored" if held else "nothing is to be stored"
        raise LedgerError("stored_value", f"{what} where the action is {report.action}", "make the two agree")
    if quarantined != (report.action == "quarantine") and report.action != "review":
        what = "quarantined" if quarantined else "not quarantined"
        raise LedgerError("quarantined", f"{what} where the action is {report.action}", "make the two agree")


def disagreement(write: WriteFacts, chain: ChainFacts | None, last: int) -> tuple[int | None, str] | None:
    """The seq and `code: detail` of the first thing in which state and chain differ; None where they agree.

    `last` is the seq the chain ends at. Codes: `tail_cut`, `write_disagrees`.
    """
    if chain is None:
        if write.state == "claimed":
            return None
        if write.report_seq is not None and write.report_seq > last:
            return (
                last + 1,
                f"tail_cut: the chain ends at entry {last}, a write was decided by entry {write.report_seq}",
            )
        return write.report_seq, f"write_disagrees: the write is {write.state}, but no entry reports on it"
    checks: tuple[tuple[bool, int, str], ...] = (
        (write.state == "claimed", chain.report_seq, "it is undecided, but an entry reports on it"),
        (write.report_seq != chain.report_seq, chain.report_seq, f"it names entry {write.report_seq} as its report"),
        (write.namespace != chain.namespace, chain.report_seq, f"its namespace is {list(write.namespace)}"),
        (write.key != chain.key, chain.report_seq, f"its key is {write.key!r}"),
        (write.value_digest != chain.value_digest, chain.report_seq, "its value is not the one decided on"),
        (
            write.to_be_stored and chain.action in HELD_BACK and chain.restored_seq is None,
            chain.report_seq,
            f"it is to be stored, but its report says {chain.action} and no entry restored it",
        ),
        (
            not write.to_be_stored and (chain.action not in HELD_BACK or chain.restored_seq is not None),
            chain.restored_seq or chain.report_seq,
            "nothing is to be stored, but the chain says it is",
        ),
        (
            write.quarantined and write.to_be_stored,
            chain.report_seq,
            "it is quarantined and to be stored at once",
        ),
        (
            chain.action == "quarantine" and chain.restored_seq is None and not write.quarantined,
            chain.report_seq,
            "its report says quarantine, but it is not quarantined",
        ),
        (
            (write.to_be_stored and write.state == "done") != (chain.stored_seq is not None),
            chain.stored_seq or chain.report_seq,
            f"it is {write.state}, and the chain says " + ("stored" if chain.stored_seq else "not stored"),
        ),
        (
            chain.stored_seq is not None and chain.stored_digest != chain.value_digest,
            chain.stored_seq or chain.report_seq,
            "what was stored is not what was decided on",
        ),
    )
    for wrong, seq, detail in checks:
        if wrong:
            return seq, f"write_disagrees: {detail}"
    return None
