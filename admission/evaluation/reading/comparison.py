"""`eval read`: every route with every ranker on every question, and the figures of each at equal recall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from admission.evaluation.paired import Interval, group_interval
from admission.evaluation.reading.axis_table import AXES, NO, Axis, stated_axes
from admission.evaluation.reading.matched_recall import TAU, Prefix, score
from admission.evaluation.reading.questions import Questions, Reader
from admission.evaluation.reading.routes import NO_RANKER, Route, routes
from admission.records import Record

Counted = Literal["stated", "all"]
"""Which axes a violation is counted on: those the data say anything of, or all three."""
BASE = "global"

Floats = NDArray[np.float64]


class RouteFigures(Record):
    """One route with one ranker and K places, on the axes counted. Means over questions, each with equal weight.

    `recall`: share of the required memories in the K places. `reach`: share of questions with a prefix of at least tau.
    Of the reached prefixes: `known_risk` c/(c+v) (where anything is known), `coverage` (c+v)/N, the risk interval from
    `lower` c/N to `upper` (c+h)/N, `width` of it, `any_violation` (share with c > 0) and `violations` (c).
    `loss`: upper where reached, 1 where not. `scope_violations`: share of the places filled that hold another
    namespace's memory. `computations`: similarities computed a question. `against_global`: differences to the global
    route with the same ranker, question by question.
    """

    route: str
    ranker: str
    k: int
    counted: Counted
    recall: Interval
    reach: Interval
    known_risk: Interval
    coverage: Interval
    lower: Interval
    upper: Interval
    width: Interval
    any_violation: Interval
    violations: Interval
    loss: Interval
    scope_violations: Interval
    computations: float
    against_global: dict[str, Interval]


class Comparison(Record):
    """All figures of a run. `stated`: the axes on which the data say anything."""

    data: str
    data_digest: str
    memories: int
    questions: int
    groups: int
    tau: float
    stated: tuple[Axis, ...]
    figures: tuple[RouteFigures, ...]

    def of(self, route: str, ranker: str, k: int, counted: Counted = "stated") -> RouteFigures:
        """The figures under these names. Raises `KeyError` if there are none."""
        for found in self.figures:
            if (found.route, found.ranker, found.k, found.counted) == (route, ranker, k, counted):
                return found
        raise KeyError((route, ranker, k, counted))


class _Cell:
    """What one route with one ranker and K places found, question by question."""

    def __init__(self) -> None:
        self.prefixes: dict[Counted, list[Prefix]] = {}
        self.foreign: list[float] = []
        self.computations: list[int] = []


_Key = tuple[str, str, int]


def compare(
    questions: Questions,
    rankers: Sequence[str],
    *,
    budgets: Sequence[int] = (20, 100),
    tau: float = TAU,
    compared: Sequence[Route] | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Comparison:
    """Walk every question's rankings once, to the largest of the `budgets` (places). `advance` is called a question.

    `rankers`: names of the scores that `questions` has, and `fusion`. Routes without a ranker are walked once.
    """
    shown = tuple(routes() if compared is None else compared)
    stated = stated_axes(questions.data, questions.reference.settings)
    counted: dict[Counted, list[int]] = {"stated": [AXES.index(axis) for axis in stated], "all": [0, 1, 2]}
    if stated == AXES:
        del counted["all"]
    cells: dict[_Key, _Cell] = {
        (route.name, ranker, k): _Cell()
        for k in budgets
        for ranker in (*rankers, NO_RANKER)
        for route in shown
        if route.uses_ranker == (ranker != NO_RANKER)
    }
    for reader in questions:
        _walk(reader, shown, cells, counted, tau)
        advance()
    groups = [question.group for question in questions.data.questions]
    return Comparison(
        data=questions.data.name,
        data_digest=questions.data.digest,
        memories=len(questions.data.memories),
        questions=len(questions),
        groups=len(set(groups)),
        tau=tau,
        stated=stated,
        figures=tuple(
            _figures(key, kind, cell, cells.get((BASE, *key[1:])), groups)
            for kind in counted
            for key, cell in cells.items()
        ),
    )


def _walk(
    reader: Reader, shown: Sequence[Route], cells: dict[_Key, _Cell], counted: dict[Counted, list[int]], tau: float
) -> None:
    """One question through all routes."""
    budgets = sorted({k for _, _, k in cells})
    for route, ranker in {(name, ranker): None for name, ranker, _ in cells}:
        found = next(r for r in shown if r.name == route).retrieve(reader.asked, ranker, budgets[-1])
        values = reader.axes.values(found.ranking)
        for k in budgets:
            cell = cells[route, ranker, k]
            ranking = found.ranking[:k].tolist()
            for kind, columns in counted.items():
                prefix = score(ranking, reader.required, values[:k][:, columns], tau)
                cell.prefixes.setdefault(kind, []).append(prefix)
            cell.foreign.append(float((values[:k, 0] == NO).mean()) if ranking else float("nan"))
            cell.computations.append(found.computations)


def _figures(key: _Key, kind: Counted, cell: _Cell, base: _Cell | None, groups: Sequence[str]) -> RouteFigures:
    prefixes = cell.prefixes[kind]
    reached = [prefix.size is not None for prefix in prefixes]
    width = [None if prefix.coverage is None else 1.0 - prefix.coverage for prefix in prefixes]
    against: dict[str, Interval] = {}
    if base is not None and base is not cell:
        pairs = list(zip(prefixes, base.prefixes[kind], strict=True))
        against = {
            "recall": group_interval([ours.recall - theirs.recall for ours, theirs in pairs], groups),
            "reach": group_interval([float(ours.reached) - float(theirs.reached) for ours, theirs in pairs], groups),
            "loss": group_interval([ours.loss - theirs.loss for ours, theirs in pairs], groups),
        }
    return RouteFigures(
        route=key[0],
        ranker=key[1],
        k=key[2],
        counted=kind,
        recall=group_interval([prefix.recall for prefix in prefixes], groups),
        reach=group_interval([float(yes) for yes in reached], groups),
        known_risk=_over([prefix.known_risk for prefix in prefixes], groups),
        coverage=_over([prefix.coverage for prefix in prefixes], groups),
        lower=_over([prefix.lower for prefix in prefixes], groups),
        upper=_over([prefix.upper for prefix in prefixes], groups),
        width=_over(width, groups),
        any_violation=_over([float(p.violations > 0) if p.reached else None for p in prefixes], groups),
        violations=_over([float(p.violations) if p.reached else None for p in prefixes], groups),
        loss=group_interval([prefix.loss for prefix in prefixes], groups),
        scope_violations=_over([None if np.isnan(share) else share for share in cell.foreign], groups),
        computations=float(np.mean(cell.computations)),
        against_global=against,
    )


def _over(values: Sequence[float | None], groups: Sequence[str]) -> Interval:
    """The mean of the values there are."""
    there = [(value, group) for value, group in zip(values, groups, strict=True) if value is not None]
    return group_interval([value for value, _ in there], [group for _, group in there])
