"""What restricts a statement: its type, the time it can safely be told without, and "not A or B" as two denials."""

from __future__ import annotations

import re

from admission.obligations.clauses import Head, Token, base, find_head, is_finite, is_ing, kinds, tokenise
from admission.obligations.vocabulary import (
    ADVERBS,
    ATTRIBUTION,
    ATTRIBUTION_PHRASES,
    BE,
    DAY_PARTS,
    DEGREES,
    FINITE_AUXILIARIES,
    FREQUENCIES,
    HAVE,
    HEDGES,
    INTENTIONS,
    MODALS,
    MONTHS,
    NEGATIONS,
    NUMBER_WORDS,
    PREPOSITIONS,
    QUANTIFIERS,
    RELATION_PHRASES,
    RELATION_WORDS,
    SCOPES,
    SUBJECT_PRONOUNS,
    UNITS,
    WEEKDAYS,
)
from admission.records import ObligationType
from admission.text import word_set

_TAKES_CLAUSE = word_set("say think believe claim hope guess assume suppose suspect reckon insist wish know hear")
_TELLS = word_set("tell assure remind promise warn show convince inform")
_QUOTES = word_set("say state claim ask explain note mention announce report")
_ENDS_REPORT = word_set("to who which because after before when while as")
_TIME_WORDS = "|".join(sorted(MONTHS | WEEKDAYS | DAY_PARTS | UNITS, key=len, reverse=True))
_NUMBER = rf"(?:\d+(?:st|nd|rd|th)?|{'|'.join(NUMBER_WORDS)}|a few|several|a couple of|a|an|many|some)"
_BEFORE_TIME = (
    "the|a|an|his|her|its|their|my|our|your|this|last|next|early|late|mid|end|start|beginning|middle|rest|whole|entire|past"
    "|coming|following|previous|same|final|long|full|of|about|almost|nearly|around|over|more than|less than|at least"
    f"|several|few|couple|{'|'.join(NUMBER_WORDS)}|\\d{{1,3}}(?:st|nd|rd|th)?"
)
_POINT = (
    rf"(?:(?:{_TIME_WORDS})\b|\d{{1,2}}(?::\d\d|\s*[ap]\.?m\b|st\b|nd\b|rd\b|th\b)?|(?:19|20)\d\d\b|\d{{4}}-\d\d-\d\d)"
)
_PART_OF_DAY = r"(?:\s+(?:morning|afternoon|evening|night))?"
_DATE = re.compile(
    rf"""(?P<lead>,?\s+)(?:(?:later|earlier|early|late|sometime|starting|back|sporadically)\s+)?(?:
      (?:on|in|at|by|since|from|until|till|during|over|throughout|around|for|within)\s+
        (?:(?:{_BEFORE_TIME})[-\s]+){{0,5}}
        {_POINT}(?:,?\s+(?:(?:of|to|until|till|before|after|the|at|in|on|this|last|next|ago)\s+)*{_POINT})*
    | (?:last|next|this|the\s+(?:previous|following|other|same))\s+(?:{_TIME_WORDS})\b{_PART_OF_DAY}
    | (?:yesterday|today|tomorrow|tonight){_PART_OF_DAY}
    | (?:about\s+|almost\s+|over\s+)?{_NUMBER}\s+(?:{"|".join(UNITS)})\s+ago
    )\s*[.!]?\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_TIME_LEAD = re.compile(
    rf"^(?:(?:back\s+)?(?:on|in|at|since|from|during|over|around|by|until|till|before|after|for|within)\s+|last\s+|next\s+|this\s+|yesterday|today|tomorrow|tonight|{_NUMBER}\s)"
    rf".*(?:{_TIME_WORDS}|ago|\b(?:19|20)\d\d|\d{{4}}-\d\d-\d\d)\b.*$|^(?:yesterday|today|tomorrow|tonight|recently|currently)$",
    re.IGNORECASE,
)


def contains_phrase(lows: list[str], phrases: tuple[tuple[str, ...], ...]) -> tuple[str, ...] | None:
    """The first of `phrases` (longest first) that occurs in the lower-cased words."""
    for phrase in phrases:
        n = len(phrase)
        if any(tuple(lows[i : i + n]) == phrase for i in range(len(lows) - n + 1)):
            return phrase
    return None


def type_of(statement: str) -> ObligationType:
    """The type of a statement that is not taken apart: what a reader could deny of it beyond the bare fact."""
    tokens = tokenise(statement)
    lows = [t.low for t in tokens if not t.opaque]
    if contains_phrase(lows, RELATION_PHRASES) or any(_relates(tokens, k) for k in range(len(tokens))):
        return "relation"
    if restricted(tokens) or any(_is_quantity(tokens, k) for k in range(len(tokens))):
        return "qualification"
    if any(_date_word(t) for t in tokens) or contains_phrase(lows, ATTRIBUTION_PHRASES):
        return "qualification"
    return "fact"


def _relates(tokens: list[Token], k: int) -> bool:
    if tokens[k].opaque or tokens[k].low not in RELATION_WORDS:
        return False
    following = tokens[k + 1 : k + 5]
    if tokens[k].low in ("since", "before", "after", "until", "till"):
        return bool(following) and not any(_date_word(t) or t.text.isdigit() for t in following)
    if tokens[k].low == "than" and following and _is_quantity(tokens, k + 1):
        return False
    if tokens[k].low == "so":
        return k > 0 and tokens[k - 1].text == ","
    if tokens[k].low == "after" and k and base(tokens[k - 1]) in ("look", "take", "name", "ask", "run"):
        return False
    return bool(following) or tokens[k].low in ("therefore", "otherwise")


def _date_word(token: Token) -> bool:
    if token.opaque:
        return False
    low = token.low
    if low in ("may", "march", "second", "fall", "spring") and token.text == low:
        return False
    return low in MONTHS | WEEKDAYS | UNITS | DAY_PARTS or re.fullmatch(r"(?:19|20)\d\d|\d{1,2}:\d\d", low) is not None


def _is_quantity(tokens: list[Token], k: int) -> bool:
    low = tokens[k].low
    return not tokens[k].opaque and (low[0].isdigit() or low in NUMBER_WORDS or low in QUANTIFIERS)


def restricted(tokens: list[Token]) -> bool:
    """Negated, modal, frequency-limited, graded, scoped, planned or attributed: nothing in it may be dropped."""
    for k, token in enumerate(tokens):
        if token.opaque:
            continue
        if token.low in HEDGES and not (token.low in ("may", "might") and token.text != token.low):
            return True
        if token.low in NEGATIONS or token.low in FREQUENCIES or token.low in SCOPES or token.low in DEGREES:
            return True
        following = tokens[k + 1].low if k + 1 < len(tokens) else ""
        if token.low in INTENTIONS and following == "to":
            return True
        if base(token) in ("consider", "contemplate") and following.endswith("ing"):
            return True
    head = find_head(tokens, 0, len(tokens))
    return head is not None and attributed(tokens, head)


def attributed(tokens: list[Token], head: Head) -> bool:
    """Whether the main verb reports: a verb of saying or thinking with a clause, not a noun, behind it."""
    verb = base(tokens[head.group_end - 1])
    rest = tokens[head.group_end :]
    if verb not in ATTRIBUTION or not rest or rest[0].low in PREPOSITIONS:
        return False  # "believes in", "talks about"
    if rest[0].low in ("that", "whether", "if", "how", "why"):
        return True
    if rest[0].opaque or (rest[0].text in ":," and len(rest) > 1 and rest[1].opaque):
        return verb in _QUOTES
    for j in range(head.group_end, min(len(tokens), head.group_end + 12)):
        low = tokens[j].low
        if low in _ENDS_REPORT or (low in ("and", "but", ",", ";") and not _goes_on(tokens, head, j, verb)):
            return False
        if low == "that" and verb not in _TAKES_CLAUSE:
            return verb in _TELLS
        if low in SUBJECT_PRONOUNS and _verb_next(tokens, j):
            return True
        named = all(t.is_name or t.low in ("and", ",") for t in tokens[head.group_end : j])
        if j > head.group_end and (verb in _TAKES_CLAUSE or named) and is_finite(tokens, j):
            return True
        if j > head.group_end and low in ("is", "are", "was", "were", "has", "had", *MODALS):
            return True
    return False


def _goes_on(tokens: list[Token], head: Head, j: int, verb: str) -> bool:
    """Whether the mark at `j` joins the subject of a reported clause ("says Bo and Cy left"), not the next clause."""
    if _verb_next(tokens, j) or tokens[j].low in ("but", ";"):
        return False  # "knows Bo and likes him"
    names = all(t.is_name or t.low in ("and", ",") for t in tokens[head.group_end : j])
    return names or (tokens[j].low == "and" and verb in _TAKES_CLAUSE)


def _verb_next(tokens: list[Token], j: int) -> bool:
    """Whether a finite verb, perhaps after an adverb, follows `j`."""
    k = j + 1
    while k < len(tokens) and tokens[k].low in ADVERBS:
        k += 1
    return k < len(tokens) and (
        tokens[k].low in FINITE_AUXILIARIES | {"'ll", "'d"} or bool(kinds(tokens[k]) & {"s", "past", "base"})
    )


def without_time(unit: str) -> str | None:
    """A statement without its closing date or duration, or None where the shorter one would not follow.

    Only for affirmative, unlimited statements of past, perfect, future or progressive form: "the shop is open on
    Sundays" does not say that the shop is open.
    """
    found = None
    # The widest phrase that is a date: "for ten years", not "ten years".
    for match in re.finditer(r",?\s+", unit):
        found = _DATE.match(unit, match.start())
        if found is not None:
            break
    if found is None or found.start() < 8:
        return None
    rest = unit[: found.start()].rstrip(" ,")
    tokens = tokenise(rest)
    head = find_head(tokens, 0, len(tokens))
    if head is None or not head.has_subject or restricted(tokens) or tokens[head.start].low in ("it", "there"):
        return None
    if any(_is_quantity(tokens, k) or tokens[k].low in ("best", "worst", "latest") for k in range(len(tokens))):
        return None
    first, last = tokens[head.verb], tokens[-1]
    timeless = not ("past" in kinds(first) or first.low in HAVE | {"was", "were", "will", "'ll", "did"})
    progressive = first.low in BE and head.group_end - head.verb > 1 and is_ing(tokens[head.group_end - 1])
    if (timeless or (first.low == "has" and head.group_end - head.verb == 1)) and not progressive:
        return None
    if found.group().split()[0] == "by" and "participle" in kinds(last):
        return None
    if (
        last.low in PREPOSITIONS - {"out", "up", "off", "along"}
        or last.low in BE | {"a", "the", "and", "will"}
        or len(tokens) == head.group_end
    ):
        return None
    if any(t.low in ("that", "who", "which", "where", "if", "when") for t in tokens[head.group_end :]):
        return None
    return rest + "."


def is_time(phrase: str) -> bool:
    """Whether a leading phrase ("In May 2024", "Last week") only says when."""
    return _TIME_LEAD.match(phrase.strip()) is not None


def denials(unit: str) -> list[str]:
    """What "does not like A or B" denies, one by one; empty where the denial does not distribute."""
    tokens = tokenise(unit.rstrip(" .!"))
    head = find_head(tokens, 0, len(tokens))
    if head is None or not head.has_subject:
        return []
    group = tokens[head.subject_end : head.group_end]
    if not any(t.low in ("not", "n't", "never", "cannot") for t in group) or len(tokens) > head.group_end + 9:
        return []
    places = [i for i, t in enumerate(tokens) if t.low in ("or", "nor")]
    if len(places) != 1 or any(t.text in ",;:" or t.low in ("and", "but", "either") for t in tokens[head.group_end :]):
        return []
    at = places[0]
    left, right = tokens[head.group_end : at], tokens[at + 1 :]
    text = unit.rstrip(" .!")
    if right and not left and "base" in kinds(right[0]) and "base" in kinds(group[-1]):
        denied = text[: group[-2].end]
        return [f"{text[: group[-1].end]}.", f"{denied} {text[right[0].start :]}."]
    plain = [t for t in (*left, *right) if t.low in PREPOSITIONS or kinds(t) & {"s", "past"} or is_ing(t)]
    if not left or not right or plain or len(left) > 3 or len(right) > 3:
        return []
    return [f"{text[: left[-1].end]}.", f"{text[: group[-1].end]} {text[right[0].start :]}."]
