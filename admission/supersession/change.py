"""Whether the conversation says that something changed: the sentence that does, among a new memory's evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from admission.records import Passage
from admission.supersession.conflict import Conflict
from admission.supersession.cues import (
    BESIDE,
    CHANGED,
    DENIED,
    DOUBTED,
    FOR_A_WHILE,
    LEFT,
    LONG_AGO,
    NEW_ONE,
    NOT_QUITE,
    NOW,
    OVER,
    SWAPPED,
    THESE_DAYS_ONLY,
    YEAR,
)
from admission.supersession.statement import Statement, plain_mode
from admission.text import FUNCTION_WORDS, normalise, sentences, stem, words
from admission.verifiers.checks.reading import FIRST_PERSON

_SPOKEN_BY = ("user", "tool")
_REACH = 5  # words in front of a value that may say it was left


@dataclass(frozen=True, slots=True)
class Said:
    """The passage that says the change, and whether what was before is named in it as over or replaced."""

    passage: Passage
    named: bool


def change_said(conflict: Conflict, old: Statement, new: Statement, evidence: Iterable[Passage],
                before: datetime | None = None) -> Said | None:  # fmt: skip
    """Where `evidence`, the passages the new memory rests on, says that the old memory's state changed; None where it
    says only what is so, and not that it is so now, or doubts it, or tells of long ago.

    `before`: when the old memory's evidence was said. A year that lies before it tells of an earlier change; where it
    is not known, no year is trusted.
    """
    if not _stands(conflict, new, new.text, before):
        return None
    shown = [(passage, text) for passage, text in _sentences(evidence) if _stands(conflict, new, text, before)]
    named = any(_names_the_old(conflict, old, text) for _, text in shown)
    for passage, text in shown:
        if (
            _about(new.subject, text, passage.speaker)
            and plain_mode(text) in ("fact", new.mode)
            and _says(conflict, old, text, named)
        ):
            return Said(passage, named)
    return None


def _says(conflict: Conflict, old: Statement, text: str, named: bool) -> bool:
    said = _stems(text)
    if conflict.kind == "over":
        return bool(OVER.search(text)) and bool(said & (conflict.old | {stem(old.verb)}))
    if conflict.kind == "swapped":
        return bool(SWAPPED.search(text)) and conflict.old <= said
    if not conflict.new <= said:
        return False
    if conflict.doubtful and conflict.old & said and not _names_the_old(conflict, old, text):
        return False  # "to Denver first, then to Boston", "in Camden, a part of London"
    changed = CHANGED.search(text) is not None
    another = NEW_ONE.search(text) is not None
    if conflict.doubtful and conflict.instead is None and another:
        return False  # a new class beside the old one
    # Two jobs or appointments are possible at a time: that it is so now is not enough to end the other.
    return changed or named if conflict.doubtful else changed or another or NOW.search(text) is not None


def _names_the_old(conflict: Conflict, old: Statement, text: str) -> bool:
    """Is what was before said to be left behind ("left Acme", "from Boston to", "no longer live in Leeds")?"""
    said = words(text)
    for place, word in enumerate(said):
        if stem(word) in conflict.old and conflict.old <= _stems(" ".join(said[place : place + len(conflict.old) + 2])):
            before = said[max(0, place - _REACH) : place]
            if LEFT.search(" ".join(before)):
                return True
            if DENIED.search(" ".join(before)) and stem(old.verb) in map(stem, before):
                return True
    return False


def _stands(conflict: Conflict, new: Statement, text: str, before: datetime | None) -> bool:
    """Is it said of now, for good, in earnest?"""
    if any(pattern.search(text) for pattern in (FOR_A_WHILE, LONG_AGO, DOUBTED)):
        return False
    if conflict.kind != "over" and new.tense == "present" and THESE_DAYS_ONLY.search(text):
        return False
    if (NOT_QUITE if conflict.kind == "over" else BESIDE).search(text):
        return False
    years = [int(year) for year in YEAR.findall(text)]
    return not years or (before is not None and min(years) >= before.year)


def _about(subject: Sequence[str], text: str, speaker: str | None) -> bool:
    """Can the sentence, said by `speaker`, be about this subject?"""
    lowers = {word.lower() for word in words(text)}
    own = {part.lower() for part in words(speaker or "")} | {"user"}
    if subject[0].removesuffix("'s") in own and not lowers & FIRST_PERSON:
        return False
    named = {stem(low) for low in subject if low.removesuffix("'s") not in own and low not in FUNCTION_WORDS}
    return named <= _stems(text)


def _sentences(evidence: Iterable[Passage]) -> Iterator[tuple[Passage, str]]:
    """What was told, sentence by sentence: not what was asked, and not what an assistant said."""
    for passage in evidence:
        if passage.role in _SPOKEN_BY and passage.origin != "memory":
            text = normalise(passage.text)
            spans = [text[start:end] for start, end in sentences(text)]
            yield from ((passage, part) for part in spans if not re.search(r"\?[\"')\]]*$", part))


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text))


def when(passage: Passage) -> datetime | None:
    """When a passage was said, as its conversation has it; without an offset where that has none."""
    return datetime.fromisoformat(passage.time) if passage.time is not None else None
