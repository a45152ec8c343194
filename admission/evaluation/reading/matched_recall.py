"""Matched recall: one ranking scored on the shortest prefix that holds enough of what the question needs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from admission.evaluation.reading.axis_table import NO, OPEN, YES, Values, conjunctions
from admission.records import Record

TAU = 0.8
_ROUNDING = 1e-9


class Prefix(Record):
    """What was found in one ranking within a budget of places.

    `recall`: share of the required memories among all its places. `size` is N of the shortest prefix that reaches tau,
    None where none does within the budget (infeasible); of its memories `violations` are inadmissible (c), `admissible`
    so (v) and `unresolved` neither (h), all 0 where infeasible.
    """

    recall: float
    size: int | None
    violations: int = 0
    admissible: int = 0
    unresolved: int = 0

    @property
    def reached(self) -> bool:
        return self.size is not None

    @property
    def known_risk(self) -> float | None:
        """c / (c + v); None where nothing is known."""
        known = self.violations + self.admissible
        return self.violations / known if known else None

    @property
    def coverage(self) -> float | None:
        """(c + v) / N."""
        return None if self.size is None else (self.violations + self.admissible) / self.size

    @property
    def lower(self) -> float | None:
        """c / N: the risk if everything unresolved is admissible."""
        return None if self.size is None else self.violations / self.size

    @property
    def upper(self) -> float | None:
        """(c + h) / N: the risk if nothing unresolved is."""
        return None if self.size is None else (self.violations + self.unresolved) / self.size

    @property
    def loss(self) -> float:
        """Recall-constrained loss: the upper bound where tau is reached, 1 where it is not."""
        return 1.0 if self.upper is None else self.upper


def prefix_size(ranking: Sequence[int], required: Collection[int], tau: float = TAU) -> tuple[float, int | None]:
    """The recall of the whole ranking, and k*: the length of its shortest prefix whose recall is at least tau."""
    places = np.flatnonzero(np.isin(np.asarray(ranking, dtype=np.intp), list(required)))
    needed = int(np.ceil(tau * len(required) - _ROUNDING))
    return places.size / len(required), int(places[needed - 1]) + 1 if places.size >= needed else None


def score(ranking: Sequence[int], required: Collection[int], values: Values, tau: float = TAU) -> Prefix:
    """Score a ranking of distinct memories. `values` (memories of the ranking, axes) are their axes, of which as many
    count as there are columns. Source: method, matched-recall comparison (arXiv:2610.07309, equations 8 to 10)."""
    recall, size = prefix_size(ranking, required, tau)
    if size is None:
        return Prefix(recall=recall, size=None)
    found = conjunctions(values[:size])
    return Prefix(
        recall=recall,
        size=size,
        violations=int((found == NO).sum()),
        admissible=int((found == YES).sum()),
        unresolved=int((found == OPEN).sum()),
    )
