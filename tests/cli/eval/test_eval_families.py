"""`admission eval families`: a suite in; each cell, targets, languages and equal retention out; resumable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_families import families
from recorded_writes import Run, write_file
from scripted_chat import ScriptedChat, honest

from admission.cli.eval import families_run as eval_families_run
from admission.cli.eval import trials as eval_trials
from admission.gate import AdmissionGate

CHAT = """
[models.large]
model = "scripted:large"
[verification]
verifier_a = "chat:large"
verifier_b = "chat:large"
adjudicator = "none"
"""
CELLS = ("local_valid", "local_invalid", "distributed_valid", "distributed_invalid")


@pytest.fixture(autouse=True)
def _short_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_families_run, "SWEEP", (6.0, 0.0, -6.0))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_file(tmp_path / "families.jsonl", *families("fam1", "fam2"), *families("fam3", language="ko"))


def accepted(found: dict[str, Any], view: str, part: str = "all families") -> list[float]:
    (own,) = [one for one in found["cells"] if (one["view"], one["part"]) == (view, part)]
    return [own["accepted"][cell]["value"] for cell in CELLS]


def test_both_views_have_every_cell_by_target_and_language(run: Run, suite: Path) -> None:
    result = run("eval", "families", suite, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    for view in ("holistic", "obligations"):
        for part in ("all families", "scope", "en", "ko"):
            assert accepted(found, view, part) == [1.0, 0.0, 1.0, 0.0]
    assert found["families"] == 3
    assert {(one["view"], one["level"]) for one in found["equal"]} >= {("holistic", 0.9), ("obligations", 0.9)}


def test_the_table_has_the_published_figures_beside_and_calls_them_what_they_are(run: Run, suite: Path) -> None:
    shown = run("eval", "families", suite).stderr
    assert "published: other models on other samples" in shown
    assert "0.086" in shown and "0.114" in shown


def test_one_view_can_be_measured_alone_and_an_unknown_one_is_refused(run: Run, suite: Path) -> None:
    found = json.loads(run("eval", "families", suite, "--view", "atomic_claims", "--json").stdout)
    assert {one["view"] for one in found["cells"]} == {"atomic_claims"}
    result = run("eval", "families", suite, "--view", "whole")
    assert result.exit_code == 2 and "'whole' is no verification view" in result.stderr


def test_the_report_is_the_same_bytes_on_a_rerun_which_judges_nothing(
    run: Run, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert run("eval", "families", suite, "--out", out).exit_code == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    assert {"report.html", "report.json", "families-all-families.png", "families-in-en.png"} <= set(first)
    assert sum(name.startswith("sweep-") for name in first) == 2
    with monkeypatch.context() as patch:
        patch.setattr("admission.gate.AdmissionGate.decide_many", lambda *_, **__: pytest.fail("judged again"))
        patch.setattr(
            "admission.cli.eval.families_run.StrictnessGrid.decide",
            lambda _, writes: pytest.fail("judged again") if list(writes) else iter(()),
        )
        assert run("eval", "families", suite, "--out", out).exit_code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first


def test_a_stopped_run_decides_what_is_missing_and_comes_to_the_same_report(
    run: Run, suite: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run("eval", "families", suite, "--out", out).exit_code == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    for log in out.glob("sweep-*.jsonl"):
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:5]) + b'{"id":"cut sho')
    assert run("eval", "families", suite, "--out", out).exit_code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first


def test_a_sample_is_of_whole_families(run: Run, suite: Path) -> None:
    found = json.loads(run("eval", "families", suite, "--sample", "2", "--json").stdout)
    assert found["families"] == 2


def test_writes_that_are_no_families_are_refused_with_a_remedy(run: Run, recorded: Path) -> None:
    result = run("eval", "families", recorded)
    assert result.exit_code == 2
    assert "reference.family" in result.stderr and "examples/families/README.md" in result.stderr


def test_chat_models_are_asked_at_the_gates_own_strictness_alone_after_consent(
    run: Run, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eval_trials, "AdmissionGate", AdmissionGate)
    monkeypatch.setattr(
        "langchain.chat_models.init_chat_model", lambda *_, **__: ScriptedChat(model="large", script=honest)
    )
    (tmp_path / "chat.toml").write_text(CHAT)
    arguments = ("eval", "families", suite, "--config", "chat.toml", "--view", "holistic")
    refused = run(*arguments)
    assert refused.exit_code == 1 and "requests with" in refused.stderr
    found = json.loads(run(*arguments, "--yes", "--json").stdout)
    assert len(found["cells"]) == 4 and (found["equal"], found["curves"]) == ([], [])
