"""`admission audit` by batch files: requests out, answers in, until the reports are those of the direct run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from recorded_writes import Run, conversation, write_file
from scripted_chat import Script, ScriptedChat, honest
from scripted_provider import Line, output_lines, requests_in, write_lines
from typer.testing import Result

from admission.batch.addressing import Letter
from admission.batch.request_files import RequestFiles
from admission.cli import audit_run
from admission.gate import AdmissionGate

SCRIPTS: dict[str, Script] = {"large": honest, "small": honest}
SETTINGS = """
[models.large]
model = "scripted:large"
params = { temperature = 0.0, api_key = "s3cret", max_retries = 0 }
[models.small]
model = "scripted:small"
[verification]
verifier_a = "chat:large"
verifier_b = "chat:small"
adjudicator = "none"
"""


@pytest.fixture
def files(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with settings and five recorded writes. Setting up a model is a fault, for no key may be needed."""

    def refuses(model: str, **params: Any) -> BaseChatModel:
        raise AssertionError(f"{model} was set up")

    monkeypatch.setattr(audit_run, "AdmissionGate", AdmissionGate)
    monkeypatch.setattr("langchain.chat_models.init_chat_model", refuses)
    (tmp_path / "chat.toml").write_text(SETTINGS)
    write_file(tmp_path / "writes.jsonl", conversation("c1"), conversation("c2"))
    return tmp_path


def audit(run: Run, *arguments: object) -> Result:
    return run("audit", "writes.jsonl", "--config", "chat.toml", *arguments)


def newest_requests(folder: Path) -> list[Line]:
    newest = max(path.name.split(".")[0] for path in folder.glob("round-*.jsonl"))
    return requests_in(*sorted(folder.glob(f"{newest}.*")))


