"""Times as moments, and whether something holds at one."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal

Standing = Literal["holds", "not_yet", "over"]


@lru_cache(maxsize=4096)
def moment(text: str, *, ends: bool = False) -> datetime | None:
    """The moment an ISO 8601 text means, in UTC where it has no offset; None if it cannot be read.

    A date alone is the beginning of its day or, where something `ends` with it, the beginning of the next; the last day
    there is, 9999-12-31, which many take for "without end", ends with its last moment.
    """
    try:
        when = datetime.fromisoformat(text)
        if ends and _is_date(text):
            when = when + timedelta(days=1) if when.date() < date.max else datetime.max
    except ValueError:
        return None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def standing(valid_from: str | None, valid_to: str | None, time: str | None) -> Standing | None:
    """Whether what holds from `valid_from` until `valid_to` holds at `time`. A bound that is None is no bound.

    None where that cannot be told: there is a bound but no time, or one of them cannot be read.
    """
    if valid_from is None and valid_to is None:
        return "holds"
    begin = None if valid_from is None else moment(valid_from)
    end = None if valid_to is None else moment(valid_to, ends=True)
    now = None if time is None else moment(time)
    if now is None:
        return None
    if begin is not None and now < begin:
        return "not_yet"
    if end is not None and now >= end:
        return "over"
    unread = (begin is None and valid_from is not None) or (end is None and valid_to is not None)
    return None if unread else "holds"
