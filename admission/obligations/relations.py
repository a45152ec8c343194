"""Cause, purpose, order, condition, comparison: what a linked statement asserts apart from the link."""

from __future__ import annotations

from dataclasses import dataclass

from admission.obligations.clauses import Head, Token, base, find_head, is_finite, is_ing, kinds, starts_clause
from admission.obligations.qualifications import contains_phrase, is_time
from admission.obligations.vocabulary import (
    BE,
    BOTH_HOLD,
    CAUSAL,
    FIRST_HOLDS,
    GOVERNS_INFINITIVE,
    HAVE,
    NEGATIONS,
    NEITHER_HOLDS,
    NUMBER_WORDS,
    TAKES_INFINITIVE,
    TEMPORAL,
    UNITS,
)
from admission.text import word_set

_SOFT = word_set("only just mainly mostly partly even simply shortly right soon immediately largely not maybe perhaps")
_MEASURES = UNITS | word_set("a few several couple of two three four five six ten some shortly long")


@dataclass(frozen=True, slots=True)
class Link:
    """A connective in a statement: tokens [at, end); what may be asserted of its two sides."""

    phrase: tuple[str, ...]
    at: int
    end: int
    first_holds: bool
    second_holds: bool


def find_link(tokens: list[Token], head: Head) -> Link | None:
    """The first connective behind the verb group that joins the clause to something, or None."""
    for k in range(head.group_end, len(tokens)):
        if tokens[k].opaque:
            continue
        for phrases, first, second in (
            (NEITHER_HOLDS, False, False),
            (FIRST_HOLDS, True, False),
            (BOTH_HOLD, True, True),
        ):
            phrase = _phrase_at(tokens, k, phrases)
            if phrase is not None and not (phrase in (("because",), ("even",)) and _phrase_at(tokens, k, FIRST_HOLDS)):
                link = _judged(tokens, head, Link(phrase, k, k + len(phrase), first, second))
                if link is not None:
                    return link
                break
        if tokens[k].low == "so" and tokens[k - 1].text == "," and find_head(tokens, k + 1, len(tokens)) is not None:
            return _judged(tokens, head, Link(("so",), k, k + 1, True, True))
        if (
            tokens[k].low == "as"
            and starts_clause(tokens, k + 1, len(tokens)) is not None
            and tokens[k - 1].low not in ("such", "well", "same", "as")
        ):
            return _judged(tokens, head, Link(("as",), k, k + 1, True, True))
        if tokens[k].low == "to" and k > head.group_end and _is_purpose(tokens, head, k):
            return _judged(tokens, head, Link(("to",), k, k + 1, True, False))
    return None


def _phrase_at(tokens: list[Token], k: int, phrases: tuple[tuple[str, ...], ...]) -> tuple[str, ...] | None:
    for phrase in phrases:
        if tuple(t.low for t in tokens[k : k + len(phrase)]) == phrase:
            return phrase
    return None


def _judged(tokens: list[Token], head: Head, link: Link) -> Link | None:
    """The link with what tense, a denial or an "only" leaves assertable of its sides; None for a date or an idiom."""
    rest = tokens[link.end :]
    clause = find_head(tokens, link.end, len(tokens))
    if not rest or _is_no_link(tokens, link, rest, clause):
        return None
    word, before = link.phrase[0], tokens[link.at - 1].low
    temporal = (word in TEMPORAL and len(link.phrase) == 1 and word != "as") or link.phrase == ("as", "soon", "as")
    # The clause the connective stands in may be a later one than the main clause: "met Bo and feels alive when ...".
    last = max(k for k in range(head.verb, link.at) if k == head.verb or is_finite(tokens, k))
    timeless = temporal and not (is_past(tokens[head.verb]) and is_past(tokens[last]))
    denied = any(t.low in NEGATIONS for t in tokens[head.subject_end : head.group_end + 1])
    unfinished = any(t.low == "than" for t in rest) and (before.endswith("er") or before in ("more", "less"))
    # "The passports came before": an order of two things says little of one.
    bare = link.at <= head.group_end and (
        tokens[head.verb].low in BE | HAVE or word in ("before", "after", "when", "while", "once", "prior", "to")
    )
    first = link.first_holds and not (timeless or bare or unfinished or before in ("only", "not", "even"))
    # "did not leave because", "did not call before": the denial may be of the link.
    first = first and not (denied and word in CAUSAL | TEMPORAL)
    second = link.second_holds and clause is not None and clause.has_subject
    # "as Bo had asked": the clause is complete only with what it refers to.
    cut_short = word == "as" and clause is not None and clause.group_end >= len(tokens)
    second = second and not (timeless or cut_short or before == "not" or (denied and temporal))
    return Link(link.phrase, link.at, link.end, first, second)


