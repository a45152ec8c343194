"""Dates and clock times: absolute ones, and relative ones resolved against the time of the turn that says them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

from dateutil.parser import ParserError, parse
from dateutil.relativedelta import MO, relativedelta

from admission.verifiers.checks.reading import ELSEWHERE, Check, Evidence, Sentence

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = (
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|(?-i:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\b(?!\s+(?:on|down|in|at)\b))"
)
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_COUNT = r"(a|an|one|two|three|four|five|six|seven|eight|nine|ten|a couple of|a few|\d{1,3})"
_SPAN = r"(day|week|fortnight|month|year)s?"
_NUMBERS = {"a": 1, "an": 1, "one": 1, "a couple of": 2, "two": 2, "a few": 3, "three": 3, "four": 4, "five": 5,
            "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}  # fmt: skip

_ABSOLUTE = [
    re.compile(r"\b\d{4}-\d{2}-\d{2}\b"),
    re.compile(rf"\b{_NTH}(?:\s+of)?\s+{_MONTH}\b\.?(?:,?\s+\d{{4}})?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\b\.?\s+(?:the\s+)?{_NTH}\b(?!:)(?:,?\s+\d{{4}})?", re.IGNORECASE),
]
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\b\.?\s+([12]\d{{3}})\b", re.IGNORECASE)
_MONTH_ONLY = re.compile(rf"\b(?:(last|next|this|in|since|until|till|by|from|of|every)\s+)({_MONTH})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:in|since|from|until|of|during|by|year)\s+((?:19|20)\d{2})\b(?!-)")
_NEAR_DAY = re.compile(
    r"\b(the day before yesterday|the day after tomorrow|yesterday|last night|today|tonight"
    r"|this (?:morning|afternoon|evening)|tomorrow|just now|right now)\b",
    re.IGNORECASE,
)
_NEAR_SPAN = re.compile(
    r"\b(last|next|this|coming|past)\s+(week|weekend|month|year|spring|summer|autumn|fall|winter)\b", re.IGNORECASE
)
_WEEKDAY = re.compile(rf"\b(?:(last|next|this|coming|every|each|on|by|until|till)\s+)?({_DAY})\b(?!s)", re.IGNORECASE)
_AGO = re.compile(rf"\b{_COUNT}\s+{_SPAN}\s+(ago|earlier|later|before|from now|from today)\b", re.IGNORECASE)
_IN = re.compile(rf"\b(?:in|within)\s+{_COUNT}\s+{_SPAN}\b(?!\s+(?:time\b)?ago)", re.IGNORECASE)
_NTH_ONLY = re.compile(
    r"\bthe\s+(\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:of|time|floor|century|grade|birthday))", re.IGNORECASE
)
_CLOCK = re.compile(
    r"\b(?:(\d{1,2})[:.](\d{2})\s*(am|pm|a\.m\.|p\.m\.)?(?!\d)|(\d{1,2})\s*(am|pm|a\.m\.|p\.m\.)(?!\w)"
    r"|(?:at\s+)(\d{1,2})(?=\s*(?:[,;!?]|\.(?!\d)|$|on\b|in\b|and\b|sharp\b))|(\w+)\s+o'clock|(noon|midday|midnight)\b)",
    re.IGNORECASE,
)
_OFFSETS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


@dataclass(frozen=True, slots=True)
class When:
    """A date expression: its words, character span, and the days it may mean as (first, last) alternatives.

    `hours` are minutes after midnight a clock time may mean (12 hours apart where am or pm is not said).
    """

    text: str
    start: int
    end: int
    spans: tuple[tuple[date, date], ...] = ()
    hours: tuple[int, ...] = ()


@lru_cache(maxsize=16384)
def dates(text: str, told: datetime | None) -> tuple[When, ...]:
    """The dates and clock times of `text`, relative ones resolved against `told`; unresolvable ones have no spans.

    A `told` outside 1900 to 2200 is no time a conversation was held at: it resolves nothing.
    """
    told = told if told is not None and 1900 <= told.year <= 2200 else None
    found: list[When] = []
    for when in _all(text, told):
        if not any(when.start < other.end and other.start < when.end for other in found):
            found.append(when)
    return tuple(sorted(found, key=lambda w: w.start))


def check_dates(when: Sequence[When], evidence: Evidence) -> Check | None:
    """The obligation's dates (`when`) against those of the passages.

    `ok` when some sentence means the same days, or the best aligned turn was itself sent on them; `conflict` when the
    best aligned sentences name another single day where the obligation names one; `missing` otherwise. Where the day is
    spoken of in other turns only, an `ok` is weak, and another day in the best aligned turn is half a `conflict`.
    """
    ours = [w for w in when if w.spans]
    if not ours:
        return None
    said = [(s, w) for s in evidence.ordered for w in dates(s.body.text, s.when) if w.spans]
    near = [s for top in evidence.top() for s in (top, *evidence.around(top, 1))]
    strength = 1.0
    for mine in ours:
        if any(_meet(mine, theirs) for s, theirs in said if s.turn_id == evidence.anchor.turn_id):
            continue
        if any(_meet(mine, theirs) for _, theirs in said) or any(_sent_on(mine, s) for s in evidence.top()):
            aside = next(((s, w) for s, w in said if _is_other(mine, w, s, evidence)), None)
            if aside is not None:
                return _other_day(mine, *aside, strength=ELSEWHERE)
            if not _sent_on(mine, evidence.anchor):
                strength = ELSEWHERE
            continue
        close = [(s, w) for n in near for s, w in said if s.index == n.index]
        other = next(((s, w) for s, w in close if _is_day(mine) and _is_day(w) and not _may_hold(mine, w)), None)
        if other is None:
            return Check("dates", "missing", (mine.text,))
        return _other_day(mine, *other)
    return Check("dates", "ok", tuple(w.text for w in ours), strength=strength)


def _is_other(mine: When, theirs: When, sentence: Sentence, evidence: Evidence) -> bool:
    """Another single day than the obligation's, in the best aligned turn."""
    here = sentence.turn_id == evidence.anchor.turn_id
    return here and _is_day(mine) and _is_day(theirs) and not _may_hold(mine, theirs)


