"""`admission eval noise`: more true obligations beside a memory, each judge, and the remedy where it asks together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from recorded_writes import Run, conversation, write_file
from scripted_chat import Prompt, ScriptedChat, verdict

from admission.cli.eval import trials as eval_trials
from admission.gate import AdmissionGate

THINGS = ("lamp", "table", "guitar", "camera", "kettle", "bicycle")
CHAT = """
[models.large]
model = "scripted:large"
[verification]
verifier_a = "chat:large"
verifier_b = "chat:large"
adjudicator = "none"
"""


def crowded(prompt: Prompt) -> dict[str, Any]:
    """A fake model that supports a statement by itself, and hardly any among others."""
    alone = len(prompt.statements) == 1
    found = []
    for id, statement in prompt.statements.items():
        thing = statement.rstrip('."').split()[-1]
        turn = next(turn for turn, text in prompt.turns.items() if thing in text)
        found.append(verdict(id, 0.95 if alone else 0.1, [turn], thing))
    return {"verdicts": found}


@pytest.fixture
def sold(tmp_path: Path) -> Path:
    turns = [
        {"id": f"t{n}", "role": "user", "speaker": "Ana", "text": f"Ana sold the {thing}."}
        for n, thing in enumerate(THINGS)
    ]
    told = [{"text": turn["text"], "type": "fact", "label": "supported", "evidence": [turn["id"]]} for turn in turns]
    writes = [
        {
            "id": f"w{n}",
            "memory": turn["text"],
            "citations": [turn["id"]],
            "reference": {"status": "admitted", "obligations": [told[n]]},
        }
        for n, turn in enumerate(turns)
    ]
    return write_file(
        tmp_path / "sold.jsonl", *({**conversation(f"c{n}", writes=writes), "turns": turns} for n in (1, 2))
    )


@pytest.fixture
def chat(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> list[ScriptedChat]:
    """Settings with one chat model for both judges; the fake models that were set up."""
    made: list[ScriptedChat] = []

    def scripted(model: str, **params: Any) -> BaseChatModel:
        made.append(ScriptedChat(model="large", script=crowded))
        return made[-1]

    monkeypatch.setattr(eval_trials, "AdmissionGate", AdmissionGate)
    monkeypatch.setattr("langchain.chat_models.init_chat_model", scripted)
    (tmp_path / "chat.toml").write_text(CHAT)
    return made


def test_judges_that_ask_alone_are_said_not_to_be_moved_by_construction(run: Run, sold: Path, tmp_path: Path) -> None:
    result = run("eval", "noise", sold, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [(one["judge"], one["asked"], one["memories"]) for one in found["judges"]] == [
        ("verifier_a", "alone", 12), ("verifier_b", "alone", 12),
    ]  # fmt: skip
    assert all(one["shifts"] == [] for one in found["judges"]) and found["remedies"] == []
    assert [one["with_added"]["value"] for one in found["judges"][0]["approvals"]] == [1.0, 1.0, 1.0]
    assert "0 by construction and was not measured" in (tmp_path / "out/report.html").read_text()
    assert json.loads((tmp_path / "out/report.json").read_text()) == found


def test_a_chat_model_asked_together_is_shown_with_what_asking_alone_gives_back(
    run: Run, sold: Path, chat: list[ScriptedChat]
) -> None:
    result = run("eval", "noise", sold, "--config", "chat.toml", "--yes", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    together, alone = found["judges"]
    assert (together["asked"], alone["asked"]) == ("together", "alone")
    assert [one["memory"]["value"] for one in together["approvals"]] == [1.0, 0.0, 0.0]
    assert [one["memory"]["value"] for one in alone["approvals"]] == [1.0, 1.0, 1.0]
    assert [round(one["median"], 3) for one in together["shifts"]] == [-5.142, -5.142]
    assert {one["difference"]["value"] for one in found["remedies"]} == {1.0}
    sizes = sorted({len(prompt.statements) for model in chat for prompt in model.prompts})
    assert sizes == [1, 3, 5]


def test_the_price_is_named_and_nothing_asked_without_consent(run: Run, sold: Path, chat: list[ScriptedChat]) -> None:
    result = run("eval", "noise", sold, "--config", "chat.toml")
    assert result.exit_code == 1
    assert "about 96 requests" in result.stderr  # of 12 memories three calls together and five alone
    assert not any(model.heard for model in chat)


def test_a_stopped_run_goes_on_and_asks_nothing_twice(
    run: Run, sold: Path, chat: list[ScriptedChat], tmp_path: Path
) -> None:
    arguments = ("eval", "noise", sold, "--config", "chat.toml", "--out", tmp_path / "out")
    assert run(*arguments, "--yes").exit_code == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    asked = sum(len(model.heard) for model in chat)
    assert asked == 96
    assert run(*arguments).exit_code == 0
    assert sum(len(model.heard) for model in chat) == asked
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == first


def test_memories_whose_history_has_too_few_true_obligations_are_counted_as_left_out(run: Run, recorded: Path) -> None:
    found = json.loads(run("eval", "noise", recorded, "--json").stdout)
    assert found["known_by"] == "the gate"  # these references name no obligations
    assert found["left_out"] == 2 and all(one["memories"] == 0 for one in found["judges"])


def test_the_published_figures_stand_beside_as_other_models_on_other_samples(run: Run, sold: Path) -> None:
    shown = run("eval", "noise", sold).stderr
    assert "published: other models on other samples" in shown and "-7.7" in shown
