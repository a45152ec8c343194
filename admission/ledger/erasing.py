"""What erasing a memory does to the record: which texts are its own, what is left in their place, who accounts for it.

Without any storage. An entry that is erased keeps its place, kind, time and hash, so the chain stays linked; what is
left of its content is accounted for by a later entry of kind `erased`, which is an entry like any other.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from admission.ledger.protocol import Entry
from admission.records import (
    Action,
    Check,
    Label,
    ObligationType,
    Origin,
    Outcome,
    Report,
    ResolvedBy,
    Role,
    Status,
    ViewName,
)
from admission.text import normalise

MARK = "[erased]"
"""What stands for a text that was erased."""

# A text as short as "tea" is a word of many others, which say something else: it is found only where it stands alone.
_SHORT = 8
_ENDS = string.punctuation + string.whitespace + "…“”‘’«»。！？、"
# Characters that nobody sees (of Unicode's category Cf): soft hyphens, joiners, marks of direction.
_UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_OUR_WORDS = frozenset(
    word
    for kind in (Role, Origin, ViewName, ObligationType, Label, Status, Action, ResolvedBy, Outcome, Check)
    for word in get_args(kind)
)
# What a report says without telling anything of the memory's text.
_KEPT = (
    "id",
    "conversation",
    "namespace",
    "status",
    "action",
    "supersedes",
    "usage",
    "timing_ms",
    "config_digest",
)


class Account(NamedTuple):
    """What an `erased` entry says of one it is about: its recorded `hash`, and a digest of what is `left` of it."""

    hash: str
    left: str


class Texts:
    """The texts of an erased memory, and names that are digests of them (fingerprints).

    A text is found in any string that has it or, as whole words, has it in other case, spacing or Unicode form or
    without the punctuation at its ends; a name, and a text of fewer than 8 characters, only where it is all of it.
    """

    def __init__(self, texts: Iterable[str], names: Iterable[str] = ()) -> None:
        self.texts = tuple(dict.fromkeys(text for text in texts if _plain(text)))
        self._names = frozenset(names)
        self._exact = tuple(text.strip() for text in self.texts if len(_plain(text)) >= _SHORT)
        plain = {_plain(text) for text in self.texts}
        long = [text for text in plain if len(text) >= _SHORT]
        self._short = plain.difference(long)
        # As whole words: "has a cat" is no part of "has a caterpillar".
        self._long = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, long))})(?!\w)") if long else None

    def with_names(self, names: Iterable[str]) -> Texts:
        return Texts(self.texts, names)

    def within(self, value: object) -> bool:
        """Does any string of this JSON value have one of the texts?"""
        return any(self._has(part) for part in strings(value))

    def erased_from(self, value: Any) -> Any:
        """The JSON value with `MARK` in place of every string that has one of the texts."""
        if isinstance(value, str):
            return MARK if self._has(value) else value
        if isinstance(value, Mapping):
            return {self.erased_from(name): self.erased_from(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self.erased_from(part) for part in value]
        return value

    def _has(self, text: str) -> bool:
        if text in self._names:
            return True
        if text in _OUR_WORDS:
            return False
        if any(part in text for part in self._exact):
            return True
        plain = _plain(text)
        return plain in self._short or (self._long is not None and self._long.search(plain) is not None)


def text_of(value: object, memory: str | None) -> str:
    """What counts as the text of a write with this value: what was judged or, where nothing was or it was erased, the
    longest string. Other fields may say what other memories say too ("from Monday's talk"): that is not the text."""
    return memory if memory not in (None, MARK) else max(strings(value), key=len, default="")


def strings(value: object) -> Iterator[str]:
    """Every string of a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from strings(name)
            yield from strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from strings(part)


def tombstone(entry: Entry, texts: Texts, report: Mapping[str, Any] | None) -> Entry:
    """What is left of an entry about an erased write: neither its content nor a digest of it. `report` is the body of
    the report on that write: a `stored` entry keeps its verdict and id, which the history of the key shows."""
    body: dict[str, Any] = {"erased": True}
    if entry.kind == "report":
        body = emptied(entry.body)
    elif entry.kind == "stored" and report is not None:
        body |= {"status": report.get("status"), "report_id": report.get("id")}
    return _left(entry, texts, body).model_copy(update={"fingerprint": None, "value_digest": None})


def emptied(report: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a report without anything it says of the memory. It can still be read as a report."""
    kept = {name: report[name] for name in _KEPT if name in report}
    return {**kept, "memory": MARK, "reasons": ["erased: the memory was erased"], "input_digest": MARK}


def cleansed(entry: Entry, texts: Texts) -> Entry | None:
    """What is left of an entry about something else: all but the strings that have one of the texts. None: none has."""
    if not texts.within(entry.body) and not texts.within(entry.key):
        return None
    body: dict[str, Any] = texts.erased_from(entry.body)
    if entry.kind == "report":
        try:
            Report.model_validate(body)
        except ValidationError:  # the text stood where a report has only certain words
            body = emptied(entry.body)
    return _left(entry, texts, body)


def accounts(entries: Iterable[Entry]) -> dict[int, Account]:
    """Of the entries of kind `erased`, oldest first: what they say of earlier ones, by `seq`. The newest counts.

    Whether they are as they were recorded is for the checking of the chain to say, which they are a part of."""
    found: dict[int, Account] = {}
    for entry in entries:
        if entry.kind == "erased" and isinstance(entry.body, dict):
            found.update(_accounted(entry))
    return found


def _accounted(entry: Entry) -> Iterator[tuple[int, Account]]:
    named = entry.body.get("entries")
    for one in named if isinstance(named, list) else ():
        if not isinstance(one, dict):
            continue
        seq, hash, left = one.get("seq"), one.get("hash"), one.get("left")
        if isinstance(seq, int) and seq < entry.seq and isinstance(hash, str) and isinstance(left, str):
            yield seq, Account(hash, left)


def _left(entry: Entry, texts: Texts, body: dict[str, Any]) -> Entry:
    key = None if texts.within(entry.key) else entry.key
    erased = {"body": texts.erased_from(body), "key": key, "content_digest": None, "salt": None}
    return entry.model_copy(update=erased)


def _plain(text: str) -> str:
    return normalise(text if text.isascii() else _UNSEEN.sub("", text)).casefold().strip(_ENDS)