def _is_no_link(tokens: list[Token], link: Link, rest: list[Token], clause: Head | None) -> bool:
    """Whether the word at `link` joins nothing here: a date ("since May"), "due to arrive", "more than 5"."""
    word = link.phrase[0]
    if link.phrase == ("due", "to"):
        return "base" in kinds(rest[0]) and not is_ing(rest[0]) and tokens[link.at - 1].low in BE
    if word == "than":
        return rest[0].low.isdigit() or rest[0].low in NUMBER_WORDS
    if clause is not None or len(link.phrase) > 1:
        return False
    if word in ("since", "before", "after"):
        dated = is_time("on " + " ".join(t.text for t in rest)) or (len(rest) > 1 and rest[1].low in UNITS)
        alone = len(rest) == 1 and not rest[0].is_name and not kinds(rest[0])
        return dated or alone or rest[0].low in BE | HAVE
    if word in ("when", "while", "once", "although", "though"):
        return not is_ing(rest[0])
    return word in ("until", "till", "provided", "whether")


def is_past(verb: Token) -> bool:
    return "past" in kinds(verb) or verb.low in ("was", "were", "had", "did")


def _is_purpose(tokens: list[Token], head: Head, k: int) -> bool:
    """Whether "to" + verb says what for, rather than what is wanted, planned, asked or possible."""
    if k + 1 >= len(tokens) or (not kinds(tokens[k + 1]) & {"base"} and tokens[k + 1].low not in ("be", "have", "do")):
        return False
    before = tokens[k - 1]
    if before.low in TAKES_INFINITIVE or base(before) in GOVERNS_INFINITIVE or before.low in BE | HAVE | {"out", "up"}:
        return False
    # "is reluctant to", "was scheduled to": what follows a copula or a passive completes it.
    if tokens[head.verb].low in BE and not is_ing(tokens[head.group_end - 1]):
        return False
    between = tokens[head.verb : k]
    if any(base(t) in GOVERNS_INFINITIVE and (kinds(t) or t.low in HAVE) for t in between if not t.opaque):
        return False
    return not any(
        t.low in TAKES_INFINITIVE - {"more", "first", "next", "last", "good", "great", "best", "better", "new"}
        or (is_ing(t) and base(t) in GOVERNS_INFINITIVE)
        for t in between[1:]
    )


def first_side(sentence: str, tokens: list[Token], link: Link) -> str:
    """The statement before the connective, without the words that only grade the link ("mainly", "two days")."""
    k = link.at
    while k > 0 and (tokens[k - 1].text in ",;" or tokens[k - 1].low in _SOFT):
        k -= 1
    if link.phrase[0] in ("before", "after", "prior") and k > 0 and tokens[k - 1].low in UNITS:
        whole = k
        while k > 0 and (tokens[k - 1].low in _MEASURES or tokens[k - 1].low == "the" or tokens[k - 1].low.isdigit()):
            k -= 1
        if k > 0 and tokens[k - 1].low in ("last", "next", "this", "that", "every", "each", "same", "past"):
            k = whole
    return sentence[: tokens[k - 1].end].rstrip(" ,") + "." if k else ""


def second_side(sentence: str, tokens: list[Token], link: Link) -> str:
    return sentence[tokens[link.end].start :].strip()


def leading_link(tokens: list[Token], comma: int) -> Link | None:
    """The subordinating connective that opens a sentence whose first clause ends at `comma`."""
    for phrases, first, second in ((NEITHER_HOLDS, False, False), (FIRST_HOLDS, True, False), (BOTH_HOLD, True, True)):
        phrase = _phrase_at(tokens, 0, phrases)
        if (phrase is not None and phrase[0] not in ("in", "to", "so")) or phrase == ("in", "order", "to"):
            head = find_head(tokens, comma + 1, len(tokens))
            if head is None:
                return None
            timeless = phrase[0] in TEMPORAL and not is_past(tokens[head.verb])
            clause = find_head(tokens, len(phrase), comma)
            holds = second and clause is not None and not timeless
            return Link(phrase, 0, len(phrase), first and not timeless, holds)
    return None


def linked_words(lows: list[str], phrases: tuple[tuple[str, ...], ...]) -> int:
    """How many words at the start of a sentence tie it to the sentence before; 0 for none."""
    start = contains_phrase(lows[:4], phrases)
    return len(start) if start is not None and tuple(lows[: len(start)]) == start else 0
