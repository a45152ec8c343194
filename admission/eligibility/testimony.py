"""Statements that are nobody's testimony: of oneself as "she", a tool's prose on a user, amid talk of checks."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from admission.eligibility.checking import check_talk
from admission.eligibility.mentions import said_in
from admission.eligibility.orders import poses
from admission.eligibility.subjects import begins_with, claim_about, claimed_terms
from admission.records import Passage
from admission.text import content_terms, normalise, sentences, stem, word_set, words

if TYPE_CHECKING:
    from admission.history import History

# A sentence that holds this share of what is claimed, the first term with it, states the claim.
_STATES = 0.6
# From this much talk of checks on (`check_talk`) a sentence amid it is no testimony; with "I" in it, from more on.
_CHECK_TALK = 3
_CHECK_TALK_IN_FIRST_PERSON = 5
# Ends of what stands on its own in data: fields, cells, rows.
_DATA_ENDS = re.compile(r"[,:;|{}\[\]\"“”«»<>=\t\n]+|(?<=[.!?])\s+")
_FIRST_PERSON = word_set("i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our")
_HE_OR_SHE = word_set("he she")
_HIS_OR_HER = word_set("his her")
_POSSESSIVE = _HIS_OR_HER | word_set("my our your their")
_THE_USER = word_set(
    """
    user customer client speaker person human subject caller requester author holder owner member patient participant
    individual respondent applicant
    """
)
_REFERS = _FIRST_PERSON | _HE_OR_SHE | _THE_USER | _HIS_OR_HER | word_set("you your they their guest")
# What people do through the systems that tools answer for.
_THROUGH_SYSTEMS = frozenset(
    map(
        stem,
        word_set(
            """
            booked ordered paid bought purchased reserved cancelled canceled deposited transferred returned rented
            subscribed unsubscribed registered enrolled signed joined logged checked pushed committed merged opened
            closed filed submitted uploaded downloaded sent received created updated deleted added removed assigned
            scheduled rescheduled requested renewed posted deployed released changed
            """
        ),
    )
)
_WHEN = re.compile(
    r"\b\d{4}-\d\d-\d\d|\b\d\d?:\d\d\b|\b\d\d?[./]\d\d?[./]\d{2,4}\b"
    r"|\b\d\d? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]+")
_NEXT_WORDS = re.compile(r"(?:'s)?(?: [\w'-]+){1,4}")
_INTRODUCED = re.compile(r"\b(?:i'm|i am|name is|name's|called|call me|this is|it's|named)\W+$", re.IGNORECASE)


def only_claims(passage: Passage, obligation: str, history: History) -> bool:
    """Does the passage state the obligation, and only where that is nobody's testimony?

    A sentence of a user about that user is none where it speaks of the user in the third person, by name, as "the
    user", "he" or "she": people say "I". A sentence about a user in what a tool brings is none: it is hearsay, unlike
    the data a tool keeps (fields, rows, amounts) and its records of what users did through it ("09:14 Ana booked a
    room"). Any other sentence is none beside an order to the judge or amid talk of how memories are checked
    (`check_talk`).
    """
    wanted = tuple(claimed_terms(obligation, history.user_names))
    if not wanted or (passage.role == "assistant" and passage.origin == "conversation"):
        return False
    said = said_in(passage, obligation, history)
    if passage.origin != "conversation" and claim_about(obligation, history.user_names) == "own":
        named = frozenset(word.lower() for name in history.user_names for word in words(name))
        if any(_is_hearsay(row, wanted, named) for row in said.splitlines()):
            return True
    stated = [(s, e) for s, e in _sentences(passage.text) if _states(said[s:e], wanted)]
    if not stated:
        return False
    subject = begins_with(obligation, history.user_names) or ""
    own = _own_names(passage, history)
    if passage.origin == "conversation" and subject.split("'")[0] in own | {"user"}:
        called = own | ({"user"} if "'" in subject else _THE_USER | _HE_OR_SHE)
        return all(
            _in_third_person(said[s:e], wanted, called)
            or check_talk(_around(passage.text, s)) >= _CHECK_TALK_IN_FIRST_PERSON
            for s, e in stated
        )
    # The whole turn is looked at: of the passage, orders to the judge have been left out.
    turn = history.turn(passage.turn_id).text
    around = [_around(turn, passage.start + s) for s, _ in stated]
    return all(poses(t) or check_talk(t, of_a_program=passage.origin == "tool") >= _CHECK_TALK for t in around)


def _own_names(passage: Passage, history: History) -> frozenset[str]:
    """What the speaker of a passage is called, lower-case."""
    speakers = history.participants.get("user", ())
    names = history.user_names if len(speakers) < 2 else (passage.speaker or "",)
    return frozenset(word.lower() for name in names for word in words(name))


def _states(text: str, wanted: tuple[str, ...]) -> bool:
    terms = set(content_terms(text))
    return wanted[0] in terms and sum(term in terms for term in wanted) >= _STATES * len(wanted)


@lru_cache(maxsize=8192)
def _sentences(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(sentences(text))


def _around(text: str, place: int) -> str:
    """The sentence of `text` at that place with the ones beside it."""
    spans = _sentences(text)
    at = bisect_right([start for start, _ in spans], place) - 1
    return text[spans[max(0, at - 1)][0] : spans[min(len(spans) - 1, at + 1)][1]]


def _in_third_person(sentence: str, wanted: tuple[str, ...], called: frozenset[str]) -> bool:
    """Does a sentence say a claimed thing of one who is `called` so, within four words and no comma after that name?

    Without "I" in the sentence, "her boat" is not the speaker's; "he" or "she" beside "I" may be anybody.
    """
    text = normalise(sentence)
    said = [word.lower() for word in words(text)]
    if not _FIRST_PERSON.isdisjoint(said):
        called -= _HE_OR_SHE
    elif any(first in _HIS_OR_HER and stem(second) in wanted for first, second in pairwise(said)):
        return True
    for found in _LETTERS.finditer(text):
        if found.group().lower() in called and not _INTRODUCED.search(text[: found.start()]):
            after = _NEXT_WORDS.match(text, found.end())
            if after is not None and not set(wanted).isdisjoint(content_terms(after.group())):
                return True
    return False


def _is_hearsay(row: str, wanted: tuple[str, ...], named: frozenset[str]) -> bool:
    """Does a line of a tool's text state the claim in a sentence, of somebody who is named before what is claimed?

    A line with a day or an hour is a record of what is done through systems, but not in the first person: whoever says
    "I" there is not known.
    """
    recorded = wanted[0] in _THROUGH_SYSTEMS and _WHEN.search(row) is not None
    recorded = recorded and check_talk(row, of_a_program=True) < _CHECK_TALK - 1
    about = _FIRST_PERSON if recorded else _REFERS | named
    return any(_states(part, wanted) and _names_before(part, wanted[0], about) for part in _DATA_ENDS.split(row))


def _names_before(part: str, first: str, about: frozenset[str]) -> bool:
    """Is one of `about` named before the first thing claimed, or is anything "hers" or "mine", as it is in no data?"""
    said = words(normalise(part).lower())
    if not _POSSESSIVE.isdisjoint(said):
        return True
    before = takewhile(lambda word: stem(word) != first, said)
    return not about.isdisjoint(word.removesuffix("'s") for word in before)
