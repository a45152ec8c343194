"""The coverage check: what a memory says that no obligation says becomes one more obligation, whoever split it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from admission.obligations.layout import statements
from admission.obligations.splitting import Draft, numbered
from admission.obligations.splitting import split as split_by_rule
from admission.obligations.vocabulary import (
    HEDGES,
    NUMBER_WORDS,
    PREPOSITIONS,
    QUANTIFIERS,
    RELATION_WORDS,
    SCOPES,
)
from admission.records import Candidate, Obligation
from admission.text import FUNCTION_WORDS, stem, terms, word_set, words

_NOT = word_set("not n't no never none nobody nothing nowhere neither nor without cannot hardly barely")
_MODALS = word_set("will would can could may might must shall should ought cannot")
# Function words that change what is claimed: they are covered together with the content word behind them.
_OPERATORS = (
    _NOT | _MODALS | (HEDGES - {"'d"}) | QUANTIFIERS | SCOPES | RELATION_WORDS | frozenset(["or"])
) - word_set("as that once so later alone another more less")
# A comma or colon ends the reach of an operator.
_YEAR = re.compile(r"(?:19|20)\d\d$")
_PAUSE = re.compile(r"[,;:]\s")
_IGNORED = FUNCTION_WORDS - word_set(
    """
    now still already again ever more most less least much many few little before after during own same other another
    here
    """
)


def cover(memory: str, obligations: Sequence[Obligation]) -> tuple[Obligation, ...]:
    """`obligations` renumbered, without blanks and exact repetitions, and with what they leave of `memory` unsaid.

    Every content word, number, name, negation, modal, quantifier and connective of the memory occurs in an obligation
    by stem or normal form ("doesn't" is "not", "3" is "three"); a number, negation, modal, quantifier or connective
    occurs in one obligation with the content word it stands before. What is missing is one more obligation made of the
    clauses that hold it. Sentences without a claim need no cover. Covering twice changes nothing.
    """
    drafts = [Draft(o.text, o.type) for o in obligations]
    given = numbered(drafts)
    asked = [_Items(s) for s in statements(memory)]
    held = [_forms(o.text) for o in given]
    missing = [(s, lost) for s in asked if (lost := s.missing(held))]
    if not missing:
        return given
    return numbered([*(Draft(o.text, o.type) for o in given), _addition(memory, missing)])


class _Items:
    """What one sentence of the memory needs covered: sets of normal forms that must occur together in an obligation."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.groups = _groups(text)

    def missing(self, held: Sequence[frozenset[str]]) -> set[frozenset[str]]:
        """The sets that are in none of `held`, the forms of each obligation."""
        return {g for g in self.groups if not any(g <= h for h in held)}


def _groups(text: str) -> set[frozenset[str]]:
    found: set[frozenset[str]] = set()
    denied = any(w in _NOT for w in _lows(text))
    for reach in _PAUSE.split(text):
        waiting: list[str] = []
        for low in _lows(reach):
            if low in ("and", "but"):
                waiting.clear()
            elif low in _OPERATORS:
                # "does not like A or B" is rightly told as two denials.
                if not (low in ("or", "nor", "neither") and denied):
                    found.add(frozenset([_normal(low)]))
                    waiting.append(_normal(low))
            elif low not in _IGNORED or (low in PREPOSITIONS and low.capitalize() in text[1:]):  # Per is a name
                for form in normal_forms(low):
                    found.add(frozenset([form]))
                    found |= {frozenset([operator, form]) for operator in waiting}
                # "3 locally and 5 in production": a number goes with what it counts; a year counts nothing.
                waiting = [*normal_forms(low)] if _is_number(low) and _YEAR.match(low) is None else []
    return found


def _is_number(low: str) -> bool:
    return low[0].isdigit() or low in NUMBER_WORDS


def _lows(text: str) -> list[str]:
    found: list[str] = []
    for word in words(text):
        low = word.lower()
        if low.endswith("n't"):
            found += [{"wo": "will", "ca": "can", "sha": "shall"}.get(low[:-3], low[:-3]), "not"]
        elif low == "cannot":
            found += ["can", "not"]
        elif low.endswith(("'ll", "'ve", "'re", "'d", "'m")):
            found += [low.split("'")[0], *(["will"] if low.endswith("'ll") else [])]
        else:
            found.append(low)
    return [low for low in found if low]


def _normal(low: str) -> str:
    return "not" if low == "n't" else low


@lru_cache(maxsize=65536)
def normal_forms(low: str) -> tuple[str, ...]:
    """What a word is compared by: its stem, its digits; several where a script has no spaces."""
    if low in NUMBER_WORDS:
        return (NUMBER_WORDS[low],)
    if low[0].isdigit() and low.replace(",", "").isdigit():
        return (str(unicodedata.normalize("NFKC", low.replace(",", ""))),)
    found = terms(low)
    return tuple(found) if found else (stem(low),)


def _forms(text: str) -> frozenset[str]:
    found: set[str] = set()
    for low in _lows(text):
        found.add(_normal(low))
        found.update(normal_forms(low))
    return frozenset(found)


def _addition(memory: str, missing: list[tuple[_Items, set[frozenset[str]]]]) -> Draft:
    """One obligation that holds all that is missing: the rule's own clauses where they do, else whole sentences."""
    open_groups = {g for _, lost in missing for g in lost}
    parts: list[str] = []
    kind = None
    for obligation in split_by_rule(Candidate(id="", conversation="", namespace=(), memory=memory)):
        held = _forms(obligation.text)
        got = {g for g in open_groups if g <= held}
        if got:
            open_groups -= got
            parts.append(obligation.text)
            kind = kind or obligation.type
    parts += [s.text for s, lost in missing if lost & open_groups and s.text not in parts]
    return Draft(" ".join(parts), kind if kind is not None and len(parts) == 1 else "fact")
