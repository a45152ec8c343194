"""Verification views: an oracle finds and keeps all in each, a fool nothing; views that ask the same are one."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from family_worlds import FOOL, ORACLE, as_the_turn_says, family
from replayed_worlds import gate

from admission.errors import InputError
from admission.evaluation.derivation.cases import Case, pairs
from admission.evaluation.derivation.views import (
    METRICS,
    VIEWS,
    ViewedCase,
    ViewsReport,
    check_references,
    counts_for,
    same_questions,
    viewed,
)
from admission.gate import AdmissionGate
from admission.records import Question, VerificationView
from admission.settings import EvidenceSettings, Settings, load_settings
from admission.verifiers.scripted import ScriptedVerifier

Same = dict[VerificationView, VerificationView | None]
ALIKE = ("predicate_argument_qa", "compact_relation", "composition_graph")


def settings(view: VerificationView) -> Settings:
    return load_settings(overrides={"verification": {"view": view}})


def gates(script: Any) -> dict[VerificationView, AdmissionGate]:
    return {view: gate(script, settings(view)) for view in VIEWS}


def found_by(script: Any, cases: list[Case]) -> ViewsReport:
    by_view = {view: list(own.decide_many(pairs(cases))) for view, own in gates(script).items()}
    seen = [ViewedCase(case, {v: by_view[v][n] for v in VIEWS}) for n, case in enumerate(cases)]
    return viewed(seen, same_questions(gates(script)), EvidenceSettings())


def cases(supports: Any = ORACLE) -> list[Case]:
    return [case for n in range(3) for case in family(f"f{n}", supports)]


def test_an_oracle_finds_every_unsupported_relation_and_keeps_every_valid_memory_in_each_view() -> None:
    found = found_by(as_the_turn_says, cases())
    for one in found.views:
        assert [one.rates[metric].value for metric in METRICS] == [1.0, 1.0, 1.0, 1.0]
        assert [one.rates[metric].n for metric in METRICS] == [6, 6, 3, 6]


def test_a_fool_finds_none_and_keeps_none_in_each_view() -> None:
    found = found_by(as_the_turn_says, cases(FOOL))
    for one in found.views:
        assert [one.rates[metric].value for metric in METRICS] == [0.0, 0.0, 0.0, 0.0]


def test_a_view_of_facts_alone_misses_what_only_the_relation_shows() -> None:
    def blind_to_facts(question: Question) -> tuple[float, float]:
        support, against = as_the_turn_says(question)
        return (
            0.9 if question.obligation.type == "fact" and question.obligation.text != question.memory else support,
            against,
        )

    found = found_by(blind_to_facts, cases())
    rates = {one.view: one.rates["relation_detection"].value for one in found.views}
    assert rates == {**dict.fromkeys(VIEWS, 1.0), "atomic_claims": 0.0}
    compared = {(one.metric, one.view): one for one in found.comparisons}
    lost = compared["relation_detection", "atomic_claims"]
    assert (lost.only_view, lost.only_baseline, lost.difference.value) == (0, 6, -1.0)
    assert lost.p == pytest.approx(2 * 0.5**6)
    assert lost.adjusted == pytest.approx(8 * 2 * 0.5**6), "four metrics of two views that are not the baseline's"


def test_views_that_ask_judges_of_statements_the_same_are_named_and_compared_with_nothing() -> None:
    same: Same = same_questions(gates(as_the_turn_says))
    assert same == {**dict.fromkeys(VIEWS), **dict.fromkeys(ALIKE, "obligations")}
    found = found_by(as_the_turn_says, cases())
    assert {one.view for one in found.comparisons} == {"holistic", "atomic_claims"}
    assert [one.usage.calls > 0 for one in found.views] == [view not in ALIKE for view in VIEWS]


def test_what_is_said_to_be_the_same_question_is_the_same_question() -> None:
    asked: dict[VerificationView, list[Question]] = {}
    for view, own in gates(as_the_turn_says).items():
        list(own.decide_many(pairs(cases())))
        judge = own.verifiers["verifier_a"]
        assert isinstance(judge, ScriptedVerifier)
        asked[view] = judge.asked
    assert all(asked[view] == asked["obligations"] for view in ALIKE)
    assert asked["holistic"] != asked["obligations"] != asked["atomic_claims"] != asked["holistic"]


class PromptReader(ScriptedVerifier):
    """A fake of a judge to which it matters how a statement is presented."""

    def seated(self, role: str, view: VerificationView) -> PromptReader:
        return copy.copy(self)


def test_every_view_is_another_question_to_judges_that_read_prompts() -> None:
    judges = {role: PromptReader(role, as_the_turn_says) for role in ("verifier_a", "verifier_b", "adjudicator")}
    by_view = {view: AdmissionGate(settings(view), **judges) for view in VIEWS}
    assert same_questions(by_view) == dict.fromkeys(VIEWS)


def test_passages_are_the_same_in_two_views_unless_other_statements_were_looked_for() -> None:
    found = found_by(as_the_turn_says, cases())
    assert all(one.same_passages.value == 1.0 for one in found.views), "four turns are always all shown"


def test_writes_without_a_reference_count_for_nothing() -> None:
    plain = [case._replace(reference={}) for case in cases()]
    found = found_by(as_the_turn_says, plain)
    assert (found.writes, found.unlabelled, found.comparisons) == (12, 12, ())
    assert all(rate.n == 0 for one in found.views for rate in one.rates.values())


def test_a_relation_counts_by_its_label_on_the_whole_history() -> None:
    case = cases()[1]
    relation = {"text": "x", "type": "relation", "cited": "insufficient", "history": "supported"}
    assert counts_for(case, "relation_detection")
    assert not counts_for(case._replace(reference={**case.reference, "obligations": [relation]}), "relation_detection")


def test_a_label_that_is_none_is_refused_by_its_field() -> None:
    case = cases()[0]
    wrong = {**case.reference, "obligations": [{"text": "x", "type": "relation", "label": "true"}]}
    with pytest.raises(InputError, match=r"reference\.obligations\.0\.label"):
        check_references([case._replace(reference=wrong)])
