"""Writers of memories: what makes them from conversations and rewrites them round by round; a model, or a script."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import prompts
from admission.evaluation.derivation.drift_words import as_done, without_times
from admission.history import History
from admission.records import Conversation, Passage
from admission.text import words
from admission.verifiers.chat.requests import evidence_of, fence_of, lines_of, quoted

TEMPLATES = ("write_system", "write_extract", "write_consolidate")
PASSAGES_A_REQUEST = 8
MEMORIES_A_REQUEST = 8
LOSS = 0.25
"""Share of the times, and of the modalities, that the scripted writer loses a round."""


class Source(NamedTuple):
    """A conversation and its history, all of which was said before any memory is written."""

    conversation: Conversation
    history: History


class Remembered(NamedTuple):
    """A memory of one round: `turns` are the ids of those it rests on; `id` is unique in its conversation and round."""

    id: str
    conversation: str
    text: str
    turns: tuple[str, ...]


class Writer(Protocol):
    """Makes memories (round 0), then rewrites and merges those that there are. `unusable`: answers so far that held no
    memory; what they were to rewrite stays as it is."""

    name: str
    unusable: int

    @property
    def identity(self) -> dict[str, object]: ...

    def extract(self, sources: Sequence[Source]) -> list[Remembered]: ...

    def consolidate(self, memories: Sequence[Remembered], number: int) -> list[Remembered]:
        """The memories of round `number`, from those of the round before."""
        ...


class ScriptedWriter:
    """No model: round 0 are the recorded writes of the conversations with their citations, and each round loses a share
    of the times and of the modalities that are still told, drawn with `seed`. Nothing else changes.

    `loss` 0 copies, 1 loses all in the first round: what the drift has to be is known.
    """

    name = "scripted"
    unusable = 0

    def __init__(self, seed: int, loss: float = LOSS) -> None:
        self._seed = seed
        self._loss = loss

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": self.name, "loss": self._loss, "seed": self._seed}

    def extract(self, sources: Sequence[Source]) -> list[Remembered]:
        return [
            Remembered(write.id, source.conversation.id, write.memory, write.citations)
            for source in sources
            for write in source.conversation.writes
        ]

    def consolidate(self, memories: Sequence[Remembered], number: int) -> list[Remembered]:
        texts = [memory.text for memory in memories]
        for kind, without in (("time", without_times), ("modality", as_done)):
            changed = {place: lost for place, text in enumerate(texts) if (lost := without(text)) is not None}
            draw = random.Random(f"{self._seed} {number} {kind}")
            for place in draw.sample(sorted(changed), int(self._loss * len(changed) + 0.5)):
                texts[place] = changed[place]
        return [memory._replace(text=text) for memory, text in zip(memories, texts, strict=True)]


class ModelWriter:
    """A language model that is asked by the prompts of `TEMPLATES`, a few passages or memories of one conversation at a
    time. `ask`: one answer a prompt, in order, None where asking failed; told the `write_system` prompt.

    A line of an answer that names none of the turns or memories it was shown rests on all of them.
    """

    def __init__(
        self, name: str, identity: dict[str, object], ask: Callable[[Sequence[str]], list[str | None]]
    ) -> None:
        self.name = name
        self.unusable = 0
        self._identity = identity
        self._ask = ask

    @property
    def identity(self) -> dict[str, object]:
        sizes = {"passages a request": PASSAGES_A_REQUEST, "memories a request": MEMORIES_A_REQUEST}
        return {**self._identity, **sizes, "templates": prompts.digest(TEMPLATES)}

    def extract(self, sources: Sequence[Source]) -> list[Remembered]:
        parts = [(source.conversation.id, part) for source in sources for part in _parts(source)]
        answers = self._ask([_filled("write_extract", evidence_of(part)) for _, part in parts])
        made: dict[str, list[Remembered]] = {}
        for (conversation, part), answer in zip(parts, answers, strict=True):
            shown = {passage.turn_id: (passage.turn_id,) for passage in part}
            self._take(made.setdefault(conversation, []), conversation, answer, shown, ())
        return [memory for found in made.values() for memory in found]

    def consolidate(self, memories: Sequence[Remembered], number: int) -> list[Remembered]:
        by_conversation: dict[str, list[Remembered]] = defaultdict(list)
        for memory in memories:
            by_conversation[memory.conversation].append(memory)
        parts = [part for own in by_conversation.values() for part in _batches(own)]
        answers = self._ask([_filled("write_consolidate", "\n".join(map(_listed, part))) for part in parts])
        made: dict[str, list[Remembered]] = {name: [] for name in by_conversation}
        for part, answer in zip(parts, answers, strict=True):
            shown = {memory.id: memory.turns for memory in part}
            self._take(made[part[0].conversation], part[0].conversation, answer, shown, part)
        return [memory for found in made.values() for memory in found]

    def _take(
        self,
        made: list[Remembered],
        conversation: str,
        answer: str | None,
        shown: Mapping[str, tuple[str, ...]],
        before: Sequence[Remembered],
    ) -> None:
        """Add an answer's memories to those made, with ids of their own; what they are made of (`before`) stays where
        there is none."""
        lines = list(memory_lines(answer or ""))
        self.unusable += not lines
        for text, named in lines:
            rests_on = [id for id in named if id in shown] or list(shown)
            turns = tuple(dict.fromkeys(turn for id in rests_on for turn in shown[id]))
            made.append(Remembered(f"m{len(made) + 1}", conversation, text, turns))
        if not lines:
            made += [memory._replace(id=f"m{len(made) + place}") for place, memory in enumerate(before, 1)]


_LINE = re.compile(r"^\s*(?P<mark>[-*•]|\d+[.)])?\s*(?P<text>.*?)\s*(?:\[(?P<ids>[^\[\]]*)\]\s*\.?)?\s*$")


def memory_lines(answer: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The memories of an answer, one a line, and the ids in brackets behind each.

    Where some lines are marked as of a list, the others are talk. A line of less than two words is no memory, and the
    same words again are none: small models go round in circles.
    """
    found = [match for line in answer.splitlines() if (match := _LINE.match(line))]
    listed = [match for match in found if match["mark"]]
    said: set[str] = set()
    for match in listed or found:
        if len(words(match["text"])) > 1 and match["text"] not in said:
            said.add(match["text"])
            yield match["text"], tuple(id.strip().strip("\"'") for id in re.split(r"[,;]", match["ids"] or ""))


def _parts(source: Source) -> Iterator[tuple[Passage, ...]]:
    history = source.history
    passages = [history.passage(place) for place in range(history.passage_count)]
    for begin in range(0, len(passages), PASSAGES_A_REQUEST):
        yield tuple(passages[begin : begin + PASSAGES_A_REQUEST])


def _batches(memories: Sequence[Remembered]) -> Iterator[Sequence[Remembered]]:
    for begin in range(0, len(memories), MEMORIES_A_REQUEST):
        yield memories[begin : begin + MEMORIES_A_REQUEST]


def _listed(memory: Remembered) -> str:
    return "\n".join((f"memory {quoted(memory.id)}", *lines_of(memory.text)))


def _filled(template: str, body: str) -> str:
    return prompts.load(template).substitute(fence=fence_of(body), body=body)
