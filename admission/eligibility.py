"""What may count as evidence: nothing recalled or echoed, no order to the judge, and users only for their own minds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from admission.records import Passage, Turn
from admission.replies import asks, only_asks
from admission.text import FUNCTION_WORDS, content_terms, normalise, sentences, stem, words

if TYPE_CHECKING:
    from admission.history import History

NEVER_EVIDENCE = frozenset({"memory", "instruction"})
ClaimAbout = Literal["inner", "own", "arrangement", "other"]
SaidBefore = Callable[[Iterable[str], float], bool]

# --- Which stretches of a turn may be shown -------------------------------------------------------------------------

_COURTESY = frozenset(
    stem(word)
    for word in words(
        "hi hello hey good morning afternoon evening night day dear thanks thank welcome sure ok okay yes well great"
        " course noted sorry please glad happy help"
    )
)
_ECHO_SHARE = 0.5
_SAID_SHARE = 0.75

_JUDGES = r"(?:evaluat|verif|judg|grad|check|fact-check|assess|annotat|audit|validat)[\w-]*"
_ORDER_TO_JUDGE = re.compile(
    rf"\b(?:notes?|messages?|attention|instructions?|orders?|memo)\s*(?:to|for)?\s*:?\s*(?:the |all |any )*(?:{_JUDGES}"
    r"|ai|llms?|language models?|models?)\b"
    r"|\b(?:label|mark|rate|score|classify|treat|judge|count|regard|report|accept|consider)\b.{0,80}"
    r"\b(?:statements?|claims?|memor(?:y|ies)|obligations?|assertions?)\b.{0,80}"
    r"\b(?:supported|true|entailed|verified|admitted|contradicted|valid|correct)\b"
    r"|\b(?:ignore|disregard|forget)\b.{0,20}\b(?:previous|prior|above|earlier|other|your)\b.{0,20}"
    r"\b(?:instructions?|prompts?|evidence|rules|guidelines)\b",
    re.IGNORECASE | re.DOTALL,
)


class Recalled:
    """What recalled memories of a conversation say, so that a later echo of one can be told from news."""

    def __init__(self) -> None:
        self._memories = 0
        self._holders: dict[str, list[int]] = defaultdict(list)

    def __bool__(self) -> bool:
        return self._memories > 0

    def add(self, text: str) -> None:
        """Note a recalled text; each of its lines counts as a memory of its own."""
        for line in text.splitlines():
            for term in set(content_terms(line)):
                self._holders[term].append(self._memories)
            self._memories += 1

    def shared(self, content: Iterable[str]) -> set[str]:
        """Those terms of `content` that the one memory which has most of them has."""
        by_memory: dict[int, set[str]] = defaultdict(set)
        for term in set(content):
            for memory in self._holders.get(term, ()):
                by_memory[memory].add(term)
        return max(by_memory.values(), key=len, default=set())


def eligible_spans(turn: Turn, recalled: Recalled, said_before: SaidBefore) -> list[tuple[int, int]]:
    """Character spans of `turn` that may count as evidence at all, in order.

    None of a turn of `memory` or `instruction` origin. Of other turns, a user's too, sentences are left out that order
    the judge about, and of an assistant's those that only echo a recalled memory: most of what a sentence
    says, courtesies aside, is in an earlier recalled memory, and no user or tool said it before (`said_before(terms,
    share)`). Echoed questions stay: a user may confirm them.
    """
    if turn.origin in NEVER_EVIDENCE or not turn.text.strip():
        return []
    echoes = turn.role == "assistant" and bool(recalled)
    if not echoes and _ORDER_TO_JUDGE.search(turn.text) is None:
        return [(0, len(turn.text))]
    spans: list[tuple[int, int]] = []
    dropped = False
    joined = False
    for start, end in sentences(turn.text):
        sentence = turn.text[start:end]
        if _ORDER_TO_JUDGE.search(sentence) or (echoes and _is_echo(sentence, recalled, said_before)):
            dropped, joined = True, False
        elif joined:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
            joined = True
    return spans if dropped else [(0, len(turn.text))]


def _is_echo(sentence: str, recalled: Recalled, said_before: SaidBefore) -> bool:
    content = set(content_terms(sentence)) - _COURTESY
    shared = recalled.shared(content)
    return (
        bool(shared)
        and len(shared) >= _ECHO_SHARE * len(content)
        and not asks(sentence)
        and not said_before(shared, _SAID_SHARE)
    )


_INTRODUCES = re.compile(r"\b(?:[Mm]y name(?: is|'s)|[Cc]all me|[Tt]his is) ([^\W\d_][\w'-]+)(?: ([A-Z][\w'-]+))?")


def introduced_names(text: str) -> list[str]:
    """Names a user gives as their own ("my name is Ana Lopez", "call me Ana"), capitalised in the text."""
    found = (match.group(1, 2) for match in _INTRODUCES.finditer(normalise(text)))
    return [" ".join(filter(None, names)) for names in found if names[0][0].isupper()]


# --- Who may speak for a user ---------------------------------------------------------------------------------------


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


def stands_alone(passage: Passage, obligation: str, history: History) -> bool:
    """May this passage count as evidence for the obligation without any other beside it? See `may_support`."""
    if passage.origin in NEVER_EVIDENCE:
        return False
    if passage.role == "user" and passage.origin == "conversation":
        return True
    if passage.role != "assistant" or passage.origin != "conversation":
        return claim_about(obligation, history.user_names) != "inner"
    if attributed_to_assistant(obligation, history.participants.get("assistant", ())):
        return True
    return not only_asks(passage.text) and claim_about(obligation, history.user_names) in ("arrangement", "other")


def may_support(passage: Passage, obligation: str, history: History) -> bool:
    """May this passage count as evidence for this obligation?

    What a user says: always. Tool and external text: not for what a user wants, likes, plans, decides, feels or
    authorises. An assistant's turn: for what the obligation attributes to the assistant, for what a user may, must, is
    given or was charged, and for what is not about a user; a question states nothing by itself. And for anything that
    a user confirmed or answered directly after: then the two count together only (`admissible`).
    """
    if stands_alone(passage, obligation, history):
        return True
    answered = passage.confirmed_by is not None or history.answer_to(passage.turn_id) is not None
    return passage.role == "assistant" and passage.origin == "conversation" and answered


def admissible(passages: Sequence[Passage], obligation: str, history: History) -> tuple[Passage, ...]:
    """Those of `passages` that may count as evidence for the obligation when shown together, in their order.

    As `may_support`, but an assistant's turn that counts only with the user's answer counts only beside that answer.
    """
    shown = {passage.turn_id for passage in passages}
    return tuple(
        passage
        for passage in passages
        if stands_alone(passage, obligation, history)
        or (may_support(passage, obligation, history) and history.answer_to(passage.turn_id) in shown)
    )
