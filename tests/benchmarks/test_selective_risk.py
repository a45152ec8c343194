"""Selective risk: where a method is cut, what the panel and the gate score, what a resumed run asks again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="measuring needs scikit-learn (extra dev)")

from admission.gate import AdmissionGate
from admission.history import History, Timeline
from admission.records import Candidate, Judgment, Obligation, Passage, Question, Thresholds, Turn
from admission.settings import Settings
from admission.verifiers.scripted import ScriptedVerifier
from benchmarks.memory_scores import (
    GATE,
    NEVER,
    STEPS,
    Answers,
    Case,
    Judges,
    by_score,
    by_strictness,
    cosines,
    gate_ranking,
    lexical_overlap,
    panel_kept,
    rankings,
    recorded_cases,
)
from benchmarks.selective_risk import best_cut, curve, cut_at, decided, estimate, on_dialogues, on_writes

TURNS = ["I sold the old car.", "I bought a red bicycle.", "My brother lives in Lisbon.", "I like green tea."]
HISTORY = Timeline(
    "c",
    [Turn(id=f"t{n}", role="user", speaker="Ana", text=text, origin="conversation") for n, text in enumerate(TURNS)],
).before(None)
ONCE = np.ones(4)


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.selective_risk.RESAMPLES", 60)


def passage(text: str, id: str = "t1", speaker: str = "Ana") -> Passage:
    return Passage(
        id=id, turn_id=id, position=int(id[1:]), role="user", speaker=speaker, text=text, origin="conversation",
        end=len(text),
    )  # fmt: skip


def question(text: str, *passages: Passage) -> Question:
    obligation = Obligation(id="whole", text=text, type="fact")
    return Question(obligation=obligation, memory=text, view="expanded", passages=passages)


def case(valid: bool, group: str = "c", text: str = "Ana sold the old car.", kind: str = "entity") -> Case:
    return Case(question(text, passage(TURNS[0])), valid, kind, group)


def judged(support: float, contradiction: float = 0.0) -> Judgment:
    return Judgment(verifier="v", view="expanded", support=support, contradiction=contradiction, label="insufficient")


def write(memory: str, cited: tuple[str, ...], id: str = "w") -> tuple[Candidate, History]:
    return Candidate(id=id, conversation="c", namespace=("n",), memory=memory, citations=cited), HISTORY


class ReadsWhole(ScriptedVerifier):
    reads_whole = True


def test_the_cut_is_the_strictest_that_keeps_enough_of_the_valid() -> None:
    ranking = by_score("m", np.array([0.9, 0.8, 0.7, 0.1]))
    valid = np.array([True, False, True, True])
    cuts = np.unique(ranking.scores)[::-1]
    assert cuts[cut_at(ranking, valid, ONCE, retention=0.6)] == 0.7
    assert cuts[cut_at(ranking, valid, ONCE, retention=0.7)] == 0.1


def test_equal_scores_are_admitted_together_or_not_at_all() -> None:
    ranking = by_score("m", np.array([0.5, 0.5, 0.5, 0.2]))
    assert ranking.kept.tolist() == [[True, True], [True, True], [True, True], [False, True]]


def test_where_no_strictness_keeps_enough_the_whole_of_the_unsupported_counts_as_admitted() -> None:
    kept = np.zeros((4, len(STEPS)), dtype=bool)
    kept[0, 10:] = True
    cases = [case(True), case(False), case(True, "d"), case(False, "d")]
    found = on_writes([by_strictness(GATE, kept)], cases)["methods"][GATE]
    assert not found["reached"]
    assert found["unsupported"]["value"] == 1.0


def test_a_write_drawn_twice_counts_twice() -> None:
    ranking = by_score("m", np.array([0.9, 0.8, 0.7, 0.1]))
    valid = np.array([True, True, True, False])
    assert cut_at(ranking, valid, np.array([8.0, 1.0, 1.0, 1.0]), retention=0.8) == 0


def test_the_best_threshold_tells_most_cases_right() -> None:
    valid = np.array([True, True, False, True, False])
    assert best_cut(np.array([0.9, 0.8, 0.7, 0.6, 0.5]), valid) in (0.8, 0.6)
    assert best_cut(np.array([0.1, 0.2, 0.8, 0.9]), np.array([True, True, False, False])) in (0.1, np.inf)


def test_an_interval_draws_whole_conversations() -> None:
    groups = np.array(["a", "a", "b", "b"])
    kept = np.array([1.0, 1.0, 0.0, 0.0])
    found = estimate(lambda weights: float(weights @ kept / weights.sum()), groups)
    assert (found["value"], found["low"], found["high"]) == (0.5, 0.0, 1.0)


def test_one_conversation_gives_no_interval() -> None:
    assert estimate(lambda weights: 0.3, np.array(["a", "a"])) == {"value": 0.3, "low": None, "high": None}


def test_lexical_overlap_is_the_share_of_content_words_that_are_shown() -> None:
    shown = passage("I sold my old car.")
    assert lexical_overlap(question("Ana sold the car.", shown)) == 1.0
    assert lexical_overlap(question("Ana sold the boat.", shown)) == pytest.approx(2 / 3)
    assert lexical_overlap(question("Ana sold the boat.")) == 0.0


def test_cosine_takes_the_nearest_passage() -> None:
    near, far = passage("I sold the old car."), passage("It rained in Lisbon all week.", "t2")
    both, alone, none = cosines(
        [question("Ana sold the car.", near, far), question("Ana sold the car.", far), question("Ana sold the car.")]
    )
    assert both > alone > none == -1.0


def test_the_panel_scores_the_largest_strictness_at_which_its_judges_still_make_it_supported() -> None:
    thresholds = dict.fromkeys(("entailment", "alignment", "adjudicator"), Thresholds(support=0.5, contradiction=0.5))
    said = {
        "entailment": [judged(0.9), judged(0.9), judged(0.9), judged(0.0)],
        "alignment": [judged(0.8), judged(0.1), judged(0.9, 0.9), judged(0.0)],
        "adjudicator": [judged(0.6), judged(0.6), judged(0.99), judged(0.0)],
    }
    scores = by_strictness("panel", panel_kept(said, thresholds)).scores
    # Logits: .8 is 1.39, .6 is .41; 1 and .375 are the steps below them. Both verifiers agree up to the one, the
    # third judge decides up to the other; a contradiction is not outvoted.
    assert scores.tolist() == [1.0, 0.375, NEVER, NEVER]


def test_the_gate_is_measured_as_it_decides_memories_whole_included(tmp_path: Path) -> None:
    def script(asked: Question) -> tuple[float, float]:
        return (0.1 if " and " in asked.obligation.text else 0.9), 0.0

    judges = {role: ReadsWhole(role, script) for role in ("verifier_a", "verifier_b", "adjudicator")}
    gate = AdmissionGate(Settings(), **judges)  # type: ignore[arg-type]
    writes = [write("Ana bought a red bicycle and sold the old car.", ("t0", "t1")), write("Ana likes tea.", ("t3",))]
    ranking = gate_ranking(decided(gate, writes, tmp_path / "decisions.jsonl"))
    reports = list(gate.decide_many(writes))
    assert [report.status for report in reports] == ["unresolved", "admitted"]
    assert ranking.shipped is not None
    assert ranking.shipped.tolist() == [False, True]


def test_decisions_made_before_are_not_made_again_and_changed_writes_are(tmp_path: Path) -> None:
    judge = ScriptedVerifier("j", lambda asked: (0.9, 0.0))
    gate = AdmissionGate(Settings(), verifier_a=judge, verifier_b=judge, adjudicator=judge)
    first, second = write("Ana likes tea.", ("t3",), "w1"), write("Ana sold the car.", ("t0",), "w2")
    before = decided(gate, [first], tmp_path / "decisions.jsonl")
    judge.asked.clear()
    both = decided(gate, [second, first], tmp_path / "decisions.jsonl")
    assert {asked.memory for asked in judge.asked} == {"Ana sold the car."}
    assert both[1] == before[0]
    changed = write("Ana likes green tea.", ("t3",), "w1")
    decided(gate, [changed], tmp_path / "decisions.jsonl")
    assert judge.asked[-1].memory == "Ana likes green tea."


def test_answers_that_were_kept_are_not_asked_again(tmp_path: Path) -> None:
    judge = ScriptedVerifier("j", lambda asked: (0.7, 0.1))
    asked = [question(f"Ana sold {n} cars.", passage(TURNS[0])) for n in range(70)]
    fresh = Answers(tmp_path).to(judge, asked)
    min(tmp_path.rglob("*.json")).unlink()
    judge.asked.clear()
    assert Answers(tmp_path).to(judge, asked) == fresh
    assert len(judge.asked) == 1


def test_a_judge_that_fails_ends_the_measurement_and_keeps_nothing(tmp_path: Path) -> None:
    broken = ScriptedVerifier("j", lambda asked: Judgment.failed("j", asked.view, "model_error", "no weights"))
    with pytest.raises(RuntimeError, match="j failed: model_error: no weights"):
        Answers(tmp_path).to(broken, [question("Ana sold the car.", passage(TURNS[0]))])
    assert list(tmp_path.rglob("*.json")) == []


def test_a_recorded_write_is_judged_whole_on_what_the_gate_could_show() -> None:
    writes = [write("Ana sold the old car and likes tea.", ("t0",), "w1"), write("Ana sold a boat.", (), "w2")]
    first, second = recorded_cases(writes, {"w1": "valid (repaired)", "w2": "twin entity"})
    assert first.question.obligation.text == first.question.memory == "Ana sold the old car and likes tea."
    assert {"t0", "t3"} <= set(first.question.turn_ids)
    assert (first.valid, second.valid, second.kind, second.group) == (True, False, "entity", "c")


def test_every_method_ranks_the_same_cases_and_one_cut_fitted_elsewhere_decides_them(tmp_path: Path) -> None:
    def script(asked: Question) -> tuple[float, float]:
        return (0.9 if "car" in asked.memory else 0.2), 0.0

    kinds = ("entailment", "adjudicator", "alignment")
    judges = Judges({kind: ScriptedVerifier(kind, script) for kind in kinds}, dict.fromkeys(kinds, Thresholds()))
    cases = [case(True), case(False, text="Ana sold a boat.", kind="negation")] * 2
    ranked = rankings(cases, judges, Answers(tmp_path))
    assert all(ranking.scores.shape == (4,) and ranking.kept.shape[0] == 4 for ranking in ranked)
    told = on_dialogues(ranked, cases, ranked, cases)["methods"]
    assert told["entailment alone"]["accuracy"]["value"] == told["panel, whole memory"]["accuracy"]["value"] == 1.0


def test_the_curve_tells_coverage_risk_retention_and_admission() -> None:
    kept = np.zeros((4, len(STEPS)), dtype=bool)
    kept[:2, STEPS.index(0.0) :] = True
    points = curve(by_strictness(GATE, kept), [case(True), case(False), case(True, "d"), case(False, "d")])
    at = {point["strictness"]: point for point in points}
    assert (at[0.0]["coverage"], at[0.0]["risk"]) == (0.5, 0.5)
    assert (at[0.0]["retention"]["value"], at[0.0]["unsupported"]["value"]) == (0.5, 0.5)
    assert (at[1.0]["coverage"], at[1.0]["risk"]) == (0.0, None)
