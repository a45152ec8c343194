"""Who says it: "I" is the speaker, "you" the one spoken to; what Ben says of himself bears out nothing about Ana."""

from __future__ import annotations

import re

from admission.text import word_set
from admission.verifiers.checks.reading import FIRST_PERSON, SECOND_PERSON, Check, Evidence, Sentence, Text

_SAYING = "|".join(
    sorted(
        word_set("""
        said says say told tells suggested suggests recommended recommends thinks thought believes believed
        claims claimed mentioned mentions asked asks promised promises offered offers explained explains
        reported reports warned warns advised advises proposed proposes admitted admits insists insisted reckons
        reckoned guesses swears joked jokes complained complains confirmed confirms stated states noted notes
        feels considers found expects predicts predicted
        """)
    )
)
_ACCORDING = re.compile(r"\b(?:according to|in the view of|in the opinion of)\s+([A-Z][\w'-]*)")
_DOING = word_set("i i'm i've i'd i'll we we're we've we'd we'll")
_THIRD_PERSON = word_set("he him his she her hers they them their")


def speaker_named(statement: Text, evidence: Evidence) -> str | None:
    """The participant the obligation is about: the speaker it names first ("the user" is the first user), or None."""
    places: list[tuple[int, str]] = []
    for speaker in evidence.speakers:
        for part in speaker.split():
            found = re.search(rf"(?<!\w){re.escape(part)}(?:'s)?(?!\w)", statement.text, re.IGNORECASE)
            if found and len(part) > 1:
                places.append((found.start(), speaker))
    if places:
        return min(places)[1]
    if re.match(r"(?:the )?user\b", statement.text, re.IGNORECASE):
        return next((s.speaker for s in evidence.ordered if s.role == "user"), None)
    return None


def attributed_to(statement: Text, evidence: Evidence) -> str | None:
    """The participant whose words the obligation reports ("Ana suggested ...", "according to Ana ..."), or None."""
    named = _ACCORDING.search(statement.text)
    if named:
        return next((s for s in evidence.speakers if named[1] in s.split()), None)
    for speaker in evidence.speakers:
        for part in speaker.split():
            if re.search(rf"(?<!\w){re.escape(part)}\s+(?:\w+\s+)?(?:{_SAYING})\b", statement.text):
                return speaker
    return None


def tells_about(sentence: Sentence, subject: str) -> bool:
    """Whether the sentence can be about `subject`: said by them, to them as "you", naming them or pointing at them."""
    if sentence.speaker == subject:
        return True
    lowers = sentence.body.lowers
    names = {part.lower() for part in subject.split()}
    if any(word.removesuffix("'s") in names for word in lowers):
        return True
    if lowers & SECOND_PERSON:
        return True
    return bool(lowers & _THIRD_PERSON) or not lowers & FIRST_PERSON


def _exchanged(statement: Text, sentence: Sentence, subject: str) -> bool:
    """ "I love your quilts", said by Ana to Ben, is Ana's doing: no ground for "Ben loves Ana's quilts"."""
    if sentence.speaker == subject or not sentence.body.lowers & _DOING:
        return False
    return any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", statement.text) for part in sentence.speaker.split())


def check_speaker(statement: Text, evidence: Evidence) -> Check | None:
    """`conflict` when the best aligned sentence is what somebody else says of themselves; `missing` when reported words
    were said by somebody else; None when the obligation names no participant."""
    reported = attributed_to(statement, evidence)
    subject = reported or speaker_named(statement, evidence)
    if subject is None:
        return None
    near = evidence.top()
    if reported:
        tellers = [s for s in near if s.speaker == reported or any(p in s.body.text for p in reported.split())]
        if tellers:
            return Check("speaker", "ok", (reported,), "", tellers[0].turn_id)
        return Check("speaker", "missing", (reported,), f"said by {near[0].speaker}", near[0].turn_id)
    fitting = [s for s in near if tells_about(s, subject) and not _exchanged(statement, s, subject)]
    if not fitting:
        return Check("speaker", "conflict", (subject,), f"{near[0].speaker} says it of themselves", near[0].turn_id)
    if fitting[0] is not near[0]:
        return Check("speaker", "missing", (subject,), f"{near[0].speaker} says it", near[0].turn_id)
    return Check("speaker", "ok", (subject,), "", fitting[0].turn_id)
