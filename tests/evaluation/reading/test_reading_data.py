"""Data sets from files: the package's own format, RHELM's, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from admission.errors import InputError
from admission.evaluation.reading.dataset import load

MEMORY = {"id": "m1", "text": "Tea at four.", "metadata": {"namespace": ["ana"], "lifecycle": {"state": "current"}}}
QUESTION = {"id": "q1", "question": "When is tea?", "required": ["m1"], "context": {"namespace": ["ana"]}}


def folder(tmp_path: Path, memories: list[object], questions: list[object]) -> Path:
    for name, lines in (("memories.jsonl", memories), ("questions.jsonl", questions)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_a_folder_of_memories_and_questions_is_read(tmp_path: Path) -> None:
    data = load(folder(tmp_path, [MEMORY], [QUESTION]))
    assert data.memories[0].metadata.lifecycle.state == "current"
    assert data.memories[0].metadata.policy_tags is None
    (asked,) = data.questions
    assert (asked.context.query, asked.context.namespace, asked.context.principal) == ("When is tea?", ("ana",), None)
    assert asked.group == "ana"


def test_questions_of_a_named_group_are_drawn_together(tmp_path: Path) -> None:
    data = load(folder(tmp_path, [MEMORY], [{**QUESTION, "group": "team"}]))
    assert data.questions[0].group == "team"


def test_the_digest_follows_the_content(tmp_path: Path) -> None:
    first = load(folder(tmp_path, [MEMORY], [QUESTION])).digest
    assert load(tmp_path).digest == first
    assert load(folder(tmp_path, [{**MEMORY, "text": "Tea at five."}], [QUESTION])).digest != first


@pytest.mark.parametrize(
    ("memories", "questions", "said"),
    [
        ([MEMORY, MEMORY], [QUESTION], "two of kind memory are called 'm1'"),
        ([MEMORY], [{**QUESTION, "required": ["m9"]}], "requires 'm9', which is no memory"),
        ([MEMORY], [{**QUESTION, "required": []}], "questions.jsonl:1: required"),
        ([MEMORY], [{"id": "q1", "required": ["m1"]}], "questions.jsonl:1: context"),
        ([{"text": "no id"}], [QUESTION], "memories.jsonl:1: id"),
        ([{**MEMORY, "metadata": {"namespaces": []}}], [QUESTION], "memories.jsonl:1: metadata.namespaces"),
        ([{**MEMORY, "metadata": {"created_at": "yesterday"}}], [QUESTION], "memories.jsonl:1: metadata"),
        ([["a"]], [QUESTION], "memories.jsonl:1: line: is no JSON object"),
        ([], [QUESTION], "has no memory"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, memories: list[object], questions: list[object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        load(folder(tmp_path, memories, questions))


def test_a_folder_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no memories\.jsonl"):
        load(tmp_path)


def rhelm(tmp_path: Path) -> Path:
    turns = [
        {"id": f"{p}/2024-01-01:{n}", "persona": p, "reference": f"2024-01-01:{n}", "time": "2024-01-01T07:49:00",
         "user": f"said {n}", "assistant": f"answered {n}"}
        for p in ("A", "B") for n in (1, 2)
    ]  # fmt: skip
    asked = {"id": "f", "question": "What?", "answer": "x", "question_date": "2024-02-01", "question_type": "fact",
             "supporting_evidence": ["2024-01-01:2", "2024-01-01:2"], "persona": "B"}  # fmt: skip
    with gzip.open(tmp_path / "turns.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(turn) + "\n" for turn in turns)
    lines = [{**asked, "dialogue_only": True}, {**asked, "id": "g", "dialogue_only": False}]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_rhelm_is_known_by_its_files_and_states_nothing_it_does_not_say(tmp_path: Path) -> None:
    data = load(rhelm(tmp_path))
    assert data.name == "RHELM"
    assert data.memories[3].text == "said 2\nanswered 2"
    assert data.memories[3].metadata.namespace == ("B",)
    assert data.memories[3].metadata.lifecycle.state is None
    assert data.memories[3].metadata.purpose_allow is None
    (asked,) = data.questions
    assert asked.required == ("B/2024-01-01:2",)
    assert (asked.context.principal, asked.context.intent, asked.context.purpose) == ("B", None, None)
    assert "x" not in asked.model_dump_json().split('"')  # the answer is not read
