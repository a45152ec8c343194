"""`admission eval drift`: rounds of rewriting, by the scripted writer or a model, with the gate between and without."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from recorded_writes import Run, conversation, write_file

from admission.evaluation import readers

SAID = ("Ana moved to Leeds in March.", "Ana plans to sell the canoe next week.")


@pytest.fixture
def told(tmp_path: Path) -> Path:
    turns = [
        {"id": f"t{n}", "role": "user", "speaker": "Bo", "time": "2026-04-02T18:20:00", "text": text}
        for n, text in enumerate(SAID)
    ]
    writes = [{"id": f"w{n}", "memory": text, "citations": [f"t{n}"]} for n, text in enumerate(SAID)]
    many = ({**conversation(f"c{n}", writes=writes), "turns": turns} for n in range(4))
    return write_file(tmp_path / "told.jsonl", *many)


class Forgetful:
    """A fake chat model: it extracts what was said, and rewrites every memory without its end."""

    name = "chat:forgetful"
    paid = True
    identity = {"kind": "fake"}  # noqa: RUF012 - a constant

    def __init__(self) -> None:
        self.asked: list[str] = []

    def answer(self, prompts: Sequence[str]) -> list[str | None]:
        self.asked += prompts
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: str) -> str:
        if "Write down" in prompt:
            return "\n".join(f"- {text} [t{n}]" for n, text in enumerate(SAID))
        return "- Ana moved to Leeds. [m1]\n- Ana sold the canoe. [m2]"


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> Forgetful:
    writer = Forgetful()
    monkeypatch.setattr(readers, "reader_of", lambda *_: writer)
    return writer


def rounds(found: dict[str, Any], gated: bool) -> list[tuple[int, float, float]]:
    own = [one for one in found["rounds"] if one["gated"] is gated]
    return [(one["memories"], one["time"]["value"], one["modality"]["value"]) for one in own]


def test_the_scripted_writer_loses_a_quarter_of_what_is_left_each_round(run: Run, told: Path, tmp_path: Path) -> None:
    result = run("eval", "drift", told, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [time for _, time, _ in rounds(found, gated=False)] == [0.0, 0.25, 0.5, 0.625, 0.75]
    assert [modality for _, _, modality in rounds(found, gated=False)] == [0.0, 0.25, 0.5, 0.75, 0.75]
    assert json.loads((tmp_path / "out/report.json").read_text()) == found
    assert (tmp_path / "out/drift.png").exists()


def test_the_report_is_the_same_bytes_on_a_rerun_which_judges_nothing(
    run: Run, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("eval", "drift", told, "--rounds", 2, "--out", tmp_path / "out").exit_code == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr("admission.gate.AdmissionGate.decide_many", lambda *_, **__: pytest.fail("judged again"))
        assert run("eval", "drift", told, "--rounds", 2, "--out", tmp_path / "out").exit_code == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == first


def test_a_model_that_forgets_drifts_everywhere_in_one_round(run: Run, told: Path, forgetful: Forgetful) -> None:
    result = run("eval", "drift", told, "--writer", "chat:forgetful", "--rounds", 1, "--yes", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert rounds(found, gated=False) == [(8, 0.0, 0.0), (8, 1.0, 1.0)]
    assert found["writer"] == "chat:forgetful" and found["unusable"] == 0


def test_nothing_is_paid_for_without_consent_nor_twice(
    run: Run, told: Path, forgetful: Forgetful, tmp_path: Path
) -> None:
    arguments = ("eval", "drift", told, "--writer", "chat:forgetful", "--rounds", 1, "--out", tmp_path / "out")
    refused = run(*arguments)
    assert refused.exit_code == 1 and "about 3 requests" in refused.stderr and forgetful.asked == []
    assert run(*arguments, "--yes").exit_code == 0
    asked = len(forgetful.asked)
    assert asked == len(set(forgetful.asked))
    assert run(*arguments).exit_code == 0
    assert len(forgetful.asked) == asked


def test_a_conversation_that_is_there_twice_and_a_writer_that_is_none_are_refused(run: Run, told: Path) -> None:
    twice = run("eval", "drift", told, told)
    unknown = run("eval", "drift", told, "--writer", "poet")
    assert (twice.exit_code, unknown.exit_code) == (2, 2)
    assert "is there twice" in twice.stderr and "no reader is called 'poet'" in unknown.stderr


def test_the_scripted_writer_begins_with_recorded_writes_and_says_so_where_there_are_none(
    run: Run, tmp_path: Path
) -> None:
    result = run("eval", "drift", write_file(tmp_path / "none.jsonl", conversation(writes=[])))
    assert result.exit_code == 2 and "holds no recorded write" in result.stderr


def test_the_published_figures_stand_beside_as_other_models_on_other_samples(run: Run, told: Path) -> None:
    shown = run("eval", "drift", told, "--rounds", 1).stderr
    assert "published: other models on other samples" in shown and "0.911" in shown
