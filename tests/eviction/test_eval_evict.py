"""`admission eval evict`: figures, page and plots from a small file in LoCoMo's format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from admission.cli.app import app
from admission.errors import InputError
from admission.eviction.histories.loading import load

FAST = ("--policies", "fifo,random,adversarial", "--rankers", "bm25", "--k", "2")


def sample(name: str) -> dict[str, Any]:
    turns = [
        {"speaker": "Ana", "dia_id": f"D1:{n}", "text": f"{word} is what I like on day {n}"}
        for n, word in enumerate(("tea", "coffee", "running", "chess", "painting", "sailing"), 1)
    ]
    turns[5]["blip_caption"] = "a small boat"
    return {
        "sample_id": name,
        "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns},
        "qa": [
            {"question": "Who likes tea?", "answer": "Ana", "evidence": ["D1:1"], "category": 4},
            {"question": "What on days 2 and 6?", "answer": 2, "evidence": ["D1:02 D:1:6"], "category": 1},
            {"question": "Which game?", "answer": "chess", "evidence": ["D1:4"], "category": 2},
            {"question": "Who likes golf?", "adversarial_answer": "Ana", "evidence": ["D1:1"], "category": 5},
            {"question": "Nothing said?", "answer": "no", "evidence": [], "category": 3},
            {"question": "Lost?", "answer": "no", "evidence": ["D9:9"], "category": 3},
        ],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    (made / "locomo10.json").write_text(json.dumps([sample("conv-1"), sample("conv-2")]))
    return made


def run(*arguments: object) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, ["eval", "evict", *map(str, arguments)])
    return found.exit_code, found.stdout, found.stderr


def test_locomo_is_read_with_its_evidence_pictures_and_questions_to_abstain_from(folder: Path) -> None:
    data = load(folder)
    assert data.histories[0].memories[5].text == "Ana: sailing is what I like on day 6 [shares a picture: a small boat]"
    assert data.histories[0].memories[0].time == "2023-05-08T13:56:00"
    assert [question.gold for question in data.questions[:4]] == [
        ("conv-1/D1:1",),
        ("conv-1/D1:2", "conv-1/D1:6"),
        ("conv-1/D1:4",),
        ("conv-1/D1:1",),
    ]
    assert [question.answerable for question in data.questions[:4]] == [True, True, True, False]
    assert "2 of these have no evidence and 2 name a turn that there is not" in data.about


def test_the_figures_are_one_object_and_page_and_plots_are_in_the_folder(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, stdout, _ = run(folder, "--out", out, *FAST, "--json")
    assert code == 0
    figures = json.loads(stdout)
    assert json.loads((out / "report.json").read_text()) == figures
    assert figures["denominator"]["counted"] == 6
    assert len(figures["cells"]) == 20
    page = (out / "report.html").read_text()
    assert page.count('src="data:image/png;base64,') == 2
    assert "identity, not a finding" in page
    assert "not a reader" in page
    assert all(str(tmp_path) not in text for text in (stdout, page))
    for plot in ("composition-bm25.png", "shares-by-budget.png"):
        assert (out / plot).read_bytes().startswith(b"\x89PNG")


def test_a_second_run_takes_its_cells_from_the_first_and_says_the_same(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run(folder, "--out", out, *FAST, "--json")
    kept = (out / "cells.jsonl").read_bytes()
    assert run(folder, "--out", out, *FAST, "--json") == first
    assert (out / "cells.jsonl").read_bytes() == kept


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--policies", "lru"), "lru is no policy"),
        (("--budgets", "120%"), "'120%' is no budget"),
        (("--budgets", ""), "names none"),
        (("--rankers", "tfidf"), "tfidf is no ranker"),
    ],
)
def test_a_bad_option_is_one_line_that_names_it(
    folder: Path, tmp_path: Path, arguments: tuple[str, str], said: str
) -> None:
    code, stdout, stderr = run(folder, "--out", tmp_path / "out", *arguments)
    assert (code, stdout, stderr.count("\n")) == (2, "", 1)
    assert arguments[0] in stderr
    assert said in stderr


def test_a_folder_without_a_data_set_and_a_file_of_another_shape_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="FOLDER"):
        load(tmp_path)
    (tmp_path / "locomo10.json").write_text('[{"sample_id": "x"}]')
    with pytest.raises(InputError, match=r"locomo10\.json: FOLDER: is not LoCoMo's"):
        load(tmp_path)


def test_a_paid_scorer_is_asked_for_and_no_answer_is_no(folder: Path, tmp_path: Path) -> None:
    settings = tmp_path / "admission.toml"
    settings.write_text('[models.rater]\nmodel = "openai:some-model"\nparams = { api_key = "none" }\n')
    code, stdout, stderr = run(
        folder,
        "--out",
        tmp_path / "out",
        "--policies",
        "importance",
        "--importance",
        "chat:rater",
        "--config",
        settings,
    )
    assert (code, stdout.strip()) == (1, "")
    assert "6 requests" in stderr  # the two histories say the same
    assert "nothing was asked" in stderr


def test_a_scorer_of_no_kind_is_bad_input(folder: Path, tmp_path: Path) -> None:
    code, _, stderr = run(folder, "--out", tmp_path / "out", "--policies", "importance", "--importance", "oracle")
    assert code == 2
    assert "no scorer is called 'oracle'" in stderr
