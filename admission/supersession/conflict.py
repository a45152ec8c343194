"""Two memories held against each other: same subject, same attribute, and one that the other leaves no room for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from admission.obligations.clauses import Token, base, is_ing, tokenise
from admission.obligations.vocabulary import DETERMINERS, POSSESSIVES, PREPOSITIONS
from admission.records import Record
from admission.supersession.attributes import (
    EXCLUSIVE_STATES,
    has_one_value,
    is_counted,
    one_of_several,
    slot_of,
    value_kind,
)
from admission.supersession.statement import Statement, content_of, is_calendar, is_number
from admission.text import stem, word_set

Kind = Literal["over", "swapped", "value"]

# What an ending says of which state: past phrase -> verbs of the memory that it ends.
_KEPT = word_set("own have drive ride use keep possess")
_BELONGS = word_set("work employ join study attend teach volunteer serve")
_PAIRED = word_set("date marry be see live")
_LIVED = word_set("live reside base")
_EVENT_AFTER = word_set("at for early late around until till with")
_PAID = word_set("have use pay subscribe keep")
_HAS = r"(?:has |have |is |got )?"
_ENDINGS = tuple(
    (re.compile(rf"{_HAS}(?:{past})\s+"), verbs)
    for past, verbs in (
        (r"sold|gave away|given away|got rid of|traded in", _KEPT),
        (r"cancell?ed|unsubscribed from|terminated|ended", _PAID),
        (r"left|quit|resigned from|retired from", _BELONGS),
        (r"(?:was |got |been )+(?:laid off|let go|fired|dismissed) (?:from|by)", _BELONGS),
        (r"broke up with|broken up with|divorced(?: from)?|separated from|split up with", _PAIRED),
        (r"moved away from|moved out of", _LIVED),
    )
)
_GIVEN_UP = re.compile(r"(?:has |have )?(?:gave up|given up|quit|stopped)\s+")
_CONSUMED = word_set("eat drink smoke use take play practise practice do consume vape")
_ATTITUDES = word_set("like love enjoy hate dislike prefer adore admire want know remember believe think")
_INDEFINITE = word_set("a an some one another any two three four several half")
_PHRASE_END = word_set("""
    because since so while when if but and or last this yesterday in on at for after before to now recently ago today
    during from with who which that by due
