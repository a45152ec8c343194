"""Mention and assertion: words inside quotation marks, jokes and taken-back statements are not the speaker's own."""

from __future__ import annotations

import re

from admission.verifiers.checks.polarity import denial_after
from admission.verifiers.checks.reading import Check, Evidence, Text, read

_QUOTED = re.compile(r"\"([^\"]{12,})\"|(?<!\w)'([^']{12,})'(?!\w)")


def check_quotation(statement: Text, evidence: Evidence) -> Check | None:
    """`missing` when the best aligned sentence says the obligation's words only inside a quotation; else None."""
    sentence = evidence.anchor
    outside = read(_QUOTED.sub(" ", sentence.body.text))
    if outside.text == sentence.body.text:
        return None
    mine = {w.stem for w in statement.words if w.content}
    quoted, own = mine & sentence.body.stems - outside.stems, mine & outside.stems
    if len(quoted) <= len(own):
        return None
    return Check(
        "quotation",
        "missing",
        tuple(w.text for w in statement.words if w.stem in quoted),
        "only quoted",
        sentence.turn_id,
    )


def check_taken_back(evidence: Evidence) -> Check | None:
    """`conflict` when a later turn takes the best aligned one back."""
    later = denial_after(evidence)
    return None if later is None else Check("taken_back", "conflict", (), later.quoted, later.turn_id)
