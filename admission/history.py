"""A conversation as it grows, and the turns before one write: passages, their index, and a digest of every prefix."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from admission.bm25 import Bm25Index
from admission.eligibility import Recalled, eligible_spans, introduced_names
from admission.errors import InputError
from admission.records import Participant, Passage, Role, Turn, canonical_json
from admission.replies import answers, confirms, ends_asking, only_asks
from admission.text import index_terms, sentences, words

PASSAGE_CHARS = 1200
_SPOKEN = ("conversation", "tool", "external")


class Timeline:
    """One conversation as it grows. Turns are only ever appended; a `History` taken from it never changes.

    `passage_chars` is the longest passage, in characters: longer turns are cut into windows at sentence ends. Safe for
    threads: several writes of one conversation may be judged while it goes on.
    """

    def __init__(self, conversation_id: str, turns: Iterable[Turn] = (), *, passage_chars: int = PASSAGE_CHARS) -> None:
        if passage_chars < 1:
            raise InputError("passage_chars", f"is {passage_chars}", "give at least 1 character")
        self.conversation_id = conversation_id
        self.passage_chars = passage_chars
        self._lock = RLock()
        self._growth = _Growth(conversation_id, passage_chars)
        self._length = 0
        self.extend(turns)

    def __len__(self) -> int:
        return self._length

    def extend(self, turns: Iterable[Turn]) -> History:
        """Append `turns` and return the history of everything so far. Raises `InputError` on a turn id already there;
        the turns before it stay appended."""
        with self._lock:
            for turn in turns:
                if self._length < len(self._growth.turns):
                    # An earlier `sync` went back: what came after that point belongs to another course of events.
                    self._growth = _Growth(self.conversation_id, self.passage_chars, self._growth.turns[: self._length])
                self._growth.append(turn)
                self._length += 1
            return History(self._growth, self._length)

    def sync(self, turns: Sequence[Turn]) -> History:
        """Take the whole conversation as it is now and return its history.

        What agrees with the turns already here is kept, new turns are appended, and from the first turn that was
        edited or removed the rest is rebuilt. Costs one comparison a turn where nothing but the end is new.
        """
        with self._lock:
            known = self._growth.turns
            shared = min(len(known), len(turns))
            common = next((i for i in range(shared) if not _same(known[i], turns[i])), shared)
            self._length = common
            return self.extend(turns[common:])

    def before(self, turn_id: str | None) -> History:
        """The turns up to and including `turn_id`; all of them for None. Raises `InputError` for an unknown id."""
        with self._lock:
            if turn_id is None:
                return History(self._growth, self._length)
            place = self._growth.places.get(turn_id)
            if place is None or place >= self._length:
                raise InputError(
                    "written_after", f"names no turn of {self.conversation_id}: {turn_id!r}", "name one of its turns"
                )
            return History(self._growth, place + 1)


class History:
    """The turns of a conversation before one write. A handle on a prefix of a `Timeline`: O(1) to make, never changes.

    Passages are the eligible ones only (see `eligibility`); a passage's `position` is its place among them.
    """

    def __init__(self, growth: _Growth, length: int) -> None:
        self._growth = growth
        self._length = length
        self._passages = growth.passage_ends[length]

    @classmethod
    def of(cls, conversation_id: str, turns: Iterable[Turn], *, passage_chars: int = PASSAGE_CHARS) -> History:
        """The history of all of `turns`."""
        return Timeline(conversation_id, turns, passage_chars=passage_chars).before(None)

    @property
    def conversation_id(self) -> str:
        return self._growth.conversation_id

    @property
    def digest(self) -> str:
        """SHA-256 chained over the turns (id, role, speaker, time, text, origin), as 64 hex characters."""
        return self._growth.digests[self._length]

    @property
    def participants(self) -> Mapping[Role, tuple[str, ...]]:
        """The speakers of each role that has any, in order of appearance."""
        found: dict[Role, tuple[str, ...]] = {}
        for role, speakers in self._growth.speakers.items():
            names = tuple(name for name, place in speakers.items() if place < self._length)
            if names:
                found[role] = names
        return found

    @property
    def user_names(self) -> tuple[str, ...]:
        """What users are called: their speaker names, and the names they gave ("my name is ...")."""
        introduced = (name for name, place in self._growth.introduced.items() if place < self._length)
        return tuple(dict.fromkeys((*self.participants.get("user", ()), *introduced)))

    @property
    def people(self) -> tuple[Participant, ...]:
        """The users and assistants known by name: by their speaker names, and by names that users gave."""
        assistants = self.participants.get("assistant", ())
        return (
            *(Participant(role="user", name=name) for name in self.user_names),
            *(Participant(role="assistant", name=name) for name in assistants),
        )

    def __len__(self) -> int:
        """How many turns there are."""
        return self._length

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return self._length

    def __iter__(self) -> Iterator[Turn]:
        return iter(self._growth.turns[: self._length])

    def contains(self, turn_id: str) -> bool:
        return self._growth.places.get(turn_id, self._length) < self._length

    def turn(self, turn_id: str) -> Turn:
        """Raises `InputError` when no turn before the write has this id."""
        return self._growth.turns[self._place(turn_id)]

    def turns_after(self, turn_id: str, count: int) -> tuple[Turn, ...]:
        """What was said in the conversation within the next `count` turns, in order."""
        place = self._place(turn_id) + 1
        later = self._growth.turns[place : min(place + count, self._length)]
        return tuple(turn for turn in later if turn.origin == "conversation")

    def turn_before(self, turn_id: str) -> Turn | None:
        """The turn directly before this one, where it belongs to the conversation."""
        place = self._place(turn_id)
        before = self._growth.turns[place - 1] if place else None
        return before if before is not None and before.origin == "conversation" else None

    @property
    def passage_count(self) -> int:
        return self._passages

    def passage(self, position: int) -> Passage:
        """The passage at `position`, from 0. Raises IndexError outside of `range(passage_count)`."""
        if not 0 <= position < self._passages:
            raise IndexError(position)
        passage = self._growth.passages[position]
        reply = self._growth.confirmations.get(passage.turn_id)
        if reply is not None and self.contains(reply):
            return passage.model_copy(update={"confirmed_by": reply})
        return passage

    def passages_of(self, turn_id: str) -> tuple[Passage, ...]:
        """The passages of one turn, in order; none when the turn may not count as evidence. Raises `InputError` when
        no turn before the write has this id."""
        place = self._place(turn_id)
        start, end = self._growth.passage_ends[place], self._growth.passage_ends[place + 1]
        return tuple(self.passage(position) for position in range(start, end))

    def answer_to(self, turn_id: str) -> str | None:
        """The turn that answers this one so that the two are read together (`Passage.reply_to`), if any."""
        reply = self._growth.answers.get(turn_id)
        return reply if reply is not None and self.contains(reply) else None

    def search(self, query: Iterable[str], k: int) -> list[tuple[int, float]]:
        """The best `k` passages for the query's terms by BM25, as (position, score), scores above zero only."""
        with self._growth.lock:
            return self._growth.index.search(query, self._passages, k)

    def scores(self, query: Iterable[str]) -> NDArray[np.float64]:
        """BM25 scores of all passages for the query's terms, by position; an array of the caller's own."""
        with self._growth.lock:
            return self._growth.index.scores(query, self._passages)

    def _place(self, turn_id: str) -> int:
        place = self._growth.places.get(turn_id)
        if place is None or place >= self._length:
            raise InputError("turn", f"no turn {turn_id!r} before the write", "name a turn of the history")
        return place


