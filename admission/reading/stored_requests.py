"""Memories that are themselves requests to forget ("Ana asked to forget her old number"): told apart, and shown safely.

The reader of directives reads turns. A memory tells of a request in the third person: it is put into a turn's words
first and then read by the same reader. Conservative: a memory that says anything beside the request is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from admission.reading.directive_words import CALENDAR, named_values
from admission.reading.directives import LONGEST, Directive, read_directives
from admission.reading.forgetting import MARK, redacted
from admission.text import normalise, sentences, words

_WHO = r"^(?P<who>[\w'.-]+(?: [\w'.-]+){0,3}?)\s+(?:has |had )?(?:(?:also|again|explicitly|later|just)\s+)?"
_HEARER = r"the (?:assistant|agent|bot|system)"
_ASKED = rf"(?:ask(?:s|ed)|request(?:s|ed))(?:\s+{_HEARER})?"
_TOLD = rf"(?:wants?|wanted|would like|tells|told|instruct(?:s|ed))\s+{_HEARER}"
_TELLINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(form, re.I), words_of_a_turn)
    for form, words_of_a_turn in (
        (rf"{_WHO}(?:{_ASKED}|{_TOLD}) not to (?P<what>(?:retain|keep|store|remember|save)\s.+)", r"Do not \g<what>"),
        (rf"{_WHO}(?:{_ASKED}|{_TOLD}) to (?P<what>.+)", r"\g<what>"),
        (rf"{_WHO}{_ASKED} that (?P<what>.+?) (?:should |must )?be (?P<end>.+)", r"\g<what> should be \g<end>"),
        (rf"{_WHO}(?:wants?|wanted|would like) (?P<what>.+)", r"I want \g<what>"),
        (rf"{_WHO}requests?(?:ed)?(?: the)? (?:deletion|erasure|removal) of (?P<what>.+)", r"Delete \g<what>"),
    )
)
# Said as it was asked. "The invoices must be deleted by Friday" may be a request, or a plan, and counts as none.
_IMPERATIVE = re.compile(
    r"^(?:please,? )?(?:(?:forget|delete|erase|purge|wipe|expunge)\b"
    r"|(?:do not|don't|never) (?:retain|keep|store|remember|save)\b)",
    re.I,
)
# What makes it a request about memories, and not about an account or a tattoo.
_OF_MEMORY = re.compile(r"\b(?:forget|forgotten|remember|memory|memories|records?|notes?)\b", re.I)
# Whoever says more than what is to be forgotten tells news.
_MORE = re.compile(
    r"[;(\[]|:\s|\s[-\u2013\u2014]\s|\b(?:but|keep|keeping|leave|use|using|instead|because|since|now|new|so)\b", re.I
)
_KEPT = re.compile(r"^(?:(?:do not|don't|never) )", re.I)
# "forget that she sleeps badly", "forget her diet: no nuts": what follows is the very thing.
_TOLD_ANYWAY = re.compile(
    r"\b(?P<verb>forget|delete|erase|retain|keep|store|remember|save)(?P<fact> the fact)? that\s.*", re.I | re.S
)
_ASIDE = re.compile(r"(?:\s*[:(\[]|\s[-\u2013\u2014]\s).*", re.S)
_DIGITS = re.compile(r"\d")
_CAPITAL = re.compile(r"[A-Z][\w'-]*")


def stored_requests(text: str) -> tuple[Directive, ...]:
    """The requests to forget that a memory consists of; () for one that says anything else, or is not clearly one.

    A report that something was deleted, and a request that waits for something, are none.
    """
    flat = normalise(text)
    found: list[Directive] = []
    for start, end in sentences(flat):
        request, who = _as_said(flat[start:end])
        if request is None or _MORE.search(_KEPT.sub("", request)):
            return ()
        read = read_directives("memory", request, known=who)
        named = any(directive.values for directive in read)
        if not read or not (named or _OF_MEMORY.search(request)):
            return ()
        if any(directive.kind != "forget" or directive.done or directive.deferred for directive in read):
            return ()
        found.extend(read)
    return tuple(found)


def named_in_request(text: str) -> tuple[str, ...]:
    """What a memory that is a request to forget must not give away: what it names, whatever has a digit, and names but
    that of who asked."""
    flat = normalise(text)
    found: list[str] = []
    for start, end in sentences(flat):
        said = flat[start:end]
        told = next((match for form, _ in _TELLINGS if (match := form.match(said))), None)
        who = words(told["who"]) if told is not None else ()
        what = told["what"] if told is not None else said
        # A request as it was said begins with a capital that makes no name.
        first = () if told is not None else words(said)[:1]
        plain = {word.lower() for word in (*who, *first)}
        found.extend(named_values(what, who))
        found.extend(word for word in words(what) if _DIGITS.search(word))
        found.extend(
            word
            for word in words(what)
            if _CAPITAL.fullmatch(word) and len(word) > 1 and word.lower().removesuffix("'s") not in plain | CALENDAR
        )
    return tuple(dict.fromkeys(found))


def shown_request(text: str, values: Sequence[str]) -> str:
    """A text of a memory that is a request to forget, without these values and without what it tells in asking."""
    flat = normalise(text)
    cut = (
        _TOLD_ANYWAY.sub(rf"\g<verb>\g<fact> that {MARK}", _ASIDE.sub(f" {MARK}", flat[start:end]))
        for start, end in sentences(flat)
    )
    return redacted(" ".join(cut), values)


def _as_said(sentence: str) -> tuple[str | None, tuple[str, ...]]:
    """The request in the words of a turn, and the names of who is told to have made it."""
    if len(sentence) > LONGEST:
        return None, ()
    for form, words_of_a_turn in _TELLINGS:
        match = form.match(sentence)
        if match is not None:
            return match.expand(words_of_a_turn), tuple(words(match["who"]))
    return (sentence if _IMPERATIVE.match(sentence) else None), ()
