"""Tokens of an English sentence and its bones: subject, finite verb, verb group. Doubt is answered by None."""

from __future__ import annotations

import re
from dataclasses import dataclass

from admission.obligations.layout import PROTECTED
from admission.obligations.verbs import NOUN_LIKE, VERB_FORMS
from admission.obligations.vocabulary import (
    ADVERBS,
    BE,
    CLAUSE_OPENERS,
    DETERMINERS,
    DO,
    FINITE_AUXILIARIES,
    HAVE,
    MODALS,
    OBJECT_PRONOUNS,
    POSSESSIVES,
    PREPOSITIONS,
    RELATIVE,
    SUBJECT_PRONOUNS,
)
from admission.text import word_set

_TOKEN = re.compile(r"[^\W_]+(?:['’.,:/@_&-][^\W_]+)*['’]?(?=\s|[.,;!?]|$)|[^\W_]+(?:['’.,:/@_&-][^\W_]+)*|\S")
_CONTRACTION = re.compile(
    r"^(i|you|he|she|it|we|they|that|there|who|what)(['’](?:s|m|d|re|ve|ll))$|^(\w+)(n['’]t)$", re.IGNORECASE
)
# Words of these classes are names when they are capitalised inside a sentence.
_GRAMMAR = (PREPOSITIONS | FINITE_AUXILIARIES | DETERMINERS | ADVERBS | CLAUSE_OPENERS) - {"the"}
_PAST = frozenset(("past", "participle"))
_NOT_PAST = word_set("hundred indeed speed naked wicked sacred breed greed tweed weed wretched beloved rugged")
_NOT_ING = word_set(
    "thing something anything nothing everything king ring spring string morning evening ceiling during"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark and its place in the sentence. `opaque`: a quotation, bracket, path or address, not read."""

    text: str
    low: str
    start: int
    end: int
    opaque: bool = False

    @property
    def is_word(self) -> bool:
        return self.opaque or self.text[0].isalnum() or self.low in ("'s", "'re", "'ve", "'ll", "'d", "'m")

    @property
    def is_name(self) -> bool:
        return not self.opaque and self.text[0].isupper() and self.low not in SUBJECT_PRONOUNS

    @property
    def is_possessive(self) -> bool:
        return self.low in POSSESSIVES or (self.low.endswith(("'s", "s'")) and len(self.low) > 2)


def tokenise(sentence: str) -> list[Token]:
    """Tokens of one sentence; contractions of pronouns and of "not" are two tokens."""
    found: list[Token] = []
    place = 0
    for guard in PROTECTED.finditer(sentence):
        found += _plain(sentence, place, guard.start())
        found.append(Token(guard.group(), guard.group().lower(), guard.start(), guard.end(), opaque=True))
        place = guard.end()
    return found + _plain(sentence, place, len(sentence))


def _plain(sentence: str, start: int, end: int) -> list[Token]:
    found: list[Token] = []
    for match in _TOKEN.finditer(sentence, start, end):
        text, at = match.group(), match.start()
        split = _CONTRACTION.match(text)
        cut = len(text)
        if split is not None and text.lower() not in ("can't", "can’t", "won't", "won’t", "shan't", "shan’t"):
            cut = len(split.group(1) or split.group(3))
        elif split is not None:
            cut = 2 if text.lower()[0] == "w" else 3
        for a, b in ((0, cut), (cut, len(text))):
            if b > a:
                piece = text[a:b]
                low = piece.lower().replace("’", "'")
                if piece[0].isupper() and piece[1:].islower() and low in _GRAMMAR and _mid_sentence(sentence, at + a):
                    low = piece  # Per, Will and May are names here
                low = {"wo": "will", "ca": "can", "'t": "n't"}.get(low, low) if split is not None else low
                found.append(Token(piece, low, at + a, at + b))
    return found


def _mid_sentence(sentence: str, at: int) -> bool:
    before = sentence[:at].rstrip()
    return bool(before) and before[-1] not in ".!?:\"'“‘(-–—"


def kinds(token: Token) -> frozenset[str]:
    """The verb forms this token can be; none for opaque tokens and for words capitalised inside the sentence."""
    if token.opaque or (token.start > 0 and token.text != token.low):
        return frozenset()
    form = VERB_FORMS.get(token.low)
    if form is not None:
        return form.kinds
    past = len(token.low) > 4 and token.low.endswith("ed") and token.low.isalpha() and token.low not in _NOT_PAST
    return _PAST if past else frozenset()


def base(token: Token) -> str:
    form = VERB_FORMS.get(token.low)
    return form.base if form is not None else token.low


def is_ing(token: Token) -> bool:
    return not token.opaque and token.low.endswith("ing") and len(token.low) > 4 and token.low not in _NOT_ING


def is_finite(tokens: list[Token], k: int, *, plural: bool = False) -> bool:
    """Whether token `k` reads as a finite verb where it stands; `plural` lets a base form be one ("they like")."""
    token = tokens[k]
    before = tokens[k - 1] if k else None
    if token.opaque or (before is not None and before.low == "to"):
        return False
    if token.low in FINITE_AUXILIARIES and (token.text == token.low or k == 0):
        return True
    if before is not None and (
        before.low in DETERMINERS - {"all", "both", "this", "that", "each"}
        or before.is_possessive
        or (before.low in PREPOSITIONS and before.low not in ("that", "up", "out", "off"))
    ):
        return False
    found = kinds(token)
    if "s" in found or "past" in found:
        return True
    return plural and "base" in found


@dataclass(frozen=True, slots=True)
class Head:
    """Subject tokens [start, subject_end), then adverbs, then the finite verb at `verb`; the group ends at `group_end`.

    `group_end` is the index after the last token of "has been working", "does not want", "will never be".
    """

    start: int
    subject_end: int
    verb: int
    group_end: int

    @property
    def has_subject(self) -> bool:
        return self.subject_end > self.start


def find_head(tokens: list[Token], start: int, end: int) -> Head | None:
    """Subject and finite verb of the clause in [start, end), or None where they cannot be told."""
    end = min(end, len(tokens))
    for k in range(start, min(end, start + 25)):
        token = tokens[k]
        inner = token.low in RELATIVE | CLAUSE_OPENERS or (
            token.low in SUBJECT_PRONOUNS and tokens[k - 1].low not in ("and", "or", "of")
        )
        if (k > start and inner) or token.text in ",;:—–":
            return None
        if is_finite(tokens, k, plural=_plural(tokens, start, k)) and not _noun_reading(tokens, start, k, end):
            subject_end = k
            while subject_end > start and tokens[subject_end - 1].low in ADVERBS:
                subject_end -= 1
            if subject_end > start and tokens[start].low in PREPOSITIONS:
                return None
            # "being impressed by a show" has no finite verb; "growing beans was" has.
            if is_ing(tokens[start]) and k > start and token.low not in FINITE_AUXILIARIES:
                return None
            return Head(start, subject_end, k, _group_end(tokens, k, end))
    return None


def _plural(tokens: list[Token], start: int, k: int) -> bool:
    subject = [t for t in tokens[start:k] if t.low not in ADVERBS]
    if not subject:
        return False
    last = subject[-1].low
    return (
        (len(subject) == 1 and last in {"i", "you", "we", "they"})
        or any(t.low == "and" for t in subject)
        or (last.endswith("s") and not last.endswith(("'s", "ss", "us")) and not subject[-1].is_name)
        or last in {"people", "children", "parents"}
    )


def _noun_reading(tokens: list[Token], start: int, k: int, end: int) -> bool:
    """A plural noun taken for a verb ("dance shows start"), or a participle before its noun ("signed ball serves")."""
    token = tokens[k]
    following = tokens[k + 1] if k + 1 < end else None
    if token.low in FINITE_AUXILIARIES or following is None:
        return False
    if k == start and following.low not in PREPOSITIONS and is_finite(tokens, k + 1, plural=True):
        return True
    if k == 0 and token.is_name and "past" in kinds(token):
        # "Rose and Drew", "Smoked fish": without a subject a past form needs what only a verb takes.
        return following.low not in PREPOSITIONS | DETERMINERS | POSSESSIVES
    if base(token) in NOUN_LIKE and "s" in kinds(token):
        return following.low in FINITE_AUXILIARIES or bool(kinds(following) & {"s", "past"})
    return False


def _group_end(tokens: list[Token], verb: int, end: int) -> int:
    """One past the verb group that starts with the finite verb: auxiliaries, "not", adverbs, then the content verb."""
    k = verb
    while k < end and tokens[k].low in FINITE_AUXILIARIES | BE | HAVE | DO | ADVERBS:
        aux = tokens[k].low in BE | HAVE | DO | MODALS
        k += 1
        if k < end and aux and tokens[k].low not in ADVERBS | BE | HAVE | DO | MODALS:
            return k + 1 if kinds(tokens[k]) & {"base", "participle", "ing"} or is_ing(tokens[k]) else k
    if k == verb or (k < end and kinds(tokens[k]) and tokens[k - 1].low in ADVERBS):
        return k + 1
    return k


def starts_clause(tokens: list[Token], start: int, end: int) -> Head | None:
    """A subject and a finite verb right here: "it brings", "her sister lives", "Bo was". None where it may be less."""
    if start >= end:
        return None
    first = tokens[start]
    if first.low in PREPOSITIONS and not first.is_name:
        return None
    head = find_head(tokens, start, min(end, start + 9))
    if head is None or not head.has_subject:
        return None
    if first.low in SUBJECT_PRONOUNS or first.low in {"this", "that", "there"}:
        return head if head.subject_end == start + 1 else None
    subject = tokens[start : head.subject_end]
    if any(t.low in {"and", "or", "but"} or t.low in OBJECT_PRONOUNS - {"her", "you", "it"} for t in subject):
        return None
    sure = tokens[head.verb].low in FINITE_AUXILIARIES or base(tokens[head.verb]) not in NOUN_LIKE
    opens_noun_phrase = first.low in DETERMINERS or first.is_possessive or first.is_name
    return head if opens_noun_phrase and (sure or first.is_name) else None
