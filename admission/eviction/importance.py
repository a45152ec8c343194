"""Eviction by importance: what is least worth remembering goes first, as a scorer sees it that knows no question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from admission.eviction.policies import Order
from admission.eviction.records import Memory
from admission.eviction.redundancy import Encoder

LOWEST, HIGHEST = 1.0, 10.0

_DURABLE = (
    "I was diagnosed with a condition and have to take medicine for it.",
    "My job, my family and the place where I live.",
    "I prefer this and I cannot stand that; please remember it.",
    "We have an appointment on that date, and I promised to be there.",
    "I decided to move, to marry, to study, to change my career.",
    "I own this, I bought it, I paid so much for it.",
)
_PASSING = (
    "Hi! How are you doing today?",
    "Thanks so much, that means a lot to me!",
    "Wow, that sounds great!",
    "Haha, yes, totally.",
    "Talk to you later, take care, bye!",
    "Good question, let me think about that.",
)


class ImportanceScorer(Protocol):
    """How much each text is worth remembering in general, from 1 (small talk) to 10 (a lasting fact, a preference, a
    commitment). `identity`: what the scores depend on, as JSON."""

    @property
    def identity(self) -> dict[str, object]: ...

    def scores(self, texts: Sequence[str]) -> Sequence[float]: ...


class Importance:
    """The least important go first; of equals, the oldest."""

    name = "importance"

    def __init__(self, scorer: ImportanceScorer) -> None:
        self._scorer = scorer

    @property
    def identity(self) -> dict[str, object]:
        return {"policy": self.name, "scorer": self._scorer.identity}

    def order(self, memories: Sequence[Memory]) -> Order:
        scores = self._scorer.scores([memory.text for memory in memories])
        return np.argsort(np.asarray(scores, dtype=np.float64), kind="stable")


class EmbeddedImportance:
    """A scorer without a chat model: nearer to what lasts than to what passes, by sentence vectors.

    The difference of the mean cosines with six sentences of either kind, which lies in [-1, 1] but for rare cases, laid
    over 1 to 10. Coarse: it tells small talk from statements, hardly one statement from another.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": "embedded", "durable": list(_DURABLE), "passing": list(_PASSING)}

    def scores(self, texts: Sequence[str]) -> list[float]:
        vectors = self._encoder.encode([*_DURABLE, *_PASSING, *texts]).astype(np.float64)
        split = len(_DURABLE) + len(_PASSING)
        durable, passing, asked = vectors[: len(_DURABLE)], vectors[len(_DURABLE) : split], vectors[split:]
        difference: NDArray[np.float64] = (asked @ durable.T).mean(axis=1) - (asked @ passing.T).mean(axis=1)
        middle, half = (LOWEST + HIGHEST) / 2, (HIGHEST - LOWEST) / 2
        return [float(score) for score in np.clip(middle + half * difference, LOWEST, HIGHEST)]