def _other_day(mine: When, sentence: Sentence, theirs: When, strength: float = 1.0) -> Check:
    day = theirs.spans[0][0]
    meaning = theirs.text if str(day.year) in theirs.text else f"{theirs.text} ({day:%-d %B %Y})"
    return Check("dates", "conflict", (mine.text,), meaning, sentence.turn_id, strength)


def check_clock(when: Sequence[When], evidence: Evidence) -> Check | None:
    """The obligation's clock times against those said: the same, another one in the best aligned sentences, or none."""
    ours = [w for w in when if w.hours]
    if not ours:
        return None
    said = [(s, w) for s in evidence.ordered for w in dates(s.body.text, s.when) if w.hours]
    near = {s.index for top in evidence.top() for s in evidence.around(top, 1)}
    for mine in ours:
        if any(set(mine.hours) & set(theirs.hours) for _, theirs in said):
            continue
        other = next(((s, w) for s, w in said if s.index in near), None)
        if other is None:
            return Check("clock", "missing", (mine.text,))
        return Check("clock", "conflict", (mine.text,), other[1].text, other[0].turn_id)
    return Check("clock", "ok", tuple(w.text for w in ours))


def spans(when: Sequence[When]) -> list[tuple[int, int]]:
    """The characters that dates and clock times occupy, so that their digits are not read as quantities."""
    return [(w.start, w.end) for w in when]


def _meet(mine: When, theirs: When) -> bool:
    """Some reading of one lies within some reading of the other."""
    return any(
        (a <= c and d <= b) or (c <= a and b <= d and (d - c) <= timedelta(days=7))
        for a, b in mine.spans
        for c, d in theirs.spans
    )


