"""Links between two statements: cause, purpose, condition, order. Both parts must be said, and so must the link."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from admission.verifiers.checks.clauses import COMPLETED
from admission.verifiers.checks.reading import Check, Evidence, Sentence, Text, overlap, read

_CAUSE = (
    r"because of|because|due to|owing to|thanks to|as a result of"
    r"|since(?!\s+(?:\d|(?-i:[A-Z])|last|the |then|that|she was|he was))"
    r"|given that|so much that|on account of|that is because|comes? from|came from|is the reason|for the reason that"
    r"|(?<=,\s)as(?=\s+(?:he|she|they|it|the|his|her|their|its|there|(?-i:[A-Z]\w*))\b)"
)
# The cause stands before these, what it led to after them.
_EFFECT = (
    r"which is why|that is why|therefore|in consequence|consequently|as a consequence"
    r"|(?<=,\s)so(?=\s)|(?<=and\s)so(?=\s)"
    r"|led to|leads to|prompted|inspired|caused|resulted in"
    r"|makes? (?:him|her|them)|made (?:him|her|them|(?-i:[A-Z]\w+))"
    r"|and because of (?:it|this|that)|and thanks to (?:it|them|this|that)"
)
_PURPOSE = (
    r"in order to|so that|so as to|in order that|for the sake of|with the aim of|in order not to|to make sure"
    r"|with a view to|in the hope of"
)
_CONDITION = (
    r"only if|even if|provided that|provided|on condition that|as long as|if|unless|in case|depends on|requires"
    r"|except when|only when|regardless of whether"
)
_ORDER = r"before|after|until|once|then|first|afterwards|ahead of|prior to|following"
_TO_VERB = re.compile(
    r"(?<=\w)\s+(to)\s+(?!the\b|a\b|an\b|his\b|her\b|their\b|its\b|my\b|be\b|have\b|[A-Z])([a-z]+)\b(?=\s+\w)"
)
_LED_TO = re.compile(rf"\b({_EFFECT})\b", re.IGNORECASE)
_KINDS = {
    "cause": re.compile(rf"\b({_CAUSE})\b", re.IGNORECASE),
    "purpose": re.compile(rf"\b({_PURPOSE})\b", re.IGNORECASE),
    "condition": re.compile(rf"\b({_CONDITION})\b", re.IGNORECASE),
    "order": re.compile(rf"\b({_ORDER})\b", re.IGNORECASE),
}
# How a chat says the same link, more loosely than an obligation does.
_SAID = {
    "cause": re.compile(
        r"\b(?:because|cause|cos|'cause|since|as|so|due to|thanks to|that's why|which is why|reason|after|given|made me"
        r"|makes me|means|why|otherwise|or else|with|therefore|hence|for)\b",
        re.IGNORECASE,
    ),
    "purpose": re.compile(
        r"\b(?:to|so|so that|for|in order|otherwise|or|wants?|until|in case|helps?)\b", re.IGNORECASE
    ),
    "condition": re.compile(
        r"\b(?:if|unless|provided|as long as|only|when|once|until|otherwise|or|depends?|must|have to|need|should"
        r"|then)\b",
        re.IGNORECASE,
    ),
    "order": re.compile(
        r"\b(?:before|after|until|once|then|first|afterwards|later|earlier|since|when|next|ahead|already|now|last|ago|till|and)\b",
        re.IGNORECASE,
    ),
}
_PART_SAID = 0.34
Covers = Callable[[Text, Sentence], float]
LINKS = ("cause", "purpose", "condition", "order")


@dataclass(frozen=True, slots=True)
class Link:
    """A named link in an obligation: its connective and the two parts it joins."""

    kind: str
    connective: str
    main: Text
    other: Text


def link_of(statement: Text) -> Link | None:
    """The first link the obligation states, or None. "To" with a verb is a purpose unless it completes a verb."""
    for kind in LINKS:
        match = _KINDS[kind].search(statement.text)
        if match is not None and len(statement.text[match.end() :].split()) >= 1:
            return _parted(statement, kind, match.start(1), match.end(1))
    effect = _LED_TO.search(statement.text)
    if effect is not None and len(statement.text[: effect.start()].split()) >= 2:
        link = _parted(statement, "cause", effect.start(1), effect.end(1))
        return Link(link.kind, link.connective, main=link.other, other=link.main)
    for to in _TO_VERB.finditer(statement.text):
        before = statement.text[: to.start()].split()
        if len(before) >= 3 and before[-1].lower().strip(",") not in COMPLETED:
            return _parted(statement, "purpose", to.start(1), to.end(1))
    return None


def check_link(statement: Text, evidence: Evidence, covers: Covers = overlap) -> Check | None:
    """`ok` when one sentence, or two that follow one another, hold both parts and a connective of the kind.

    `missing` when a part is not said, when the parts are said apart, or when nothing links them: standing side by side
    is no cause. `covers` says how much of a part (0 to 1) a sentence says.
    """
    link = link_of(statement)
    if link is None:
        return None
    spots = [_best(part, evidence, covers) for part in (link.main, link.other)]
    if any(score < _PART_SAID for _, score in spots):
        part = link.main if spots[0][1] < _PART_SAID else link.other
        return Check(link.kind, "missing", (link.connective, part.text))
    (first, _), (second, _) = spots
    low, high = sorted((first.index, second.index))
    between = evidence.ordered[low : high + 1]
    if high - low > 2 and first.turn_id != second.turn_id:
        return Check(link.kind, "missing", (link.connective,), "the two parts are said apart", first.turn_id)
    if any(_SAID[link.kind].search(s.body.text) for s in between):
        return Check(link.kind, "ok", (link.connective,), "", first.turn_id)
    return Check(link.kind, "missing", (link.connective,), "nothing links the two parts", first.turn_id)


def _parted(statement: Text, kind: str, start: int, end: int) -> Link:
    before, after = statement.text[:start].strip(" ,"), statement.text[end:].strip(" ,.")
    if not before and "," in after:
        other, main = after.split(",", 1)
        return Link(kind, statement.text[start:end], read(main), read(other))
    return Link(kind, statement.text[start:end], read(before), read(after))


def _best(part: Text, evidence: Evidence, covers: Covers) -> tuple[Sentence, float]:
    """The sentence that says most of the part; among equals the one that aligns best with the whole."""
    scored = [(sentence, covers(part, sentence)) for sentence in evidence.ranked]
    best = max(scored, key=lambda pair: pair[1])
    return best if any(w.content for w in part.words) else (evidence.anchor, 1.0)
