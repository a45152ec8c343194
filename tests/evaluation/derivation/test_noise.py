"""Accumulated verification noise: judges that are not moved by more true obligations, and judges that collapse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from replayed_worlds import cases, gate

from admission.evaluation.derivation.cases import Case, cases_of
from admission.evaluation.derivation.noise import NoiseFigures, noise_of, remedied
from admission.evaluation.derivation.noise_asking import AskedJudge, asking_of, isolated
from admission.evaluation.derivation.noise_cases import (
    NoiseCase,
    found_by_gate,
    own_obligations,
    stated_by_references,
    with_true_ones,
)
from admission.gate import AdmissionGate
from admission.records import Conversation, Judgment, Question, Turn, Write
from admission.settings import EvidenceSettings, Settings, load_settings
from admission.verifiers.scripted import ScriptedVerifier

THINGS = ("lamp", "table", "guitar", "camera", "kettle", "bicycle")


def sold(id: str, count: int = 6) -> Conversation:
    """A conversation in which Ana sells things, one a turn, and a write of each."""
    turns = tuple(
        Turn(id=f"t{n}", role="user", speaker="Ana", text=f"I sold the {thing}.", origin="conversation")
        for n, thing in enumerate(THINGS[:count])
    )
    writes = tuple(
        Write(
            id=f"w{n}",
            memory=f"Ana sold the {thing}.",
            citations=(f"t{n}",),
            reference={
                "status": "admitted",
                "obligations": [
                    {"text": f"Ana sold the {thing}.", "type": "fact", "label": "supported", "evidence": [f"t{n}"]}
                ],
            },
        )
        for n, thing in enumerate(THINGS[:count])
    )
    return Conversation(id=id, namespace=(id,), turns=turns, writes=writes)


def worlds() -> list[Case]:
    return [case for n in range(3) for case in cases_of(sold(f"c{n}"), passage_chars=1200)]


def noises(every: Sequence[Case] | None = None) -> list[NoiseCase]:
    every = worlds() if every is None else every
    pool = stated_by_references(every)
    found = [
        with_true_ones(case, own, pool, EvidenceSettings(), seed=1)
        for case, own in zip(every, own_obligations(gate(lambda _: (0.0, 0.0)), every), strict=True)
    ]
    return [noise for noise in found if noise is not None]


def steady(question: Question) -> tuple[float, float]:
    return (0.95, 0.0)


def never(question: Question) -> tuple[float, float]:
    return (0.05, 0.0)


class Crowded(ScriptedVerifier):
    """A fake that asks together: what it says of each obligation falls with how many stand in the call."""

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        self.asked.extend(questions)
        support = 0.95 if len(questions) == 1 else 0.2
        return [self._judgment(question, support, 0.0) for question in questions]


def seated(verifier: ScriptedVerifier) -> AdmissionGate:
    """A gate with this judge as its verifier A."""
    other = ScriptedVerifier("other", steady)
    return AdmissionGate(load_settings(), verifier_a=verifier, verifier_b=other, adjudicator=other)


def judged(verifier: ScriptedVerifier, asked: str = "together") -> NoiseFigures:
    judge = AskedJudge(seated(verifier), "verifier_a", asked)  # type: ignore[arg-type]
    cases = noises()
    judge.ask(cases)
    return noise_of(judge.name, judge.asked, [judge.answered(noise) for noise in cases])


def test_the_added_obligations_are_true_of_the_same_history_and_of_other_writes() -> None:
    found = noises()
    assert len(found) == 18
    for noise in found:
        assert len(noise.added) == 4
        texts = {one.text for one in (*noise.own, *noise.added)}
        assert len(texts) == 5 and noise.case.candidate.memory not in {one.text for one in noise.added}
        assert [one.id for one in (*noise.own, *noise.added)] == ["o1", "o2", "o3", "o4", "o5"]


def test_memory_and_passages_are_the_same_at_every_number_and_hold_what_the_added_ones_rest_on() -> None:
    noise = noises()[0]
    asked = [noise.questions(extra) for extra in (0, 2, 4)]
    assert [len(questions) for questions in asked] == [1, 3, 5]
    assert len({(question.memory, question.passages) for questions in asked for question in questions}) == 1
    shown = {passage.text.replace("I ", "Ana ") for passage in noise.passages}
    assert {one.text for one in noise.added} <= shown and len(noise.passages) <= 16


def test_what_was_said_after_a_write_and_histories_with_too_few_obligations_add_nothing() -> None:
    conversation = sold("c", count=5)
    early = conversation.writes[0].model_copy(update={"written_after": "t2"})
    every = list(
        cases_of(conversation.model_copy(update={"writes": (early, *conversation.writes[1:])}), passage_chars=1200)
    )
    assert [noise.case.candidate.id for noise in noises(every)] == ["w1", "w2", "w3", "w4"]
    assert noises(cases()) == []  # two true obligations a history


def test_without_references_the_gate_says_what_is_true() -> None:
    every = worlds()[:6]
    reports = list(gate(steady).decide_many([(case.candidate, case.history) for case in every]))
    pool = found_by_gate(reports)
    assert {one.text for one in pool["c0"]} == {f"Ana sold the {thing}." for thing in THINGS}


def test_a_judge_that_nothing_moves_keeps_its_support_and_its_approval() -> None:
    found = judged(ScriptedVerifier("steady", steady))
    assert [one.memory.value for one in found.approvals] == [1.0, 1.0, 1.0]
    assert [one.with_added.value for one in found.approvals] == [1.0, 1.0, 1.0]
    assert [(one.median, one.lowered.value, one.p) for one in found.shifts] == [(0.0, 0.0, 1.0)] * 2


def test_a_judge_that_company_confuses_loses_every_memory_by_a_known_shift() -> None:
    found = judged(Crowded("crowded", steady))
    assert [one.memory.value for one in found.approvals] == [1.0, 0.0, 0.0]
    assert [one.with_added.value for one in found.approvals] == [1.0, 0.0, 0.0]
    shift = math.log(0.2 / 0.8) - math.log(0.95 / 0.05)
    for one in found.shifts:
        assert one.median == pytest.approx(shift) and one.mean.value == pytest.approx(shift)
        assert (one.lowered.value, one.lost, one.gained) == (1.0, 18, 0)
        assert one.saturated == pytest.approx(3 * math.tanh(-1.3862944 / 3) - 3 * math.tanh(2.9444390 / 3), abs=1e-6)


def test_a_judge_that_misses_only_what_is_added_keeps_the_memory_and_loses_the_whole() -> None:
    own = {noise.case.candidate.memory for noise in noises()}

    def only_own(question: Question) -> tuple[float, float]:
        return (0.95, 0.0) if question.obligation.text == question.memory else (0.05, 0.0)

    found = judged(ScriptedVerifier("narrow", only_own), "alone")
    assert own and [one.memory.value for one in found.approvals] == [1.0, 1.0, 1.0]
    assert [one.with_added.value for one in found.approvals] == [1.0, 0.0, 0.0]


def test_a_judge_that_supports_nothing_approves_nothing() -> None:
    found = judged(ScriptedVerifier("never", never))
    assert [one.memory.value for one in found.approvals] == [0.0, 0.0, 0.0]


def test_asked_alone_each_obligation_is_asked_once_and_no_shift_is_reported() -> None:
    verifier = ScriptedVerifier("steady", steady)
    found = judged(verifier, "alone")
    assert len(verifier.asked) == 18 * 5
    assert found.shifts == () and found.asked == "alone"


def test_asking_alone_gives_back_what_asking_together_took() -> None:
    together = AskedJudge(seated(Crowded("crowded", steady)), "verifier_a", "together")
    alone = AskedJudge(gate(steady), "verifier_a", "alone")
    every = noises()
    for judge in (together, alone):
        judge.ask(every)
    found = remedied("crowded", *[[judge.answered(noise) for noise in every] for judge in (together, alone)])
    assert [(one.extra, one.with_added, one.difference.value, one.only_alone) for one in found] == [
        (2, False, 1.0, 18), (4, False, 1.0, 18), (2, True, 1.0, 18), (4, True, 1.0, 18),
    ]  # fmt: skip


def test_a_failed_answer_leaves_its_memory_out_and_is_asked_for_again(tmp_path: Path) -> None:
    def failing(question: Question) -> Judgment:
        return Judgment.failed("broken", question.view, "timeout", "too slow")

    every = noises()[:2]
    file = tmp_path / "judgments.jsonl"
    judge = AskedJudge(seated(ScriptedVerifier("broken", failing)), "verifier_a", "alone", file)
    judge.ask(every)
    found = noise_of("broken", "alone", [judge.answered(noise) for noise in every])
    assert (found.memories, found.failed) == (0, 2)
    assert len(judge.missing(every)) == 2


def test_answers_are_kept_between_runs(tmp_path: Path) -> None:
    every = noises()[:2]
    file = tmp_path / "judgments.jsonl"
    AskedJudge(gate(steady), "verifier_a", "together", file).ask(every)
    again = AskedJudge(gate(lambda _: pytest.fail("asked again")), "verifier_a", "together", file)
    assert again.missing(every) == []
    assert again.answered(every[0]).judgments is not None


def test_only_chat_models_ask_together_and_only_where_they_are_set_to() -> None:
    settings = Settings(
        models={"joint": {"model": "openai:m"}, "single": {"model": "openai:m", "asking": "isolated"}},  # type: ignore[dict-item]
        local={"small": {"model": "m"}},  # type: ignore[dict-item]
    )
    kinds = ("entailment", "local:small", "cascade:small", "chat:single", "chat:joint", "cascade:joint")
    assert [asking_of(kind, settings) for kind in kinds] == ["alone"] * 4 + ["together"] * 2
    assert {asking_of(kind, isolated(settings)) for kind in kinds} == {"alone"}
