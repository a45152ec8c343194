"""The sentence a person reads: what of an obligation did not align, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from admission.verifiers.checks import Check

_MOST_PARTS = 3
_LONGEST_PART = 200
_CONFLICT = {
    "names": "{words} is not the name: the chat says '{said}' ({turn})",
    "numbers": "'{words}' is not said: the chat says '{said}' ({turn})",
    "dates": "'{words}' is not the day: the chat says {said} ({turn})",
    "clock": "'{words}' is not the time: the chat says '{said}' ({turn})",
    "negation": "one side denies '{words}': the chat says '{said}' ({turn})",
    "modality": "it is not only a {words}: the chat says '{said}' ({turn})",
    "speaker": "this is not about {words}: {said} ({turn})",
    "taken_back": "it was taken back: '{said}' ({turn})",
}
_MISSING = {
    "names": "{words} is not named",
    "numbers": "'{words}' is not said",
    "dates": "'{words}' is not said",
    "clock": "'{words}' is not said",
    "negation": "nothing is denied",
    "modality": "it is not said as a fact ({said}, {turn})",
    "speaker": "{words} does not say it ({said}, {turn})",
    "quotation": "it is only quoted ({turn})",
}
_SCOPE_CONFLICT = "'{words}' does not fit: the chat says '{said}' ({turn})"
_SCOPE_MISSING = "'{words}' is not said"
_LINK_MISSING = "the link '{words}' is not said"


def note_on(checks: Sequence[Check], unmatched: Sequence[str]) -> str:
    """At most three findings, conflicts first, then unmatched words; or that everything aligns."""
    parts = [_conflict(check) for check in checks if check.state == "conflict"]
    parts += [_missing(check) for check in checks if check.state == "missing"]
    told = " ".join(parts)
    words = [word for word in unmatched if word not in told]
    if words:
        parts.append(f"no match for {', '.join(repr(word) for word in words[:4])}")
    if not parts:
        return "Every word aligns with what was said."
    sentence = "; ".join(_cut(part) for part in parts[:_MOST_PARTS])
    return sentence[0].upper() + sentence[1:] + "."


def _cut(part: str) -> str:
    return part if len(part) <= _LONGEST_PART else part[: _LONGEST_PART - 3] + "..."


def _conflict(check: Check) -> str:
    return _filled(_CONFLICT.get(check.kind, _SCOPE_CONFLICT), check)


def _missing(check: Check) -> str:
    if check.kind == "modality" and check.words:
        return f"no {' or '.join(check.words)} is spoken of"
    if check.kind in ("cause", "purpose", "condition", "order"):
        link = _LINK_MISSING.format(words=check.words[0])
        return f"{link} ({check.said})" if check.said else link
    return _filled(_MISSING.get(check.kind, _SCOPE_MISSING), check)


def _filled(template: str, check: Check) -> str:
    return template.format(words=", ".join(check.words), said=check.said, turn=check.turn_id)
