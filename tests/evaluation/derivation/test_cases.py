"""Recorded writes as cases: what is no reference is refused, never taken for a write that nothing is said of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from admission.errors import InputError
from admission.evaluation.derivation.cases import read_cases


def file_with(folder: Path, reference: Any) -> Path:
    turn = {"id": "t1", "role": "user", "speaker": "Ana", "text": "I row."}
    write = {"id": "w1", "memory": "Ana rows.", "citations": ["t1"], "reference": reference}
    path = folder / "writes.jsonl"
    path.write_text(json.dumps({"id": "c1", "namespace": ["c1"], "turns": [turn], "writes": [write]}) + "\n")
    return path


@pytest.mark.parametrize(
    ("reference", "field"),
    [
        ({"status": "admited"}, "reference.status"),
        ({"status": "admitted", "obligations": {"text": "Ana rows."}}, "reference.obligations"),
        ({"status": "admitted", "obligations": ["Ana rows."]}, "reference.obligations.0"),
        ({"status": "admitted", "obligations": [{"evidence": "t1"}]}, "reference.obligations.0.evidence"),
        ({"status": "admitted", "obligations": [{"evidence": [1]}]}, "reference.obligations.0.evidence"),
        ({"status": "admitted", "obligations": [{"evidence": ["t9"]}]}, "reference.obligations.0.evidence"),
    ],
)
def test_what_is_no_reference_is_refused_by_field_file_and_write(tmp_path: Path, reference: Any, field: str) -> None:
    with pytest.raises(InputError, match="w1") as refused:
        read_cases([file_with(tmp_path, reference)], passage_chars=1200)
    assert refused.value.field == field


@pytest.mark.parametrize("reference", [None, {}, {"subject": "Ana"}, {"status": "admitted", "obligations": []}])
def test_a_reference_may_say_little_or_nothing(tmp_path: Path, reference: Any) -> None:
    (case,) = read_cases([file_with(tmp_path, reference)], passage_chars=1200)
    assert case.valid is (True if reference and "status" in reference else None)


def test_two_conversations_of_one_id_are_refused_for_statistics_draw_by_it(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one, other = file_with(tmp_path, {}), file_with(tmp_path / "other", {})
    other.write_text(other.read_text().replace("I row.", "I sew.").replace('"w1"', '"w2"'))
    with pytest.raises(InputError, match="'c1' was another conversation before"):
        read_cases([one, other], passage_chars=1200)
    other.write_text(one.read_text().replace('"w1"', '"w2"'))
    assert len(read_cases([one, other], passage_chars=1200)) == 2
