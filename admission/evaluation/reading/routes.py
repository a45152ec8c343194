"""Retrieval routes: which part of the store a question is answered from, at what cost in similarity computations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from admission.evaluation.reading.axis_table import NO, AxisTable
from admission.evaluation.reading.rankers import Mask, Order, Ranked

DEPTHS = (20, 50, 100, 200, 500)
NO_RANKER = "none"


@dataclass(frozen=True)
class Asked:
    """One question as the routes see it.

    `own` (memories,): the memories in the principal's namespace. `required`: what the answer needs, for the oracle
    alone. `newest`: all memories, those written last before the question first. `current_axes`: readings as if every
    question were about what holds now. `seed`: of the routes that draw.
    """

    ranked: Ranked
    own: Mask
    required: NDArray[np.intp]
    newest: Order
    current_axes: AxisTable
    seed: tuple[int, int]


@dataclass(frozen=True)
class Retrieved:
    """Memories in order, best first, at most as many as asked for, and how many similarities were computed for it."""

    ranking: Order
    computations: int


Retrieve = Callable[[Asked, str, int], Retrieved]


@dataclass(frozen=True)
class Route:
    """`retrieve` takes the question, the ranker's name and the number of places; `about` says in words what it does."""

    name: str
    about: str
    retrieve: Retrieve
    uses_ranker: bool = True


def routes() -> tuple[Route, ...]:
    """Those compared, in the order of the tables."""
    after = (
        Route(
            f"post-filter@{depth}",
            f"The first {depth} of the global ranking, other namespaces' memories then taken out.",
            _post_filter(depth),
        )
        for depth in DEPTHS
    )
    return (
        Route("global", "All memories.", _global),
        Route("namespace", "The memories of the principal's namespace.", _namespace),
        *after,
        Route("random partition", "As many memories as the namespace holds, drawn from all.", _random_partition),
        Route("current only", "The namespace without what is stale, superseded or forgotten now.", _current_only),
        Route("recency", "The newest memories of the namespace before the question; no ranker.", _recency, False),
        Route("global + recency", "All memories, the ranker's order fused with newest first.", _with_recency),
        Route(
            "oracle",
            "The required memories among random others, as many as the namespace holds. Knows the answer: a diagnosis.",
            _oracle,
        ),
    )


def newest_first(written: NDArray[np.float64], asked_at: str | None) -> Order:
    """Places of memories, the one written last before the question first, then those written after it, then those
    without a time.

    `written`: `seconds` of each memory. `asked_at` as in `seconds`; a day alone counts to its end.
    """
    until = seconds(asked_at)
    if asked_at is not None and len(asked_at) <= len("2024-01-01"):
        until += timedelta(days=1).total_seconds()
    kind = np.where(np.isnan(written), 2, np.where(written >= until, 1, 0))
    return np.lexsort((-np.arange(written.size), -written, kind))


def seconds(time: str | None) -> float:
    """An ISO 8601 time, UTC where it has no offset, as seconds since 1970; NaN where there is none."""
    if time is None:
        return float("nan")
    at = datetime.fromisoformat(time)
    return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp()


def random_others(size: int, total: int, kept: NDArray[np.intp], seed: tuple[int, int]) -> Mask:
    """A mask (total,) of `size` memories: the `kept` and, up to the size, others drawn without replacement."""
    mask = np.zeros(total, dtype=bool)
    mask[kept] = True
    rest = np.flatnonzero(~mask)
    drawn = np.random.default_rng(seed).permutation(rest.size)[: max(0, size - kept.size)]
    mask[rest[drawn]] = True
    return mask


def _global(asked: Asked, ranker: str, places: int) -> Retrieved:
    return Retrieved(asked.ranked.order(ranker)[:places], asked.ranked.scored(ranker, asked.own.size))


def _within(asked: Asked, ranker: str, places: int, among: Mask) -> Retrieved:
    return Retrieved(asked.ranked.order(ranker, among)[:places], asked.ranked.scored(ranker, int(among.sum())))


def _namespace(asked: Asked, ranker: str, places: int) -> Retrieved:
    return _within(asked, ranker, places, asked.own)


def _post_filter(depth: int) -> Retrieve:
    def retrieve(asked: Asked, ranker: str, places: int) -> Retrieved:
        found = _global(asked, ranker, depth)
        return Retrieved(found.ranking[asked.own[found.ranking]][:places], found.computations)

    return retrieve


def _random_partition(asked: Asked, ranker: str, places: int) -> Retrieved:
    nothing = np.empty(0, dtype=np.intp)
    return _within(asked, ranker, places, random_others(int(asked.own.sum()), asked.own.size, nothing, asked.seed))


def _current_only(asked: Asked, ranker: str, places: int) -> Retrieved:
    own = np.flatnonzero(asked.own)
    current = np.zeros_like(asked.own)
    current[own] = asked.current_axes.values(own)[:, 2] != NO
    return _within(asked, ranker, places, current)


def _recency(asked: Asked, ranker: str, places: int) -> Retrieved:
    return Retrieved(asked.newest[asked.own[asked.newest]][:places], 0)


def _with_recency(asked: Asked, ranker: str, places: int) -> Retrieved:
    order = asked.ranked.order(ranker, None, asked.newest)
    return Retrieved(order[:places], asked.ranked.scored(ranker, asked.own.size))


def _oracle(asked: Asked, ranker: str, places: int) -> Retrieved:
    among = random_others(int(asked.own.sum()), asked.own.size, asked.required, asked.seed)
    return _within(asked, ranker, places, among)
