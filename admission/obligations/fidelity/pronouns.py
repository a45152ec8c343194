"""Whom or what the pronouns of a statement may stand for, where only one can be meant."""

from __future__ import annotations

from collections.abc import Sequence

from admission.obligations.clauses import Token, tokenise
from admission.obligations.fidelity.clause_parts import content, is_verb
from admission.obligations.fidelity.tokens import PRONOUNS, WEIGHTY, Forms, forms_of
from admission.obligations.references import Subject, persons, subject_of
from admission.obligations.vocabulary import ADVERBS
from admission.text import word_set

_GENDERED = word_set("he she him her his hers himself herself")
_MOST = 12  # of one sentence; each is looked up in all that stands before it
_SEVERAL = word_set("they them their theirs themselves")
_ONE_THING = word_set("it its itself")


def meant_by(text: str, tokens: Sequence[Token]) -> list[Forms]:
    """For each token the forms of what it stands for; none for what is no pronoun, opens the text, or is in doubt."""
    found = [frozenset[str]() for _ in tokens]
    pronouns = [k for k, token in enumerate(tokens) if k and token.low in PRONOUNS]
    subject = subject_of(text) if pronouns else None
    for k in pronouns[:_MOST]:
        found[k] = _meant(text, tokens, k, subject)
    return found


def unbound(tokens: Sequence[Token]) -> frozenset[str]:
    """Pronouns of the third person before which nothing is named that they could mean."""
    found: set[str] = set()
    named, thing = False, False
    for k, token in enumerate(tokens):
        if token.low in _GENDERED | _SEVERAL and not named:
            found.add(token.low)
        if token.low in _ONE_THING and not thing:
            found.add(token.low)
        if content(token) and not is_verb(tokens, k):
            named, thing = True, thing or not token.is_name
    return frozenset(found)


def _meant(text: str, tokens: Sequence[Token], k: int, subject: Subject | None) -> Forms:
    token, before = tokens[k], text[: tokens[k].start]
    if subject is not None and subject.text.lower() not in before.lower():
        subject = None
    others = {person.text for person in persons(before, subject)}
    if token.low in _GENDERED:
        people = others | ({subject.text} if subject is not None and subject.person else set())
        if len(people) > 1 and _is_object(tokens, k):
            people = others  # "Bo helps Cy and tells him": not himself
    elif token.low in _ONE_THING:
        people = _things(tokens, k)
    else:
        people = {subject.text} if subject is not None and not others else set()
    if len(people) != 1:
        return frozenset()
    return frozenset(form for part in tokenise(people.pop()) if content(part) for form in forms_of(part))


def _is_object(tokens: Sequence[Token], k: int) -> bool:
    """Whether a "him" or "her" is somebody to whom something is done, not whose something is."""
    following = tokens[k + 1] if k + 1 < len(tokens) else None
    owns = following is not None and (content(following) or following.low in WEIGHTY)
    return tokens[k].low == "him" or (tokens[k].low == "her" and not owns)


def _things(tokens: Sequence[Token], k: int) -> set[str]:
    """What is named before `k` and is nobody: phrases of nouns, each once."""
    runs: list[list[Token]] = [[]]
    for i, token in enumerate(tokens[:k]):
        if content(token) and not is_verb(tokens, i) and token.low not in ADVERBS:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    return {" ".join(token.text for token in run) for run in runs if run and not all(token.is_name for token in run)}
