"""RHELM read as a data set: a memory is a turn's user and assistant text, its namespace the persona it belongs to."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

from admission.errors import InputError
from admission.evaluation.reading.dataset import QUESTIONS, ReadingData, RequiredEvidence, StoredMemory, json_lines
from admission.metadata import RecordMetadata
from admission.reading.context import QueryContext

TURNS = "turns.jsonl.gz"


def is_there(folder: Path) -> bool:
    return (folder / TURNS).is_file() and (folder / QUESTIONS).is_file()


def load(folder: Path) -> ReadingData:
    """The questions that the dialogues alone answer, and all turns. Raises `InputError` for a line of another shape.

    The data say whose a turn is and when it was said, and whose question it is and on which day: that becomes
    metadata and context. They say nothing of policy, purpose, lifecycle or intent: those stay missing. Source: Beyond
    Static Dialogues, arXiv:2605.31086.
    """
    try:
        with gzip.open(folder / TURNS, "rt", encoding="utf-8") as lines:
            memories = tuple(_memory(turn) for _, turn in json_lines(folder / TURNS, iter(lines)))
        found = [question for _, question in json_lines(folder / QUESTIONS)]
        questions = [question for question in found if question["dialogue_only"]]
        seen: Counter[str] = Counter()
        read = tuple(_question(question, seen) for question in questions)
    except (KeyError, TypeError, gzip.BadGzipFile) as error:
        raise InputError(
            "FOLDER", f"its files are not RHELM's ({type(error).__name__}: {error})", "see docs/evaluations.md"
        ) from error
    about = (
        f"RHELM: {len(memories)} turns as memories, {len(read)} of {len(found)} questions: those that the dialogues "
        "alone answer."
    )
    return ReadingData("RHELM", memories, read, about)


def _memory(turn: dict[str, str]) -> StoredMemory:
    return StoredMemory(
        id=turn["id"],
        text=f"{turn['user']}\n{turn['assistant']}",
        metadata=RecordMetadata(namespace=(turn["persona"],), created_at=turn["time"]),
    )


def _question(line: dict[str, str], seen: Counter[str]) -> RequiredEvidence:
    persona = line["persona"]
    id = f"{persona}/{line['id']}"
    seen[id] += 1
    if seen[id] > 1:
        id = f"{id}#{seen[id]}"
    context = QueryContext(
        query=line["question"], question_id=id, principal=persona, namespace=(persona,), time=line["question_date"]
    )
    required = tuple(dict.fromkeys(f"{persona}/{reference}" for reference in line["supporting_evidence"]))
    return RequiredEvidence(id=id, context=context, required=required, group=persona)
