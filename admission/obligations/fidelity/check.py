"""The fidelity check: whether proposed obligations together say what a memory says, and none of them more."""

from __future__ import annotations

import json
from collections.abc import Sequence

from admission.language import is_foreign
from admission.obligations.clauses import tokenise
from admission.obligations.coverage import cover
from admission.obligations.fidelity.companions import Statement
from admission.obligations.fidelity.marks import Mark, marks_in, marks_of
from admission.obligations.fidelity.pronouns import unbound
from admission.obligations.fidelity.tokens import DENIALS
from admission.obligations.layout import is_question, statements
from admission.obligations.qualifications import is_time, type_of
from admission.obligations.splitting import MOST, split
from admission.records import Candidate, Obligation
from admission.text import word_set

LONGEST = 700
"""Characters of a sentence that is read by rule."""
LONGEST_MEMORY = 3000
"""Characters of a memory whose decomposition is checked: the check takes time by more than their number."""

_POINTING = word_set("this that these those")
_PLACED = ("content", "number", "operator")
_SHOWN = 80


def uncheckable(memory: str) -> str:
    """Why the rules cannot tell whether obligations are faithful to this memory (`code: detail`); "" where they can."""
    if is_foreign(memory):
        return "language: only of English can it be told whether statements are faithful"
    if len(memory) > LONGEST_MEMORY:
        return f"too_long: the memory has {len(memory)} characters, {LONGEST_MEMORY} at most are put to a model"
    found = statements(memory)
    if len(found) > MOST:
        return f"too_long: the memory has {len(found)} sentences, {MOST} at most are put to a model"
    longest = max(map(len, found), default=0)
    if longest > LONGEST:
        return f"too_long: a sentence has {longest} characters, {LONGEST} at most are read"
    return ""


def objections(memory: str, proposed: Sequence[Obligation]) -> tuple[str, ...]:
    """What is unfaithful in a decomposition of `memory`, in a few words each; empty where nothing is.

    None says more: each content word, number, name, preposition and word that denies, limits, doubts or links stands
    in the memory, in its order and tense, with whose doing it is, by which verb, and under which denial, modality,
    plan, report or condition (`companions`). A pronoun may be named where only one can be meant. Together they say the
    memory: `cover` has nothing to add. By rule, for English; what the rules cannot follow is an objection, not a pass.
    """
    if not proposed:
        return ("there is no statement, but the memory states something",)
    if len(proposed) > MOST:
        return (f"there are {len(proposed)} statements, at most {MOST} are taken",)
    memory_marks = marks_of(memory)
    known = {o.text for o in split(Candidate(id="", conversation="", namespace=(), memory=memory))} | {memory.strip()}
    found = [
        f"{_shown(o.text)} {wrong}"
        for o in proposed
        if o.text not in known and (wrong := _wrong(o.text, memory, memory_marks))
    ]
    texts = {o.text.strip() for o in proposed}
    found += [f"nothing says {_shown(o.text)}" for o in cover(memory, proposed) if o.text not in texts]
    return tuple(found)


def strictly_typed(proposed: Sequence[Obligation]) -> tuple[Obligation, ...]:
    """The obligations with the stricter of their own type and the one that a rule reads off their words.

    A relation that is called a fact would be asked for less closely.
    """
    order = ("fact", "qualification", "relation")
    return tuple(o.model_copy(update={"type": max(o.type, type_of(o.text), key=order.index)}) for o in proposed)


def _wrong(text: str, memory: str, said: Sequence[Mark]) -> str:
    """What the statement says that the memory does not; "" where it says nothing of the kind."""
    if is_question(text):
        return "is a question"
    if len(text) > LONGEST:
        return "is too long to be one statement"
    statement = Statement(text)
    own, forms = marks_in(statement), statement.forms()
    if not any(mark.kind in ("content", "number") for mark in own):
        return "states nothing"
    if unbound(statement.tokens) - unbound(tokenise(memory)) or _points_back(text, memory):
        return "does not stand alone"
    return _unfounded(own, said, forms) or _misplaced(own, said) or _disordered(own, said, forms, is_time(text))


