"""Deciding at many strictness values: what the gate would decide at each, every question asked once."""

from __future__ import annotations

from collections import Counter

import pytest

from admission.errors import SettingsError, VerifierError
from admission.evaluation.strictness_grid import KEPT, StrictnessGrid
from admission.gate import AdmissionGate
from admission.history import History, Timeline
from admission.records import Candidate, Judgment, Question, Turn
from admission.settings import Settings
from admission.verifiers.scripted import ScriptedVerifier

TURNS = ["I sold the old car.", "I bought a red bicycle.", "My brother lives in Lisbon.", "I like green tea."]
HISTORY = Timeline(
    "c",
    [Turn(id=f"t{n}", role="user", speaker="Ana", text=text, origin="conversation") for n, text in enumerate(TURNS)],
).before(None)
MEMORIES = [
    ("Ana sold the old car.", ("t0",)),
    ("Ana bought a red bicycle and sold the old car.", ("t2",)),
    ("Ana likes green tea.", ("t3",)),
    ("", ()),
]
GRID = (3.0, 1.0, 0.0, -1.0)
# Sure of the bicycle, less so of the car and the tea; B doubts what A believes, so that the third judge is asked.
SUPPORT = {"a": {"car": 0.8, "bicycle": 0.95, "tea": 0.6}, "b": {"car": 0.7, "bicycle": 0.9, "tea": 0.3}}


def writes() -> list[tuple[Candidate, History]]:
    return [
        (Candidate(id=f"w{n}", conversation="c", namespace=("n",), memory=memory, citations=cited), HISTORY)
        for n, (memory, cited) in enumerate(MEMORIES)
    ]


def judge(name: str) -> ScriptedVerifier:
    def script(question: Question) -> tuple[float, float]:
        word = question.obligation.text.rstrip(".").split()[-1]
        shown = any(word in passage.text for passage in question.passages)
        return (SUPPORT.get(name, SUPPORT["a"])[word] if shown else 0.02), 0.0

    return ScriptedVerifier(name, script)


def gate(strictness: float = 0.0) -> AdmissionGate:
    settings = Settings(verification={"strictness": strictness})  # type: ignore[arg-type]
    return AdmissionGate(settings, verifier_a=judge("a"), verifier_b=judge("b"), adjudicator=judge("third"))


def test_a_judge_that_reads_memories_whole_does_so_at_every_strictness() -> None:
    def script(question: Question) -> tuple[float, float]:
        return (0.02 if " and " in question.obligation.text else 0.9), 0.0

    def strict() -> AdmissionGate:
        judges = [ScriptedVerifier(name, script) for name in "abc"]
        judges[0].reads_whole = True
        return AdmissionGate(Settings(), verifier_a=judges[0], verifier_b=judges[1], adjudicator=judges[2])

    kept = [report.status in KEPT for report in strict().decide_many(writes())]
    assert kept == [True, False, True, False]  # the second memory's parts hold, but not what joins them
    assert [decision.kept for decision in StrictnessGrid(strict(), (0.0,)).decide(writes())] == [(k,) for k in kept]


def test_at_each_strictness_it_is_what_the_gate_of_that_strictness_decides() -> None:
    found = list(StrictnessGrid(gate(), GRID).decide(writes(), batch=2))
    for place, strictness in enumerate(GRID):
        reports = list(gate(strictness).decide_many(writes()))
        assert [decision.kept[place] for decision in found] == [report.status in KEPT for report in reports]
        assert [decision.input_digest for decision in found] == [report.input_digest for report in reports]
    # From .5 the threshold moves to .953, .731, .5 and .269: at .731 the third judge's .8 settles the car, which A
    # believes and B does not; at .5 its .6 settles the tea. A text without a claim is never kept.
    assert [decision.kept for decision in found] == [
        (False, True, True, True),
        (False, True, True, True),
        (False, False, True, True),
        (False, False, False, False),
    ]


def test_a_judge_is_asked_each_question_once() -> None:
    original = gate()
    list(StrictnessGrid(original, GRID).decide(writes()))
    for verifier in original.verifiers.values():
        assert isinstance(verifier, ScriptedVerifier)
        assert max(Counter(verifier.asked).values()) == 1


def test_strict_values_still_look_further_than_lenient_ones() -> None:
    """A threshold that the citations no longer reach sends the gate to the expanded view."""
    original = gate()
    list(StrictnessGrid(original, GRID).decide(writes()[:1]))
    asked = original.verifiers["verifier_a"]
    assert isinstance(asked, ScriptedVerifier)
    assert {question.view for question in asked.asked} == {"citation_only", "expanded"}


def test_the_gates_own_strictness_is_set_aside() -> None:
    one, other = StrictnessGrid(gate(), GRID), StrictnessGrid(gate(2.0), GRID)
    assert one.config_digest == other.config_digest
    assert list(one.decide(writes())) == list(other.decide(writes()))


def test_another_grid_is_another_configuration() -> None:
    assert StrictnessGrid(gate(), GRID).config_digest != StrictnessGrid(gate(), GRID[1:]).config_digest


def test_a_deployment_without_an_adjudicator_is_calibrated_without_one() -> None:
    settings = Settings(verification={"adjudicator": None})  # type: ignore[arg-type]
    two = AdmissionGate(settings, verifier_a=judge("a"), verifier_b=judge("b"))
    tea = list(StrictnessGrid(two, GRID).decide(writes()))[2]
    assert tea.kept == (False, False, False, True)
    assert set(tea.supports) == {"a", "b"}


def test_supports_are_told_of_memories_of_one_obligation_only() -> None:
    car, two, tea, none = StrictnessGrid(gate(), GRID).decide(writes())
    assert car.supports == {"a": 0.8, "b": 0.7}
    assert tea.supports == {"a": 0.6, "b": 0.3, "third": 0.6}
    assert two.supports == none.supports == {}


def test_a_judge_that_fails_ends_the_measurement_with_the_write_and_the_reason() -> None:
    def breaks(question: Question) -> tuple[float, float]:
        raise VerifierError("budget", "no calls left")

    broken = AdmissionGate(
        Settings(), verifier_a=ScriptedVerifier("a", breaks), verifier_b=judge("b"), adjudicator=judge("third")
    )
    with pytest.raises(SettingsError, match=r"'w0' failed \(a: budget: no calls left\)"):
        list(StrictnessGrid(broken, GRID).decide(writes()))


def test_a_judge_that_abstains_is_no_failure() -> None:
    silent = ScriptedVerifier("a", lambda q: Judgment.abstained("a", q.view, "language: only English"))
    abstaining = AdmissionGate(Settings(), verifier_a=silent, verifier_b=judge("b"), adjudicator=judge("third"))
    assert len(list(StrictnessGrid(abstaining, GRID).decide(writes()))) == len(MEMORIES)
