"""Pairs made afresh at every draw from dialogues with labelled claims, and speaker lines put round NLI pairs."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from admission.text import terms
from admission.verifiers.premises import joined, line
from training.sources import Pair

NAMES = tuple(
    """Ada Ben Carla Dmitri Elif Farid Greta Hugo Ines Jonas Kofi Leila Marek Nadia Omar Petra Quentin Rosa Samir Tara
    Ulrich Vera Wanda Xavier Yusuf Zoe Alma Bruno Celia Darko Edda Felipe Gwen Hassan Ida Jakob Katya Luis Mina Noor
    Oskar Pilar Rafael Sofia Tomas Uma Viktor Willa Yara Zeno Amara Boris Chidi Daniela Emil Fatima Gustav Hana Igor
    Julia Kenji Lena Mateo Nora Otto Paula Rui Sana Theo Ursula Vito Wen Yannick Zara""".split()  # noqa: SIM905 - a list of seventy names is no easier to read
)
MAX_WORDS = 105
"""Words of a dialogue premise: about `MAX_TOKENS` with dates and the claim."""

REMOVED, SWAPPED, RENAMED, UNDATED = 0.15, 0.18, 0.3, 0.1
PREFIXED, SURROUNDED = 0.35, 0.1


def from_claim(row: dict[str, Any], claim: dict[str, Any], rng: random.Random) -> Pair:
    """One pair: the claim with its evidence among other turns, without it, or with the speakers exchanged."""
    label = {"supported": "entailment", "insufficient": "neutral", "contradicted": "contradiction"}[claim["label"]]
    evidence, text, kind = set(claim["evidence"]), claim["text"], claim["kind"]
    turns, removed = row["turns"], False
    if evidence and rng.random() < REMOVED:
        turns = [turn for turn in turns if turn["id"] not in evidence]
        evidence, label, removed = set(), "neutral", True
    speakers = {turn["id"]: turn["speaker"] for turn in turns}
    if label == "entailment" and not removed and rng.random() < SWAPPED:
        swapped = _swapped(speakers, evidence, text, rng)
        if swapped is not None:
            speakers, label, kind = swapped, "not_entailment", "attribution"
    shown = _chosen(turns, evidence, text, rng)
    dated = rng.random() >= UNDATED
    premise = joined(line(speakers[turn["id"]], turn["time"] if dated else None, turn["text"]) for turn in shown)
    if rng.random() < RENAMED:
        premise, (text,) = _renamed(premise, [text], set(speakers.values()), rng)
    return Pair(premise, text, label, "dialogues", kind)


def from_twins(row: dict[str, Any], true: dict[str, Any], twin: dict[str, Any], rng: random.Random) -> list[Pair]:
    """A true memory and its edited twin put to the same lines: the evidence of both among other turns, or the rest.

    Now and then the true memory alone, with the speakers exchanged.
    """
    evidence = {*true["evidence"], *twin["evidence"]}
    turns, labels = row["turns"], ["entailment", "contradiction" if twin["label"] == "contradicted" else "neutral"]
    speakers = {turn["id"]: turn["speaker"] for turn in turns}
    if rng.random() < REMOVED:
        turns = [turn for turn in turns if turn["id"] not in evidence]
        evidence, labels = set(), ["neutral", "neutral"]
    elif rng.random() < SWAPPED and (swapped := _swapped(speakers, set(true["evidence"]), true["text"], rng)):
        speakers, labels = swapped, ["not_entailment"]
    shown = _chosen(turns, evidence, true["text"], rng)
    dated = rng.random() >= UNDATED
    premise = joined(line(speakers[turn["id"]], turn["time"] if dated else None, turn["text"]) for turn in shown)
    texts = [true["text"], twin["text"]][: len(labels)]
    if rng.random() < RENAMED:
        premise, texts = _renamed(premise, texts, set(speakers.values()), rng)
    return [
        Pair(premise, text, label, "exchanges", true["kind"], twin=place == 1)
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def from_other(row: dict[str, Any], claim: dict[str, Any], other: dict[str, Any], rng: random.Random) -> Pair:
    """The claim put to turns of another dialogue, said by the speakers of its own: the turns tell nothing about it."""
    own, theirs = (list(dict.fromkeys(turn["speaker"] for turn in part["turns"])) for part in (row, other))
    cast = {speaker: own[place % len(own)] for place, speaker in enumerate(theirs)}
    shown = _chosen(other["turns"], set(), claim["text"], rng)
    premise = joined(line(cast[turn["speaker"]], turn["time"], turn["text"]) for turn in shown)
    return Pair(premise, claim["text"], "neutral", "dialogues", "unrelated")


def _swapped(speakers: dict[str, str], evidence: set[str], text: str, rng: random.Random) -> dict[str, str] | None:
    """The turns of the speaker the claim names given to another, and the other's to them; None if it names none."""
    named = sorted({speakers[turn] for turn in evidence if re.search(rf"\b{re.escape(speakers[turn])}\b", text)})
    if len(named) != 1:
        return None
    others = sorted(set(speakers.values()) - set(named))
    other = rng.choice(others) if others and rng.random() < 0.7 else rng.choice(NAMES)
    if re.search(rf"\b{re.escape(other)}\b", text):
        return None
    exchange = {named[0]: other, other: named[0]}
    return {turn: exchange.get(speaker, speaker) for turn, speaker in speakers.items()}