def _points_back(text: str, memory: str) -> bool:
    first = text.split()[0].lower()
    return first in _POINTING and not memory.lower().startswith(first)


def _misplaced(own: Sequence[Mark], said: Sequence[Mark]) -> str:
    """A word of grammar that bears on nothing it bears on in the memory."""
    for mark in own:
        if mark.kind not in ("number", "operator", "preposition"):
            continue
        mine = mark.follows if mark.kind == "operator" else mark.follows[:1]
        # "Cannot" is "can" and "not", each of which has to be the memory's.
        apart = [frozenset([form]) for form in sorted(mark.forms)] if mark.kind == "operator" else [mark.forms]
        for wanted in apart:
            theirs = [other for other in said if other.kind == mark.kind and other.forms & wanted]
            if not theirs:
                return f"says {_shown(mark.word)}, which the memory does not"
            if mine and not any(a & b for other in theirs for b in other.follows for a in mine):
                return f"uses {_shown(mark.word)} otherwise than the memory"
    return ""


def _unfounded(own: Sequence[Mark], said: Sequence[Mark], forms: frozenset[str]) -> str:
    """A word that the memory has not, or not in this tense, or not without something that the statement leaves out."""
    placed = {k: [other for other in said if other.forms & mark.forms] for k, mark in enumerate(own)}
    for k, mark in enumerate(own):
        if mark.kind in _PLACED and not placed[k]:
            return f"says {_shown(mark.word)}, which the memory does not"
    for k, mark in enumerate(own):
        if mark.kind not in _PLACED:
            continue
        same = placed[k]
        timely = [other for other in same if _same_tense(mark, other)]
        if not timely:
            return f"puts {_shown(mark.word)} into another tense"
        if not any(_complete(other, forms) for other in timely):
            lost = next(need for need in timely[0].needs if not need & forms)
            return f"says {_shown(mark.word)} without {_shown(min(lost, key=lambda form: (len(form), form)))}"
    return ""


def _disordered(own: Sequence[Mark], said: Sequence[Mark], forms: frozenset[str], dated: bool) -> str:
    """That no place can be taken for each word so that they follow one another as in the memory.

    A phrase may change its place from the one end to the other ("In May, ..."), where the statement opens with it
    (`dated`: with a time) or with a preposition or connective. Several words may name one pronoun. A denial has no
    place of its own: "likes tea, not coffee" may be told as "does not like coffee".
    """
    places: list[list[int]] = []
    moves: list[bool] = []
    for before, mark in zip([None, *own], own, strict=False):
        if mark.kind in _PLACED and not mark.forms & DENIALS:
            fits = (k for k, other in enumerate(said) if other.forms & mark.forms and _same_tense(mark, other))
            places.append([k for k in fits if _complete(said[k], forms)])
            moves.append(mark.kind == "operator" or (before is not None and before.kind == "preposition"))
    shared = frozenset(k for k, mark in enumerate(said) if mark.kind == "pronoun")
    cuts = [cut for cut in range(1, len(places)) if dated or moves[0] or moves[cut]]
    kept = _walk(places, -1, shared) is not None or any(_turned(places, cut, shared) for cut in cuts)
    return "" if kept else "does not keep the order of the memory's words"


def _turned(places: Sequence[Sequence[int]], cut: int, shared: frozenset[int]) -> bool:
    """Whether the words before `cut` follow those after it in the memory."""
    end = _walk(places[cut:], -1, shared)
    return end is not None and _walk(places[:cut], end, shared) is not None


def _same_tense(mark: Mark, other: Mark) -> bool:
    return {mark.tense, other.tense} != {"past", "present"}


def _complete(mark: Mark, forms: frozenset[str]) -> bool:
    return all(need & forms for need in mark.needs)


def _walk(places: Sequence[Sequence[int]], at: int, shared: frozenset[int]) -> int | None:
    """The last place of the earliest walk through all of `places` after `at`; None where there is none."""
    for choices in places:
        later = [k for k in choices if k > at or (k == at and k in shared)]
        if not later:
            return None
        at = min(later)
    return at


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return json.dumps(line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…", ensure_ascii=False)
