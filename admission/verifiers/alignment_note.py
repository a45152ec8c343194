"""The sentence a person reads: what of an obligation did not align, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from admission.verifiers.alignment_structure import Party, Structure
from admission.verifiers.checks import Check

_MOST_PARTS = 3
_LONGEST_PART = 200
_CONFLICT = {
    "names": "{words} is not the name: the chat says '{said}' ({turn})",
    "numbers": "'{words}' is not said: the chat says '{said}' ({turn})",
    "dates": "'{words}' is not the day: the chat says {said} ({turn})",
    "clock": "'{words}' is not the time: the chat says '{said}' ({turn})",
    "negation": "one side denies '{words}': the chat says '{said}' ({turn})",
    "modality": "it is not only a {words}: the chat says '{said}' ({turn})",
    "speaker": "this is not about {words}: {said} ({turn})",
    "taken_back": "it was taken back: '{said}' ({turn})",
}
_MISSING = {
    "names": "{words} is not named",
    "numbers": "'{words}' is not said",
    "dates": "'{words}' is not said",
    "clock": "'{words}' is not said",
    "negation": "nothing is denied",
    "modality": "it is not said as a fact ({said}, {turn})",
    "speaker": "{words} does not say it ({said}, {turn})",
    "quotation": "it is only quoted ({turn})",
}
_MODE = {
    "fact": "told as a fact",
    "plan": "told as a plan",
    "wish": "told as a wish",
    "chance": "told as a possibility",
    "question": "only asked",
}
_FITS, _WORTH_TELLING = 0.5, 0.35
_SCOPE_CONFLICT = "'{words}' does not fit: the chat says '{said}' ({turn})"
_SCOPE_MISSING = "'{words}' is not said"
_LINK_MISSING = "the link '{words}' is not said"


def note_on(checks: Sequence[Check], unmatched: Sequence[str], doubted: Sequence[str] = ()) -> str:
    """At most three findings: conflicts, then what clauses tell otherwise (`doubted`), what is missing, unmatched
    words; or that everything aligns."""
    parts = [_conflict(check) for check in checks if check.state == "conflict"]
    parts += doubted
    parts += [_missing(check) for check in checks if check.state == "missing"]
    told = " ".join(parts)
    words = [word for word in unmatched if word not in told]
    if words:
        parts.append(f"no match for {', '.join(repr(word) for word in words[:4])}")
    if not parts:
        return "Every word aligns with what was said."
    sentence = "; ".join(_cut(part) for part in parts[:_MOST_PARTS])
    return sentence[0].upper() + sentence[1:] + "."


def doubts(found: Structure) -> list[str]:
    """In words, what the best aligned turn tells of somebody else, or in another mode than the obligation claims."""
    turns = found.by_turn()
    if not turns.size:
        return []
    inside = found.turn_of == int(np.argmax(turns))
    told = []
    for aspect in ("owner", "mode"):
        lost = found.said * (1.0 - found.fits[aspect]) * inside * found.weights[:, None]
        # Only a word that fits nowhere counts: the same word may stand in another clause that agrees.
        lost[(found.said * found.fits[aspect]).max(axis=1, initial=0.0) >= _FITS] = 0.0
        if lost.max(initial=0.0) < _WORTH_TELLING:
            continue
        row, column = (int(place) for place in np.unravel_index(int(np.argmax(lost)), lost.shape))
        told.append(_doubt(found, aspect, row, column))
    return told


def _doubt(found: Structure, aspect: str, row: int, column: int) -> str:
    clause = found.told[int(found.clause_of[column])]
    word = found.alignment.content[row].text
    if aspect == "mode":
        return f"'{word}' is {_MODE[clause.mode]}, not {_MODE[found.modes[row]]} ({clause.turn})"
    return f"'{word}' is told of {_called(clause.party)}, not of {_called(found.parties[row])} ({clause.turn})"


def _called(party: Party) -> str:
    return " ".join(sorted(party.called)) or "somebody else"


def _cut(part: str) -> str:
    return part if len(part) <= _LONGEST_PART else part[: _LONGEST_PART - 3] + "..."


def _conflict(check: Check) -> str:
    return _filled(_CONFLICT.get(check.kind, _SCOPE_CONFLICT), check)


def _missing(check: Check) -> str:
    if check.kind == "modality" and check.words:
        return f"no {' or '.join(check.words)} is spoken of"
    if check.kind in ("cause", "purpose", "condition", "order"):
        link = _LINK_MISSING.format(words=check.words[0])
        return f"{link} ({check.said})" if check.said else link
    return _filled(_MISSING.get(check.kind, _SCOPE_MISSING), check)


def _filled(template: str, check: Check) -> str:
    return template.format(words=", ".join(check.words), said=check.said, turn=check.turn_id)
