"""Clauses: whose doing each one tells, as fact, plan, wish, chance or question, and what links it to the one before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from admission.text import word_set
from admission.verifiers.checks.modes import mode_of
from admission.verifiers.checks.reading import PERSONAL, Text, Word, read

PEOPLE = word_set("""
    wife husband partner girlfriend boyfriend fiance fiancee mother mum mom mama dad father baba papa parents brother
    sister son daughter child children kid kids boy girl boys girls twins baby grandma granny gran grandmother grandpa
    grandfather grandson granddaughter grandchildren uncle aunt auntie cousin niece nephew friend friends colleague
    colleagues boss manager supervisor teacher trainer coach neighbour neighbor neighbours flatmate roommate landlord
    landlady doctor dentist vet nurse therapist physio lawyer client clients customer customers guest guests tenant
    apprentice student students pupil pupils team chef pastor priest father director editor publisher conductor
    mother-in-law father-in-law brother-in-law sister-in-law stepmother stepfather family ex man woman lady guy
    someone somebody everyone everybody nobody people plumber electrician mechanic builder tailor baker
""")
"""Nouns that stand for a person: what "my wife" does is her doing."""

_FIRST = word_set("i i'm i've i'd i'll we we're we've we'd we'll")
_SECOND = word_set("you you're you've you'd you'll")
_RELATIVE = word_set("who which whom whose that")
_SUBJECT_WITHIN, _NAME_WITHIN = 9, 5
_BEFORE_OBJECT = word_set("to in on at for from with by of into onto about near than like the a an called named via")
_THINGS = word_set("it it's its that that's this there there's these those it'll it'd what what's everything nothing")
_MINE = word_set("my our mine ours")
_YOURS = word_set("your yours")
_PRONOUN = PERSONAL | word_set("he'd she'd they'd he'll she'll they'll herself himself themselves")
_BREAK = re.compile(r"[,;:.!?()\u2013\u2014]|\s-\s")
_OPENERS: dict[str, str] = {
    **dict.fromkeys(("because", "since", "as", "'cause", "cos"), "cause"),
    **dict.fromkeys(("so", "therefore", "hence", "thus", "consequently"), "effect"),
    **dict.fromkeys(("if", "unless", "provided", "once"), "condition"),
    **dict.fromkeys(("before", "until", "till"), "before"),
    **dict.fromkeys(("after",), "after"),
    **dict.fromkeys(("then", "afterwards", "later"), "then"),
    **dict.fromkeys(("and", "but", "while", "though", "although", "whereas", "which", "who", "when", "or"), "joined"),
}
_PHRASES = (
    (
        re.compile(r"\b(?:because of|due to|thanks to|owing to|on account of|that's because|given that)\b", re.I),
        "cause",
    ),
    (re.compile(r"\b(?:the reason|it was because|comes from|came from|made (?:me|him|her|us|it))\b", re.I), "cause"),
    (re.compile(r"\b(?:which is why|that's why|that is why|so that)\b", re.I), "effect"),
    (
        re.compile(r"\b(?:in order to|so as to|to keep|to stop|to make|to get|to help|to let|to save)\b", re.I),
        "purpose",
    ),
)
_TO = re.compile(r"^to$")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose doing a clause tells: `speaker`, `addressee`, `third` (with what they are called) or `thing`."""

    who: str
    called: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Clause:
    """Words `first` to `last` (exclusive) of a sentence.

    `owner` is None where the clause names no subject; `mode` is fact, plan, wish or chance; `link` what opens the
    clause (a value of `_OPENERS`, `purpose`, `comma` for bare punctuation, or `start`).
    """

    first: int
    last: int
    owner: Owner | None
    mode: str
    link: str
    named: frozenset[str] = frozenset()


@lru_cache(maxsize=16384)
def clauses(sentence: str) -> tuple[Clause, ...]:
    """The clauses of one sentence, in order; a clause that names no subject has no owner."""
    text = read(sentence)
    if not text.words:
        return ()
    cuts = _cuts(text)
    found = []
    for (first, link), (last, _) in zip(cuts, [*cuts[1:], (len(text.words), "")], strict=True):
        part = text.words[first:last]
        start = part[0].start
        body = text.text[start : part[-1].end]
        owner = owner_of(part, initial=first == 0)
        found.append(Clause(first, last, owner, mode_of(body), link, _names(part)))
    return tuple(found)


