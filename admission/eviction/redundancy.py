"""Redundancy-aware eviction: what others that stay say already goes first, by maximal marginal relevance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from admission.eviction.policies import Order
from admission.eviction.records import Memory

Vectors = NDArray[np.float32]
BALANCE = 0.5


class Encoder(Protocol):
    """Texts to unit vectors (texts, width), such as `SentenceVectors`."""

    def encode(self, texts: Sequence[str]) -> Vectors: ...


class RedundancyAware:
    """Keeps by maximal marginal relevance, so what goes first is what is least needed beside the rest.

    No question is seen, so the relevance of a memory is the cosine with the mean of all: how much it is about what the
    history is about. Of what is not kept yet, the next to keep has the greatest
    `BALANCE` * relevance - (1 - `BALANCE`) * (greatest cosine with one that is kept); of equals the newer.
    Source: Carbonell and Goldstein, SIGIR 1998.
    """

    name = "redundancy"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @property
    def identity(self) -> dict[str, object]:
        return {"policy": self.name, "balance": BALANCE, "relevance": "cosine with the mean of the history"}

    def order(self, memories: Sequence[Memory]) -> Order:
        if not memories:
            return np.empty(0, dtype=np.intp)
        return marginal_order(self._encoder.encode([memory.text for memory in memories]))


def marginal_order(vectors: Vectors) -> Order:
    """The places of unit `vectors` (memories, width), the first to go first."""
    # Newest first: argmax takes the first of equals.
    newest = vectors[::-1].astype(np.float64)
    relevance = newest @ _unit(newest.mean(axis=0))
    nearest = np.full(len(newest), -1.0)
    left = np.ones(len(newest), dtype=np.bool_)
    kept = np.empty(len(newest), dtype=np.intp)
    for step in range(len(newest)):
        redundancy = nearest if step else np.zeros(len(newest))
        worth = np.where(left, BALANCE * relevance - (1 - BALANCE) * redundancy, -np.inf)
        best = int(np.argmax(worth))
        kept[step] = best
        left[best] = False
        nearest = np.maximum(nearest, newest @ newest[best])
    return (len(newest) - 1 - kept)[::-1]


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
