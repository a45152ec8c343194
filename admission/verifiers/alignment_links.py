"""Links an obligation states between two parts, looked for between the clauses that say those parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from admission.verifiers.alignment_structure import Structure
from admission.verifiers.checks.links import Link, link_of
from admission.verifiers.checks.reading import Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What opens a clause -> for which kinds of link it joins (main before it, other from it on), and the other way round.
_FORWARD = {
    "cause": ("cause",),
    "purpose": ("purpose", "effect", "cause"),
    "condition": ("condition",),
    "before": ("before",),
    "after": ("after",),
}
_BACKWARD = {
    "cause": ("effect",),
    "purpose": ("effect",),
    "condition": ("then",),
    "before": ("after",),
    "after": ("then", "before"),
}
_LOOSE = ("comma", "joined", "start", "then", "effect", "before", "after")
_REACH = 3


@dataclass(frozen=True, slots=True)
class Linked:
    """How well the obligation's two parts stand joined, in [0, 1].

    `strong` by a connective of the kind in the right direction; `loose` merely side by side; `reversed` by such a
    connective the other way round; `elsewhere` one part with such a connective that joins something else.
    """

    kind: str = ""
    strong: float = 0.0
    loose: float = 0.0
    reversed: float = 0.0
    elsewhere: float = 0.0


def linked(found: Structure) -> Linked:
    """The obligation's first link measured on the clauses said; an empty `Linked` without one."""
    link = link_of(found.alignment.statement)
    if link is None or not found.told or not len(found.clause_of):
        return Linked()
    main, other = _side(found, link.main), _side(found, link.other)
    if main is None or other is None:
        return Linked(link.kind)
    kind = _kind(link)
    opened = [clause.link for clause in found.told]
    forward = np.array([opening in _FORWARD[kind] for opening in opened])
    backward = np.array([opening in _BACKWARD[kind] for opening in opened])
    loose = np.array([opening in _LOOSE for opening in opened])
    sentence = np.array([clause.sentence for clause in found.told])
    # "If it rains, I stay": a sentence may open with its connective; the other part follows in the next clauses.
    leads = forward & np.r_[True, sentence[1:] != sentence[:-1]]
    led = np.minimum(other.here, main.later)
    right, wrong = np.minimum(main.before, other.after), np.minimum(other.before, main.after)
    elsewhere = np.where(
        forward, main.before * (1 - other.after), np.where(backward, main.after * (1 - other.before), 0)
    )
    return Linked(
        link.kind,
        strong=_most((led, leads), (right, forward), (wrong, backward)),
        loose=_most((np.maximum(right, wrong), loose)),
        reversed=_most((wrong, forward), (right, backward)),
        elsewhere=float(elsewhere.max()),
    )


def _most(*scored: tuple[NDArray[np.float64], NDArray[np.bool_]]) -> float:
    return float(max((scores * chosen).max() for scores, chosen in scored))


def _kind(link: Link) -> str:
    if link.kind != "order":
        return link.kind
    return "after" if link.connective.lower() in ("after", "once", "following") else "before"


@dataclass(frozen=True, slots=True)
class _Side:
    """(clauses,) share of one part said `here`, in the clauses shortly `before`, from this on (`after`), or `later`."""

    here: NDArray[np.float64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    later: NDArray[np.float64]


def _side(found: Structure, part: Text) -> _Side | None:
    """None for a part with no words of its own (a name alone is said in every turn)."""
    wanted = {word.stem for word in part.words if word.content}
    rows = [i for i, w in enumerate(found.alignment.content) if w.stem in wanted and found.weights[i] > 0]
    if not rows:
        return None
    best, weights = found.by_clause(rows), found.weights[rows] / found.weights[rows].sum()
    turns = _turn_numbers(found)
    # An answer goes on with what was asked, so what stands before a turn's first clauses is the turn before it.
    earlier = [_shifted(best, turns, -step, across=1) for step in range(1, _REACH + 1)]
    later = [_shifted(best, turns, step, across=0) for step in range(1, _REACH)]
    return _Side(
        here=weights @ best,
        before=weights @ np.maximum.reduce(earlier),
        after=weights @ np.maximum.reduce([best, *later]),
        later=weights @ np.maximum.reduce(later),
    )


def _turn_numbers(found: Structure) -> NDArray[np.int64]:
    names = list(dict.fromkeys(clause.turn for clause in found.told))
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[clause.turn] for clause in found.told], dtype=np.int64)


def _shifted(best: NDArray[np.float64], turns: NDArray[np.int64], step: int, across: int) -> NDArray[np.float64]:
    """What stands `step` clauses further, 0 where that is more than `across` turns away."""
    out = np.zeros_like(best)
    size = best.shape[1]
    if abs(step) < size:
        to = slice(-step, None) if step < 0 else slice(0, size - step)
        source = slice(0, size + step) if step < 0 else slice(step, None)
        near = np.abs(turns[to] - turns[source]) <= across
        out[:, to] = best[:, source] * near
    return out
