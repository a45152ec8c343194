"""`admission eval read` and `eval corruption`: figures, page and plots from a small folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from admission.cli.app import app


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    memories = [
        {"id": f"{who}{n}", "text": f"{word} number {n} <b>", "metadata": {"namespace": [who]}}
        for n in range(6)
        for who, word in (("ana", "tea"), ("ben", "tea coffee"))
    ]
    questions = [
        {"id": f"{who}?{n}", "question": f"tea {n}", "required": [f"{who}{n}"],
         "context": {"principal": who, "namespace": [who]}}
        for n in range(3) for who in ("ana", "ben")
    ]  # fmt: skip
    for name, lines in (("memories.jsonl", memories), ("questions.jsonl", questions)):
        (made / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return made


def run(*arguments: object) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, ["eval", *map(str, arguments)])
    return found.exit_code, found.stdout, found.stderr


def test_the_figures_are_one_object_on_stdout_and_the_same_in_the_folder(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, stdout, _ = run("read", folder, "--out", out, "--k", "1,3", "--rankers", "bm25", "--json")
    assert code == 0
    figures = json.loads(stdout)
    assert json.loads((out / "report.json").read_text()) == figures
    assert {each["k"] for each in figures["figures"]} == {1, 3}
    assert figures["configuration"]["data digest"] == figures["data_digest"]
    assert all(str(tmp_path) not in text for text in (stdout, (out / "report.html").read_text()))


@pytest.mark.parametrize("command", [("read", "--rankers"), ("corruption", "--ranker")])
def test_without_a_folder_to_write_to_the_figures_are_only_printed(
    folder: Path, tmp_path: Path, command: tuple[str, str]
) -> None:
    code, stdout, _ = run(command[0], folder, "--k", "3", command[1], "bm25", "--json")
    assert code == 0 and json.loads(stdout)["configuration"]
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_the_page_holds_its_plots_and_loads_nothing(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, stdout, stderr = run("read", folder, "--out", out, "--k", "3", "--rankers", "bm25")
    assert (code, stdout) == (0, "")
    assert "namespace" in stderr
    page = (out / "report.html").read_text()
    assert page.count('src="data:image/png;base64,') == 2
    assert "http" not in page.replace("http-equiv", "")
    assert "The data say nothing of policy and lifecycle" in page
    for plot in ("risk-recall-3.png", "loss-by-route.png"):
        assert (out / plot).read_bytes().startswith(b"\x89PNG")


def test_a_second_run_writes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run("read", folder, "--out", tmp_path / name, "--k", "3", "--rankers", "bm25")[0] == 0
    for file in ("report.html", "report.json", "loss-by-route.png"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_corruption_writes_curves_and_says_where_each_channel_first_loses(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, stdout, _ = run("corruption", folder, "--out", out, "--ranker", "bm25", "--k", "3", "--json")
    assert code == 0
    figures = json.loads(stdout)
    assert [point["rate"] for point in figures["channels"][0]["figures"]] == [0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert len(figures["channels"]) == 9
    assert (out / "corruption.png").read_bytes().startswith(b"\x89PNG")
    assert "nothing that it could change" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--k", "0"), "--k"),
        (("--k", "ten"), "--k"),
        (("--rankers", "tfidf"), "tfidf is no ranker"),
        (("--tau", "1.5"), "--tau"),
    ],
)
def test_bad_options_are_one_line_and_exit_2(
    folder: Path, tmp_path: Path, arguments: tuple[str, str], said: str
) -> None:
    code, stdout, stderr = run("read", folder, "--out", tmp_path / "out", *arguments)
    assert (code, stdout) == (2, "")
    assert said in stderr
    assert len(stderr.strip().splitlines()) == 1


def test_a_folder_of_nothing_is_bad_input(tmp_path: Path) -> None:
    code, _, stderr = run("read", tmp_path, "--out", tmp_path / "out", "--rankers", "bm25")
    assert code == 2
    assert "memories.jsonl" in stderr
