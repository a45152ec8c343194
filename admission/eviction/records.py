"""The nouns of the eviction audit: memories in histories, and questions labelled with the memories that answer them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from admission.errors import InputError
from admission.records import Record


class Memory(Record):
    """What a store keeps: its text, and when it was written (ISO 8601), if known. A history has them oldest first."""

    id: str = Field(min_length=1)
    text: str
    time: str | None = None


class LabelledQuestion(Record):
    """A question about one history. `gold`: the ids of all memories that its answer needs. `kind`: a class of the data
    set's own. Where it is not `answerable`, the right answer is to abstain, and there is nothing to restore."""

    id: str = Field(min_length=1)
    history: str
    text: str
    gold: tuple[str, ...]
    answer: str | None = None
    kind: str = ""
    time: str | None = None
    answerable: bool = True


class History(Record):
    """All memories of one store, oldest first, before anything is evicted."""

    id: str = Field(min_length=1)
    memories: tuple[Memory, ...] = Field(min_length=1)


@dataclass(frozen=True)
class AuditData:
    """A data set. `about` says in words what was taken and what was left out."""

    name: str
    histories: tuple[History, ...]
    questions: tuple[LabelledQuestion, ...]
    about: str

    @property
    def digest(self) -> str:
        """SHA-256 of everything in it."""
        made = hashlib.sha256()
        for record in (*self.histories, *self.questions):
            made.update(record.model_dump_json().encode() + b"\n")
        return made.hexdigest()


def sampled(data: AuditData, size: int, seed: int) -> AuditData:
    """`size` of the questions that can be restored, drawn by `seed`, with their histories, and no others. A larger
    sample holds the smaller ones of its seed. All data where there are no more."""
    able = [question for question in data.questions if question.answerable and question.gold]
    if size >= len(able):
        return data
    drawn = sorted(np.random.default_rng(seed).permutation(len(able))[:size].tolist())
    about = f"{data.about} A sample: {size} of the {len(able)} questions with evidence, drawn with seed {seed}."
    questions = tuple(able[place] for place in drawn)
    asked = {question.history for question in questions}
    return AuditData(data.name, tuple(h for h in data.histories if h.id in asked), questions, about)


def checked(data: AuditData) -> AuditData:
    """The same data. Raises `InputError`: an id comes twice, a question names no history or no memory of it."""
    known = {history.id: {memory.id for memory in history.memories} for history in data.histories}
    if len(known) < len(data.histories):
        raise InputError("history", "two have the same id", "give each its own id")
    for history in data.histories:
        if len(known[history.id]) < len(history.memories):
            raise InputError("memory", f"two of history {history.id!r} have the same id", "give each its own id")
    seen: set[str] = set()
    for question in data.questions:
        if question.id in seen:
            raise InputError("question", f"two are called {question.id!r}", "give each its own id")
        seen.add(question.id)
        if question.history not in known:
            raise InputError("history", f"{question.history!r} of question {question.id!r} is none", "name one by id")
        missing = [id for id in question.gold if id not in known[question.history]]
        if missing:
            problem = f"question {question.id!r} needs {missing[0]!r}, which is no memory of its history"
            raise InputError("gold", problem, "name memories by their ids")
    return data
