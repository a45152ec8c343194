"""One short memory read as a statement: whose, by which verb, now or then, affirmed or ended, and what is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from admission.language import is_foreign
from admission.obligations.clauses import Token, base, find_head, is_ing, kinds, tokenise
from admission.obligations.fidelity.clause_parts import verb_of
from admission.obligations.vocabulary import BE, DETERMINERS, NUMBER_WORDS, POSSESSIVES, PREPOSITIONS, SUBJECT_PRONOUNS
from admission.text import FUNCTION_WORDS, normalise, sentences, stem, word_set, words
from admission.verifiers.checks.modes import mode_of

LONGEST = 240
"""Characters of a memory that is still read: a longer one says more than one thing."""

NEUTRAL = word_set("now currently nowadays presently recently just finally already anymore")
CALENDAR = word_set("""
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays january february march april may june july august september october november december
""")
_PRESENT = word_set("is are am has have does do 's 're 'm")
_NOT = word_set("not n't never")
_REASONS = word_set("because since so due although though but which who whose whereas")
_BOUNDS = word_set("while when whenever if unless until once where provided")
_JOINED = word_set("and or nor plus")
_PRO_FORMS = word_set("there here it that this them those these one ones he she they him her's so")
_FILLERS = frozenset((("any", "more"), ("no", "longer"), ("these", "days")))
_MAY = re.compile(r"\bMay\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a memory with the one verb that carries it.

    `predicate`: the text from the verb on. `subject`: lower-case words without determiners, "user" for a user by
    whatever name. `verb`: base form. `tense`: `present`, `past` or `other` (perfect, modal, plan). `over`: it is said
    to hold no longer ("no longer", "any more", "stopped", "used to"). `denied`: it is denied without a word of change.
    `rest`: the tokens after the verb, as far as the first connective, without articles and without "now". `simple`:
    nothing was cut off and nothing is joined. `bounded`: what was cut off says when or on what condition. `mode` is
    that of `checks.modes`.
    """

    text: str
    predicate: str
    subject: tuple[str, ...]
    verb: str
    tense: str
    over: bool
    denied: bool
    rest: tuple[Token, ...]
    simple: bool
    bounded: bool
    mode: str

    @property
    def content(self) -> frozenset[str]:
        """Stems of what is said, without grammar."""
        return content_of(self.rest)

    @property
    def prepositions(self) -> frozenset[str]:
        return frozenset(token.low for token in self.rest if token.low in PREPOSITIONS)

    @property
    def vague(self) -> bool:
        """Does a word stand for something said elsewhere ("works there")?"""
        return any(token.low in _PRO_FORMS for token in self.rest)


def content_of(tokens: Iterable[Token]) -> frozenset[str]:
    """Stems of the tokens that say something by themselves, numbers included."""
    return frozenset(
        stem(token.text)
        for token in tokens
        if token.is_word and (token.low not in FUNCTION_WORDS or token.low in NUMBER_WORDS)
    )


def is_number(token: Token) -> bool:
    return any(char.isdigit() for char in token.text) or token.low in NUMBER_WORDS


def is_calendar(token: Token) -> bool:
    return token.low in CALENDAR and token.text[:1].isupper()


def plain_mode(text: str) -> str:
    """`checks.modes.mode_of`, with the month of May taken for no chance."""
    return mode_of(_MAY.sub("April", text))


@lru_cache(maxsize=8192)
def read_statement(text: str, users: frozenset[str] = frozenset()) -> Statement | None:
    """The statement that `text`, one sentence, makes; None where it is longer, or cannot be read with certainty.

    `users`: names of the users, whom "the user" and a missing subject stand for too. Pronouns stand for nobody known.
    """
    text = normalise(text)
    if len(text) > LONGEST or len(sentences(text)) != 1 or text.endswith("?") or is_foreign(text):
        return None
    tokens = tokenise(text.rstrip(".! "))
    head = find_head(tokens, 0, len(tokens)) if tokens else None
    if head is None:
        return None
    subject = _subject(tokens[head.start : head.subject_end], users)
    if subject is None:
        return None
    group, rest = tokens[head.verb : head.group_end], tokens[head.group_end :]
    verb = base(tokens[verb_of(tokens, head)])
    verb, rest, over = _ended("be" if verb in BE else verb, tokens[head.verb], rest)
    lows = [token.low for token in (*tokens[head.subject_end : head.group_end], *rest)]
    longer = "no longer" in " ".join(lows)
    more = "anymore" in lows or "any more" in " ".join(lows)
    denied = any(low in _NOT for low in lows)
    main, cut = _main(rest)
    return Statement(
        text=text,
        predicate=text[tokens[head.verb].start :].rstrip(".! "),
        subject=subject,
        verb=verb,
        tense="present" if over else _tense(group),
        over=over or longer or (denied and more),
        denied=denied and not more,
        rest=main,
        simple=not cut,
        bounded=cut in _BOUNDS,
        mode=plain_mode(text),
    )


def _subject(tokens: Sequence[Token], users: frozenset[str]) -> tuple[str, ...] | None:
    found = [token.low for token in tokens if token.low not in DETERMINERS]
    if not found:
        return ("user",)
    if found[0] in SUBJECT_PRONOUNS | POSSESSIVES:
        return None
    if any(low in _JOINED for low in found):
        return None
    names = {part.lower() for name in users for part in words(name)}
    end = 0
    while end < len(found) and found[end].removesuffix("'s") in names:
        end += 1
    if end:
        found[:end] = ["user's" if found[end - 1].endswith("'s") else "user"]
    return tuple(found)


def _ended(verb: str, finite: Token, rest: list[Token]) -> tuple[str, list[Token], bool]:
    """The verb that "used to", "stopped" or "gave up" say has ended, what follows it, and whether they do."""
    past = "past" in kinds(finite)
    if verb == "use" and past and len(rest) > 1 and rest[0].low == "to":
        inner = base(rest[1])
        return ("be" if inner in BE else inner), rest[2:], True
    if verb in ("stop", "quit") and rest and is_ing(rest[0]):
        return base(rest[0]), rest[1:], True
    if verb == "give" and len(rest) > 1 and rest[0].low == "up" and is_ing(rest[1]):
        return base(rest[1]), rest[2:], True
    return verb, rest, False


def _tense(group: Sequence[Token]) -> str:
    finite = group[0]
    if finite.low in ("has", "have") and len(group) > 1 and group[-1].low not in _NOT:
        return "other"
    if finite.low in _PRESENT or "s" in kinds(finite):
        return "present"
    return "past" if "past" in kinds(finite) or finite.low in ("was", "were", "did", "had") else "other"


def _main(rest: Sequence[Token]) -> tuple[tuple[Token, ...], str]:
    """What is said up to the first connective or mark, without articles, "now" and "no longer"; and what cut it off, or
    joins its parts."""
    kept: list[Token] = []
    lows = ["", *(token.low for token in rest), ""]
    cut = ""
    for place, token in enumerate(rest, start=1):
        if token.low in _REASONS | _BOUNDS or not token.is_word:
            return tuple(kept), token.low
        if token.low in _JOINED:
            cut = token.low
            continue
        filler = (lows[place], lows[place + 1]) in _FILLERS or (lows[place - 1], lows[place]) in _FILLERS
        if not filler and token.low not in NEUTRAL | DETERMINERS | POSSESSIVES:
            kept.append(token)
    return tuple(kept), cut
