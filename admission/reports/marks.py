"""What each shown passage was for: cited by the author, supporting, contradicting; text and HTML agree on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from admission.records import Passage, Report

Mark = Literal["supports", "contradicts", "both ways", "cited"]

_OF_LABEL: dict[str, Mark] = {"supported": "supports", "contradicted": "contradicts", "conflicting": "both ways"}


class Marked(NamedTuple):
    """A passage and its marks, the most telling first."""

    passage: Passage
    marks: tuple[Mark, ...]


def marked_passages(report: Report) -> Iterator[Marked]:
    """The report's passages in the order of the conversation, each with what it was for."""
    used: dict[str, set[Mark]] = {}
    for finding in report.obligations:
        if finding.label in _OF_LABEL:
            for turn in finding.evidence:
                used.setdefault(turn, set()).add(_OF_LABEL[finding.label])
    order: tuple[Mark, ...] = ("contradicts", "both ways", "supports", "cited")
    for passage in sorted(report.passages, key=lambda p: (p.position, p.start)):
        marks = set(used.get(passage.turn_id, ()))
        if passage.turn_id in report.citations.author:
            marks.add("cited")
        yield Marked(passage, tuple(m for m in order if m in marks))


def told_by(passage: Passage) -> str:
    """Who said it and when: "Ana (user), 2026-02-03 10:02"; a surprising origin is named."""
    named = passage.speaker is not None and passage.speaker.casefold() != passage.role
    who = f"{passage.speaker} ({passage.role})" if named else passage.role
    when = f", {passage.time.replace('T', ' ')}" if passage.time else ""
    origin = "" if passage.origin in ("conversation", passage.role) else f" [{passage.origin}]"
    confirmed = f"; confirmed by {passage.confirmed_by}" if passage.confirmed_by else ""
    return f"{who}{origin}{when}{confirmed}"
