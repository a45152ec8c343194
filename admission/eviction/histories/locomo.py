"""LoCoMo read for the eviction audit: a memory is a turn, a history a conversation, gold its evidence."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from admission.errors import InputError
from admission.eviction.records import AuditData, History, LabelledQuestion, Memory

FILE = "locomo10.json"
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_TO_ABSTAIN = 5
_TURN = re.compile(r"D:?(\d+):0*(\d+)")
_SESSION = re.compile(r"session_(\d+)")


def load_locomo(file: Path) -> AuditData:
    """All turns, and the questions whose evidence can be found. Raises `InputError` for a file of another shape.

    Where the text of a turn is about a picture, the picture's caption stands behind it. Questions of category 5 ask for
    what was never said: not answerable. Evidence is read leniently ("D30:05", "D9:1 D4:4"); a question whose evidence
    is missing or names no turn is left out. Source: Evaluating Very Long-Term Conversational Memory of LLM Agents,
    arXiv:2402.17753.
    """
    left_out: Counter[str] = Counter()
    try:
        samples = json.loads(file.read_text(encoding="utf-8-sig"))
        histories = tuple(_history(sample) for sample in samples)
        turns = {history.id: {memory.id for memory in history.memories} for history in histories}
        questions = tuple(
            question for sample in samples for question in _questions(sample, turns[str(sample["sample_id"])], left_out)
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"is not LoCoMo's ({type(error).__name__}: {error})"
        raise InputError("FOLDER", problem, "see docs/eviction.md for the files", where=file.name) from error
    asked = len(questions) + sum(left_out.values())
    about = (
        f"LoCoMo: {len(histories)} conversations, {sum(len(h.memories) for h in histories)} turns as memories, "
        f"{asked} questions. {left_out['none']} of these have no evidence and {left_out['unknown']} name a turn that "
        "there is not: left out."
    )
    return AuditData("LoCoMo", histories, questions, about)


def is_sample(value: dict[str, Any]) -> bool:
    """Has an object the fields by which LoCoMo is known?"""
    return {"conversation", "qa"} <= value.keys()


def _history(sample: dict[str, Any]) -> History:
    conversation = sample["conversation"]
    sessions = sorted(int(found[1]) for name in conversation if (found := _SESSION.fullmatch(name)))
    memories = [
        Memory(id=f"{sample['sample_id']}/{turn['dia_id']}", text=_text(turn), time=time)
        for number in sessions
        for time in [_time(conversation[f"session_{number}_date_time"])]
        for turn in conversation[f"session_{number}"]
    ]
    return History(id=str(sample["sample_id"]), memories=tuple(memories))


def _text(turn: dict[str, Any]) -> str:
    said = f"{turn['speaker']}: {turn['text']}"
    return f"{said} [shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else said


def _time(text: str) -> str:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").isoformat()


def _questions(sample: dict[str, Any], turns: set[str], left_out: Counter[str]) -> Iterator[LabelledQuestion]:
    history = str(sample["sample_id"])
    for number, line in enumerate(sample["qa"]):
        named = [_TURN.findall(part) for part in line.get("evidence") or ()]
        gold = [f"{history}/D{session}:{turn}" for part in named for session, turn in part]
        if not named:
            left_out["none"] += 1
        elif not all(named) or not turns.issuperset(gold):
            left_out["unknown"] += 1
        else:
            yield LabelledQuestion(
                id=f"{history}#{number}",
                history=history,
                text=line["question"],
                gold=tuple(dict.fromkeys(gold)),
                answer=None if line.get("answer") is None else str(line["answer"]),
                kind=KINDS.get(line["category"], str(line["category"])),
                answerable=line["category"] != _TO_ABSTAIN,
            )
