"""The clauses of a statement: where each begins, what joins it, whose doing it tells and by which verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from admission.obligations.clauses import Head, Token, base, find_head, is_finite, is_ing, kinds, starts_clause
from admission.obligations.vocabulary import (
    ADVERBS,
    ATTRIBUTION,
    BE,
    DETERMINERS,
    DO,
    FINITE_AUXILIARIES,
    HAVE,
    MODALS,
    NUMBER_WORDS,
    POSSESSIVES,
    PREPOSITIONS,
    QUANTIFIERS,
    RELATION_WORDS,
    RELATIVE,
)
from admission.text import FUNCTION_WORDS, word_set

CONNECTIVES = RELATION_WORDS | word_set("so once as then thus")
_RELATIVE_SUBJECTS = word_set("who which that")
_JOINERS = CONNECTIVES | RELATIVE | word_set("and but or nor yet in order even only provided long soon")
_PLAIN_JOINERS = CONNECTIVES | RELATIVE | word_set("and but or nor yet")
_AUXILIARIES = BE | HAVE | DO | MODALS | FINITE_AUXILIARIES
_PAUSES = ",;:—–"


@dataclass(frozen=True, slots=True)
class Clause:
    """Tokens [start, end) of a statement.

    `head` is None where no verb was found. `subject` are the indexes of the nouns that do what the verb says, those of
    the clause before where it names none; `joiner` the word that opens it ("and", "because", "who"), or "".
    """

    start: int
    end: int
    head: Head | None
    subject: tuple[int, ...]
    joiner: str


def clauses_of(tokens: Sequence[Token]) -> list[Clause]:
    """The clauses of one statement, in order and without gaps. Where a cut is in doubt there is none."""
    listed = list(tokens)
    cuts = _cuts(listed) if listed else []
    found: list[Clause] = []
    for number, (start, head) in enumerate(cuts):
        end = cuts[number + 1][0] if number + 1 < len(cuts) else len(listed)
        joiner = listed[start].low if listed[start].low in _PLAIN_JOINERS else ""
        before = _going_on(listed, found)
        subject = _subject(listed, start, head, joiner, before)
        found.append(Clause(start, end, head, subject, joiner))
    return found


def _going_on(tokens: Sequence[Token], found: Sequence[Clause]) -> tuple[int, ...]:
    """The subject of a clause that names none: the last one's but for a participle's; after a relative clause its own
    or that of the clause it is in."""
    subjects: tuple[int, ...] = ()
    for clause in reversed(found):
        if clause.head is not None and is_ing(tokens[clause.head.verb]) and clause.start:
            continue
        subjects += clause.subject
        if clause.joiner not in _RELATIVE_SUBJECTS:
            break
    return subjects


def content(token: Token) -> bool:
    """Whether the token says something by itself: no grammar, no mark."""
    return token.opaque or (token.text[0].isalnum() and token.low not in FUNCTION_WORDS)


def is_verb(tokens: Sequence[Token], k: int) -> bool:
    """Whether the token reads as a verb where it stands, finite or not; auxiliaries are none."""
    token, before = tokens[k], tokens[k - 1].low if k else ""
    if token.opaque or token.low in _AUXILIARIES or not (kinds(token) or is_ing(token)):
        return False
    if kinds(token) == {"base"}:  # "to swim", "may swim", "does not swim", but "a swim", "the swim suit"
        return before == "to" or before in MODALS | DO | word_set("not n't never") or _joined(tokens, k)
    if k and (before in DETERMINERS or tokens[k - 1].is_possessive):
        return False
    if before in PREPOSITIONS:  # "afraid of losing it", but "in staging"
        following = tokens[k + 1] if k + 1 < len(tokens) else None
        opened = following is not None and (content(following) or following.low in DETERMINERS | POSSESSIVES)
        return is_ing(token) and opened
    return True


def _joined(tokens: Sequence[Token], k: int) -> bool:
    """Whether a base form goes on with an infinitive before it: "to sell the flat and buy a boat"."""
    joined = k > 2 and (tokens[k - 1].low in ("and", "or") or tokens[k - 1].text == ",")
    return joined and any(tokens[i - 1].low == "to" and "base" in kinds(tokens[i]) for i in range(1, k - 1))


def verb_of(tokens: Sequence[Token], head: Head) -> int:
    """The index of the verb that a verb group is about: the content verb, or the last auxiliary where there is none."""
    group = range(head.verb, head.group_end)
    last = [k for k in group if tokens[k].low not in _AUXILIARIES | ADVERBS and tokens[k].is_word]
    return last[-1] if last else max(k for k in group if k == head.verb or tokens[k].low in _AUXILIARIES)


def _cuts(tokens: list[Token]) -> list[tuple[int, Head | None]]:
    cuts: list[tuple[int, Head | None]] = [(0, _opening(tokens))]
    for k in range(1, len(tokens)):
        head = cuts[-1][1]
        if head is not None and k <= head.verb:
            continue
        found = _beginning(tokens, k) or _participle(tokens, k, head)
        if found is None:
            continue
        start = k
        while start > cuts[-1][0] + 1 and tokens[start - 1].low in _JOINERS:
            start -= 1
        cuts.append((start, found))
    return cuts


def _opening(tokens: list[Token]) -> Head | None:
    """The first clause's subject and verb, behind what leads it in ("If ", "In March, ")."""
    first = 0
    while first < len(tokens) and tokens[first].low in _PLAIN_JOINERS:
        first += 1
    pauses = (k + 1 for k, token in enumerate(tokens[:-1]) if token.text in _PAUSES)
    starts = [first, *(k for k in pauses if tokens[k].low not in RELATIVE)]
    if not first:
        return next((head for k in starts if (head := find_head(tokens, k, len(tokens))) is not None), None)
    return starts_clause(tokens, first, len(tokens)) or find_head(tokens, first, len(tokens))


