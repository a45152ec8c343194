"""Eviction policies: in which order memories go, and what is left when the rest fits a budget of tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from admission.errors import InputError
from admission.eviction.records import Memory
from admission.eviction.tokens import Sizes, TokenCount, minilm_tokens

Order = NDArray[np.intp]
"""Places of memories, the first to go first."""
Kept = NDArray[np.bool_]
"""(memories,) which are kept."""
GOLD_SPEED = 3.0
"""How much faster than others the adversarial control evicts gold."""


class EvictionPolicy(Protocol):
    """Chooses what goes, from the memories alone: it never sees a question. Same memories, same order.

    `identity`: what its choices depend on, as JSON."""

    name: str

    @property
    def identity(self) -> dict[str, object]: ...

    def order(self, memories: Sequence[Memory]) -> Order:
        """Places of the memories (oldest first), in the order in which they go. One that is left out never goes."""
        ...


def survivors(
    memories: Sequence[Memory], budget: int, policy: EvictionPolicy, count: TokenCount = minilm_tokens
) -> tuple[str, ...]:
    """The ids of the memories that are kept, in their order: the policy's first go until the rest has at most `budget`
    tokens, as `count` counts them. Raises `InputError` for a budget below 0 or an id that comes twice."""
    ids = [memory.id for memory in memories]
    if len(set(ids)) < len(ids):
        raise InputError("memories", "two have the same id", "give each its own id")
    sizes = np.asarray(count([memory.text for memory in memories]), dtype=np.int64)
    kept = kept_within(policy.order(memories), sizes, budget)
    return tuple(id for id, stays in zip(ids, kept, strict=True) if stays)


def kept_within(order: Order, sizes: Sizes, budget: int) -> Kept:
    """(memories,) what is left when the first of `order` have gone until the rest has at most `budget` tokens."""
    if budget < 0:
        raise InputError("budget", f"{budget} is below 0", "give a number of tokens")
    left = sizes.sum() - np.concatenate([[0], np.cumsum(sizes[order])])
    fits = np.flatnonzero(left <= budget)
    gone = order[: int(fits[0])] if fits.size else order
    kept = np.ones(sizes.size, dtype=np.bool_)
    kept[gone] = False
    return kept


class KeepAll:
    """No eviction: the baseline, whatever the budget."""

    name = "none"

    @property
    def identity(self) -> dict[str, object]:
        return {"policy": self.name}

    def order(self, memories: Sequence[Memory]) -> Order:
        return np.empty(0, dtype=np.intp)


class Fifo:
    """First in, first out: the oldest go."""

    name = "fifo"

    @property
    def identity(self) -> dict[str, object]:
        return {"policy": self.name}

    def order(self, memories: Sequence[Memory]) -> Order:
        return np.arange(len(memories), dtype=np.intp)


class RandomOrder:
    """Every order is as likely as any other; which one follows from `seed` and the memories' ids."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    @property
    def identity(self) -> dict[str, object]:
        return {"policy": self.name, "seed": self._seed}

    def order(self, memories: Sequence[Memory]) -> Order:
        return _generator(self._seed, memories).permutation(len(memories)).astype(np.intp)


class Adversarial:
    """A control, for evaluation only: it knows which memories are gold and evicts them `GOLD_SPEED` times as fast.

    At every step a gold memory is that much likelier to be the next to go than any other. It shows that the audit sees
    a destruction that is there. Source of the order: weighted sampling without replacement, Efraimidis and Spirakis,
    Information Processing Letters 97, 2006.
    """

    name = "adversarial"

    def __init__(self, gold: Collection[str], seed: int = 0) -> None:
        self._gold = frozenset(gold)
        self._seed = seed

    @property
    def identity(self) -> dict[str, object]:
        return {"policy": self.name, "seed": self._seed, "gold_speed": GOLD_SPEED}

    def order(self, memories: Sequence[Memory]) -> Order:
        speed = np.array([GOLD_SPEED if memory.id in self._gold else 1.0 for memory in memories])
        waits = _generator(self._seed, memories).exponential(size=len(memories)) / speed
        return np.argsort(waits, kind="stable")


def _generator(seed: int, memories: Sequence[Memory]) -> np.random.Generator:
    made = hashlib.sha256("\0".join(memory.id for memory in memories).encode("utf-8", "surrogatepass"))
    return np.random.default_rng([seed, int.from_bytes(made.digest()[:8], "big")])
