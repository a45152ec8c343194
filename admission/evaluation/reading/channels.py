"""Corruption channels: which error is put into whose metadata, at which rate. What the data really say is untouched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from admission.evaluation.reading.questions import Questions
from admission.metadata import Lifecycle, RecordMetadata

RATES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS = 3
NOWHERE = -1
"""The place of a namespace that is nobody's, or missing."""

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Seen:
    """What the system sees of every memory (memories,). `namespace`, `also`: places in `Questions.namespaces`, or
    NOWHERE; a memory is searched for whoever owns either. `altered`: its policy or lifecycle is the channel's."""

    namespace: Places
    also: Places
    altered: NDArray[np.bool_]


@dataclass(frozen=True)
class Channel:
    """One kind of error. A channel moves namespaces (`move`) or writes other metadata over a memory's (`write`)."""

    name: str
    about: str
    move: Callable[[Places, NDArray[np.bool_], int, np.random.Generator], tuple[Places, Places]] | None = None
    write: Callable[[RecordMetadata], RecordMetadata] | None = None

    def seen(self, questions: Questions, rate: float, seed: int) -> Seen:
        """The store as the system sees it: each memory is hit with probability `rate`.

        What a rate hits, a higher one hits too, in the same way: curves do not cross by chance alone.
        """
        clean = questions.namespace_of
        random = np.random.default_rng([seed, *self.name.encode()])
        hit = random.random(clean.size) < rate
        namespace, also = clean, np.full_like(clean, NOWHERE)
        if self.move is not None:
            namespace, also = self.move(clean, hit, len(questions.namespaces), random)
        return Seen(namespace, also, hit if self.write is not None else np.zeros_like(hit))


def channels(purposes: tuple[str, ...]) -> tuple[Channel, ...]:
    """All channels. `purposes`: those that the data's questions have, for the channel that allows everything."""

    def deny(found: RecordMetadata) -> RecordMetadata:
        return found.model_copy(update={"purpose_allow": ()})

    def allow(found: RecordMetadata) -> RecordMetadata:
        if not purposes:  # nobody asks for any: allowing them all says nothing, where () would say "for none"
            return unstated(found)
        return found.model_copy(update={"purpose_allow": purposes, "policy_tags": ()})

    def unstated(found: RecordMetadata) -> RecordMetadata:
        return found.model_copy(update={"purpose_allow": None, "policy_tags": None})

    def stale(found: RecordMetadata) -> RecordMetadata:
        return found.model_copy(update={"lifecycle": Lifecycle(state="stale")})

    def no_state(found: RecordMetadata) -> RecordMetadata:
        return found.model_copy(update={"lifecycle": Lifecycle()})

    return (
        Channel("namespace false deny", "A memory carries a namespace that is nobody's.", move=_nowhere),
        Channel("namespace false allow", "A memory is in one other namespace besides its own.", move=_in_another),
        Channel("namespace missing", "A memory's namespace is missing; no boundary lets it in.", move=_nowhere),
        Channel(
            "namespace swapped", "The namespaces of the memories hit are dealt out anew among them.", move=_swapped
        ),
        Channel("policy false deny", "A memory is said to be for no purpose.", write=deny),
        Channel("policy false allow", "A memory is said to be for every purpose, without tags.", write=allow),
        Channel("policy missing", "A memory's purposes and tags are missing.", write=unstated),
        Channel("lifecycle false stale", "A memory is said to be stale.", write=stale),
        Channel("lifecycle missing", "A memory's state is missing.", write=no_state),
    )


def _nowhere(
    clean: Places, hit: NDArray[np.bool_], namespaces: int, random: np.random.Generator
) -> tuple[Places, Places]:
    return np.where(hit, NOWHERE, clean), np.full_like(clean, NOWHERE)


def _in_another(
    clean: Places, hit: NDArray[np.bool_], namespaces: int, random: np.random.Generator
) -> tuple[Places, Places]:
    if namespaces < 2:
        return clean, np.full_like(clean, NOWHERE)
    other = (clean + random.integers(1, namespaces, size=clean.size)) % namespaces
    return clean, np.where(hit, other, NOWHERE)


def _swapped(
    clean: Places, hit: NDArray[np.bool_], namespaces: int, random: np.random.Generator
) -> tuple[Places, Places]:
    seen = clean.copy()
    seen[hit] = random.permutation(clean[hit])
    return seen, np.full_like(clean, NOWHERE)
