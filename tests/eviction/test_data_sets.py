"""Which data set a folder or file holds: told by names for the folders that are published so, else by content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from admission.errors import InputError
from admission.eviction.histories.loading import load

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "s1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "I like tea."}],
        },
        "qa": [{"question": "What does she like?", "answer": "tea", "evidence": ["D1:1"], "category": 4}],
    }
]
TALK = {
    "id": "c1",
    "turns": [{"id": "t1", "role": "user", "text": "I like tea."}],
    "questions": [{"id": "q", "question": "What does she like?", "evidence": ["t1"]}],
}


def test_locomo_is_known_by_its_content_where_it_has_another_name(tmp_path: Path) -> None:
    file = tmp_path / "some.json"
    file.write_text(json.dumps(LOCOMO, indent=2))
    assert load(file).name == load(tmp_path).name == "LoCoMo"


def test_the_published_name_counts_whatever_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_text(json.dumps(LOCOMO))
    (tmp_path / "talks.jsonl").write_text(json.dumps(TALK))
    assert load(tmp_path).name == "LoCoMo"
    assert load(tmp_path / "talks.jsonl").name == "talks.jsonl"


def test_a_byte_order_mark_and_blank_lines_before_the_data_are_no_part_of_them(tmp_path: Path) -> None:
    (tmp_path / "talks.jsonl").write_text(f"\ufeff\n\n{json.dumps(TALK)}\n", encoding="utf-8")
    (tmp_path / "locomo.json").write_text(f"\ufeff\n{json.dumps(LOCOMO)}", encoding="utf-8")
    assert load(tmp_path / "talks.jsonl").questions[0].gold == ("c1/t1",)
    assert load(tmp_path / "locomo.json").questions[0].gold == ("s1/D1:1",)


@pytest.mark.parametrize("content", ["", "[]", "[{}]", "{}", "plain text", "[1"])
def test_a_file_of_no_known_format_is_bad_input(tmp_path: Path, content: str) -> None:
    file = tmp_path / "data.json"
    file.write_text(content)
    with pytest.raises(InputError, match=r"data\.json"):
        load(file)
    with pytest.raises(InputError, match="nor a file of a known format"):
        load(tmp_path)
