"""Which records a forget directive means, and a record's text without what is to be forgotten.

A record's text is searched for what the directive itself names, never judged for how sensitive it looks. Two ways,
both declared: the record holds a named value (`holds`), or it was stored before the directive and holds most of the
words that describe the thing (`Forgetting.share`). An identifier that a described record holds is then a named value
too: "delete the old desk number" means the number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from admission.reading.directive_words import CALENDAR, identifier
from admission.reading.directives import Directive
from admission.text import normalise, sentences, stem, word_set, words

SHARE = 0.75
"""A described record holds at least so much of the directive's topic stems."""
LEAST_TOPICS = 3
"""A description of fewer stems could mean anything, and means nothing here."""
FRAGMENT = 4
"""A word of so many letters and digits that begins or ends a forgotten identifier gives it away in part."""
NEAR = 2
"""An identifier so many words before a name stands with it."""
MARK = "[forgotten]"
"""Stands where a forgotten value stood."""
_HYPHENED = re.compile(r"\w+(?:-\w+)+")
_KEPT = re.compile(r"\b(?:keep|keeping|leave|left|current|active|use|using|instead)\b", re.I)


@dataclass(frozen=True)
class Forgotten:
    """What one directive makes unusable: `values` wherever they stand, and the records `keys` that it described."""

    directive: Directive
    values: tuple[str, ...]
    keys: frozenset[str]


@dataclass(frozen=True)
class Forgetting:
    """Finds what forget directives mean. `share`: see SHARE; above 1, descriptions are not matched at all."""

    share: float = SHARE

    def resolve(self, directive: Directive, earlier: Iterable[tuple[str, str]]) -> Forgotten:
        """What `directive` means among the records stored before it, given as (key, text)."""
        if directive.kind != "forget" or directive.deferred:
            return Forgotten(directive, (), frozenset())
        described: set[str] = set()
        values = list(directive.values)
        spared = _spared(directive.said)
        names = [value for value in directive.values if not identifier(value)]
        for key, text in earlier:
            if self._described(directive, text):
                described.add(key)
                values.extend(_identifiers(text, directive, spared))
            elif names and _counts(directive):
                # "the Harbor House number": the number that stands with the name.
                values.extend(_beside(text, names, spared))
        return Forgotten(directive, tuple(dict.fromkeys(values)), frozenset(described))

    def _described(self, directive: Directive, text: str) -> bool:
        if directive.values or len(directive.topics) < LEAST_TOPICS:
            return False
        held = _stems(text)
        return sum(topic in held for topic in directive.topics) >= self.share * len(directive.topics)


def means(forgotten: Forgotten, key: str, text: str) -> bool:
    """Is the record one whose content is to be forgotten?"""
    return key in forgotten.keys or any(holds(text, value) for value in forgotten.values)


def holds(text: str, value: str) -> bool:
    """Does `text` hold this value? An identifier or a telling part of it as a word; a name or phrase however its case
    and hyphens are written."""
    return _pattern(value).search(_spelling(text)) is not None


def redacted(text: str, values: Sequence[str]) -> str:
    """`text` with each value replaced by a mark. What is left of a forget directive may be shown."""
    shown = normalise(text)
    for value in sorted(values, key=len, reverse=True):
        # The pattern was made for the text with hyphens as spaces, which has the same length.
        spans = [match.span() for match in _pattern(value).finditer(_spelling(shown))]
        for start, end in reversed(spans):
            shown = shown[:start] + MARK + shown[end:]
    return shown


@lru_cache(maxsize=4096)
def _pattern(value: str) -> re.Pattern[str]:
    """A search for `value` in a text as `_spelling` gives it."""
    spelled = re.escape(_spelling(value)).replace(r"\ ", r"\s+")
    if not identifier(value):
        lone = " " not in value and value[:1].isupper()
        if not lone:
            return re.compile(rf"(?<!\w){spelled}(?!\w)", re.I)
        # A lone name is a name only with its capital, and no month when a day follows.
        dated = r"(?!\s+\d)" if value.lower() in CALENDAR else ""
        return re.compile(rf"(?<!\w){spelled}(?!\w){dated}")
    parts = re.split(r"[-_]", value)
    pieces = {value}
    for cut in range(1, len(parts)):
        pieces.update(
            piece
            for piece in (_join(value, parts[:cut], True), _join(value, parts[cut:], False))
            if sum(char.isalnum() for char in piece) >= FRAGMENT and any(char.isdigit() for char in piece)
        )
    options = "|".join(re.escape(_spelling(piece)) for piece in sorted(pieces, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?<!\d )(?:{options})(?![\w-])(?! \d)", re.I)


def _join(value: str, parts: Sequence[str], first: bool) -> str:
    length = sum(map(len, parts)) + len(parts) - 1
    return value[:length] if first else value[len(value) - length :]


def _spelling(text: str) -> str:
    """Hyphens of words are spaces ("front-desk" is "front desk"), those of identifiers stay; as long as `normalise`."""
    return _HYPHENED.sub(lambda m: m[0] if identifier(m[0]) else m[0].replace("-", " "), normalise(text))


@lru_cache(maxsize=16384)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(part) for word in words(text) for part in word.split("-"))


_COUNTED = frozenset(map(stem, word_set("number line phone desk token label code contact address pin")))


def _counts(directive: Directive) -> bool:
    return bool(_COUNTED & set(directive.topics))


def _identifiers(text: str, directive: Directive, spared: frozenset[str]) -> list[str]:
    if not _counts(directive):
        return []
    return [word for word in words(text) if identifier(word) and word not in spared]


def _beside(text: str, names: Sequence[str], spared: frozenset[str]) -> list[str]:
    """The identifiers that stand with one of the names: the first after it in its sentence, or else the one right
    before it; other than those the directive keeps in use."""
    found: list[str] = []
    flat = normalise(text)
    for start, end in sentences(flat):
        said = flat[start:end]
        spans = [match.span() for name in names for match in _pattern(name).finditer(_spelling(said))]
        if not spans:
            continue
        after = [word for word in words(said[min(end for _, end in spans) :]) if identifier(word)][:1]
        before = [word for word in words(said[: min(begin for begin, _ in spans)])[-NEAR:] if identifier(word)][-1:]
        found.extend(word for word in after or before if word not in spared)
    return found


def _spared(said: str) -> frozenset[str]:
    """Identifiers that the directive itself keeps in use ("delete A, keep B")."""
    kept = [said[match.end() :] for match in _KEPT.finditer(said)]
    return frozenset(word for part in kept for word in words(part) if identifier(word))
