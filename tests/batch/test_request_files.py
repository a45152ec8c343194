"""Request files: one a model and round, within the providers' bounds, and none of a round that was not finished."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_provider import requests_in, write_lines

from admission.batch import request_files
from admission.batch.addressing import Addressee, Letter
from admission.batch.answers import Answers
from admission.batch.request_files import RequestFiles, Written
from admission.errors import InputError
from admission.model_settings import ModelSettings
from admission.verifiers.chat.answers import SCHEMA
from admission.verifiers.chat.requests import Message


def letter(id: str, model: str = "openai:gpt-4.1", text: str = "What of it?") -> Letter:
    return Letter(id, Addressee.of(ModelSettings(model=model)), (Message("user", text),), SCHEMA)


def written(folder: Path, *letters: Letter) -> Written:
    files = RequestFiles(folder)
    for each in letters:
        files.add(each)
    return files.finish()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_each_model_has_its_own_file_in_its_own_format(tmp_path: Path) -> None:
    found = written(tmp_path, letter("a"), letter("b", "anthropic:claude-sonnet-4-5"), letter("c"))
    assert names(tmp_path) == ["round-001.anthropic-claude-sonnet-4-5.jsonl", "round-001.openai-gpt-4.1.jsonl"]
    assert (found.round, found.requests, found.again) == (1, 3, False)
    assert [line["custom_id"] for line in requests_in(tmp_path / "round-001.openai-gpt-4.1.jsonl")] == ["a", "c"]


def test_another_set_of_requests_is_the_next_round(tmp_path: Path) -> None:
    written(tmp_path, letter("a"))
    assert written(tmp_path, letter("b")).round == 2
    assert names(tmp_path) == ["round-001.openai-gpt-4.1.jsonl", "round-002.openai-gpt-4.1.jsonl"]


def test_the_same_requests_are_the_same_round(tmp_path: Path) -> None:
    first = written(tmp_path, letter("a"), letter("b"))
    assert written(tmp_path, letter("a"), letter("b")) == first._replace(again=True)
    assert names(tmp_path) == ["round-001.openai-gpt-4.1.jsonl"]


def test_no_request_is_no_file_and_no_folder(tmp_path: Path) -> None:
    assert written(tmp_path / "none") == Written(1, (), 0, False)
    assert not (tmp_path / "none").exists()


def test_a_request_given_twice_is_written_once(tmp_path: Path) -> None:
    assert written(tmp_path, letter("a"), letter("a")).requests == 1


def test_a_file_takes_no_more_requests_than_a_provider_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_files, "MOST_REQUESTS", 2)
    found = written(tmp_path, *(letter(f"i{n}") for n in range(5)))
    assert [path.name for path in found.files] == [
        "round-001.openai-gpt-4.1.jsonl", "round-001.openai-gpt-4.1.part2.jsonl",
        "round-001.openai-gpt-4.1.part3.jsonl",
    ]  # fmt: skip
    assert [line["custom_id"] for line in requests_in(*found.files)] == ["i0", "i1", "i2", "i3", "i4"]


def test_a_file_takes_no_more_bytes_than_a_provider_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_files, "MOST_BYTES", 3000)
    found = written(tmp_path, *(letter(f"i{n}", text="é" * 400) for n in range(3)))
    assert len(found.files) == 3
    assert all(path.stat().st_size <= 3000 for path in found.files)


def test_models_whose_names_are_no_file_names_do_not_share_a_file(tmp_path: Path) -> None:
    found = written(
        tmp_path, letter("a", "openai:org/model"), letter("b", "openai:org-model"), letter("c", "x:../../y")
    )
    assert len(found.files) == 3
    assert all(path.parent == tmp_path for path in found.files)


def test_a_round_that_was_not_finished_leaves_no_file(tmp_path: Path) -> None:
    files = RequestFiles(tmp_path)
    files.add(letter("a"))
    files.abandon()
    assert names(tmp_path) == []


def test_answers_may_lie_in_one_folder_with_the_requests_and_in_folders_of_their_own(tmp_path: Path) -> None:
    written(tmp_path, letter("a"), letter("b"))
    body = {"choices": [{"message": {"content": "{}"}}]}
    write_lines(tmp_path / "round-1" / "out.jsonl", [{"custom_id": "a", "response": {"body": body}}])
    answers = Answers.read(tmp_path)
    assert answers.outcome("a") is not None
    assert answers.outcome("b") is None


def test_answers_that_nobody_asked_for_are_counted(tmp_path: Path) -> None:
    write_lines(tmp_path / "o.jsonl", [{"custom_id": id, "result": {"type": "expired"}} for id in ("a", "b")])
    answers = Answers.read(tmp_path)
    answers.outcome("a")
    assert answers.unused == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"custom_id": "a", "resp', "is not valid JSON"),
        ("[]", "custom_id: is missing"),
        ('{"custom_id": 7, "response": {}}', "custom_id: is missing"),
        ('{"custom_id": "a"}', "neither a response nor a result"),
    ],
)
def test_a_damaged_output_file_is_named_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    good = json.dumps({"custom_id": "a", "result": {"type": "expired"}})
    (tmp_path / "out.jsonl").write_text(f"{good}\n{line}\n")
    with pytest.raises(InputError) as caught:
        Answers.read(tmp_path)
    assert "out.jsonl:2" in str(caught.value)
    assert problem in str(caught.value)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--responses-in"):
        Answers.read(tmp_path / "nowhere")
