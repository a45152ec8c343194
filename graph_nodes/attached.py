"""The metadata that the write gate attaches to a memory: where it was written from, what is declared of it, since when.

What of it only the moment of the put can tell travels with the write (`WriteIntent.options`), so that a verdict that
comes later, in another thread or after a crash, does not lose it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import ValidationError

from admission.ledger import WriteIntent
from admission.metadata import Lifecycle, RecordMetadata
from admission.reading.stored_requests import stored_requests
from admission.reading_settings import ReadingSettings
from admission.records import Namespace, Report
from graph_nodes.principals import provenance_at_hand

OPTION = "metadata"


def options_at_hand(settings: ReadingSettings | None, namespace: Namespace, thread: str | None) -> dict[str, object]:
    """What the write made now is to carry: the declared metadata of its namespace, its provenance as the run has it,
    and the time. Nothing where the read gate is off. Nothing of it is taken from the value."""
    if settings is None:
        return {}
    known = settings.declared(namespace).model_copy(
        update={"provenance": provenance_at_hand(settings, thread), "created_at": datetime.now(UTC).isoformat()}
    )
    return {OPTION: known.model_dump(mode="json")}


def metadata_for(intent: WriteIntent, report: Report) -> RecordMetadata | None:
    """The metadata of a decided write: what it carries, that it is current since its newest evidence was said, and
    whether it is nothing but a request to forget.

    None for a write that carries none (the read gate was off), or none that can be read: unresolved, not made up.
    """
    carried = intent.options.get(OPTION)
    if carried is None:
        return None
    try:
        known = RecordMetadata.model_validate(carried)
    except ValidationError:
        return None
    since = newest_evidence(report) or known.created_at
    attached: dict[str, object] = {"lifecycle": Lifecycle(state="current", valid_from=since)}
    if stored_requests(report.memory):
        attached["forget"] = True
    return known.model_copy(update=attached)


def newest_evidence(report: Report) -> str | None:
    """When the newest of the evidence was said, UTC; None where none of it has a time that is sure to be past. A time
    without an offset may be off by hours, and a memory is not to hold only from a later time on."""
    evidence = {turn for finding in report.obligations for turn in finding.evidence}
    times = [_utc(passage.time) for passage in report.passages if passage.turn_id in evidence]
    now = datetime.now(UTC)
    past = [time for time in times if time is not None and time <= now]
    return max(past).isoformat() if past else None


def _utc(time: str | None) -> datetime | None:
    """The moment, where there is a text that names one without a doubt."""
    if time is None:
        return None
    found = datetime.fromisoformat(time)
    return None if found.tzinfo is None else found.astimezone(UTC)
