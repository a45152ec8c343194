"""What was taken back or disputed later: a joke owned up to, a mistake admitted, two who say the opposite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from admission.records import Passage, Turn
from admission.replies import asks
from admission.text import content_terms, normalise

if TYPE_CHECKING:
    from admission.history import History

# How many turns on somebody may still take back what they said, and how soon one is answered who was contradicted.
_NEAR = 8
_ANSWERED = 4
_JOKED = re.compile(
    r"(?<!\bnot )(?<!n't )(?<!\bno )(?<!\byou're )(?<!\byou )(?<!\byou just )(?<!\byou're just )\b(?:kidding|joking)\b"
    r"(?! (?:me|aside|apart|around))|\b(?:it|that|this) was (?:just |only )?(?:a joke|in jest)\b",
    re.IGNORECASE,
)
_WITHDRAWN = re.compile(
    r"\bi (?:was|stand) (?:wrong|mistaken|corrected)\b|\bi (?:misspoke|misremembered|misread|mistyped)\b"
    r"|\bi take (?:that|it|this) back\b|\bscratch that\b|\bmy (?:mistake|bad|error)\b"
    r"|\bi (?:mixed|got|had) (?:that|it|them|this) (?:up|wrong|mixed up|backwards)\b"
    r"|\b(?:forget|ignore|disregard) what i (?:said|wrote)\b"
    r"|\bthat(?:'s| was| is) (?:not (?:true|right|correct)|wrong)\b|^\W*(?:small |quick )?correction\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    # "Oh no!" is pity.
    r"^\W*(?:(?:well|um+|hmm?|but|actually|sorry|wait)\b[\s,.!]*)*"
    r"(?:(?:no|nope|nah)(?=\s*[,.!:;–—-]|\s+(?:it|it's|that|that's|this|he|he's|she|she's|they|they're|you|we|i|there)\b)"
    r"(?!,? (?:prob|worries|way|doubt|wonder|kidding|need|thanks))"
    r"|that(?:'s| is) (?:not (?:right|true|so|correct)|wrong)|not (?:true|so)\b|you(?:'re| are) (?:wrong|mistaken)"
    r"|i don't think (?:so|that's right))[\s,.!:;]*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OF_ONESELF = re.compile(r"^(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our)\b", re.IGNORECASE)
_CONCEDES = re.compile(
    r"\b(?:you(?:'re| are) right|i stand corrected|my (?:mistake|bad)|i (?:was|am) (?:wrong|mistaken)|i didn't know"
    r"|good to know|thanks for (?:telling|correcting|the correction|letting))\b|^\W*(?:(?:oh|ah)\b[\s,.!]*)+"
    r"(?:right|ok|okay|i see|yes|sorry|true|of course|really)?\b|^\W*(?:right|true|fair enough|sorry)\b",
    re.IGNORECASE,
)


class _Moves(NamedTuple):
    """What a turn does to what was said before it. `of_oneself`: is a denial the speaker's own to make?"""

    jokes: bool
    withdraws: bool
    denies: bool
    of_oneself: bool
    concedes: bool


@lru_cache(maxsize=8192)
def _moves(text: str) -> _Moves:
    """A turn is looked at for every passage near it and every obligation, so it is read once."""
    plain = normalise(text)
    denial = _DENIES.match(plain)
    return _Moves(
        jokes=_JOKED.search(plain) is not None,
        withdraws=_WITHDRAWN.search(plain) is not None,
        denies=denial is not None,
        of_oneself=denial is not None and _OF_ONESELF.match(denial["rest"]) is not None,
        concedes=_CONCEDES.search(plain) is not None,
    )


def taken_back(passage: Passage, obligation: str, history: History) -> bool:
    """Did whoever said this take it back, or does another say the opposite and the two left it at that?

    Said in jest: the speaker's next turn owns up to it. Withdrawn: a later turn of the speaker's admits a mistake and
    shares a content word with the obligation. Disputed: the next turn, another user's, opens with a denial and speaks
    of the same thing; then neither is evidence unless one of the two gives way. What somebody answers for themselves
    ("No, I ...") needs nobody's consent.
    """
    if passage.origin != "conversation":
        return False
    turn = history.turn(passage.turn_id)
    later = history.turns_after(turn.id, _NEAR)
    own = [following for following in later if _same_speaker(following, turn)]
    if own and _moves(own[0].text).jokes:
        return True
    if any(_moves(t.text).withdraws and _share(obligation, t.text) for t in own):
        return True
    if turn.role != "user":
        return False
    reply = later[0] if later else None
    if reply is not None and _denies(reply, turn) and not _gives_way(reply, later[1:]):
        return True
    before = history.turn_before(turn.id)
    if before is None or not _denies(turn, before):
        return False
    return not _moves(turn.text).of_oneself and not _gives_way(before, later)


def _denies(reply: Turn, turn: Turn) -> bool:
    """Does another user's reply open with a denial of what the turn states, and speak of the same thing?"""
    return (
        (reply.role, turn.role) == ("user", "user")
        and not _same_speaker(reply, turn)
        and not asks(turn.text)
        and _moves(reply.text).denies
        and _share(turn.text, reply.text)
    )


def _gives_way(turn: Turn, later: Sequence[Turn]) -> bool:
    """Does the speaker of `turn` concede in their next turn of `later`?"""
    answer = next((following for following in later[:_ANSWERED] if _same_speaker(following, turn)), None)
    return answer is not None and _moves(answer.text).concedes


def _same_speaker(one: Turn, other: Turn) -> bool:
    return (one.role, one.speaker) == (other.role, other.speaker)


def _share(one: str, other: str) -> bool:
    """Have the texts a content word in common?"""
    return not set(content_terms(one)).isdisjoint(content_terms(other))
