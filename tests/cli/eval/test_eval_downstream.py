"""`admission eval downstream`: cases in, failures by arm and natural retrieval out; consent before a paid run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from recorded_writes import Run

from admission.evaluation import readers

TOWNS = ("Leeds", "York", "Hull", "Bath", "Ely", "Ripon", "Crewe", "Goole")


def write_cases(folder: Path) -> Path:
    rows = [
        {
            "id": f"q{number}",
            "group": f"g{number % 2}",
            "kind": "time",
            "question": f"In which month did Ana move to {town}?",
            "answer": "March",
            "memory": f"Ana moved to {town} in March.",
            "distorted": f"Ana moved to {town} in May.",
            "distorted_answer": "May",
        }
        for number, town in enumerate(TOWNS)
    ]
    file = folder / "cases.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


class PaidReader:
    """A fake chat model that answers with its prompt and counts what it is asked."""

    name = "chat:paid"
    paid = True
    identity = {"kind": "fake"}  # noqa: RUF012 - a constant

    def __init__(self) -> None:
        self.asked: list[str] = []

    def answer(self, prompts: Sequence[str]) -> list[str | None]:
        self.asked += prompts
        return list(prompts)


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> PaidReader:
    reader = PaidReader()
    monkeypatch.setattr(readers, "reader_of", lambda *_: reader)
    return reader


def test_a_reader_that_repeats_its_memories_fails_with_the_distorted_one_and_without_any(
    run: Run, tmp_path: Path
) -> None:
    result = run("eval", "downstream", write_cases(tmp_path), "--k", 1, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    failures = {one["arm"]: one["failures"]["value"] for one in found["arms"]}
    assert failures == {"exact": 0.0, "distorted": 1.0, "removed": 1.0}
    assert [one["misinformed"]["value"] for one in found["natural"]] == [0.0, 1.0]
    assert json.loads((tmp_path / "out/report.json").read_text()) == found
    assert "misinforms in 1.000 of 8" in (tmp_path / "out/report.html").read_text()


def test_the_report_is_the_same_bytes_on_a_rerun(run: Run, tmp_path: Path) -> None:
    file = write_cases(tmp_path)
    for folder in ("one", "two"):
        assert run("eval", "downstream", file, "--sample", 5, "--out", tmp_path / folder).exit_code == 0
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two and {"report.html", "report.json", "failures.png", "answers.jsonl"} == set(one)


def test_the_published_figures_stand_beside_as_other_models_on_other_samples(run: Run, tmp_path: Path) -> None:
    result = run("eval", "downstream", write_cases(tmp_path))
    assert result.stdout == ""
    assert "published: other models on other samples" in result.stderr and "+0.838" in result.stderr


def test_nothing_is_paid_for_without_consent_nor_twice(run: Run, tmp_path: Path, paid: PaidReader) -> None:
    arguments = ("eval", "downstream", write_cases(tmp_path), "--reader", "chat:paid", "--out", tmp_path / "out")
    refused = run(*arguments)
    assert refused.exit_code == 1 and "requests with" in refused.stderr and paid.asked == []
    assert run(*arguments, "--yes", "--json").exit_code == 0
    asked = len(paid.asked)
    assert asked == len(set(paid.asked)) == 40  # three arms and two stores
    assert run(*arguments, "--json").exit_code == 0
    assert len(paid.asked) == asked


def test_a_bad_case_or_reader_is_one_line_and_status_two(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "x"}\n')
    unknown = run("eval", "downstream", write_cases(tmp_path), "--reader", "oracle")
    for result in (run("eval", "downstream", bad), unknown):
        assert result.exit_code == 2
        assert result.stderr.startswith("admission: ") and result.stderr.count("\n") == 1
