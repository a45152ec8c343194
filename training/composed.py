"""Pairs made by rule from dialogue claims: true ones joined, edited, or linked as the chat does not link them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from training.verifier_data import Labelled, question, turn_passages

LINKS = ("because", "so that", "before", "after", "if", "in order that")
ADVERBS = ("always", "regularly", "never", "rarely", "no longer", "only")
TAILS = (
    "every week", "every summer", "twice", "for three years", "on 14 August", "last year", "since 2019",
    "in October", "more than anyone else", "more than anything else", "for the first time",
    "in order to save money", "to impress the neighbours", "because of the weather", "because of a broken arm",
    "with everyone", "at the hospital", "with a cousin named Oswin", "against advice", "before the wedding",
    "after the storm",
)  # fmt: skip
_LOWERED = ("the", "a", "an", "it", "all", "every", "both", "there", "this", "their", "her", "his", "one")
"""First words that lose their capital when something stands before them; any other may be a name."""
_NUMBER = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\d{1,3})\b")
_OTHER_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "eleven", "fifteen")


def composed(rows: Sequence[dict[str, Any]], seed: int) -> list[Labelled]:
    """For each dialogue: two true claims joined (supported), and what the chat does not support: a true and an
    unsupported claim joined, two true claims under an unsaid link, and small edits of true claims (label 3)."""
    rng = random.Random(seed)
    made = []
    for row in rows:
        true = [c["text"] for c in row["claims"] if c["label"] == "supported"]
        other = [c["text"] for c in row["claims"] if c["label"] != "supported"]
        if len(true) < 3 or not other:
            continue
        speakers = sorted({turn["speaker"] for turn in row["turns"]})
        first, second, third = rng.sample(true, 3)
        link, joined = rng.choice(LINKS), rng.choice((" and ", ", and "))
        texts = [(_join(first, joined, second), 0, "joined"), (_join(third, joined, rng.choice(other)), 3, "joined")]
        if not re.search(r"\b(?:because|so that|before|after|if)\b", first):
            texts.append((_join(first, f" {link} ", third), 3, "linked"))
        for text in (first, second):
            edited = _edited(text, speakers, rng)
            if edited:
                texts.append((edited, 3, "edited"))
        passages = turn_passages(row["turns"])
        for n, (text, label, kind) in enumerate(texts):
            made.append(Labelled(question(text, passages, f"{row['id']}/c{n}"), label, "composed", kind))
    return made


def _join(first: str, between: str, second: str) -> str:
    lower = second.split()[0].lower() in _LOWERED
    return first.rstrip(".") + between + (second[0].lower() + second[1:] if lower else second)


def _edited(text: str, speakers: Sequence[str], rng: random.Random) -> str | None:
    """One edit that the text allows: another speaker, another number, an adverb after the name, or something added."""
    edits = [text.rstrip(".") + f" {rng.choice(TAILS)}."]
    named = [s for s in speakers if re.search(rf"\b{re.escape(s)}\b", text)]
    if len(named) == 1 and len(speakers) > 1:
        edits.append(re.sub(rf"\b{re.escape(named[0])}\b", rng.choice([s for s in speakers if s != named[0]]), text))
    number = _NUMBER.search(text)
    if number:
        new = rng.choice([n for n in _OTHER_NUMBERS if n != number[0]])
        edits.append(text[: number.start()] + new + text[number.end() :])
    first, _, rest = text.partition(" ")
    if first in speakers and re.match(r"[a-z]{3,}s\b", rest):
        edits.append(f"{first} {rng.choice(ADVERBS)} {rest}")
    return rng.choice(edits)