def _cuts(text: Text) -> list[tuple[int, str]]:
    """Where clauses begin, and what opens each."""
    phrases = {m.start(): kind for pattern, kind in _PHRASES for m in pattern.finditer(text.text)}
    cuts = [(0, phrases.get(0, _OPENERS.get(text.words[0].lower, "start")))]
    for i, word in enumerate(text.words[1:], start=1):
        gap = text.text[text.words[i - 1].end : word.start]
        kind = phrases.get(word.start) or _OPENERS.get(word.lower)
        if kind is None and _BREAK.search(gap):
            kind = "comma"
        if kind is None and word.lower == "to" and i + 1 < len(text.words) and _purpose(text.words, i):
            kind = "purpose"
        if kind is None:
            continue
        if cuts[-1][0] == i - 1 and cuts[-1][1] in ("comma", "joined", "start") and kind != "comma" and i - 1 > 0:
            cuts[-1] = (i - 1, kind)
        else:
            cuts.append((i, kind))
    return cuts


# After these a "to" completes the verb or names a place, and states no purpose.
COMPLETED = word_set("""
    able about advised agree agreed agrees allowed are ask asked asks began begin begins chance continue continued
    continues decide decided decides determined due encouraged excited expect expected expects forced forget forgot
    get glad going got had happen happened happy has have help helped helps hope hoped hopes how inspired intend
    intends intended invited is keen learn learned like liked likely likes love loves made manage managed mean means
    meant need needed needs offer offered offers one ought plan planned planning plans prefer prefers promise promised
    promises ready refuse refused refuses remember remembered said say says seem seems someone something start started
    starts supposed tell time told tried tries try used want wanted wants was way were what where willing wish wishes
    hoping wanting trying due close next listen listens listened talk talked talks went go goes back up close access
    enough too moved sent gave it's i'd i've he's she's prone tempted eager afraid bound set free set good nice
    wonderful lovely great hard easy difficult not yet him her them me us you
""")


def _purpose(words: Sequence[Word], i: int) -> bool:
    following = words[i + 1]
    return (
        i >= 2
        and words[i - 1].lower not in COMPLETED
        and following.content
        and following.text[:1].islower()
        and following.lower.isalpha()
    )


def owner_of(part: Sequence[Word], initial: bool = True) -> Owner | None:
    """The subject a clause names first, or None. `initial`: the clause opens its sentence, its capital says nothing."""
    if part[0].lower in _RELATIVE:
        return None
    cleft = len(part) > 2 and part[0].lower in ("it", "it's") and part[1].lower in ("is", "was", "isn't", "wasn't")
    for i in range(2 if cleft else 0, min(len(part), _SUBJECT_WITHIN)):
        owner = _pointed(part, i) or _named(part, i, initial)
        if owner is not None:
            return owner
    return None


def _pointed(part: Sequence[Word], i: int) -> Owner | None:
    """The owner that a pronoun at `i` points at, "my" and "your" with what follows them."""
    lower = part[i].lower
    if lower in _FIRST:
        return Owner("speaker")
    if lower in _SECOND:
        return Owner("addressee")
    if lower in _MINE or lower in _YOURS:
        person = _person(part[i + 1 : i + 4])
        if person is not None:
            return Owner("third", person)
        return Owner("speaker" if lower in _MINE else "addressee")
    if lower in _PRONOUN:
        return Owner("third")
    return Owner("thing") if i == 0 and lower in _THINGS else None


def _named(part: Sequence[Word], i: int, initial: bool) -> Owner | None:
    """The owner that a noun or name at `i` names."""
    word, following = part[i], part[i + 1 : i + 4]
    bare = word.lower.removesuffix("'s")
    if word.lower.endswith("'s") and (person := _person(following)) is not None:
        return Owner("third", person)
    if bare in ("user", "assistant"):
        return Owner("third", frozenset((bare,)))
    if word.lower in PEOPLE:
        return Owner("third", frozenset((word.lower, *_names(following[:1]))))
    name = word.text[:1].isupper() and word.content and (i or not initial or _is_name(word, following))
    if name and i < _NAME_WITHIN and (not i or part[i - 1].lower not in _BEFORE_OBJECT):
        return Owner("third", _names(part[i : i + 3]))
    return None


def _is_name(word: Word, following: Sequence[Word]) -> bool:
    """A capital at the start of a clause is a name where it is followed by a verb-like or possessed word."""
    if word.lower.endswith("'s"):
        return True
    return bool(following) and (
        following[0].lower in _AFTER_NAME or following[0].text[:1].isupper() or following[0].lower.endswith(("ed", "s"))
    )


_AFTER_NAME = word_set("""
    is was has had will would can could may might says said thinks thought told wants wanted likes loves hates finds
    found asked gave got does did went came took made does doesn't didn't isn't wasn't won't also still just always
    never only and sent put
""")


def _person(following: Sequence[Word]) -> frozenset[str] | None:
    for i, word in enumerate(following):
        bare = word.lower.removesuffix("'s")
        if bare in PEOPLE:
            return frozenset((bare, *_names(following[i + 1 :])))
    return None


def _names(part: Iterable[Word]) -> frozenset[str]:
    return frozenset(w.lower.removesuffix("'s") for w in part if w.text[:1].isupper() and w.content)
