"""Conversation files with questions as histories of the eviction audit: turns or recorded writes as memories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from admission.cli.app import app
from admission.errors import InputError
from admission.eviction.histories.loading import load


def talk(id: str = "c1", **changes: Any) -> dict[str, Any]:
    """A conversation with two writes and three questions, or with other fields."""
    return {
        "id": id,
        "namespace": ["harbour", id],
        "turns": [
            {"id": "t1", "role": "user", "speaker": "Ines", "time": "2026-03-01T09:00:00", "text": "I keep a boat."},
            {"id": "t2", "role": "assistant", "text": "What is it called?"},
            {"id": 3, "role": "user", "speaker": "Ines", "text": "The Albatross."},
        ],
        "writes": [
            {"id": "w2", "memory": "Her boat is the Albatross.", "citations": ["t2", "3"]},
            {"id": "w1", "memory": "Ines keeps a boat in Lisse.", "citations": ["t1", "gone"], "written_after": "t1"},
        ],
        "questions": [
            {"id": "where", "question": "Where is her boat?", "answer": "Lisse", "evidence": ["t1"], "type": "single"},
            {"id": 2, "question": "What is it called?", "answer": 7, "evidence": ["t2", 3], "time": "2026-03-02"},
            {"id": "never", "question": "Who sails it?", "answerable": False},
        ],
        **changes,
    }  # fmt: skip


def written(folder: Path, *lines: object, name: str = "talks.jsonl") -> Path:
    file = folder / name
    file.write_text("\n\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return file


def test_turns_are_memories_and_the_evidence_is_gold(tmp_path: Path) -> None:
    data = load(written(tmp_path, talk("c1"), talk("c2"), talk("silent", questions=[])))
    assert [history.id for history in data.histories] == ["c1", "c2"]
    assert [(memory.id, memory.text, memory.time) for memory in data.histories[0].memories] == [
        ("c1/t1", "Ines: I keep a boat.", "2026-03-01T09:00:00"),
        ("c1/t2", "assistant: What is it called?", None),
        ("c1/3", "Ines: The Albatross.", None),
    ]
    where, called, never = data.questions[:3]
    assert (where.id, where.history, where.gold, where.kind) == ("c1/where", "c1", ("c1/t1",), "single")
    assert (called.id, called.gold, called.answer, called.time) == ("c1/2", ("c1/t2", "c1/3"), "7", "2026-03-02")
    assert (never.gold, never.answerable) == ((), False)
    assert "2 conversations with 6 questions, 6 turns as memories. 1 conversations have no question" in data.about


def test_writes_are_memories_in_the_order_in_which_they_were_made_and_gold_where_they_cite_the_evidence(
    tmp_path: Path,
) -> None:
    data = load(written(tmp_path, talk()), "writes")
    assert [(memory.id, memory.text, memory.time) for memory in data.histories[0].memories] == [
        ("c1/w1", "Ines keeps a boat in Lisse.", "2026-03-01T09:00:00"),
        ("c1/w2", "Her boat is the Albatross.", None),
    ]
    assert [question.gold for question in data.questions] == [("c1/w1",), ("c1/w2",), ()]


def test_a_question_may_name_the_writes_itself_and_the_newest_that_cites_a_turn_counts(tmp_path: Path) -> None:
    newer = {"id": "w3", "memory": "She keeps it in Lisse still.", "citations": ["t1"]}
    asked = [
        {"id": "named", "question": "?", "evidence": ["t1"], "memories": ["w1"]},
        {"id": "newest", "question": "?", "evidence": ["t1"]},
        {"id": "not written down", "question": "?", "evidence": ["t1", "t2"]},
    ]
    writes = [talk()["writes"][1], newer]
    data = load(written(tmp_path, talk(writes=writes, questions=asked)), "writes")
    assert [question.gold for question in data.questions] == [("c1/w1",), ("c1/w3",), ()]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"questions": [{"id": "q", "question": "?", "evidence": ["t9"]}]}, "questions.0.evidence.0: 't9' is no turn"),
        ({"questions": [{"id": "q", "question": "?", "memories": ["w9"]}]}, "questions.0.memories.0: 'w9' is no write"),
        ({"questions": [{"id": "q"}]}, "questions.0.question: Field required"),
        ({"questions": [{"id": "q", "question": "?", "evidense": []}]}, "questions.0.evidense: Extra inputs"),
        ({"questions": [{"id": "q", "question": "?"}] * 2}, "questions.1.id: 'q' is used twice"),
        ({"questions": "many"}, "questions: Input should be a valid"),
        ({"turns": [{"id": "t1", "role": "narrator", "text": "x"}]}, "turns[0].role: is 'narrator'"),
        (
            {"turns": [], "writes": [], "questions": [{"id": "q", "question": "?"}]},
            "turns: conversation 'c2' has questions and none",
        ),
    ],
)
def test_a_fault_is_named_by_file_line_and_field(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    file = written(tmp_path, talk("c1"), talk("c2", **changes))
    with pytest.raises(InputError) as found:
        load(file)
    assert str(found.value).startswith(f"{file}:3: {said}")


def test_a_file_without_questions_writes_or_conversations_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no conversation has any"):
        load(written(tmp_path, talk(questions=[])))
    with pytest.raises(InputError, match="writes: conversation 'c1' has questions and none"):
        load(written(tmp_path, talk(writes=[], questions=[{"id": "q", "question": "?", "evidence": ["t1"]}])), "writes")
    with pytest.raises(InputError, match="is neither LoCoMo's, nor LongMemEval's, nor a file of conversations"):
        load(written(tmp_path, {"id": "q", "memories": []}))
    with pytest.raises(InputError, match="cannot read"):
        load(tmp_path / "none.jsonl")


def test_the_command_evicts_from_a_conversation_file_of_turns_or_of_writes(tmp_path: Path) -> None:
    file = written(tmp_path, talk("c1"), talk("c2"))
    fast = ("--policies", "fifo", "--budgets", "50%", "--rankers", "bm25", "--k", "1", "--json")
    for memories, counted in (("turns", 6), ("writes", 4)):
        out = tmp_path / memories
        found = CliRunner().invoke(app, ["eval", "evict", str(file), "--out", str(out), "--memories", memories, *fast])
        assert found.exit_code == 0, found.stderr
        figures = json.loads(found.stdout)
        assert (figures["memories"], figures["denominator"]["counted"]) == (counted, 4)
        assert figures["denominator"]["abstention"] == 2
    found = CliRunner().invoke(app, ["eval", "evict", str(file), "--out", str(tmp_path), "--memories", "notes"])
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert "'notes' is no kind of memories" in found.stderr
