"""What a directive names: identifiers, quotations and names; and stems of the words it describes a thing by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from admission.text import FUNCTION_WORDS, stem, word_set, words

_QUOTED = re.compile(r"\"([^\"]{2,120})\"|(?<![\w])'([^']{2,120})'(?!\w)")
_TIME_LIKE = re.compile(
    r"^(?:\d{1,2}:\d\d|\d{1,2}/\d{1,2}(?:/\d{2,4})?|\d{4}-\d\d-\d\d|\d+(?:[.,]\d+)*|\d+(?:st|nd|rd|th|am|pm))$", re.I
)
_NUMBERED = re.compile(r"\b(extension|ext|room|unit|suite|apartment|locker|box|pin|code)\.? (\d[\w-]*)", re.I)
_CALLED = re.compile(
    r"\b(?:alias|nickname|codename|code name|name|phrase|wording|called|named)\s+(?:(?:that )?says?(?: to)?\s+)?"
    r"([A-Z][\w'-]*(?:\s+(?:[A-Z][\w'-]*|front|back|main|desk|office|line)\b)*)"
)
_ASK_FOR = re.compile(r"\bask(?:ing)? for ([A-Z][\w']*(?:\s+[A-Z][\w']*)*)")
_SAYS = re.compile(r"\bsays?(?: to)?\s+([a-z][^,;.]{8,80})")
_NAME = re.compile(r"(?<![\w-])([A-Z][a-z]+[A-Z]?\w*(?:-only)?)((?:\s+[A-Z][\w']*)*)")
_AS_ALIAS = re.compile(r"\b(?:the|that)\s+([A-Z][a-z]+)\s+(?:alias|callback|contact|name)\b")
_ITEMS = re.compile(r",\s+(?:and\s+)?|\s+and\s+|\s+from\s+")
_LONE_NAME = re.compile(r"[A-Z][a-z]+")
_SPELLED = re.compile(r"\b\w+(?:-[a-z]+){3,}\b")

CALENDAR = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december"
)
_STORES = word_set("memory memories assistant shared active future retrieval going forward well entirely fully please")


def named_values(text: str, common: Iterable[str] = ()) -> tuple[str, ...]:
    """What `text` names literally, in order and once each.

    Identifiers (a word with a digit that is no time, date or bare number: phone numbers, tokens, labels), a number with
    what it counts ("extension 44"), quotations, aliases, and capitalised names of two words or more, unless they are
    in `common` (names that identify no memory).
    """
    known = {part for name in common for part in _parts(name)} | {"project", "i"}
    found: list[str] = []
    for match in _QUOTED.finditer(text):
        quoted = match[1] or match[2]
        sides = [side.strip(" ,.;:") for side in quoted.split("=")]
        found.extend(side for side in sides if not set(_parts(side)) <= known)
    found.extend(word for word in words(text) if identifier(word))
    found.extend(f"{match[1].lower()} {match[2]}" for match in _NUMBERED.finditer(text))
    found.extend(match[1] for match in _CALLED.finditer(text) if not set(_parts(match[1])) <= known)
    for match in _ASK_FOR.finditer(text):
        found.append(f"ask for {match[1]}")
        if not set(_parts(match[1])) & known:
            found.append(match[1])
    found.extend(match[1].strip() for match in _SAYS.finditer(text))
    found.extend(match[0].replace("-", " ") for match in _SPELLED.finditer(text) if not identifier(match[0]))
    found.extend(_names(text, known))
    # A name that is an item of a list by itself: "Delete Oak House, 555-0101 and Nina".
    found.extend(item for item in _ITEMS.split(text) if _LONE_NAME.fullmatch(item) and item.lower() not in known)
    trimmed = (value.strip("' ") for value in found)
    return tuple(dict.fromkeys(value for value in trimmed if len(value) > 2))


def identifier(word: str) -> bool:
    """Does this word stand for one thing: letters and digits, or digits in groups, too many to be a time or a count?"""
    if not any(char.isdigit() for char in word) or _TIME_LIKE.match(word):
        return False
    parts = re.split(r"[-_]", word)
    if len(parts) > 1:
        return sum(char.isalnum() for char in word) >= 5
    return len(word) >= 6 and any(char.isalpha() for char in word)


def topic_stems(text: str, values: Sequence[str], common: Iterable[str] = ()) -> tuple[str, ...]:
    """Stems of the content words of `text` that no value and no common name has, in order and once each."""
    named = {part for value in values for part in _parts(value)} | {part for name in common for part in _parts(name)}
    plain = [part for word in words(text) for part in re.split(r"[-/_]", word)]
    return tuple(
        dict.fromkeys(
            stem(word)
            for word in plain
            if len(word) > 1 and word.lower() not in FUNCTION_WORDS | _STORES | CALENDAR and word.lower() not in named
        )
    )


def _names(text: str, known: set[str]) -> list[str]:
    found = []
    for match in _NAME.finditer(text):
        if match[1].endswith("-only"):
            found.append(match[1].removesuffix("-only"))
            continue
        parts = [match[1], *match[2].split()]
        while parts and parts[0].lower() in known | CALENDAR | FUNCTION_WORDS:
            parts.pop(0)
        while parts and parts[-1].lower() in known | CALENDAR:
            parts.pop()
        camel = len(parts) == 1 and any(char.isupper() for char in parts[0][1:])
        if len(parts) > 1 or camel:
            found.append(" ".join(parts))
    found.extend(match[1] for match in _AS_ALIAS.finditer(text) if match[1].lower() not in known)
    return found


def _parts(name: str) -> list[str]:
    return [part.lower() for part in re.split(r"[\s_().-]+", name) if part]