def _chosen(turns: Sequence[dict[str, Any]], evidence: set[str], text: str, rng: random.Random) -> list[dict[str, Any]]:
    """The evidence among other turns, in order and within `MAX_WORDS`; without evidence, the likeliest turns."""
    words = {turn["id"]: len(turn["text"].split()) + 2 for turn in turns}
    wanted = set(terms(text))
    style = rng.random()
    if evidence:
        keep = set(evidence)
        places = [place for place, turn in enumerate(turns) if turn["id"] in evidence]
    else:
        ranked = sorted(turns, key=lambda turn: (-len(wanted & set(terms(turn["text"]))), rng.random()))
        keep = {turn["id"] for turn in ranked[: rng.choice((1, 1, 2, 3))]}
        places = [place for place, turn in enumerate(turns) if turn["id"] in keep]
    if style < 0.3:
        extra = []
    elif style < 0.6:
        extra = (
            [turns[place]["id"] for place in range(max(0, places[0] - 1), min(len(turns), places[-1] + 2))]
            if places
            else []
        )
    elif style < 0.8:
        extra = [turn["id"] for turn in turns if rng.random() < 0.4]
    else:
        extra = [turn["id"] for turn in turns]
    rng.shuffle(extra)
    total, limit = sum(words[name] for name in keep), rng.choice((30, 55, 80, MAX_WORDS))
    for name in extra:
        if name not in keep and total + words[name] <= limit:
            keep.add(name)
            total += words[name]
    return [turn for turn in turns if turn["id"] in keep]


def _renamed(premise: str, texts: list[str], speakers: set[str], rng: random.Random) -> tuple[str, list[str]]:
    """The speakers under other names, in premise and claims alike."""
    people = sorted(speakers - {"Assistant"})
    renaming = dict(zip(people, rng.sample(NAMES, len(people)), strict=True))
    if not renaming:
        return premise, texts
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, people)) + r")\b")
    first, *rest = (pattern.sub(lambda found: renaming[found.group()], part) for part in (premise, *texts))
    return first, rest


def as_chat(pair: Pair, others: Sequence[str], rng: random.Random) -> Pair:
    """An NLI pair, often with its premise as a speaker's line, sometimes among lines of unrelated premises."""
    if rng.random() >= PREFIXED:
        return pair
    day = f"20{rng.randint(19, 27)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}" if rng.random() < 0.8 else None
    names = rng.sample(NAMES, 2)
    lines = [line(names[0], day, pair.premise)]
    if rng.random() < SURROUNDED / PREFIXED:
        for other in rng.sample(others, rng.choice((1, 2))):
            if len(other.split()) < 40:
                lines.insert(rng.randint(0, len(lines)), line(rng.choice(names), day, other))
    return Pair(joined(lines), pair.claim, pair.label, pair.source, pair.part)
