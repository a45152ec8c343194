"""The labelled pairs of an old and a new memory with the turn the new one rests on, and what the rules make of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from admission.history import History
from admission.records import Finding, Report, Turn
from admission.supersession import Known, New, Replacement, replacements

DATA = Path(__file__).parent / "data"
NAMESPACE = ("memories", "one")


@dataclass(frozen=True)
class Pair:
    """`turn` is what `speaker`, the only user, says last; the new memory rests on it. `supersedes` is the label."""

    id: str
    kind: str
    speaker: str | None
    old: str
    new: str
    turn: str
    supersedes: bool


def pairs(part: str) -> list[Pair]:
    """`dev`, `heldout` (written with it, before the rules) or `fresh` (written when the rules stood)."""
    lines = (DATA / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Pair(**json.loads(line)) for line in lines]


def turn(id: str, text: str, speaker: str | None, time: str | None = None) -> Turn:
    return Turn.model_validate({"id": id, "role": "user", "speaker": speaker, "text": text, "time": time})


def admitted(memory: str, said: Turn, history: History) -> Report:
    """An admission that rests on one turn."""
    finding = Finding(
        id="o1", text=memory, type="fact", label="supported", view="citation_only", evidence=(said.id,),
        resolved_by="agreement",
    )  # fmt: skip
    return Report(
        id=f"report on {memory}", conversation=history.conversation_id, namespace=NAMESPACE, memory=memory,
        status="admitted", action="persist", passages=history.passages_of(said.id), obligations=(finding,),
        config_digest="config", input_digest="input",
    )  # fmt: skip


def judged(pair: Pair) -> Replacement | None:
    """What the new memory does to the old one, which was said earlier in the same conversation."""
    before, after = turn("t1", pair.old, pair.speaker), turn("t2", pair.turn, pair.speaker)
    history = History.of("talk", [before, after])
    old = Known(key="old", text=pair.old, report=admitted(pair.old, before, history))
    new = New(key="new", text=pair.new, report=admitted(pair.new, after, history))
    found = replacements(new, [old], history)
    return found[0] if found else None
