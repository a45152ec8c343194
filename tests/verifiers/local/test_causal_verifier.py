"""The verifier over a causal model, by the settings and in a gate: numbers, abstentions, failures, identity, cost."""

from __future__ import annotations

import asyncio
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_local_models import TURNS, causal_folder, passage, question

from admission.errors import VerifierError
from admission.gate import AdmissionGate
from admission.history import History
from admission.local_settings import LocalModelSettings
from admission.records import Candidate, Thresholds, Turn, Usage
from admission.settings import Settings
from admission.verifiers.local import CausalVerifier, load
from admission.verifiers.local.label_odds import LabelScorer, tokens_read
from admission.verifiers.local.prompting import Prompter

ASKED = [
    question("Ana moved to Leeds.", id="o1"),
    question("Ana moved to Leeds because her sister had a baby.", id="o2", type="relation"),
    question("Bo has a dog.", passage("t3", "We got a dog!", 2, speaker="Bo"), id="o3"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return causal_folder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def verifier(folder: Path) -> CausalVerifier:
    return made(folder)


def made(folder: Path, thresholds: Thresholds | None = None, max_tokens: int = 8192, **section: Any) -> CausalVerifier:
    local = load(LocalModelSettings(model=str(folder), device="cpu", **section))
    return CausalVerifier(local, "local:tiny", thresholds=thresholds, max_tokens=max_tokens)


def test_support_and_contradiction_are_the_sigmoids_of_the_log_odds_of_their_own_questions(
    folder: Path, verifier: CausalVerifier
) -> None:
    local = load(LocalModelSettings(model=str(folder), device="cpu"))
    prompter = Prompter(local.tokenizer)
    scorer = LabelScorer(local, prompter.yes, prompter.no, opening=[], batch_size=1)
    for asked, judgment in zip(ASKED, verifier.judge(ASKED), strict=True):
        odds = [scorer.odds_alone(ids) for ids in prompter.ids(asked)]
        numbers = [1 / (1 + math.exp(-value)) for value in odds]
        assert [judgment.support, judgment.contradiction] == pytest.approx(numbers, abs=1e-4)
        assert judgment.outcome == "judged"
        noted = [float(found) for found in re.findall(r"[+-]\d+\.\d+", judgment.note)]
        assert noted == pytest.approx(odds, abs=0.006)
    assert len({judgment.support for judgment in verifier.judge(ASKED)}) == len(ASKED)


def test_a_label_names_no_turn(verifier: CausalVerifier) -> None:
    assert [judgment.evidence for judgment in verifier.judge(ASKED)] == [(), (), ()]


def test_the_label_follows_the_thresholds(folder: Path) -> None:
    always = made(folder, Thresholds(support=0.0, contradiction=1.0))
    assert {judgment.label for judgment in always.judge(ASKED)} == {"supported"}
    never = made(folder, Thresholds(support=1.0, contradiction=1.0))
    assert {judgment.label for judgment in never.judge(ASKED)} == {"insufficient"}


def test_an_answer_does_not_depend_on_what_is_asked_along_with_it(verifier: CausalVerifier) -> None:
    together = verifier.judge(ASKED)
    alone = [judgment for asked in ASKED for judgment in verifier.judge([asked])]
    backwards = verifier.judge(ASKED[::-1])[::-1]
    assert [j.model_dump() for j in together] == [j.model_dump() for j in alone]
    assert [j.model_dump() for j in together] == [j.model_dump() for j in backwards]
    assert asyncio.run(verifier.ajudge(ASKED)) == together


def test_no_text_and_a_prompt_too_long_are_abstained_on_with_the_numbers(folder: Path) -> None:
    short = made(folder, max_tokens=700)
    empty = question("Ana moved.", passage("t1", "  "))
    long = question("Ana moved.", passage("t1", "word " * 900))
    nothing, too_much, judged = short.judge([empty, long, ASKED[0]])
    assert nothing.reason == "empty: there is no text to judge the statement on"
    assert too_much.reason.startswith("too_long: the prompt has ")
    assert too_much.reason.endswith(" tokens, 700 can be read")
    assert [nothing.outcome, too_much.outcome, judged.outcome] == ["abstained", "abstained", "judged"]
    assert short.judge([]) == []


def test_what_the_model_itself_can_read_is_a_bound_too(tmp_path: Path) -> None:
    small = made(causal_folder(tmp_path / "small", max_position_embeddings=256))
    (judgment,) = small.judge([ASKED[0]])
    assert judgment.reason.endswith(" tokens, 256 can be read")


def test_numbers_that_are_not_finite_fail_and_are_no_judgment(tmp_path: Path) -> None:
    broken = made(causal_folder(tmp_path / "broken", seed=3))
    with torch.no_grad():
        broken.local.model.get_output_embeddings().weight.fill_(float("nan"))
    (judgment,) = broken.judge([ASKED[0]])
    assert judgment.outcome == "failed"
    assert judgment.reason.startswith("model_error: the log-odds are no finite numbers")


def test_a_model_that_does_not_compute_fails_the_call_with_a_remedy(tmp_path: Path) -> None:
    broken = made(causal_folder(tmp_path / "broken", seed=4))

    def exhausted(*args: object) -> None:
        raise torch.OutOfMemoryError("out of memory")

    broken.local.model.register_forward_pre_hook(exhausted)
    with pytest.raises(VerifierError, match=r"model_error.*smaller batch_size"):
        broken.judge([ASKED[0]])


def test_usage_counts_prompts_and_the_tokens_read_with_shared_ones_once(folder: Path, verifier: CausalVerifier) -> None:
    prompter = Prompter(load(LocalModelSettings(model=str(folder), device="cpu")).tokenizer)
    first = [ids for asked in ASKED[:2] for ids in prompter.ids(asked)]
    judgments = verifier.judge(ASKED)
    expected = tokens_read(first) + tokens_read(prompter.ids(ASKED[2]))
    assert verifier.usage(ASKED, judgments) == Usage(calls=6, input_tokens=expected)
    empty = [question("Ana moved.", passage("t1", ""))]
    assert verifier.usage(empty, verifier.judge(empty)) == Usage()


def test_the_identity_follows_weights_arithmetic_bound_and_thresholds_and_holds_no_path(
    folder: Path, verifier: CausalVerifier, tmp_path: Path
) -> None:
    identity = verifier.identity
    assert str(identity["model"]).startswith("tiny@")
    assert identity["dtype"] == "float32"
    assert str(folder.parent) not in str(identity)
    assert made(folder).identity == identity
    others = [
        made(causal_folder(tmp_path / "tiny", seed=1)),
        made(folder, dtype="bfloat16"),
        made(folder, max_tokens=700),
        made(folder, Thresholds(support=0.9)),
    ]
    assert all(other.identity != identity for other in others)


def test_two_roles_with_the_same_folder_share_one_loaded_model_and_the_report_says_so(folder: Path) -> None:
    section = {"model": str(folder), "device": "cpu"}
    gate = AdmissionGate(
        Settings(
            local={"one": section, "two": section | {"batch_size": 2}},  # type: ignore[dict-item]
            verification={"verifier_a": "local:one", "verifier_b": "local:two", "adjudicator": None},  # type: ignore[arg-type]
        )
    )
    turns = [Turn(id=p.turn_id, role="user", speaker="Ana", text=p.text, origin="conversation") for p in TURNS]
    candidate = Candidate(
        id="w1", conversation="c", namespace=("n",), memory="Ana moved to Leeds in March.", citations=("t1",)
    )
    report = gate.decide(candidate, History.of("c", turns))
    one, two = gate.verifiers["verifier_a"], gate.verifiers["verifier_b"]
    assert isinstance(one, CausalVerifier) and isinstance(two, CausalVerifier)
    assert one.local is two.local
    assert [r for r in report.reasons if r.startswith("same_model: verifier_a and verifier_b are both tiny@")]
    judged = [judgment for finding in report.obligations for judgment in finding.judgments]
    assert {judgment.verifier for judgment in judged} == {"local:one", "local:two"}
    assert all(judgment.outcome == "judged" for judgment in judged)
    assert report.usage.calls >= 2 * len(judged)
    assert report.usage.input_tokens > 0
