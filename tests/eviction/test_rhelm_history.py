"""RHELM's files as histories of the eviction audit."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from admission.eviction.histories.loading import load


def test_each_persona_is_a_history_oldest_first_and_keeps_its_questions(tmp_path: Path) -> None:
    turns = [
        {"id": f"{who}/{day}:1", "persona": who, "reference": f"{day}:1", "time": f"{day}T08:00:00",
         "user": f"{who} asks on {day}", "assistant": "An answer."}
        for day in ("2024-02-01", "2024-01-01") for who in ("Ana", "Ben")
    ]  # fmt: skip
    questions = [
        {"id": "q1", "persona": "Ana", "question": "When?", "answer": "On a day.", "question_date": "2024-03-01",
         "question_type": "fact", "supporting_evidence": ["2024-01-01:1"], "dialogue_only": True},
        {"id": "q2", "persona": "Ben", "question": "What else?", "answer": "-", "question_date": "2024-03-01",
         "question_type": "fact", "supporting_evidence": ["2024-01-01:1"], "dialogue_only": False},
    ]  # fmt: skip
    with gzip.open(tmp_path / "turns.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.write("".join(json.dumps(turn) + "\n" for turn in turns))
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in questions))
    data = load(tmp_path)
    assert [history.id for history in data.histories] == ["Ana", "Ben"]
    assert [memory.id for memory in data.histories[0].memories] == ["Ana/2024-01-01:1", "Ana/2024-02-01:1"]
    assert data.histories[0].memories[0].text == "Ana asks on 2024-01-01\nAn answer."
    (question,) = data.questions
    assert (question.history, question.gold, question.answer) == ("Ana", ("Ana/2024-01-01:1",), "On a day.")