def _beginning(tokens: list[Token], k: int) -> Head | None:
    """Subject and verb of a clause that begins at `k`, or the verb alone that goes on with the subject before."""
    before = tokens[k - 1]
    reported = base(before) in ATTRIBUTION
    if not (before.text in _PAUSES or before.low in _PLAIN_JOINERS or reported):
        return None
    at = k
    while at < len(tokens) and tokens[at].low in ADVERBS:
        at += 1
    if at == len(tokens):
        return None
    head = starts_clause(tokens, k, len(tokens)) or starts_clause(tokens, at, len(tokens))
    if head is not None or (reported and before.low not in _PLAIN_JOINERS):
        return head
    plural = before.low in _RELATIVE_SUBJECTS and "base" in kinds(tokens[at])
    if not plural and not is_finite(tokens, at):
        return _told(tokens, k) if before.low in CONNECTIVES else None
    head = find_head(tokens, at, len(tokens))
    if head is not None and head.verb == at:
        return head
    return Head(at, at, at, at + 1) if plural or before.low in ("and", "but") else None


def _told(tokens: list[Token], k: int) -> Head | None:
    """ "because her bus turned back": a past form behind a connective and a noun is a verb, whatever else it can be."""
    head = find_head(tokens, k, min(len(tokens), k + 9))
    return head if head is not None and head.has_subject and "past" in kinds(tokens[head.verb]) else None


def _participle(tokens: list[Token], k: int, head: Head | None) -> Head | None:
    """ "a concert featuring Bo", "her rocks, motivating her": a clause without a finite verb."""
    if head is None or k < head.group_end or not is_ing(tokens[k]):
        return None
    before = tokens[k - 1]
    noun = content(before) and not is_verb(tokens, k - 1) and not before.is_possessive
    return Head(k, k, k, k + 1) if noun or before.text == "," else None


def _subject(
    tokens: list[Token], start: int, head: Head | None, joiner: str, before: tuple[int, ...]
) -> tuple[int, ...]:
    """The indexes of the nouns whose doing the clause tells."""
    if head is None:
        return before
    if head.has_subject and tokens[head.start].low not in _RELATIVE_SUBJECTS:
        # "Friends, family and mentors are": the verb is found behind the last comma.
        listed = not start and tokens[head.start].low in ("and", "or")
        return _nouns(tokens, 0 if listed else head.start, head.subject_end)
    if not start:  # "Ana, who sings, lives here."
        return _nouns(tokens, 0, next((k for k, token in enumerate(tokens) if token.text == ","), 0))
    participle = is_ing(tokens[head.verb]) and head.group_end == head.verb + 1
    described = any(token.low in BE for token in tokens[max(before, default=start) : start])  # "Bo is a cook who sings"
    if joiner in _RELATIVE_SUBJECTS or (participle and tokens[head.verb - 1].text != ","):
        return (*_antecedent(tokens, start), *(before if described else ())) or before
    return before


def _nouns(tokens: list[Token], start: int, end: int) -> tuple[int, ...]:
    """The head noun of each conjunct: the last word before anything is said of it ("the owner of the shop")."""
    found: list[int] = []
    open_phrase = True
    for k in range(start, end):
        token = tokens[k]
        if token.low in ("and", "or", ",", "nor"):
            open_phrase = True
        elif token.low == "of" and k > start and _counts(tokens[k - 1]):
            found = found[:-1]
        elif token.low in PREPOSITIONS and not token.is_name:
            open_phrase = open_phrase and not found
        elif open_phrase and (token.opaque or token.is_word):
            adjoining = bool(found) and found[-1] == k - 1
            found = [*found[:-1], k] if adjoining else [*found, k]
    return tuple(found)


def _counts(token: Token) -> bool:
    return token.low in QUANTIFIERS or token.low in NUMBER_WORDS or token.low.isdigit()


def _antecedent(tokens: list[Token], start: int) -> tuple[int, ...]:
    """The nouns right before a relative clause, "A, B and C" taken together."""
    found: list[int] = []
    for k in range(start - 1, -1, -1):
        token = tokens[k]
        if token.text == "," or token.low in ("and", "or"):
            continue
        if not content(token) or is_verb(tokens, k):
            break
        found.append(k)
    return tuple(found)
