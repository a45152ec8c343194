"""Directives on who may use memories (restrict, grant, revoke): is one clear, and which memories does it mean?"""

from __future__ import annotations

import re

from admission.reading.directive_times import without_end
from admission.reading.directive_words import CALENDAR
from admission.reading.directives import Directive
from admission.reading.forgetting import LEAST_TOPICS, SHARE
from admission.reading.meant import Meant, Records
from admission.text import stem, words

# What a directive may be bound to. An end that was read is in `until`; anything else nobody can watch over.
_BOUND = re.compile(
    r"\b(?:if|unless|once|when|whenever|after|before|as soon as|while|during|as long as|in case|until|till|through"
    r"|for (?:\w+ ){0,2}(?:minute|hour|day|night|week|month|year)s?)\b",
    re.I,
)
_OPENS = r"^(?:(?:yes|ok|okay|also|please|now|and|so|thanks|thank you)\b[,.!]?\s+|(?:can|could|would|will) you\s+)*"
_GIVES = r"(?:please\s+)?(?:approved for|give|grant|let|allow)?\s*"


def is_clear(directive: Directive) -> bool:
    """Is it clear whom it concerns and when it holds? A grant, which opens something, has to begin with the person or
    with the giving: "nobody said that Petra may see it" gives no leave."""
    if len(directive.who) != 1 or directive.who[0] == directive.by:
        return False
    if directive.until is None and _BOUND.search(directive.said):
        return False
    begins = rf"{_OPENS}{_GIVES}{re.escape(directive.who_said or '')}\b"
    return directive.kind != "grant" or re.match(begins, directive.said, re.I) is not None


def access_meant(directive: Directive, records: Records) -> Meant:
    """Which of these records, given as (key, text), a directive on somebody's access means, by the words of its
    description and nothing else.

    A restriction or revocation surely means what holds all of these words, and everything where it names none; with
    `only`, all but that. A grant opens something and surely means only what holds all words of a description of three
    or more. Unsure: what holds most of such a description, or all of it but for a day or month; of a grant also what
    holds all of a shorter one.
    """
    topics = set(directive.topics)
    if not topics:
        return Meant(tuple(key for key, _ in records)) if directive.kind == "revoke" else Meant()
    # Days and months are no topics, but a record of another month is not what is meant.
    wanted = topics | {word for word in words(without_end(directive.said)) if _is_date(word)}
    held = {key: wanted & (_stems(text) | set(words(text))) for key, text in records}
    if directive.only:
        return Meant(tuple(key for key in held if held[key] != wanted))
    described = len(topics) >= LEAST_TOPICS
    sure = [key for key in held if held[key] == wanted and (described or directive.kind != "grant")]
    near = [key for key in held if topics <= held[key] or (described and len(held[key]) >= SHARE * len(wanted))]
    return Meant(tuple(sure), tuple(key for key in near if key not in set(sure)))


def _is_date(word: str) -> bool:
    return word.isdigit() or (word[:1].isupper() and word.lower() in CALENDAR)


def _stems(text: str) -> set[str]:
    return {stem(part) for word in words(text) for part in word.replace("/", "-").replace("_", "-").split("-")}
