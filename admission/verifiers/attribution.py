"""Whose word a statement rests on: the participant it is about, and which passages are that participant's own word."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from admission.records import Participant, Passage, Role
from admission.verifiers.premises import content

_BY_ROLE = re.compile(r"(?:the )?(user|assistant)\b(?! interface)", re.IGNORECASE)
_SPEAKING: frozenset[Role] = frozenset(("user", "assistant"))
_PROPOSES = re.compile(
    r"(?<!was )(?<!were )(?<!been )\b(?:suggest(?:s|ed)?|propos(?:es?|ed)|recommend(?:s|ed)?|advis(?:es?|ed)|"
    r"(?:came|come|comes) up with|(?:had|has) the idea)\b",
    re.IGNORECASE,
)
_NAME_OR_NUMBER = re.compile(r"(?<=\s)(?:[A-Z]|\d)[\w'-]*")  # the first word of a sentence is capitalised in any case
_LEAST_NAME = 2  # a single letter is too often something else


def speakers(passages: Iterable[Passage]) -> tuple[Participant, ...]:
    """Who speaks in these passages, in order of appearance."""
    spoken = (Participant(role=p.role, name=p.speaker) for p in passages if p.role in _SPEAKING)
    return tuple(dict.fromkeys(spoken))


def subject_of(claim: str, people: Iterable[Participant]) -> Participant | None:
    """The participant the claim is about: the one it names first, or whose role it opens with ("The user ...").

    None where it names no participant: what is told of a third person may be anybody's word.
    """
    opening = _BY_ROLE.match(claim)
    if opening is not None:
        return Participant(role="user" if opening[1].lower() == "user" else "assistant")
    found: list[tuple[int, Participant]] = []
    for person in people:
        place = _first_mention(claim, person.name or "")
        if place is not None:
            found.append((place, person))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def own_word(passages: Sequence[Passage], subject: Participant) -> list[Passage]:
    """The passages that are not another participant's word: what `subject` said, what others said and `subject`
    confirmed, and what tools brought."""
    said = {p.turn_id for p in passages if p.role not in _SPEAKING or _is_by(p, subject)}
    return [p for p in passages if p.turn_id in said or p.confirmed_by in said]


def only_others_say(claim: str, passages: Sequence[Passage], subject: Participant) -> float:
    """The share of the claim's content words that stand in other participants' passages and nowhere in the subject's
    own word, nor in what it answers. From 0 to 1.

    Names of participants do not count. Where the claim says that the subject proposed something, names and numbers are
    the word of whoever brought them up: an idea is not the subject's for having been taken up.
    """
    own = own_word(passages, subject)
    answered = {p.reply_to for p in own}
    near = {p.id for p in (*own, *(p for p in passages if p.turn_id in answered))}
    wanted = content(claim) - _content(p.speaker or "" for p in passages)
    unsaid = wanted - _content(p.text for p in passages if p.id in near)
    others = unsaid & _content(p.text for p in passages if p.id not in near)
    if _PROPOSES.search(claim):
        others |= wanted & _brought_up_by_others(_NAME_OR_NUMBER.findall(claim), passages, {p.id for p in own})
    return len(others) / max(1, len(wanted))


def _brought_up_by_others(names: Iterable[str], passages: Sequence[Passage], own: Container[str]) -> frozenset[str]:
    """Stems of the names whose first mention is in none of the `own` passages."""
    ordered = sorted(passages, key=lambda p: (p.position, p.start))
    found: set[str] = set()
    for name in _content(names):
        first = next((p for p in ordered if name in content(p.text)), None)
        if first is not None and first.id not in own:
            found.add(name)
    return frozenset(found)


def _content(texts: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(content, texts))


def _first_mention(claim: str, name: str) -> int | None:
    """Where the claim first says the name or a part of it, as a word; case counts unless the name has none."""
    flags = re.IGNORECASE if name == name.lower() else 0
    places = (
        found.start()
        for part in name.split()
        if len(part) >= _LEAST_NAME and (found := re.search(rf"(?<!\w){re.escape(part)}(?!\w)", claim, flags))
    )
    return min(places, default=None)


def _is_by(passage: Passage, subject: Participant) -> bool:
    """Said under the subject's name; without a name on either side, in the subject's role."""
    if subject.name is None or passage.speaker is None:
        return passage.role == subject.role
    return passage.speaker == subject.name