def untimed(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [{name: value for name, value in line.items() if name != "timing_ms"} for line in lines]


def direct_reports(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the audit writes that asks the scripted models itself."""

    def scripted(model: str, **params: Any) -> BaseChatModel:
        name = model.partition(":")[2]
        return ScriptedChat(model=name, script=SCRIPTS[name])

    with monkeypatch.context() as patch:
        patch.setattr("langchain.chat_models.init_chat_model", scripted)
        assert audit(run, "--out", "direct.jsonl").exit_code == 0
    return untimed(files / "direct.jsonl")


def test_an_audit_by_files_ends_with_the_reports_of_the_direct_run(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_files = ("--out", "r.jsonl", "--requests-out", "out", "--json")
    summary = json.loads(audit(run, *by_files).stdout)
    rounds = 0
    while summary["remaining"]:
        rounds += 1
        asked = newest_requests(files / "out")
        assert len(asked) == summary["batch"]["open_requests"]
        # The provider comes back with the later half first.
        half = asked[len(asked) // 2 :]
        write_lines(files / "in" / f"{rounds}.jsonl", output_lines(half, SCRIPTS))
        summary = json.loads(audit(run, *by_files, "--responses-in", "in").stdout)
    assert rounds > 2
    assert (summary["batch"]["open_requests"], summary["batch"]["request_files"]) == (0, [])
    assert untimed(files / "r.jsonl") == direct_reports(run, files, monkeypatch)


def test_the_first_run_writes_requests_says_what_to_do_and_succeeds(run: Run, files: Path) -> None:
    result = audit(run, "--requests-out", "out")
    assert result.exit_code == 0
    assert [json.loads(line)["status"] for line in result.stdout.splitlines()] == ["invalid", "invalid"]
    assert "8 writes wait for 16 answers" in result.stderr
    assert "round-001.scripted-large.jsonl" in result.stderr and "--responses-in" in result.stderr
    assert {line["body"]["model"] for line in newest_requests(files / "out")} == {"large", "small"}


def test_answers_under_other_settings_are_of_no_use_and_a_person_is_told(run: Run, files: Path) -> None:
    audit(run, "--requests-out", "out")
    write_lines(files / "in" / "a.jsonl", output_lines(newest_requests(files / "out"), SCRIPTS))
    result = audit(run, "--requests-out", "out", "--responses-in", "in", "--view", "holistic", "--json")
    assert "None of the 16 answers is to a request of these writes and settings" in result.stderr
    assert json.loads(result.stdout)["batch"]["unused_answers"] == 16


def test_no_secret_is_written_and_what_is_left_out_of_the_requests_is_named(run: Run, files: Path) -> None:
    result = audit(run, "--requests-out", "out")
    assert "params of scripted:large that are not part of a request: api_key, max_retries" in result.stderr
    assert "s3cret" not in result.stderr
    assert all(b"s3cret" not in path.read_bytes() for path in (files / "out").iterdir())


def test_without_a_folder_of_their_own_the_next_requests_lie_beside_the_answers(run: Run, files: Path) -> None:
    audit(run, "--requests-out", "both")
    answers = output_lines(newest_requests(files / "both"), SCRIPTS)
    write_lines(files / "both" / "answers.jsonl", answers[:-1])
    assert audit(run, "--responses-in", "both").exit_code == 0
    assert (files / "both" / "round-002.scripted-small.jsonl").exists()


def test_anthropics_format_is_written_where_it_is_asked_for(run: Run, files: Path) -> None:
    audit(run, "--requests-out", "out", "--batch-format", "anthropic")
    assert all(set(line) == {"custom_id", "params"} for line in newest_requests(files / "out"))


def test_a_final_run_reports_every_write_and_says_which_answers_were_missing(run: Run, files: Path) -> None:
    audit(run, "--requests-out", "out")
    (files / "in").mkdir()
    result = audit(run, "--responses-in", "in", "--final", "--json")
    summary = json.loads(result.stdout)
    assert (summary["remaining"], summary["counts"]["unresolved"], summary["counts"]["invalid"]) == (0, 8, 2)
    assert not list((files / "in").iterdir())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--final"], "--final"),
        (["--batch-format", "openai"], "--batch-format"),
        (["--requests-out", "out", "--final"], "--final"),
        (["--requests-out", "out", "--batch-format", "gemini"], "openai or anthropic"),
        (["--responses-in", "nowhere"], "nowhere is no folder"),
    ],
)
def test_options_that_do_not_go_together_are_one_line(
    run: Run, files: Path, arguments: list[str], problem: str
) -> None:
    result = audit(run, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert problem in result.stderr and result.stderr.count("\n") == 1
    assert not (files / "out").exists()


def test_a_run_that_is_interrupted_leaves_no_request_file_and_can_be_run_again(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit(run, "--requests-out", "out")
    asked = newest_requests(files / "out")
    write_lines(files / "in" / "a.jsonl", output_lines(asked, SCRIPTS))
    add = RequestFiles.add

    def stopped_after_one(self: RequestFiles, letter: Letter) -> None:
        add(self, letter)
        raise KeyboardInterrupt

    monkeypatch.setattr(audit_run, "BATCH", 5)
    monkeypatch.setattr(RequestFiles, "add", stopped_after_one)
    result = audit(run, "--requests-out", "next", "--responses-in", "in", "--out", "r.jsonl")
    assert result.exit_code == 130
    assert "run it again to go on" in result.stderr
    assert list((files / "next").iterdir()) == []
    monkeypatch.setattr(RequestFiles, "add", add)
    again = audit(run, "--requests-out", "next", "--responses-in", "in", "--out", "r.jsonl")
    assert again.exit_code == 0
    assert newest_requests(files / "next")


def test_a_damaged_file_of_answers_is_named_and_costs_nothing(run: Run, files: Path) -> None:
    (files / "in").mkdir()
    (files / "in" / "broken.jsonl").write_text('{"custom_id": "verifier_a-1", "respon')
    result = audit(run, "--responses-in", "in", "--requests-out", "out")
    assert result.exit_code == 2
    assert "broken.jsonl:1" in result.stderr
    assert not (files / "out").exists()
