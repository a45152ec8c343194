"""RHELM read for the eviction audit: a memory is a turn's user and assistant text, a history all turns of a persona."""

from __future__ import annotations

from pathlib import Path

from admission.evaluation.reading import rhelm
from admission.evaluation.reading.dataset import QUESTIONS, json_lines
from admission.eviction.records import AuditData, History, LabelledQuestion, Memory


def load_rhelm(folder: Path) -> AuditData:
    """The questions that the dialogues alone answer. Raises `InputError` for a line of another shape.

    Every question is asked when its history has ended, whatever day it names: eviction is judged on whole histories.
    """
    data = rhelm.load(folder)
    lines = [line for _, line in json_lines(folder / QUESTIONS) if line["dialogue_only"]]
    by_persona: dict[str, list[Memory]] = {}
    for memory in data.memories:
        persona = "/".join(memory.metadata.namespace or ())
        by_persona.setdefault(persona, []).append(
            Memory(id=memory.id, text=memory.text, time=memory.metadata.created_at)
        )
    histories = tuple(
        History(id=persona, memories=tuple(sorted(memories, key=lambda memory: memory.time or "")))
        for persona, memories in by_persona.items()
    )
    questions = tuple(
        LabelledQuestion(
            id=question.id,
            history=question.group,
            text=question.context.query,
            gold=question.required,
            answer=str(line["answer"]),
            kind=str(line["question_type"]),
            time=question.context.time,
        )
        for question, line in zip(data.questions, lines, strict=True)
    )
    return AuditData("RHELM", histories, questions, data.about)
