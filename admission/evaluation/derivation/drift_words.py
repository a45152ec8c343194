"""A text without its times, and without what makes it a plan, a wish or a possibility."""

from __future__ import annotations

import re
from datetime import datetime

from admission.text import normalise
from admission.verifiers.checks.dates import dates
from admission.verifiers.checks.polarity import modality
from admission.verifiers.checks.reading import read

_BEFORE_TIME = re.compile(
    r"[\s,]*\b(?:(?:on|in|at|since|until|till|by|from|around|about|of|during|for|within|the|every|each|early|late)\s+)*$",
    re.IGNORECASE,
)
# Small letters only: May is a month, Will a name.
_UNREAL = re.compile(
    r"\b(?:(?:is|are|was|were|has|have|had|would|'d)\s+)?(?:planning|plans?|planned|wants?|wanted|wish(?:es)?|hopes?"
    r"|hoped|hoping|intends?|intended|going|will|may|might|could|would|should|[Pp]erhaps|[Mm]aybe|[Pp]robably|possibly"
    r"|likely|considering|considers|dreams?|dreaming|scheduled|decided)\b(?:\s+(?:to|of|on|about))?\s*"
)
_TOLD = datetime(2000, 1, 1)
"""Any day: months and weekdays are only read as dates where a text was told on one."""


def without_times(text: str) -> str | None:
    """The text without its dates and clock times; None where it has none."""
    body = normalise(text)
    found = dates(body, _TOLD)
    if not found:
        return None
    for when in reversed(found):
        body = f"{_BEFORE_TIME.sub('', body[: when.start])} {body[when.end :].lstrip()}"
    return _tidy(body)


def timeless(text: str) -> str:
    """The text for reading modality in it: "in May" is no "may", and "next week" makes no plan of what is told."""
    return without_times(text) or text


def as_done(text: str) -> str | None:
    """The text with what is planned, wished for or possible told as a fact; None where it has nothing of the kind, or
    says it in words that are not known here."""
    if not modality(read(timeless(text))):
        return None
    told = _tidy(_UNREAL.sub("", normalise(text)))
    return None if modality(read(timeless(told))) else told


def _tidy(text: str) -> str:
    body = re.sub(r"\s+([.,;!?])", r"\1", " ".join(text.split())).lstrip(" ,;.")
    return body[:1].upper() + body[1:]
