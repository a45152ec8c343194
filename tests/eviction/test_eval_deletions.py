"""`admission eval deletions`: the questions' file, the figures as one object, the page, and bad input in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deletion_worlds import BY, SAID, SPACE, remembering, report_of
from typer.testing import CliRunner

from admission.cli.app import app
from admission.errors import InputError
from admission.eviction.deletions.questions import read_questions
from admission.ledger import open_ledger

LINES: list[dict[str, Any]] = [
    {"id": "kept", "question": "Where does she live?", "answer": "-", "namespace": SPACE, "memories": [{"key": "k1"}]},
    {"id": "deleted", "namespace": SPACE, "memories": [{"key": "k1"}, {"key": "k3"}]},
    {"id": "erased", "memories": [{"namespace": SPACE, "key": "k2"}]},
    {"id": "turns", "conversation": "talk-1", "evidence": ["t3"]},
    {"id": 7, "namespace": SPACE, "memories": [{"key": "never"}]},
]  # fmt: skip


def written(file: Path, *lines: object) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A ledger in which one memory was deleted and one erased."""
    found = f"sqlite:///{tmp_path / 'ledger.db'}"
    store = remembering(ledger=open_ledger(found))
    store.delete(SPACE, "k3")
    store.erase(SPACE, "k2", **BY)
    store.ledger.close()
    yield found


def run(*arguments: object) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, ["eval", "deletions", *map(str, arguments)])
    return found.exit_code, found.stdout, found.stderr


def test_the_figures_are_one_object_and_the_page_has_the_log_and_what_each_deletion_cost(
    url: str, tmp_path: Path
) -> None:
    questions, out = written(tmp_path / "questions.jsonl", *LINES), tmp_path / "out"
    code, stdout, _ = run(questions, "--ledger", url, "--out", out, "--json")
    assert code == 0
    figures = json.loads(stdout)
    assert json.loads((out / "report.json").read_text()) == figures
    assert {question["id"]: question["outcome"] for question in figures["questions"]} == {
        "kept": "unaffected",
        "deleted": "recoverable",
        "erased": "unanswerable",
        "turns": "recoverable",
        "7": "unknown",
    }
    assert [(d["deletion"]["cause"], d["unanswerable"], d["recoverable"]) for d in figures["deletions"]] == [
        ("delete", [], ["deleted", "turns"]),
        ("erasure", ["erased"], []),
    ]
    assert figures["outcomes"] == {"unaffected": 1, "recoverable": 2, "unanswerable": 1, "unknown": 1}
    page = (out / "report.html").read_text()
    for said in ("officer: request 7", "memories/ana/k2", "does not say what to delete", "1: erased"):
        assert said in page
    assert all(text not in shown for text in SAID.values() for shown in (page, stdout))
    assert str(tmp_path) not in page + stdout


def test_the_terminal_gets_the_deletions_that_cost_something_and_stdout_nothing(url: str, tmp_path: Path) -> None:
    questions = written(tmp_path / "questions.jsonl", *LINES)
    code, stdout, stderr = run(questions, "--ledger", url)
    assert (code, stdout) == (0, "")
    for said in ("5 questions, 2 deletions", "Deletions that cost a question", "the ledger's record of the write"):
        assert said in stderr


def test_a_write_is_named_by_the_id_that_the_ledgers_list_shows_or_its_beginning(url: str, tmp_path: Path) -> None:
    ledger = open_ledger(url)
    ids = [report.id for _, report in ledger.reports()]
    ledger.close()
    questions = written(
        tmp_path / "q.jsonl", *({"id": id, "memories": [{"write": id[:-2]}]} for id in ids), {**LINES[0], "id": "key"}
    )
    _, stdout, _ = run(questions, "--ledger", url, "--json")
    outcomes = [question["outcome"] for question in json.loads(stdout)["questions"]]
    assert outcomes == ["unaffected", "unanswerable", "recoverable", "unaffected", "unaffected"]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"id": "q"}, "line: needs memories, or evidence"),
        ({"id": "q", "evidence": ["t1"]}, "line: has evidence, and no conversation"),
        ({"id": "q", "memories": [{"key": "k"}]}, "line: names a key, and no namespace"),
        ({"id": "q", "memories": [{"key": "k", "write": "w"}]}, "memories.0: needs a write, or a key"),
        ({"id": "q", "memories": [{}]}, "memories.0: needs a write, or a key"),
        ({"memories": [{"write": "w"}]}, "id: Field required"),
        (["no object"], "line: "),
    ],
)
def test_a_line_that_is_no_question_is_named_by_file_line_and_field(tmp_path: Path, line: object, field: str) -> None:
    file = written(tmp_path / "questions.jsonl", LINES[0], line)
    with pytest.raises(InputError) as found:
        read_questions(file)
    assert str(found.value).startswith(f"{file}:2: {field}")
    assert "docs/eviction.md" in str(found.value)


@pytest.mark.parametrize("content", ["", "\n\n", "{", '{"id": "q"', "\ufffe"])
def test_a_file_without_a_question_or_without_json_is_bad_input(tmp_path: Path, content: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"questions\.jsonl"):
        read_questions(file)


def test_two_questions_of_one_id_and_a_file_that_is_not_there_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is there twice"):
        read_questions(written(tmp_path / "questions.jsonl", LINES[0], LINES[0]))
    code, stdout, stderr = run(tmp_path / "none.jsonl", "--ledger", "sqlite://")
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert "QUESTIONS" in stderr


def test_a_ledger_that_is_not_there_is_bad_input_and_is_not_begun(tmp_path: Path) -> None:
    questions = written(tmp_path / "questions.jsonl", *LINES)
    code, stdout, stderr = run(questions, "--ledger", f"sqlite:///{tmp_path / 'none.db'}")
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert not (tmp_path / "none.db").exists()


def test_reports_of_an_audit_are_no_writes_to_a_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    store = remembering(ledger=open_ledger(url))
    report = store.ledger.report(report_of(store, "k1"))
    assert report is not None
    store.ledger.record_report(report[1].model_copy(update={"id": "audited"}))
    store.ledger.close()
    _, stdout, _ = run(
        written(tmp_path / "q.jsonl", {"id": "q", "memories": [{"write": "audited"}]}), "--ledger", url, "--json"
    )
    (question,) = json.loads(stdout)["questions"]
    assert question["outcome"] == "unknown"
