"""`admission eval exposure`: cases in, cells and gap out; consent before a paid run; a stopped run goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from recorded_writes import Run

from admission.evaluation import readers


def write_cases(folder: Path) -> Path:
    lines = []
    for number in range(16):
        relevant, admissible = number < 8, number % 2 == 0
        said = f"The code of the safe is {1000 + number}." if relevant else f"The ferry has {1000 + number} seats."
        line = {
            "id": f"c{number}",
            "group": f"g{number // 4}",
            "query": "What is the code of the safe?",
            "context": ["Breakfast begins at eight."],
            "candidate": said,
            "relevant": relevant,
            "admissible": admissible,
            "target": str(1000 + number),
        }
        lines.append(line)
    file = folder / "cases.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
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


def test_the_scripted_reader_gives_the_four_cells_and_no_gap_as_json_and_as_files(run: Run, tmp_path: Path) -> None:
    result = run("eval", "exposure", write_cases(tmp_path), "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [cell["effect"]["value"] for cell in found["cells"]] == [1.0, 1.0, 0.0, 0.0]
    assert found["selectivity_gap"]["value"] == 0.0
    assert found["scorer"] == {"name": "normalised"}
    assert json.loads((tmp_path / "out/report.json").read_text()) == found
    assert "Selectivity gap +0.000" in (tmp_path / "out/report.html").read_text()


def test_the_table_goes_to_stderr(run: Run, tmp_path: Path) -> None:
    result = run("eval", "exposure", write_cases(tmp_path), "--limit", 8)
    assert result.stdout == ""
    assert "relevant, inadmissible" in result.stderr
    assert "Selectivity gap" in result.stderr


def test_nothing_is_paid_for_without_consent(run: Run, tmp_path: Path, paid: PaidReader) -> None:
    result = run("eval", "exposure", write_cases(tmp_path), "--reader", "chat:paid")
    assert result.exit_code == 1
    assert "17 requests" in result.stderr
    assert paid.asked == []


def test_answers_that_are_there_are_not_paid_for_again(run: Run, tmp_path: Path, paid: PaidReader) -> None:
    arguments = ("eval", "exposure", write_cases(tmp_path), "--reader", "chat:paid", "--out", tmp_path / "out")
    assert run(*arguments, "--yes", "--json").exit_code == 0
    asked = len(paid.asked)
    assert asked == 17  # every exposed prompt of its own, and one that all pairs share without the memory
    assert run(*arguments, "--json").exit_code == 0
    assert len(paid.asked) == asked


def test_a_bad_case_file_or_reader_is_one_line_and_status_two(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "x"}\n')
    for result in (run("eval", "exposure", bad), run("eval", "exposure", write_cases(tmp_path), "--reader", "oracle")):
        assert result.exit_code == 2
        assert result.stderr.startswith("admission: ")
        assert result.stderr.count("\n") == 1
