"""Which records a request to forget means beyond doubt, and which it may mean: nobody is there to look at a match.

`forgetting` finds all that a request could mean, so that nothing leaks. Where forgetting is carried out at once that is
too much: a name stands in many records, a few words describe many, the end of a number is another number somewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from admission.reading.directive_words import identifier
from admission.reading.directives import Directive
from admission.reading.forgetting import LEAST_TOPICS, SHARE, Forgetting, holds
from admission.text import normalise, stem, word_set, words

_SEVERAL = re.compile(r"\b(?:all|every\w*|any\w*|both|each|whatever|memories|notes|entries)\b", re.I)
# Words for a thing that is noted down say nothing of what is noted.
_ANY_THING = frozenset(
    map(
        stem,
        word_set(
            "number note contact label token code line alias detail entry address record value told phone memory thing"
            " everything anything something all"
        ),
    )
)

Records = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Meant:
    """Keys of records, in the order they were given: `sure` ones are meant; `unsure` ones may be: ask."""

    sure: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


def meant(directive: Directive, records: Records) -> Meant:
    """What a request to forget means among these records, given as (key, text).

    Sure: a record that holds, in full, an identifier or quotation which the request says; the only one that holds a
    name it says and most of what it says beside; the only one that its description fits, or all of them, where it asks
    for several ("all", "everything"). Unsure: several that fit alike; one with a part of an identifier, or with a name
    alone; and those with all words of a description that is too short to be one.
    """
    if directive.kind != "forget" or directive.deferred:
        return Meant()
    names = [value for value in directive.values if _is_name(value, directive.said)]
    literal = [value for value in directive.values if value not in names]
    sure = set(_holding(records, lambda text: any(_in_full(value, text) for value in literal)))
    unsure = set(_holding(records, lambda text: _any(literal, text)))
    fitting, enough = _fitting(directive, names, records)
    (sure if enough else unsure).update(fitting)
    keys = [key for key, _ in records]
    return Meant(
        tuple(key for key in keys if key in sure), tuple(key for key in keys if key in unsure and key not in sure)
    )


def _fitting(directive: Directive, names: Sequence[str], records: Records) -> tuple[list[str], bool]:
    """The records that fit what is described or called by a name; and is that enough to be sure of them?"""
    several = _SEVERAL.search(directive.said) is not None
    found = Forgetting().resolve(directive, records)
    learnt = [value for value in found.values if value not in directive.values]
    if found.keys:
        return list(found.keys), several or len(found.keys) == 1
    if learnt:
        # "the Harbor House number": the number that stands with the name.
        return _holding(records, lambda text: _any(learnt, text)), several or len(learnt) == 1
    if names:
        named = [(key, text) for key, text in records if _any(names, text)]
        fitting = _holding(named, lambda text: _fits(directive, text))
        return (fitting, several or len(fitting) == 1) if fitting else ([key for key, _ in named], False)
    if not directive.values and 0 < len(directive.topics) < LEAST_TOPICS:
        return _holding(records, lambda text: _stems(text) >= set(directive.topics)), False
    return [], False


def _holding(records: Records, test: Callable[[str], bool]) -> list[str]:
    return [key for key, text in records if test(text)]


def _any(values: Sequence[str], text: str) -> bool:
    return any(holds(text, value) for value in values)


def _fits(directive: Directive, text: str) -> bool:
    """Does the record hold most of what the request says beside the name?"""
    wanted = set(directive.topics) - _ANY_THING
    return len(wanted & _stems(text)) >= SHARE * len(wanted)


def _is_name(value: str, said: str) -> bool:
    """A name, as against an identifier or the words of a quotation."""
    quoted = any(f"{mark}{value}{mark}" in said for mark in "\"'")
    return value[:1].isupper() and not identifier(value) and not quoted


def _in_full(value: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(normalise(value))}(?![\w-])", normalise(text), re.I) is not None


def _stems(text: str) -> set[str]:
    return {stem(part) for word in words(text) for part in word.split("-")}
