"""Edited twins: another memory on the very evidence of a write, labelled by what the edit made of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from admission.errors import InputError
from admission.evaluation.derivation.cases import Case, read_cases
from admission.evaluation.derivation.twins import read_twins

TWIN = {
    "id": "w1.neg",
    "of": "w1",
    "memory": "Noor plays the cello since her move.",
    "edit": "order",
    "label": "insufficient",
    "why": "She played before.",
}


def conversation(id: str) -> dict[str, Any]:
    return {
        "id": id,
        "namespace": ["music", id],
        "turns": [
            {"id": "t1", "role": "user", "speaker": "Noor", "text": "I play the cello."},
            {"id": "t2", "role": "user", "speaker": "Noor", "text": "I moved in May."},
            {"id": "t3", "role": "user", "speaker": "Noor", "text": "It rains."},
        ],
        "writes": [
            {
                "id": "w1",
                "memory": "Noor plays the cello.",
                "citations": ["t1"],
                "written_after": "t2",
                "reference": {"status": "admitted"},
            }
        ],
    }


def cases(tmp_path: Path, *ids: str) -> list[Case]:
    file = tmp_path / "writes.jsonl"
    file.write_text("".join(json.dumps(conversation(id)) + "\n" for id in ids))
    return read_cases([file], passage_chars=1200)


def twins(tmp_path: Path, of: list[Case], *rows: Any) -> list[Case]:
    file = tmp_path / "twins.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_twins(file, of)


def test_a_twin_takes_everything_but_its_words_from_its_write(tmp_path: Path) -> None:
    (original,) = cases(tmp_path, "c1")
    (twin,) = twins(tmp_path, [original], TWIN)
    assert twin.candidate.model_dump() == {
        **original.candidate.model_dump(),
        "id": "w1.neg",
        "memory": "Noor plays the cello since her move.",
    }
    assert twin.history is original.history
    assert twin.group == "c1"


@pytest.mark.parametrize(("label", "status"), [("insufficient", "unresolved"), ("contradicted", "contradicted")])
def test_the_label_gives_the_status_and_the_kind_of_edit_is_kept(tmp_path: Path, label: str, status: str) -> None:
    (twin,) = twins(tmp_path, cases(tmp_path, "c1"), {**TWIN, "label": label})
    assert twin.reference == {"of": "w1", "edit": "order", "status": status}
    assert twin.valid is False


def test_a_twin_says_whose_write_it_is_where_several_have_that_id(tmp_path: Path) -> None:
    both = cases(tmp_path, "c1", "c2")
    (twin,) = twins(tmp_path, both, {**TWIN, "conversation": "c2"})
    assert twin.group == "c2"
    with pytest.raises(InputError, match=r"twins.jsonl:1: of: names writes of 2 conversations: 'w1'; say which"):
        twins(tmp_path, both, TWIN)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**TWIN, "of": "w9"}], ":1: of: names no write of the conversations given: 'w9'"),
        ([{**TWIN, "conversation": "c9"}], ":1: of: names no write .*: 'w1' of conversation 'c9'"),
        ([TWIN, TWIN], ":2: id: 'w1.neg' is used twice"),
        ([{**TWIN, "id": "w1"}], ":1: id: 'w1' is used twice"),
        ([{**TWIN, "label": "supported"}], ":1: label: Input should be 'insufficient' or 'contradicted'"),
        ([{**TWIN, "edit": ""}], ":1: edit: String should have at least 1 character"),
        ([{"id": "x"}], ":1: of: Field required"),
        ([["x"]], ":1: line: is no JSON object"),
        ([], "twins.jsonl: file: holds no twin"),
    ],
)
def test_what_is_no_twin_is_named_with_its_line(tmp_path: Path, rows: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        twins(tmp_path, cases(tmp_path, "c1"), *rows)