""")
_SWITCHED = re.compile(
    r"\b(?:switched|changed|swapped|converted|transitioned|switches|moved|relocated)\b[^.;]*?\bfrom\s+(?P<old>.+?)\s+to\s+",
    re.IGNORECASE,
)
_REPLACED = re.compile(r"\breplaced\s+(?P<old>.+?)\s+(?:with|by)\s+", re.IGNORECASE)
_INSTEAD = re.compile(r"\b(?:instead of|rather than)\s+(?P<old>.+)$", re.IGNORECASE)
_TITLES = word_set("title role position rank")
_OPENING = re.compile(r"^(?:recently|just|finally|already|now)\s+", re.IGNORECASE)
_STATE = re.compile(r"\bis (?:now |currently )?(\w+)$")


class Conflict(Record):
    """Why two memories cannot both hold.

    `over`: the new one says that the old one's state ended; `swapped`: it puts something else in the old one's place by
    name; `value`: it gives another value to what has one at a time. `old` and `new` are stems of the words they differ
    in (`new` is empty for `over`). `doubtful`: there may be two at a time, so that more has to be said than how things
    are now. `instead`: the old memory with the new value in its place, for a judge of contradiction, where only the
    world tells whether the two exclude each other (a town lies in a country).
    """

    kind: Kind
    attribute: str
    old: frozenset[str]
    new: frozenset[str] = frozenset()
    doubtful: bool = False
    instead: str | None = None


def conflict(old: Statement, new: Statement) -> Conflict | None:
    """The conflict of a new memory with an old one, or None where both can hold, or it cannot be told.

    The old one has to be one plain statement of how things are: an event stays true, and a memory that says more than
    one thing is not to be lost over one of them.
    """
    if old.subject != new.subject or old.mode != new.mode or not old.simple or old.over or old.vague or new.vague:
        return None
    if old.denied or new.denied:
        return None
    if old.tense != "present" and slot_of(old) is None:
        return None
    return _denied(old, new) or _over(old, new) or _swapped(old, new) or _other_value(old, new)


def _denied(old: Statement, new: Statement) -> Conflict | None:
    """ "No longer drinks coffee" ends "drinks coffee at breakfast", but "no longer after lunch" does not."""
    if not new.over or new.bounded or old.verb != new.verb:
        return None
    if not new.content <= old.content or not new.prepositions <= old.prepositions:
        return None
    if not new.content and old.content:
        return None  # "no longer plays", "stopped drinking": who knows what
    if new.prepositions and new.content != old.content:
        return None  # "lives with Tom in Boston" is not over for good with Tom
    return Conflict(kind="over", attribute=old.verb, old=new.content or frozenset((stem(old.verb),)))


def _over(old: Statement, new: Statement) -> Conflict | None:
    """ "Sold the red Vespa" ends "owns a red Vespa"."""
    said = _OPENING.sub("", new.predicate)
    for pattern, verbs in (*_ENDINGS, (_GIVEN_UP, _CONSUMED)):
        found = pattern.match(said.lower())
        if found is None or old.verb not in verbs:
            continue
        phrase = _phrase(tokenise(said[found.end() :]))
        definite = not phrase or phrase[0].low not in _INDEFINITE
        # Who left the library at noon still works there; who gave gluten up for Lent eats it again.
        if found[0].strip().lower().endswith("left"):
            definite = definite and all(token.is_name for token in phrase)
        if re.search(rf"^\W*(?:{'|'.join(_EVENT_AFTER)})\b", said[found.end() + (phrase[-1].end if phrase else 0) :]):
            definite = False
        content = content_of(phrase)
        if definite and content and content == old.content:
            return Conflict(kind="over", attribute=old.verb, old=content)
    return None


def _swapped(old: Statement, new: Statement) -> Conflict | None:
    """ "Switched from Spotify to Tidal" takes the place of "uses Spotify"."""
    if old.verb in _ATTITUDES or old.verb == "be":
        return None
    for pattern in (_SWITCHED, _REPLACED):
        found = pattern.search(new.text.rstrip(".! "))
        if found is None:
            continue
        gone = content_of(tokenise(found["old"]))
        home = slot_of(old)
        moved = "moved" in found[0].lower() or "relocated" in found[0].lower()
        if gone and gone == old.content and (not moved or (home is not None and home.attribute == "home")):
            return Conflict(kind="swapped", attribute=old.verb, old=gone)
    return _instead(old, new)


def _instead(old: Statement, new: Statement) -> Conflict | None:
    """ "Cycles to work instead of taking the bus" takes the place of "takes the bus to work"."""
    found = _INSTEAD.search(new.text.rstrip(".! "))
    if found is None or new.tense != "present":
        return None
    phrase = _phrase(tokenise(found["old"]))
    if not phrase:
        return None
    acted = is_ing(phrase[0])
    verb = base(phrase[0]) if acted else new.verb
    gone = content_of(phrase[1:] if acted else phrase)
    kept = content_of(tokenise(new.text[: found.start()]))
    if verb != old.verb or not gone or not gone <= old.content or not old.content <= gone | kept:
        return None
    return Conflict(kind="swapped", attribute=old.verb, old=gone)


def _other_value(old: Statement, new: Statement) -> Conflict | None:
    if new.over:
        return None
    return _slot(old, new) or _state(old, new) or _copula(old, new) or _measure(old, new)


def _slot(old: Statement, new: Statement) -> Conflict | None:
    """Another home, employer or occupation."""
    before, after = slot_of(old), slot_of(new)
    if before is None or after is None or before.attribute != after.attribute or not before.whole:
        return None
    if bool(before.names) != bool(after.names) or before.names & after.names or before.content & after.content:
        return None
    if before.regional != after.regional:
        return None
    start, end = before.tokens[0].start, before.tokens[-1].end
    value = " ".join(token.text for token in after.tokens)
    return Conflict(
        kind="value",
        attribute=before.attribute,
        old=before.content,
        new=after.content,
        doubtful=True,
        instead=f"{old.text[:start]}{value}{old.text[end:]}",
    )


def _state(old: Statement, new: Statement) -> Conflict | None:
    """Single or married, employed or not."""
    states = [_STATE.search(statement.text.rstrip(".! ").lower()) for statement in (old, new)]
    if len(old.subject) != 1 or states[0] is None or states[1] is None:
        return None
    before, after = states[0][1], states[1][1]
    if not any({before, after} == pair for pair in EXCLUSIVE_STATES):
        return None
    return Conflict(kind="value", attribute="state", old=frozenset((stem(before),)), new=frozenset((stem(after),)))


def _copula(old: Statement, new: Statement) -> Conflict | None:
    """ "Ana's phone number is ...": another number, day, name."""
    if old.verb != "be" or new.verb != "be" or new.tense != "present" or old.prepositions != new.prepositions:
        return None
    kind = value_kind(old.rest)
    if not kind or kind != value_kind(new.rest) or not has_one_value(old.subject, kind):
        return None
    before, after = content_of(old.rest), content_of(new.rest)
    if old.subject[-1] in _TITLES:
        separate = before != after  # "Analyst" and "Senior Analyst" are two titles
    elif kind in ("name", "noun"):
        separate = before.isdisjoint(after)
    else:
        separate = before != after and (kind != "calendar" or _same_shape(old.rest, new.rest))
    if not separate:
        return None
    return Conflict(
        kind="value",
        attribute=" ".join(old.subject),
        old=(before - after) or before,
        new=after,
        doubtful=one_of_several(old.subject),
    )


def _measure(old: Statement, new: Statement) -> Conflict | None:
    """The same words with another number, clock time or day after the verb."""
    if old.verb != new.verb or new.tense != "present" or len(old.rest) != len(new.rest) or len(old.rest) < 2:
        return None
    different = [(a, b) for a, b in zip(old.rest, new.rest, strict=True) if stem(a.text) != stem(b.text)]
    if len(different) != 1:
        return None
    before, after = different[0]
    if not (_is_quantity(old.rest, before) and _is_quantity(new.rest, after)):
        return None
    others = content_of(token for token in old.rest if token is not before)
    if not others and old.verb in ("be", "have"):
        return None
    return Conflict(
        kind="value",
        attribute=old.verb,
        old=frozenset((stem(before.text),)),
        new=frozenset((stem(after.text),)),
        doubtful=one_of_several(old.subject),
    )


def _is_quantity(rest: Sequence[Token], number: Token) -> bool:
    """How much, how many or at what time; of "bus 12" and "the 8:15 train" there are others."""
    if not is_number(number):
        return False
    place = rest.index(number)
    if ":" in number.text or place + 1 == len(rest):
        return place > 0 and rest[place - 1].low == "at"
    return is_counted(rest[place + 1])


def _same_shape(old: Sequence[Token], new: Sequence[Token]) -> bool:
    """A day for a day, a date for a date: "on Tuesday" and "in May" go together."""
    return [_shape(token) for token in old] == [_shape(token) for token in new]


def _shape(token: Token) -> str:
    if is_calendar(token):
        return "day" if token.low.rstrip("s").endswith("day") else "month"
    return "number" if is_number(token) else token.low


def _phrase(tokens: Sequence[Token]) -> list[Token]:
    """The noun phrase that tokens begin with."""
    found: list[Token] = []
    for token in tokens:
        if not token.is_word or token.low in _PHRASE_END or (found and token.low in PREPOSITIONS - {"of"}):
            break
        found.append(token)
    while len(found) > 1 and found[0].low in DETERMINERS | POSSESSIVES and found[0].low not in _INDEFINITE:
        found = found[1:]
    return found
