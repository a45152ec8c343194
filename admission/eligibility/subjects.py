"""What a statement is about: a user's mind, a user, what a user may or must, the assistant's words, anything else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from admission.text import FUNCTION_WORDS, content_terms, normalise, stem, words

ClaimAbout = Literal["inner", "own", "arrangement", "other"]


def _stems(listed: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(listed))


# What goes on in a person: only they can say it.
_INNER = _stems(
    """
    want like love hate dislike prefer enjoy adore detest plan intend hope wish decide agree approve authorise authorize
    consent feel felt believe think thought consider fear worry regret trust doubt aim desire crave appreciate dream
    aspire favour favor mind chose chosen choose interested keen afraid worried proud fond eager willing happy sad angry
    upset excited nervous anxious delighted disappointed frustrated grateful
    """
)
# Whatever is closest to a person: theirs to tell, as they themselves are.
_CLOSE = _stems(
    """
    favourite favorite preference goal plan dream hobby opinion view feeling mood decision choice intention wish job
    profession occupation career age name nickname birthday nationality religion faith hometown wife husband partner
    spouse mother father mum mom dad parents sister brother son daughter child children kids girlfriend boyfriend family
    friend diet allergy habit belief personality health salary income boss pet dog cat taste reason motivation interest
    passion fear strength weakness background education degree experience skill team household
    """
)
# A service knows better than its customer what the customer may do, owes, is given or was charged.
_MAY = frozenset(
    words("can could may might must should would cannot can't couldn't mustn't shouldn't wouldn't needn't")
)
_GETS = _stems(
    "get gets got getting receive receives received lose loses losing owe owes keep keeps pay pays paid save saves"
)
_IS_DONE_TO = _stems(
    """
    charged billed refunded credited booked registered enrolled scheduled assigned listed placed spared given sent
    issued offered told advised informed waived admitted allowed permitted entitled covered due seated moved switched
    subscribed owed paid shipped
    """
)
_BE = frozenset(("is", "are", "was", "were", "be", "been", "being"))
_HAVE_TO = frozenset(("has", "have", "had", "need", "needs", *_BE))
_PRONOUNS = frozenset(("user", "users", "they", "he", "she", "i", "we"))
_NEGATED_CAN = frozenset(("can't", "cannot", "couldn't"))
_ASSISTANT = frozenset(("assistant", "ai", "agent", "bot", "chatbot"))
_ATTRIBUTES = _stems(
    """
    according say said tell told suggest propose recommend advise offer ask explain mention claim warn recall remind
    estimate assume guess promise note think thought consider describe reply answer state report advice suggestion
    proposal
    """
)
_ENGLISH_SHARE = 0.2


def claim_about(obligation: str, users: Sequence[str]) -> ClaimAbout:
    """What an obligation is about, as far as that decides who may speak for it.

    `inner`: what a user wants, likes, plans, decides, feels or authorises. `own`: another statement with a user as its
    subject (identity, trait, habit, past), or about what is closest to one ("Ana's job"). `arrangement`: what a user
    may, must, is given or was charged. `other`: the rest. `users` are the users' names; "the user", "they", "he", "she"
    and a missing subject ("prefers tea") stand for one. Where no name is known, anyone's mind is taken for a user's.
    A statement that does not look English and names a user is `own`.
    """
    tokens = [word.lower() for word in words(normalise(obligation))]
    named = frozenset(word.lower() for user in users for word in words(user))
    if _speaks_of_a_mind(tokens, named):
        return "inner"
    start = _subject_end(normalise(obligation), named)
    if start is None:
        english = sum(token in FUNCTION_WORDS for token in tokens) >= _ENGLISH_SHARE * len(tokens)
        return "other" if english or named.isdisjoint(tokens) else "own"
    owner, rest = start
    if owner.endswith(("'s", "s'", "'")):
        return "own" if any(stem(token) in _CLOSE for token in rest[:2]) else "other"
    return "arrangement" if _is_arrangement(rest) else "own"


def _speaks_of_a_mind(tokens: Sequence[str], named: frozenset[str]) -> bool:
    """Is a verb or adjective of mind said of a user: directly after one, auxiliaries and adverbs aside?"""
    after_user = True  # A statement without subject is about the user.
    previous = ""
    for token in tokens:
        of_mind = stem(token) in _INNER and token not in FUNCTION_WORDS
        if after_user and (of_mind or (token == "stand" and previous in _NEGATED_CAN)):
            return True
        is_user = not named or token in named or token in _PRONOUNS
        passing = token in FUNCTION_WORDS or token.endswith("ly") or previous in ("and", "or")
        after_user = is_user or (after_user and passing)
        previous = token
    return False


def _subject_end(text: str, named: frozenset[str]) -> tuple[str, list[str]] | None:
    """The user a statement begins with, leading phrases up to a comma aside, and the words after it; lower-case."""
    starts = [0, *(match.end() for match in re.finditer(", ", text))]
    for start in starts:
        tokens = [word.lower() for word in words(text[start:])]
        while tokens and tokens[0] in ("the", "both"):
            tokens = tokens[1:]
        end = 0
        while end < len(tokens) and tokens[end].split("'")[0] in named | _PRONOUNS:
            end += 1
        if end:
            return tokens[end - 1], tokens[end:]
    return None


def _is_arrangement(rest: Sequence[str]) -> bool:
    """Do the words after a subject say what it may, must, is given or was charged?"""
    if len(rest) > 2 and rest[0] in ("and", "or"):
        rest = rest[2:]
    verbs = [
        token for token in rest[:5] if not token.endswith("ly") and token not in ("not", "now", "still", "also", "only")
    ]
    if not verbs:
        return False
    if verbs[0] in _MAY or stem(verbs[0]) in _GETS:
        return True
    if verbs[0] in ("does", "doesn't", "did", "didn't", "will", "won't"):
        verbs = verbs[1:]
    for first, second in pairwise(verbs):
        if (first in _HAVE_TO and second == "to") or (first in _BE and stem(second) in _IS_DONE_TO | _GETS):
            return True
    return bool(verbs) and stem(verbs[0]) in _GETS


def attributed_to_assistant(obligation: str, assistants: Iterable[str]) -> bool:
    """Does the obligation itself say that it is the assistant who says, suggests, asks or assumes it?"""
    tokens = [word.lower().removesuffix("'s") for word in words(normalise(obligation))]
    names = _ASSISTANT.union(word.lower() for name in assistants for word in words(name))
    return not names.isdisjoint(tokens) and any(stem(token) in _ATTRIBUTES for token in tokens)


def claimed_terms(obligation: str, users: Sequence[str]) -> list[str]:
    """The content terms of an obligation in order, without the names of users and "user": what is said of them."""
    named = {stem(word) for user in users for word in words(user)}
    return [term for term in content_terms(obligation) if term not in named and term != "user"]


def begins_with(obligation: str, users: Sequence[str]) -> str | None:
    """The word for a user that is the subject of the obligation, lower-case, or None: "ana's" in "Ana's cat is ill"."""
    named = frozenset(word.lower() for user in users for word in words(user))
    found = _subject_end(normalise(obligation), named)
    return None if found is None else found[0]
