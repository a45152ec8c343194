"""Until when a directive holds: the end that a sentence names, as a moment in UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CLOCK = r"(?:(?:at |,\s*)?(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>[ap]\.?m\.?)?)?"
_UNTIL = re.compile(
    rf"\b(?:until|till|through)\s+(?:(?P<day>{'|'.join(_DAYS)}|today|tonight|tomorrow)|(?P<date>\d{{4}}-\d\d-\d\d))"
    rf"\b\s*{_CLOCK}",
    re.I,
)
_MONTH_DAY = re.compile(
    r"\b(?:until|till|through)\s+(?P<date>(?:january|february|march|april|may|june|july|august|september|october"
    r"|november|december) \d{1,2}(?:, \d{4})?)",
    re.I,
)


def until_when(said: str, time: str | None) -> str | None:
    """The end that `said` names, UTC, ISO 8601; None where it names none or nobody knows when it was said.

    A weekday is the next one, today included; a day without an hour lasts until its midnight. `time` without an offset
    counts as UTC.
    """
    if time is None:
        return None
    now = datetime.fromisoformat(time)
    now = now.replace(tzinfo=UTC) if now.tzinfo is None else now.astimezone(UTC)
    match = _UNTIL.search(said)
    if match is None:
        return _month_day(said, now)
    if match["date"]:
        try:
            day = datetime.fromisoformat(match["date"]).replace(tzinfo=UTC)
        except ValueError:
            return None
    else:
        day = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=_ahead(match["day"].lower(), now))
    if match["hour"] is None:
        return (day + timedelta(days=1)).isoformat()
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    half = (match["half"] or "").lower().replace(".", "")
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 24 or minute > 59:
        return None
    return (day + timedelta(hours=hour, minutes=minute)).isoformat()


def without_end(said: str) -> str:
    """`said` without the end that it names."""
    return _MONTH_DAY.sub(" ", _UNTIL.sub(" ", said))


def _ahead(day: str, now: datetime) -> int:
    if day in ("today", "tonight"):
        return 0
    return 1 if day == "tomorrow" else (_DAYS.index(day) - now.weekday()) % 7


def _month_day(said: str, now: datetime) -> str | None:
    match = _MONTH_DAY.search(said)
    if match is None:
        return None
    from dateutil.parser import ParserError, parse

    try:
        day = parse(match["date"], default=now.replace(hour=0, minute=0, second=0, microsecond=0))
    except (ParserError, OverflowError):
        return None
    if day < now - timedelta(days=1) and "," not in match["date"]:
        day = day.replace(year=day.year + 1)
    return (day + timedelta(days=1)).isoformat()
