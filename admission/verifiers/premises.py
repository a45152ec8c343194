"""What an entailment model reads as premises: passages as lines `Speaker (date): text`, alone, in runs and jointly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from admission.language import GRAMMAR_WORDS
from admission.records import Passage
from admission.text import sentences, stem, words

MAX_PREMISES = 4
"""Premises scored for one question, at most: more of them cost time and rank memories no better."""
_REACH = 2  # a run may step over one turn that is not in the view: the other speaker's "ok"


@dataclass(frozen=True)
class Premise:
    """A text to read and the turns it is made of, the most related to the claim first.

    `related`: it may contradict the claim, since one of its lines shares a content word with it that is no speaker's
    name and, where the claim names a speaker, such a name too. A turn and its answer count as one line.
    `cut`: a turn was shortened to its sentences nearest to the claim.
    """

    text: str
    turn_ids: tuple[str, ...]
    related: bool
    cut: bool = False


def line(speaker: str, time: str | None, text: str) -> str:
    """One turn as a line: `Ana (2026-04-06): I moved.` The day is kept (ISO 8601 text), the hour is not."""
    day = f" ({time[:10]})" if time else ""
    return f"{' '.join(speaker.split())}{day}: {' '.join(text.split())}"


def said_by(passage: Passage) -> str:
    """The speaker, or the role where there is no name: `User`, `Assistant`, `Tool`."""
    return passage.speaker or passage.role.capitalize()


def joined(lines: Iterable[str]) -> str:
    """Lines as one premise, in the order of the conversation."""
    return "\n".join(lines)


@lru_cache(maxsize=16384)
def content(text: str) -> frozenset[str]:
    """Stems of the words of `text` that are not grammar words."""
    return frozenset(stem(word) for word in words(text) if word.lower() not in GRAMMAR_WORDS)


def premises(passages: Sequence[Passage], claim: str, budget: int, count: Callable[[str], int]) -> list[Premise]:
    """At most `MAX_PREMISES` premises of at most `budget` tokens for `claim`; `count` counts a text's tokens.

    The passage that shares most content words with the claim (with the turn it replies to, or the turn that confirms
    it, where that turn is here too), the last passage that shares any, for it may correct what was said before, of the
    runs of two and three neighbouring passages the one that shares most, and the passages nearest to the claim
    together; later ones first among equals.
    """
    ordered = sorted(passages, key=lambda p: (p.position, p.start))
    wanted = content(claim)
    overlap = {p.id: len(wanted & content(line(said_by(p), None, p.text))) for p in ordered}
    singles = [_with_partner(p, ordered) for p in ordered]
    runs = [
        ordered[start : start + length]
        for length in (2, 3)
        for start in range(len(ordered) - length + 1)
        if all(b.position - a.position <= _REACH for a, b in pairwise(ordered[start : start + length]))
    ]
    ranked = sorted(ordered, key=lambda p: (overlap[p.id], p.position), reverse=True)
    nearest, latest = _nearest(singles, wanted)[:1], [s for s, p in zip(singles, ordered, strict=True) if overlap[p.id]]
    groups = [*nearest, *latest[-1:], *_nearest(runs, wanted)[:1], _fitting(ranked, budget, count)]
    speakers = frozenset().union(*(content(said_by(p)) for p in ordered))
    distinct = dict.fromkeys(tuple(sorted(group, key=lambda p: (p.position, p.start))) for group in groups)
    return [_premise(group, wanted, speakers, overlap, budget, count) for group in distinct]


def _with_partner(passage: Passage, ordered: Sequence[Passage]) -> list[Passage]:
    """The passage, and those of the turn it has to be read with."""
    partners = {passage.reply_to, passage.confirmed_by} - {None}
    return [p for p in ordered if p is passage or p.turn_id in partners]


def _nearest(groups: Sequence[Sequence[Passage]], wanted: frozenset[str]) -> list[Sequence[Passage]]:
    def rank(group: Sequence[Passage]) -> tuple[int, int, int]:
        shared = wanted & frozenset().union(*(content(line(said_by(p), None, p.text)) for p in group))
        return len(shared), -len(group), group[-1].position

    return sorted(groups, key=rank, reverse=True)


def _fitting(ranked: Sequence[Passage], budget: int, count: Callable[[str], int]) -> list[Passage]:
    """The first passages of `ranked` that fit `budget` together; always at least one."""
    chosen: list[Passage] = []
    for passage in ranked:
        budget -= count(line(said_by(passage), passage.time, passage.text))
        if chosen and budget < 0:
            break
        chosen.append(passage)
    return chosen


def _premise(
    group: Sequence[Passage],
    wanted: frozenset[str],
    speakers: frozenset[str],
    overlap: dict[str, int],
    budget: int,
    count: Callable[[str], int],
) -> Premise:
    share = budget // len(group)
    texts = [_shortened(p, wanted, share, count) for p in group]
    if sum(count(line(said_by(p), p.time, p.text)) for p in group) <= budget:
        texts = [p.text for p in group]
    lines = [line(said_by(p), p.time, text) for p, text in zip(group, texts, strict=True)]
    units = [joined(lines)] if _linked(group) else lines
    strongest = sorted(group, key=lambda p: -overlap[p.id])
    return Premise(
        text=joined(lines),
        turn_ids=tuple(dict.fromkeys(p.turn_id for p in strongest)),
        related=any(_related(wanted & content(unit), wanted & speakers, speakers) for unit in units),
        cut=any(text != p.text for p, text in zip(group, texts, strict=True)),
    )


def _linked(group: Sequence[Passage]) -> bool:
    """Whether the group is a turn with the one it answers, or with the one that confirms it."""
    turns = {p.turn_id for p in group}
    return len(turns) == 2 and any(p.reply_to in turns or p.confirmed_by in turns for p in group)


def _related(shared: frozenset[str], named: frozenset[str], speakers: frozenset[str]) -> bool:
    return bool(shared - speakers) and (not named or bool(shared & named))


def _shortened(passage: Passage, wanted: frozenset[str], budget: int, count: Callable[[str], int]) -> str:
    """The text of `passage`, or its sentences that share most with the claim, in order, within `budget` tokens."""
    room = budget - count(line(said_by(passage), passage.time, ""))
    if count(passage.text) <= room:
        return passage.text
    parts = [passage.text[start:end] for start, end in sentences(passage.text)]
    ranked = sorted(range(len(parts)), key=lambda place: (-len(wanted & content(parts[place])), place))
    kept: list[int] = []
    for place in ranked:
        cost = count(parts[place])
        if cost <= room:
            kept.append(place)
            room -= cost
        elif not kept:
            return _window(parts[place], wanted, room, count)
    return " ".join(parts[place] for place in sorted(kept))


def _window(sentence: str, wanted: frozenset[str], room: int, count: Callable[[str], int]) -> str:
    """The stretch of one over-long sentence that shares most content words with the claim, within `room` tokens."""
    pieces = sentence.split()
    size = max(1, int(len(pieces) * max(room, 1) / max(count(sentence), 1)))
    while True:
        last = max(0, len(pieces) - size)
        starts = [*range(0, last, max(1, size // 2)), last]
        best = max(starts, key=lambda start: (len(wanted & content(" ".join(pieces[start : start + size]))), -start))
        text = " ".join(pieces[best : best + size])
        if size == 1 or count(text) <= room:
            return text
        size = size * 3 // 4
