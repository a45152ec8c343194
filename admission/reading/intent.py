"""Whether a question is about what holds now or about what held before, read from its words by rule (English)."""

from __future__ import annotations

import re
from collections.abc import Callable

from admission.reading.context import Intent

IntentClassifier = Callable[[str], Intent | None]
"""Reads a question; None: its words do not say. Same question, same answer."""

# Of a long question the beginning is read: patterns take the square of its length.
_READ_CHARS = 2_000

_PAST_VERB = r"\b(?:did|was|were|had)\b"
_HISTORY = (
    # "I am used to" and "get used to" are about the present.
    r"(?<!\bam )(?<!\bis )(?<!\bare )(?<!\bget )(?<!\bgot )(?<!'m )(?<!'s )(?<!'re )(?<!\bbe )\buse(?:d)? to\b",
    r"\b(?:history|timeline|evolution) (?:of|for)\b|\b\w+ history\b",
    r"\b(?:over|through|across) (?:time|the (?:years|months|weeks|past))\b|\b(?:up to|until|till) now\b|\bso far\b",
    r"\bhow (?:has|have|did)\b.*\b(?:chang|evolv|var(?:y|ied)|develop|shift|progress|mov)\w*",
    r"\b(?:what|which|who|anything|something|has|have|did)\b.{0,40}\bchanged?\b",
    r"\b(?:previous|prior|former|original|old|earlier|past) (?!to\b)\w+",
    r"\b(?:previously|formerly|originally|initially)\b",
    r"\b(?:in the past|back then|at first|to begin with|beforehand)\b",
    rf"{_PAST_VERB}.*\b(?:before|earlier|until|ago|back in|in (?:19|20)\d\d)\b",
    r"\b(?:before|back in|in (?:19|20)\d\d)\b.*" + _PAST_VERB,
    r"\b(?:have|has) (?:i|we|he|she|they|\w+) ever\b|\bever been\b",
    r"\ball (?:the|my|of|his|her|their)\b.*\b(?:had|been|lived|worked|held)\b",
    r"\b(?:no longer|any ?more|stopped|switched|replaced|gave up|went from)\b",
)
_CURRENT = (
    r"(?<!up to )(?<!until )(?<!till )\bnow\b",
    r"\b(?:current(?:ly)?|nowadays|presently|still|latest|newest|up[- ]to[- ]date)\b",
    r"\b(?:at (?:the moment|present)|these days|today|as of today|any ?more\?$)",
)
# A question in the present tense is about the present, where nothing in it points back.
_PRESENT = re.compile(
    r"^(?:(?:and|so|hey|hi|ok|okay|please|well)\b,?\s+)*"
    r"(?:(?:what|where|who|when|which|how|whose|why)\b.{0,40}?(?:\b(?:is|are|am|do|does)\b|'s\b|'re\b)"
    r"|(?:is|are|am|do|does)\b)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile("|".join(_HISTORY), re.IGNORECASE)
_POINTS_HERE = re.compile("|".join(_CURRENT), re.IGNORECASE)


def intent_of(question: str) -> Intent | None:
    """`history`, `current`, or None where the words say neither or both. Words alone; docs/reading.md has how well."""
    question = question[:_READ_CHARS].strip()
    back, here = _POINTS_BACK.search(question), _POINTS_HERE.search(question)
    if back and here:
        return None
    if back:
        return "history"
    return "current" if here or _PRESENT.match(question) else None