class _Growth:
    """What a conversation amounts to so far. Append-only: a prefix of anything in it stays what it is.

    Lists are read without the lock (a reader never looks beyond its own prefix); the index is searched under it.
    """

    def __init__(self, conversation_id: str, passage_chars: int, turns: Iterable[Turn] = ()) -> None:
        self.conversation_id = conversation_id
        self.passage_chars = passage_chars
        self.lock = RLock()
        self.turns: list[Turn] = []
        self.places: dict[str, int] = {}
        self.digests = [hashlib.sha256(b"").hexdigest()]
        self.passages: list[Passage] = []
        self.passage_ends = [0]
        self.index = Bm25Index()
        self.speakers: dict[Role, dict[str, int]] = {"user": {}, "assistant": {}, "tool": {}, "system": {}}
        self.introduced: dict[str, int] = {}
        self.confirmations: dict[str, str] = {}
        self.answers: dict[str, str] = {}
        self._recalled = Recalled()
        self._last_spoken: Turn | None = None
        for turn in turns:
            self.append(turn)

    def append(self, turn: Turn) -> None:
        if turn.id in self.places:
            raise InputError(
                "turn.id", f"{turn.id!r} is used twice in {self.conversation_id}", "give each turn its own id"
            )
        place = len(self.turns)
        reply_to = self._reply_to(turn)
        spans = eligible_spans(turn, self._recalled, self._said_before)
        with self.lock:
            for number, (start, end) in enumerate(windows(turn.text, spans, self.passage_chars), start=1):
                whole = (start, end) == (0, len(turn.text))
                self._add_passage(turn, turn.id if whole else f"{turn.id}#{number}", start, end, reply_to)
        self.passage_ends.append(len(self.passages))
        self._note(turn, place)
        self.digests.append(_chain(self.digests[-1], turn))
        self.turns.append(turn)
        # Last: until the place is known, no reader of another prefix sees the turn.
        self.places[turn.id] = place

    def _add_passage(self, turn: Turn, passage_id: str, start: int, end: int, reply_to: str | None) -> None:
        passage = Passage(
            id=passage_id,
            turn_id=turn.id,
            position=len(self.passages),
            role=turn.role,
            speaker=turn.speaker,
            time=turn.time,
            text=turn.text[start:end],
            origin=turn.origin,
            start=start,
            end=end,
            reply_to=reply_to,
        )
        self.passages.append(passage)
        self.index.add(passage_terms(passage))

    def _reply_to(self, turn: Turn) -> str | None:
        """The turn this one has to be read with: it confirms it, leans on it, or is a user's answer to an assistant's
        closing question. Memories and instructions injected between do not count."""
        last = self._last_spoken
        if last is None or turn.origin != "conversation" or last.origin != "conversation":
            return None
        if (last.role, last.speaker) == (turn.role, turn.speaker):
            return None
        asked = last.role == "assistant" and turn.role == "user" and ends_asking(last.text) and not only_asks(turn.text)
        if not asked and not answers(turn.text, last.text):
            return None
        self.answers[last.id] = turn.id
        if turn.role == "user" and last.role == "assistant" and confirms(turn.text, last.text):
            self.confirmations[last.id] = turn.id
        return last.id

    def _said_before(self, content: Iterable[str], share: float) -> bool:
        """Did a user, a tool or another outside source say at least this share of the terms in one passage before?"""
        holders = self.index.holders(content, len(self.passages), share)
        return any(self.passages[position].role != "assistant" for position in holders)

    def _note(self, turn: Turn, place: int) -> None:
        if turn.speaker is not None:
            self.speakers[turn.role].setdefault(turn.speaker, place)
        if turn.origin == "memory":
            self._recalled.add(turn.text)
        if turn.role == "user" and turn.origin == "conversation":
            for name in introduced_names(turn.text):
                self.introduced.setdefault(name, place)
        if turn.origin in _SPOKEN:
            self._last_spoken = turn


