"""What review and re-adjudication share: store and thread at hand, and a write that takes a held-back one's place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph.config import get_config
from langgraph.runtime import get_runtime
from langgraph.store.base import BaseStore

from admission.errors import InputError, LedgerError
from admission.history import History
from admission.ledger import Ledger, WriteIntent, WriteRecord
from admission.records import Candidate, Report
from admission.settings import WriteSettings
from graph_nodes.attached import metadata_for
from graph_nodes.store import AdmissionStore
from graph_nodes.values import value_to_store, with_unjudged


@dataclass(frozen=True)
class Replacement:
    """A write that is to take the place of `of`, which is held back, once `candidate` is judged on `history`."""

    of: WriteRecord
    intent: WriteIntent
    candidate: Candidate
    history: History


def replace(
    ledger: Ledger, replacement: Replacement, report: Report, settings: WriteSettings, *, by: str, why: str
) -> WriteRecord:
    """Commit `report` on the replacement and close what it replaces, both at once. What is to be stored is `decided`
    then: the store's recovery carries it out. Raises `LedgerError` where the old write no longer waits."""
    value = value_to_store(replacement.intent.value, report, settings)
    if value is not None:
        report = with_unjudged(replacement.intent.value, report, settings)
    return ledger.supersede(
        replacement.of.intent.fingerprint,
        replacement.intent,
        report,
        value,
        by=by,
        why=why,
        metadata=metadata_for(replacement.intent, report),
    )


def report_of(record: WriteRecord) -> Report:
    """The report on a decided write."""
    if record.report is None:
        raise LedgerError("write", f"{record.intent.fingerprint}: not decided yet", "wait until it is judged")
    return record.report


def is_waiting(ledger: Ledger, record: WriteRecord) -> bool:
    """Is this write in quarantine still, and not yet decided on?"""
    write = ledger.write(record.intent.fingerprint)
    return write is not None and write.quarantined and not ledger.reviews(record.intent.fingerprint)


def key_changed(ledger: Ledger, record: WriteRecord) -> bool:
    """Was this write's key stored or deleted after the report on it? To store it now would undo that."""
    change = ledger.last_change(record.intent.namespace, record.intent.key)
    found = ledger.report(report_of(record).id)
    return change is not None and found is not None and change > found[0].seq


def guard_at_hand(store: BaseStore | None) -> AdmissionStore:
    """`store`, else the one the running graph was compiled with. Raises `InputError` unless it is an `AdmissionStore`:
    only that has a quarantine."""
    found = store if store is not None else get_runtime().store
    if not isinstance(found, AdmissionStore):
        problem = "the graph has none" if found is None else f"is a {type(found).__name__}"
        raise InputError("store", problem, "compile the graph with an AdmissionStore, or give the node one")
    return found


def thread_at_hand() -> str:
    """The id of the running graph's thread. Raises `InputError` where it has none."""
    configurable: dict[str, Any] = get_config().get("configurable", {})
    thread = configurable.get("thread_id")
    if thread is None:
        raise InputError("thread_id", "the graph runs without one", 'give {"configurable": {"thread_id": ...}}')
    return str(thread)
