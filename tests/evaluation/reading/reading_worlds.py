"""Small data sets for comparisons of routes: two people, memories of both, questions of both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from admission.evaluation.reading.dataset import ReadingData, RequiredEvidence, StoredMemory
from admission.evaluation.reading.questions import Questions
from admission.metadata import Lifecycle, RecordMetadata
from admission.reading.context import QueryContext
from admission.reading_settings import ReadingSettings

OPEN_GATE = ReadingSettings(expose_unresolved=True)


def memory(id: str, owner: str | None, text: str = "", **stated: object) -> StoredMemory:
    metadata = RecordMetadata.model_validate({"namespace": None if owner is None else (owner,), **stated})
    return StoredMemory(id=id, text=text or id, metadata=metadata)


def question(id: str, owner: str, required: Sequence[str], text: str = "?", **context: object) -> RequiredEvidence:
    asked = QueryContext.model_validate({"query": text, "principal": owner, "namespace": (owner,), **context})
    return RequiredEvidence(id=id, context=asked, required=tuple(required), group=owner)


def two_people(memories_each: int = 20, questions_each: int = 5) -> ReadingData:
    """Ana's and Ben's memories in turn; question n of each needs that person's memories n and n + 1."""
    memories = [memory(f"{who}{n}", who) for n in range(memories_each) for who in ("ana", "ben")]
    questions = [
        question(f"{who}?{n}", who, [f"{who}{n}", f"{who}{n + 1}"])
        for who in ("ana", "ben")
        for n in range(questions_each)
    ]
    return ReadingData("two people", tuple(memories), tuple(questions), "made up")


def scripted(data: ReadingData, best_first: bool = True) -> Questions:
    """A fake ranker that knows the answers: it puts what a question requires first, or last."""
    required = [np.isin([m.id for m in data.memories], q.required).astype(float) for q in data.questions]

    def scores(number: int) -> NDArray[np.floating]:
        return required[number] if best_first else -required[number]

    return Questions(data, {"scripted": scores}, OPEN_GATE)


def by_position(data: ReadingData, settings: ReadingSettings = OPEN_GATE) -> Questions:
    """A fake ranker for which the collection is in order, the first memory best."""
    falling = -np.arange(len(data.memories), dtype=float)
    return Questions(data, {"scripted": lambda number: falling}, settings)


STALE = Lifecycle(state="stale")
CURRENT = Lifecycle(state="current")
