"""Whether the working state of one write agrees with the chain: what the store is told must be what was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from admission.errors import LedgerError
from admission.ledger.protocol import Damage, Problem, WriteState
from admission.records import QUARANTINED_ACTIONS, Action, Namespace, Report

HELD_BACK: frozenset[Action] = QUARANTINED_ACTIONS | {"drop"}


@dataclass(frozen=True)
class ChainFacts:
    """What the chain says of one write: its `report`, `restored`, `stored` and `overtaken` entries, and the digests of
    the values they are about."""

    namespace: Namespace
    key: str | None
    action: Action
    value_digest: str | None
    report_seq: int
    restored_seq: int | None = None
    restored_digest: str | None = None
    stored_seq: int | None = None
    stored_digest: str | None = None
    overtaken_seq: int | None = None


@dataclass(frozen=True)
class WriteFacts:
    """What the working state says of one write. `value_digest` is of the value to be stored, else of the one kept.
    `intent_intact`: is the value it came with the one its own digest is of? `has_conversation`: does it keep one?
    `seal_intact`: is all that it came with what the ledger sealed?"""

    namespace: Namespace
    key: str
    state: WriteState
    to_be_stored: bool
    quarantined: bool
    value_digest: str
    intent_intact: bool
    has_conversation: bool
    report_seq: int | None
    seal_intact: bool


def check_decision(report: Report, stored_value: dict[str, Any] | None) -> None:
    """Refuses a decision whose parts contradict each other: what is held back is not stored, and the reverse."""
    held = report.action in HELD_BACK
    if held != (stored_value is None):
        what = "a value is to be stored" if held else "nothing is to be stored"
        raise LedgerError("stored_value", f"{what} where the action is {report.action}", "make the two agree")


def check_named(by: str, why: str, what: str) -> None:
    """Refuses what a person does to the record without saying who and why."""
    if not by.strip() or not why.strip():
        raise LedgerError("by, why", "empty", f"say who {what}, and why")


def headless(name: str) -> LedgerError:
    """The error for a ledger without its record of the chain's head."""
    return LedgerError("ledger", f"{name}: its record of the chain's head is gone", "restore a backup")


def check_key(name: str, begun_with: str | None, key_check: str) -> None:
    """Refuses a ledger that was begun with another key than the one given now (`Hashing.key_check` of each)."""
    if begun_with is None:
        raise headless(name)
    if begun_with != key_check:
        how = "without a key" if not begun_with else "with another key" if key_check else "with a key"
        remedy = "give the key it was begun with, or begin a new ledger"
        raise LedgerError("key", f"{name}: this ledger was begun {how}", remedy)


def disagreement(write: WriteFacts, chain: ChainFacts | None, last: int) -> Problem | None:
    """The first thing in which state and chain differ, and the entry it shows at; None where they agree.

    `last` is the seq the chain ends at. Kinds: `tail_cut`, `moved`, `metadata_changed`, `content_changed`,
    `write_disagrees`.
    """
    if chain is None:
        return _without_report(write, last)
    report, restored, stored = chain.report_seq, chain.restored_seq, chain.stored_seq
    held_back = chain.action in HELD_BACK and restored is None
    quarantined = chain.action in QUARANTINED_ACTIONS and restored is None
    # A person may have it stored otherwise than it came: marked as theirs.
    decided_on = chain.value_digest if restored is None else chain.restored_digest
    ended = stored if stored is not None else chain.overtaken_seq
    said = "stored" if stored else "overtaken" if ended else "not stored"
    checks: tuple[tuple[bool, int, Damage, str], ...] = (
        (write.state == "claimed", report, "write_disagrees", "it is undecided, but an entry reports on it"),
        (write.report_seq != report, report, "write_disagrees", f"it names entry {write.report_seq} as its report"),
        (write.namespace != chain.namespace, report, "moved", f"its namespace is {list(write.namespace)}"),
        (write.key != chain.key, report, "metadata_changed", f"its key is {write.key!r}"),
        (
            write.value_digest != decided_on,
            restored or report,
            "content_changed",
            "its value is not the one decided on",
        ),
        (
            write.to_be_stored and held_back,
            report,
            "write_disagrees",
            f"it is to be stored, but its report says {chain.action} and no entry restored it",
        ),
        (
            not write.to_be_stored and not held_back,
            restored or report,
            "write_disagrees",
            "nothing is to be stored, but the chain says it is",
        ),
        (
            write.quarantined != quarantined,
            restored or report,
            "write_disagrees",
            f"it is {'' if write.quarantined else 'not '}quarantined, and the chain says otherwise",
        ),
        (
            not write.intent_intact,
            report,
            "content_changed",
            "the value it came with, or that value's digest, was changed",
        ),
        (write.has_conversation, report, "write_disagrees", "it is decided, but keeps a conversation"),
        (
            (write.to_be_stored and write.state == "done") != (ended is not None),
            ended or report,
            "write_disagrees",
            f"it is {write.state}, and the chain says {said}",
        ),
        (
            stored is not None and chain.stored_digest != decided_on,
            stored or report,
            "content_changed",
            "what was stored is not what was decided on",
        ),
        (
            not write.seal_intact,
            report,
            "metadata_changed",
            "its place among the writes, options, thread, task or turn is not what it was claimed with",
        ),
    )
    return next((Problem(seq, kind, detail) for wrong, seq, kind, detail in checks if wrong), None)


def _without_report(write: WriteFacts, last: int) -> Problem | None:
    if write.state == "claimed" and write.seal_intact and write.intent_intact:
        return None
    if write.state == "claimed":
        return Problem(None, "forged", "it was not claimed by the ledger as it is now")
    if write.report_seq is not None and write.report_seq > last:
        decided = f"the chain ends at entry {last}, a write was decided by entry {write.report_seq}"
        return Problem(last + 1, "tail_cut", decided)
    return Problem(write.report_seq, "write_disagrees", f"the write is {write.state}, but no entry reports on it")
