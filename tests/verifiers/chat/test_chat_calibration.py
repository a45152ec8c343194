"""`admission calibrate` with chat verifiers: strictness is fitted to what the model says of its own certainty."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain_core.language_models import BaseChatModel
from scripted_chat import TURNS, Answer, Prompt, Script, ScriptedChat, ToolChat, candidate, gate, memory, verdict
from typer.testing import CliRunner, Result

from admission.cli.app import app
from admission.evaluation.strictness_grid import KEPT, StrictnessGrid
from admission.gate import AdmissionGate
from admission.history import History

FILE = """
[models.large]
model = "scripted:large"
max_calls_per_write = 2

[models.small]
model = "scripted:small"

[verification]
verifier_a = "chat:large"
verifier_b = "chat:small"
adjudicator = "none"
"""
CONVERSATIONS = 11


def saying_its_certainty(prompt: Prompt) -> Answer:
    """Each memory's last word is how sure the model says it is, in hundredths; its first is in the turn."""
    return {
        "verdicts": [
            verdict(id, int(re.findall(r"\d+", text)[-1]) / 100, list(prompt.turns)[:1], "The boat")
            for id, text in prompt.statements.items()
        ]
    }


def conversation(number: int) -> dict[str, Any]:
    """A valid write of which the models are sure at .9 and an unsupported one at .2; at .8 in the first three."""
    turn = {"id": "t1", "role": "user", "speaker": "Ines", "text": "The boat and the pier, counted."}
    hundredths = {"admitted": 90, "unresolved": 80 if number < 3 else 20}
    writes = [
        {"id": status, "memory": f"The boat weighs {h}.", "citations": ["t1"], "reference": {"status": status}}
        for status, h in hundredths.items()
    ]
    return {"id": f"c{number}", "turns": [turn], "writes": writes}


def run(folder: Path, script: Script, *arguments: str) -> tuple[Result, list[ScriptedChat]]:
    """The command in this folder, which has the settings, with both models played by the script."""
    made = {name: ToolChat(model=name, script=script) for name in ("large", "small")}

    def scripted(model: str, **params: Any) -> BaseChatModel:
        return made[model.partition(":")[2]]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("langchain.chat_models.init_chat_model", scripted)
        patch.chdir(folder)
        return CliRunner().invoke(app, list(arguments)), list(made.values())


def labelled(folder: Path, conversations: int) -> Path:
    (folder / "admission.toml").write_text(FILE)
    lines = [json.dumps(conversation(number)) + "\n" for number in range(conversations)]
    (folder / "labelled.jsonl").write_text("".join(lines))
    return folder


class Calibrated(NamedTuple):
    """One calibration at a bound of .2: its folder, what it found, and the models that were asked."""

    folder: Path
    found: dict[str, Any]
    models: list[ScriptedChat]


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Calibrated:
    folder = labelled(tmp_path_factory.mktemp("calibrated"), CONVERSATIONS)
    command = ("calibrate", "labelled.jsonl", "--max-unsupported", "0.2", "--out", "strict.toml", "--json")
    result, models = run(folder, saying_its_certainty, *command)
    assert result.exit_code == 0, result.stderr
    return Calibrated(folder, json.loads(result.stdout), models)


def test_the_strictness_is_fitted_to_the_confidence_that_the_models_state(calibrated: Calibrated) -> None:
    """None of 11 shows .20; three of 11 do not. What is said at .8 is let in up to strictness log(4) = 1.39."""
    found = calibrated.found
    assert found["strictness"] == 1.5
    at = {point["strictness"]: (point["valid_kept"], point["unsupported_admitted"]) for point in found["grid"]}
    assert (at[1.5], at[1.375], at[-1.5]) == ((11, 0), (11, 3), (11, 11))
    error = (11 * 0.1 + 8 * 0.2 + 3 * 0.8) / 22
    assert {name: judge["equal_width"] for name, judge in found["judges"].items()} == {
        "chat:large": pytest.approx(error), "chat:small": pytest.approx(error),
    }  # fmt: skip


def test_each_prompt_is_sent_once_for_all_strictnesses(calibrated: Calibrated) -> None:
    for model in calibrated.models:
        sent = Counter(prompt.user for prompt in model.prompts)
        assert sent and max(sent.values()) == 1


def test_with_the_setting_it_writes_the_audit_keeps_what_was_said(calibrated: Calibrated) -> None:
    strictness = (calibrated.folder / "strict.toml").read_text().partition("[verification]\n")[2]
    (calibrated.folder / "both.toml").write_text(FILE + strictness)
    command = ("audit", "labelled.jsonl", "--config", "both.toml", "--json")
    metrics = json.loads(run(calibrated.folder, saying_its_certainty, *command)[0].stdout)["metrics"]
    assert (metrics["valid_retention"]["value"], metrics["unsupported_admission"]["value"]) == (1, 0)


def test_a_model_that_fails_ends_the_calibration_with_the_kind_of_failure(tmp_path: Path) -> None:
    command = ("calibrate", "labelled.jsonl", "--max-unsupported", "0.5")
    result, _ = run(labelled(tmp_path, 4), lambda prompt: "I would rather not say.", *command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "malformed_answer" in result.stderr


HISTORY = History.of("c", TURNS)
SURE = {"car": 0.95, "bicycle": 0.7, "boat": 0.3, "lamp": 0.6}
GRID = (4.0, 2.0, 1.0, 0.0, -1.0, -2.0)
WRITES = [
    (candidate("Ana sold the car.", "t1", id="w1"), HISTORY),
    (candidate(memory(3), "t1", id="w2"), HISTORY),
    (candidate("Ana sold the lamp. Ana sold the bicycle.", "t3", id="w3"), HISTORY),
]


def swayed_by_company(prompt: Prompt) -> Answer:
    """Less sure of a statement alone than among others."""
    found = []
    for id, text in prompt.statements.items():
        word = re.findall(r"\w+", text)[-1]
        turns = [turn for turn, said in prompt.turns.items() if word in said][:1]
        support = SURE[word] - (0.15 if len(prompt.statements) == 1 else 0.0) if turns else 0.0
        found.append(verdict(id, support, turns, word if turns else ""))
    return {"verdicts": found}


def swayed(strictness: float = 0.0, **options: Any) -> tuple[list[ScriptedChat], AdmissionGate]:
    models = [ScriptedChat(model=name, script=swayed_by_company) for name in ("a", "b", "c")]
    plain = gate(*models, **options)
    verification = plain.settings.verification.model_copy(update={"strictness": strictness})
    return models, AdmissionGate(plain.settings.model_copy(update={"verification": verification}), **plain.verifiers)


@pytest.mark.parametrize(
    "options", [{}, {"max_calls_per_write": 2}, {"asking": "isolated"}, {"asking": "joint_then_isolated"}]
)
def test_at_each_strictness_it_is_what_the_gate_decides_though_answers_depend_on_their_company(
    options: dict[str, Any],
) -> None:
    found = list(StrictnessGrid(swayed(**options)[1], GRID).decide(WRITES))
    for place, strictness in enumerate(GRID):
        reports = swayed(strictness, **options)[1].decide_many(WRITES)
        assert [decision.kept[place] for decision in found] == [report.status in KEPT for report in reports]
    assert len({decision.kept for decision in found}) > 1


def test_a_budget_counts_what_the_write_costs_in_use_and_not_what_calibrating_adds() -> None:
    models, judging = swayed(max_calls_per_write=2)
    list(StrictnessGrid(judging, GRID).decide(WRITES))
    for model in models[:2]:
        sent = Counter(prompt.user for prompt in model.prompts)
        assert max(sent.values()) == 1
