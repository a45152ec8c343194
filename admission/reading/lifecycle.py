"""The lifecycle axis: does what a memory says still hold, as far as the question minds?"""

from __future__ import annotations

from admission.metadata import RecordMetadata
from admission.reading.axes import AxisReading
from admission.reading.context import Intent
from admission.reading.validity import standing

CURRENT = AxisReading(value=True, reason="current")
FORGET_DIRECTIVE = AxisReading(value=True, reason="forget_directive: what was asked to be forgotten stays known")
FORGOTTEN = AxisReading(value=False, reason="forgotten: no question may use what it says")
STATE_MISSING = AxisReading(value=None, reason="state_missing: nobody said whether it still holds")


def lifecycle(metadata: RecordMetadata, intent: Intent | None, time: str | None) -> AxisReading:
    """State against intent, as the method's table has it (seeds/001, equation 24), at `time` (ISO 8601).

    A current memory is fit for any question; else what is unknown of state or intent leaves it open; else a memory
    that no longer holds is fit for questions about the past alone. A current memory whose validity is over, or is yet
    to begin, counts as stale. A forgotten one is fit for nothing, unless it is itself the request to forget.
    """
    state = metadata.lifecycle.state
    if state == "forgotten":
        return FORGET_DIRECTIVE if metadata.forget is True else FORGOTTEN
    if state is None:
        return STATE_MISSING
    if state == "current":
        return _in_its_time(metadata, intent, time)
    detail = "no longer holds"
    if state == "superseded" and metadata.lifecycle.superseded_by is not None:
        detail = f"{metadata.lifecycle.superseded_by} took its place"
    return _past(state, detail, intent)


def _in_its_time(metadata: RecordMetadata, intent: Intent | None, time: str | None) -> AxisReading:
    of = metadata.lifecycle
    now = standing(of.valid_from, of.valid_to, time)
    if now == "holds":
        return CURRENT
    if now == "over":
        return _past("expired", f"valid until {of.valid_to}", intent)
    if now == "not_yet":
        return _past("not_yet_valid", f"valid from {of.valid_from}", intent)
    if intent == "history":
        return AxisReading(value=True, reason="history_asked: fit whether or not it still holds")
    missing = "time_missing: it holds for a time, and when the question is asked is not known"
    unread = "time_unreadable: when it holds, or when the question is asked, cannot be read"
    return AxisReading(value=None, reason=missing if time is None else unread)


def _past(state: str, detail: str, intent: Intent | None) -> AxisReading:
    if intent is None:
        return AxisReading(value=None, reason=f"intent_missing: {state}, {detail}; is the question about the past?")
    if intent == "history":
        return AxisReading(value=True, reason=f"history_asked: {state}, {detail}")
    return AxisReading(value=False, reason=f"{state}: {detail}")
