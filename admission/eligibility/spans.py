"""Which stretches of a turn may be shown as evidence at all, and the names that users give as their own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from admission.eligibility.orders import forged_spans, points_on, poses
from admission.records import Turn
from admission.replies import asks
from admission.text import content_terms, disguise, normalise, sentences, stem, words

NEVER_EVIDENCE = frozenset({"memory", "instruction"})
SaidBefore = Callable[[Iterable[str], float], bool]

_COURTESY = frozenset(
    stem(word)
    for word in words(
        "hi hello hey good morning afternoon evening night day dear thanks thank welcome sure ok okay yes well great"
        " course noted sorry please glad happy help"
    )
)
_ECHO_SHARE = 0.5
_SAID_SHARE = 0.75


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

    None of a turn of `memory` or `instruction` origin, or of a speaker whose name is disguised. Of other turns, a
    user's too, sentences are left out that order the judge about, pose as a verdict, a part of a prompt or a line of
    another speaker, or are disguised; and of an assistant's those that only echo a recalled memory: most of what a
    sentence says, courtesies aside, is in an earlier recalled memory, and no user or tool said it before
    (`said_before(terms, share)`). Echoed questions stay: a user may confirm them.
    """
    if turn.origin in NEVER_EVIDENCE or not turn.text.strip() or disguise(turn.speaker or "") is not None:
        return []
    echoes = turn.role == "assistant" and bool(recalled)
    forged = forged_spans(turn)
    if not echoes and not forged and not poses(turn.text) and disguise(turn.text) is None:
        return [(0, len(turn.text))]
    spans: list[tuple[int, int]] = []
    dropped = False
    joined = False
    for start, end in sentences(turn.text):
        sentence = turn.text[start:end]
        if poses(sentence):
            dropped, joined = True, False
            if points_on(sentence):
                break
        elif (
            any(start < to and frm < end for frm, to in forged)
            or disguise(sentence) is not None
            or (echoes and _is_echo(sentence, recalled, said_before))
        ):
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