def passage_terms(passage: Passage) -> list[str]:
    """What a passage is found by: its words and its speaker's name, for memories speak of people by name."""
    return index_terms([*words(passage.text), *words(passage.speaker or "")])


def windows(text: str, spans: Iterable[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Character spans of at most `size` characters that cover `spans` of `text`, cut at sentence ends.

    A sentence longer than `size` is cut at white space, or hard where there is none within reach.
    """
    cut: list[tuple[int, int]] = []
    for start, end in spans:
        if not text[start:end].strip():
            continue
        if end - start <= size:
            cut.append((start, end))
            continue
        window: tuple[int, int] | None = None
        for piece_start, piece_end in _pieces(text, start, end, size):
            if window is not None and piece_end - window[0] <= size:
                window = (window[0], piece_end)
                continue
            if window is not None:
                cut.append(window)
            window = (piece_start, piece_end)
        if window is not None:
            cut.append(window)
    return cut


def _pieces(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, those longer than `size` cut into pieces that are not."""
    for s, e in sentences(text[start:end]):
        s, e = s + start, e + start
        while e - s > size:
            # One character beyond the limit may be the space after a word that just fits.
            space = max(text.rfind(mark, s + 1, s + size + 1) for mark in (" ", "\t", "\n", "\u00a0", "\u3000"))
            stop = space if space > s else s + size
            yield s, stop
            s = stop + (len(text[stop:e]) - len(text[stop:e].lstrip()))
        if e > s:
            yield s, e


def _chain(previous: str, turn: Turn) -> str:
    body = canonical_json([previous, turn.id, turn.role, turn.speaker, turn.time, turn.text, turn.origin])
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def _same(a: Turn, b: Turn) -> bool:
    return a is b or (
        a.id == b.id
        and a.text == b.text
        and (a.role, a.speaker, a.time, a.origin) == (b.role, b.speaker, b.time, b.origin)
    )