def _is_day(when: When) -> bool:
    return all(last - first <= timedelta(days=1) for first, last in when.spans)


def _may_hold(mine: When, theirs: When) -> bool:
    """Some reading of the obligation's day lies within some longer reading of theirs: neither the same nor another."""
    return any(c <= a and b <= d for a, b in mine.spans for c, d in theirs.spans)


def _sent_on(mine: When, sentence: Sentence) -> bool:
    """A turn tells of the day it was sent on unless it names another."""
    if sentence.when is None or any(w.spans for w in dates(sentence.body.text, sentence.when)):
        return False
    day = sentence.when.date()
    return any(a <= day <= b for a, b in mine.spans)


def _all(text: str, told: datetime | None) -> Iterator[When]:
    """Every reading, the more specific pattern first, so that the first of two overlapping ones is kept."""
    yield from _absolute(text, told)
    for match in _MONTH_YEAR.finditer(text):
        first = date(int(match[2]), _month(match[1]), 1)
        yield _made(match, (first, _month_end(first)))
    yield from _clocks(text)
    yield from _relative(text, told)
    for match in _YEAR.finditer(text):
        yield _made(match, (date(int(match[1]), 1, 1), date(int(match[1]), 12, 31)))


def _absolute(text: str, told: datetime | None) -> Iterator[When]:
    for pattern in _ABSOLUTE:
        for match in pattern.finditer(text):
            has_year = re.search(r"\d{4}", match[0]) is not None
            base = datetime(told.year if told else 2000, 1, 1)
            try:
                day = parse(re.sub(r"\b(of|the)\b", " ", match[0]), default=base, dayfirst=False).date()
            except (ParserError, OverflowError):
                continue
            if has_year:
                yield _made(match, (day, day))
            else:
                years = (told.year - 1, told.year, told.year + 1) if told else tuple(range(1990, 2060))
                yield _made(match, *((d, d) for d in (_in_year(day, y) for y in years) if d))


def _relative(text: str, told: datetime | None) -> Iterator[When]:
    if told is None:
        for pattern in (_AGO, _IN, _NEAR_DAY, _NEAR_SPAN, _WEEKDAY):
            yield from (_made(match) for match in pattern.finditer(text))
        return
    today = told.date()
    for match in _AGO.finditer(text):
        yield _made(match, *_counted(today, match[1], match[2], match[3].lower()))
    for match in _IN.finditer(text):
        yield _made(match, *_counted(today, match[1], match[2], "later"))
    for match in _NEAR_DAY.finditer(text):
        day = today + timedelta(days=_OFFSETS.get(match[1].lower(), 0))
        yield _made(match, (day, day))
    for match in _NEAR_SPAN.finditer(text):
        yield _made(match, *_near_span(today, match[1].lower(), match[2].lower()))
    for match in _MONTH_ONLY.finditer(text):
        yield _made(match, *(() if match[1].lower() == "every" else _month_near(today, match[2])))
    for match in _WEEKDAY.finditer(text):
        yield _made(match, *_weekday(today, (match[1] or "").lower(), match[2]))
    for match in _NTH_ONLY.finditer(text):
        yield _made(match, *_nth(today, int(match[1])))


def _clocks(text: str) -> Iterator[When]:
    for match in _CLOCK.finditer(text):
        hour, minute, half, bare, bare_half, plain, spoken, named = match.groups()
        if named:
            hours: tuple[int, ...] = (0 if named.lower() == "midnight" else 720,)
        else:
            raw = hour or bare or plain or spoken
            value = int(raw) if raw.isdigit() else _NUMBERS.get(raw.lower(), 99)
            if value > 23 or int(minute or 0) > 59:
                continue
            side = (half or bare_half or "").lower()[:1]
            hours = _readings(value * 60 + int(minute or 0), side)
        yield When(match[0], match.start(), match.end(), (), hours)


