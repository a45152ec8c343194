"""What one token carries: whether it counts and as what, the forms it is compared by, a verb's tense."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from admission.obligations.clauses import Token, base, is_ing, kinds
from admission.obligations.coverage import normal_forms
from admission.obligations.fidelity.clause_parts import CONNECTIVES, Clause, content, verb_of
from admission.obligations.vocabulary import (
    BE,
    DO,
    HAVE,
    HEDGES,
    MODALS,
    NEGATIONS,
    NUMBER_WORDS,
    PREPOSITIONS,
    QUANTIFIERS,
    SCOPES,
)
from admission.text import word_set, words

Forms = frozenset[str]

DENIALS = (NEGATIONS - word_set("refuses refused")) | {"not"}
OPERATORS = (DENIALS | MODALS | (HEDGES - {"'d", "supposed"}) | QUANTIFIERS | SCOPES | CONNECTIVES | {"or"}) - word_set(
    "as that another more less later least fewer enough even just"
)
"""Words of grammar that change what is claimed."""
PRONOUNS = word_set(
    """
    he she him her his hers himself herself they them their theirs themselves it its itself
    i me my mine we us our ours
    """
)
# Words that are taken for grammar elsewhere and are missed where they are left out.
WEIGHTY = word_set(
    """
    now still already again ever more most less least fewer much many few little own same other another here later
    """
)
PAST_AUXILIARIES = word_set("was were had")
_NUMBERS = NUMBER_WORDS.keys() - {"one"}
_YEAR = re.compile(r"(?:19|20)\d\d")


def kind_of(tokens: Sequence[Token], k: int) -> str:
    """`content`, `number`, `operator`, `preposition` or `pronoun`; "" for what carries nothing."""
    token = tokens[k]
    if token.opaque:
        return "content"
    if not token.is_word:
        return ""
    if token.low in OPERATORS:
        return "operator"
    if (token.low.isdigit() and _YEAR.fullmatch(token.low) is None) or token.low in _NUMBERS:
        return "number"
    if content(token) or token.low in WEIGHTY:
        return "content"
    if token.low in PRONOUNS:
        return "pronoun"
    return "preposition" if token.low in PREPOSITIONS - {"of"} else ""


@lru_cache(maxsize=65536)
def forms_of(token: Token) -> Forms:
    """What a token is compared by: stem, stem of the verb it is a form of, digits; without a possessive ending."""
    if token.opaque:
        return frozenset(form for word in words(token.text) for form in normal_forms(word.lower()))
    low = token.low.removesuffix("'s") if len(token.low) > 2 else token.low
    if low in ("n't", "cannot"):
        return frozenset(["not"] if low == "n't" else ["not", "can"])
    if low == "'ll":
        return frozenset(["will"])
    if low in OPERATORS or low in BE | HAVE | DO:
        return frozenset([low])
    return frozenset(normal_forms(base(token))) | frozenset(normal_forms(low)) if low else frozenset()


def held_as(token: Token) -> Forms:
    """The forms by which a statement holds a token. "Ana's" is not "Ana": what her sister does is not her doing."""
    forms = forms_of(token)
    owner = not token.opaque and len(token.low) > 2 and token.low.endswith(("'s", "s'"))
    return frozenset(f"{form}'s" for form in forms) if owner else forms


def tense_of(tokens: Sequence[Token], clause: Clause, k: int) -> str:
    """ "past" or "present" where the token is the clause's verb and its form or its auxiliary tells; else ""."""
    head = clause.head
    if head is None or k != verb_of(tokens, head) or tokens[head.verb].low in MODALS:
        return ""
    first, found = tokens[head.verb], kinds(tokens[head.verb])
    if first.low in PAST_AUXILIARIES | {"did"}:
        return "past"
    if first.low in BE | DO:
        return "present"
    if first.low in HAVE or is_ing(first) or k != head.verb:
        return ""
    if "past" in found and not found & {"s", "base"}:
        return "past"
    return "present" if "s" in found else ""


def is_quantity(token: Token) -> bool:
    """Whether the token says how many."""
    return token.low in QUANTIFIERS or token.low in NUMBER_WORDS or token.low.isdigit()


def is_infinitive(tokens: Sequence[Token], k: int) -> bool:
    """Whether the token is the "to" of an infinitive."""
    following = tokens[k + 1] if tokens[k].low == "to" and k + 1 < len(tokens) else None
    return following is not None and ("base" in kinds(following) or following.low in BE | HAVE | DO)


def goes_on(tokens: Sequence[Token], k: int) -> bool:
    """Whether the token is joined to what stands before it by a comma, "and" or "or"."""
    return tokens[k - 1].low in ("and", "or") or tokens[k - 1].text == ","
