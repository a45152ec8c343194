"""The project's own chats, what is held out of them, and labelled questions made from them."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from admission.records import Obligation, Passage, Question
from training import exchanges

DIALOGUES = Path(__file__).parent / "data" / "dialogues.jsonl"
"""The project's own dialogues with labelled claims, one JSON object a line."""

LABELS = {"entailment": 0, "neutral": 1, "contradiction": 2, "not_entailment": 3,
          "supported": 0, "insufficient": 1, "contradicted": 2}  # fmt: skip
"""0 supported, 1 insufficient, 2 contradicted, 3 not supported (which of the two is not known)."""


@dataclass(frozen=True)
class Labelled:
    """A question with its label (see `LABELS`), the set it is from, and the kind its set gives it."""

    question: Question
    label: int
    source: str
    kind: str
    evidence: tuple[str, ...] = ()


def dialogue_purpose(dialogue_id: str) -> str:
    """`test` (a tenth), `calibration` (a twentieth) or `train`, by the SHA-256 of the id, so that all scripts agree."""
    place = int(hashlib.sha256(dialogue_id.encode()).hexdigest(), 16) % 20
    return "test" if place in (0, 10) else "calibration" if place == 1 else "train"


def question(text: str, passages: Sequence[Passage], id: str = "q") -> Question:
    obligation = Obligation(id=id, text=text, type="fact")
    return Question(obligation=obligation, memory=text, view="expanded", passages=tuple(passages))


def turn_passages(turns: Sequence[dict[str, str]]) -> list[Passage]:
    return [
        Passage(
            id=turn["id"],
            turn_id=turn["id"],
            position=i,
            role=turn["role"],
            speaker=turn.get("speaker"),
            time=turn.get("time"),
            text=turn["text"],
            origin=turn.get("origin") or ("tool" if turn["role"] == "tool" else "conversation"),
            end=len(turn["text"]),
        )
        for i, turn in enumerate(turns)
    ]


def dialogue_rows(path: Path) -> list[dict[str, Any]]:
    """The dialogues of a file like `DIALOGUES`."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def exchange_rows(folder: Path = exchanges.FOLDER) -> list[dict[str, Any]]:
    """The written exchanges in the form of `dialogue_rows`: true memories at even places, each followed by its twin."""
    return [
        {
            "id": chat.id,
            "turns": [
                {**asdict(turn), "role": "assistant" if turn.speaker == "Assistant" else "user"} for turn in chat.turns
            ],
            "claims": [{**asdict(claim), "evidence": list(claim.evidence)} for claim in chat.claims],
        }
        for chat in exchanges.exchanges(folder)
    ]


def dialogue_claims(rows: Sequence[dict[str, Any]]) -> list[Labelled]:
    """Every claim against all turns of its dialogue: evidence has to be found."""
    return [
        Labelled(
            question(claim["text"], turn_passages(row["turns"]), f"{row['id']}/{n}"),
            LABELS[claim["label"]],
            "dialogues",
            claim["kind"],
            tuple(claim["evidence"]),
        )
        for row in rows
        for n, claim in enumerate(row["claims"])
    ]


def counterfactuals(rows: Sequence[dict[str, Any]], seed: int) -> list[Labelled]:
    """Supported claims whose evidence was taken away, whose speakers were exchanged, or put to another dialogue.

    None of them is supported by what is shown; which of the other two labels holds is known only for another dialogue.
    """
    rng = random.Random(seed)
    made = []
    for row in rows:
        for n, claim in enumerate(row["claims"]):
            draw = rng.random()
            if claim["label"] != "supported" or draw > 0.9:
                continue
            name, passages = f"{row['id']}/{n}", turn_passages(row["turns"])
            if draw < 0.45:
                rest = [p for p in passages if p.turn_id not in claim["evidence"]]
                if rest:
                    made.append(Labelled(question(claim["text"], rest, name + "-"), 3, "removed", claim["kind"]))
            elif draw < 0.65:
                other = turn_passages(rng.choice(rows)["turns"])
                made.append(Labelled(question(claim["text"], other, name + "~"), 1, "unrelated", claim["kind"]))
            elif exchanged := _exchanged(passages, claim):
                made.append(Labelled(question(claim["text"], exchanged, name + "x"), 3, "exchanged", "attribution"))
    return made


def _exchanged(passages: Sequence[Passage], claim: dict[str, Any]) -> list[Passage] | None:
    """The turns of the one evidence speaker the claim names given to another speaker and the other's to them."""
    named = {p.speaker for p in passages if p.turn_id in claim["evidence"] and p.speaker and p.speaker in claim["text"]}
    others = sorted({p.speaker for p in passages if p.speaker} - named)
    if len(named) != 1 or not others or others[0] in claim["text"]:
        return None
    (one,) = named
    new = {one: others[0], others[0]: one}
    return [p.model_copy(update={"speaker": new.get(p.speaker or "", p.speaker)}) for p in passages]
