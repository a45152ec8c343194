"""`admission eval write`: recorded writes in, three settings and the published figures out; resumable; price asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from recorded_writes import Run, conversation, write_file
from scripted_chat import ScriptedChat, honest
from scripted_provider import output_lines, requests_in, write_lines

from admission.cli.eval import trials as eval_trials
from admission.gate import AdmissionGate

PARTS = "expanded obligation-aware"
CITED = "citation-only holistic"
CHAT = """
[models.large]
model = "scripted:large"
[verification]
verifier_a = "chat:large"
verifier_b = "chat:large"
adjudicator = "none"
"""


def rates(found: dict[str, Any], setting: str) -> dict[str, Any]:
    (own,) = [one for one in found["figures"]["settings"] if one["setting"] == setting]
    return {metric: rate["value"] for metric, rate in own["rates"].items()}


@pytest.fixture
def chat(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Settings with one chat model for both judges, and what that fake model is asked."""
    asked: list[str] = []

    def scripted(model: str, **params: Any) -> BaseChatModel:
        asked.append(model)
        return ScriptedChat(model="large", script=honest)

    monkeypatch.setattr(eval_trials, "AdmissionGate", AdmissionGate)
    monkeypatch.setattr("langchain.chat_models.init_chat_model", scripted)
    (tmp_path / "chat.toml").write_text(CHAT)
    return asked


def test_three_settings_of_the_same_writes_with_every_figure_as_json(run: Run, recorded: Path) -> None:
    result = run("eval", "write", recorded, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert rates(found, PARTS) == {
        "repaired_retention": 1.0,
        "valid_retention": 1.0,
        "unsupported_admission": 0.0,
        "edited_admission": None,
    }
    assert rates(found, CITED)["repaired_retention"] == 0.0
    assert found["figures"]["writes"] == 5 and found["figures"]["unlabelled"] == 1
    assert found["scope"][0]["by"] == "the references"


def test_the_tables_have_the_published_figures_beside_and_call_them_what_they_are(run: Run, recorded: Path) -> None:
    shown = run("eval", "write", recorded).stderr
    assert "Kept and let in, published: other models on other samples" in shown
    assert "Qwen3-30B-A3B" in shown and "0.769" in shown


def test_the_report_is_the_same_bytes_on_a_rerun_which_judges_nothing(
    run: Run, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("eval", "write", recorded, "--out", tmp_path / "one").exit_code == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert {"report.html", "report.json", "kept-and-let-in.png", "reports.jsonl"} <= set(first)
    with monkeypatch.context() as patch:
        patch.setattr("admission.gate.AdmissionGate.decide_many", lambda *_, **__: pytest.fail("judged again"))
        assert run("eval", "write", recorded, "--out", tmp_path / "one").exit_code == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()} == first


def test_twins_are_unsupported_memories_in_the_place_of_the_write_they_are_of(
    run: Run, recorded: Path, tmp_path: Path
) -> None:
    twins = tmp_path / "twins.jsonl"
    row = {"id": "w1.neg", "of": "w1", "memory": "Ines keeps a boat in Lisse.", "edit": "none", "label": "insufficient"}
    twins.write_text(json.dumps(row) + "\n")
    found = json.loads(run("eval", "write", recorded, "--twins", twins, "--json").stdout)
    assert rates(found, PARTS)["edited_admission"] == 1.0
    assert found["by_edit"][0]["edit"] == "none"


def test_a_sample_is_the_same_for_the_same_seed(run: Run, tmp_path: Path) -> None:
    file = write_file(tmp_path / "writes.jsonl", *(conversation(f"c{n}") for n in range(4)))
    one, two = (json.loads(run("eval", "write", file, "--sample", "6", "--json").stdout) for _ in range(2))
    assert one == two and one["figures"]["writes"] == 6


def test_a_file_without_writes_is_refused_with_its_remedy(run: Run, tmp_path: Path) -> None:
    file = write_file(tmp_path / "none.jsonl", conversation(writes=[]))
    result = run("eval", "write", file)
    assert result.exit_code == 2
    assert "holds no recorded write" in result.stderr and "none.jsonl" in result.stderr


def test_a_paid_run_names_its_price_and_asks_nothing_without_consent(run: Run, recorded: Path, chat: list[str]) -> None:
    result = run("eval", "write", recorded, "--config", "chat.toml")
    assert result.exit_code == 1
    assert "requests with" in result.stderr and "--yes agrees beforehand" in result.stderr
    assert run("eval", "write", recorded, "--config", "chat.toml", "--yes", "--json").exit_code == 0


def test_chat_models_can_be_asked_by_batch_files(run: Run, recorded: Path, chat: list[str], tmp_path: Path) -> None:
    """Rounds of files until all answers are there; the figures are then those of the direct run."""
    arguments = ("eval", "write", recorded, "--config", "chat.toml", "--json")
    direct = json.loads(run(*arguments, "--yes").stdout)
    answers = tmp_path / "answers"
    answers.mkdir()
    for number in range(12):
        result = run(*arguments, "--out", tmp_path / "o", "--requests-out", tmp_path / "q", "--responses-in", answers)
        assert result.exit_code == 0, result.stderr
        if result.stdout:
            break
        newest = max(path.name.split(".")[0] for path in (tmp_path / "q").glob("round-*.jsonl"))
        requests = requests_in(*sorted((tmp_path / "q").glob(f"{newest}.*")))
        write_lines(answers / f"a{number}.jsonl", output_lines(requests, {"large": honest}))
    assert json.loads(result.stdout)["figures"] == direct["figures"]


def test_another_memory_or_citation_is_other_data(run: Run, tmp_path: Path) -> None:
    def digest_of(memory: str, cited: str) -> str:
        write = {"id": "w1", "memory": memory, "citations": [cited], "reference": {"status": "admitted"}}
        file = write_file(tmp_path / "writes.jsonl", conversation(writes=[write]))
        return str(json.loads(run("eval", "write", file, "--json").stdout)["configuration"]["data digest"])

    same = digest_of("Ines keeps a boat in Lisse.", "t2")
    assert same == digest_of("Ines keeps a boat in Lisse.", "t2")
    assert len({same, digest_of("Ines keeps a boat.", "t2"), digest_of("Ines keeps a boat in Lisse.", "t1")}) == 3