def _readings(minutes: int, side: str) -> tuple[int, ...]:
    if side == "p":
        return (minutes % 720 + 720,)
    if side == "a":
        return (minutes % 720,)
    return (minutes,) if minutes >= 780 else (minutes % 720, minutes % 720 + 720)


def _made(match: re.Match[str], *meant: tuple[date, date]) -> When:
    return When(match[0], match.start(), match.end(), tuple(meant))


def _month(name: str) -> int:
    return _MONTHS.index(name.lower()[:3]) + 1


def _month_end(first: date) -> date:
    return first + relativedelta(months=1, days=-1)


def _in_year(day: date, year: int) -> date | None:
    try:
        return day.replace(year=year)
    except ValueError:
        return None


def _counted(today: date, count: str, span: str, direction: str) -> tuple[tuple[date, date], ...]:
    """ "Three weeks ago": that day, give or take what such phrases leave open."""
    number = _NUMBERS.get(count.lower()) or (int(count) if count.isdigit() else 0)
    sign = -1 if direction in ("ago", "earlier", "before") else 1
    unit = {"day": "days", "week": "weeks", "fortnight": "weeks", "month": "months", "year": "years"}[span.lower()]
    step = number * (2 if span.lower() == "fortnight" else 1)
    try:
        day = today + relativedelta(**{unit: sign * step})  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return ()
    slack = {"days": 0, "weeks": 3, "months": 15, "years": 183}[unit]
    return ((day - timedelta(days=slack), day + timedelta(days=slack)),)


def _near_span(today: date, which: str, span: str) -> tuple[tuple[date, date], ...]:
    step = {"last": -1, "past": -1, "next": 1, "coming": 1, "this": 0}[which]
    monday = today + relativedelta(weekday=MO(-1))
    if span == "week":
        first = monday + timedelta(weeks=step)
        return ((first, first + timedelta(days=6)),)
    if span == "weekend":
        saturdays = {monday + timedelta(days=5, weeks=step)} | ({monday + timedelta(days=5)} if step > 0 else set())
        return tuple((s - timedelta(days=1), s + timedelta(days=1)) for s in sorted(saturdays))
    if span == "month":
        first = today.replace(day=1) + relativedelta(months=step)
        return ((first, _month_end(first)),)
    if span == "year":
        return ((date(today.year + step, 1, 1), date(today.year + step, 12, 31)),)
    firsts = [date(year, _SEASONS[span], 1) for year in dict.fromkeys((today.year + step, today.year))]
    return tuple((first, first + relativedelta(months=3, days=-1)) for first in firsts)


def _month_near(today: date, name: str) -> tuple[tuple[date, date], ...]:
    firsts = [date(year, _month(name), 1) for year in (today.year - 1, today.year, today.year + 1)]
    return tuple((first, _month_end(first)) for first in firsts)


def _weekday(today: date, which: str, name: str) -> tuple[tuple[date, date], ...]:
    """The days a weekday may mean: the last and the next one; for last and next also the one in that week."""
    if which in ("every", "each"):
        return ()
    target = _DAYS.index(name.lower()[:3])
    back = today - timedelta(days=(today.weekday() - target) % 7 or 7)
    ahead = today + timedelta(days=(target - today.weekday()) % 7 or 7)
    monday = today - timedelta(days=today.weekday())
    if which == "last":
        days = {back, monday - timedelta(days=7 - target)}
    elif which in ("next", "coming", "by", "until", "till"):
        days = {ahead, monday + timedelta(days=7 + target)} if which == "next" else {ahead}
    else:
        days = {back, ahead} | ({today} if today.weekday() == target else set())
    return tuple((day, day) for day in sorted(days))


def _nth(today: date, number: int) -> tuple[tuple[date, date], ...]:
    days = []
    for shift in (-1, 0, 1):
        first = today.replace(day=1) + relativedelta(months=shift)
        if 1 <= number <= _month_end(first).day:
            days.append(first.replace(day=number))
    return tuple((day, day) for day in days)
