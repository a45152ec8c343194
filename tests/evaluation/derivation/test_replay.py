"""Replayed admissions: an oracle keeps everything valid and nothing else, a fool the reverse; statistics by hand."""

from __future__ import annotations

from typing import Any

import pytest
from replayed_worlds import UNTRUE, cases, fool, gate, oracle

from admission.evaluation.derivation.cases import Case
from admission.evaluation.derivation.replay import (
    CITED_WHOLE,
    EXPANDED_PARTS,
    EXPANDED_WHOLE,
    SETTINGS,
    ReplayedCase,
    ReplayFigures,
    replayed,
)
from admission.evaluation.derivation.scope import by_edit, by_gate, by_reference, misses, reach
from admission.evaluation.derivation.trials import Trial, Trials
from admission.settings import EvidenceSettings, load_settings


def decided(script: Any, given: list[Case], edited: list[Case] | None = None) -> list[ReplayedCase]:
    overrides = {
        name: {"evidence": {"setting": setting}, "verification": {"view": view}}
        for name, (setting, view) in SETTINGS.items()
    }
    gates = {name: gate(script, load_settings(overrides=own)) for name, own in overrides.items()}
    trials = Trials(gates)
    every = [*given, *(edited or [])]
    planned = [Trial(name, case.candidate, case.history) for name in SETTINGS for case in every]
    trials.run(planned)
    return [
        ReplayedCase(
            case,
            {name: r for name in SETTINGS if (r := trials.report(Trial(name, case.candidate, case.history)))},
            edited=place >= len(given),
        )
        for place, case in enumerate(every)
    ]


def rate(figures: ReplayFigures, setting: str, metric: Any) -> float | None:
    return next(one.rates[metric].value for one in figures.settings if one.setting == setting)


def test_an_oracle_keeps_all_that_is_valid_and_lets_in_nothing_else() -> None:
    figures = replayed(decided(oracle, cases()))
    assert (figures.writes, figures.unlabelled) == (12, 0)
    for setting in (EXPANDED_WHOLE, EXPANDED_PARTS):
        assert rate(figures, setting, "valid_retention") == 1.0
        assert rate(figures, setting, "repaired_retention") == 1.0
        assert rate(figures, setting, "unsupported_admission") == 0.0


def test_on_the_citations_alone_even_an_oracle_keeps_nothing_that_is_said_elsewhere() -> None:
    figures = replayed(decided(oracle, cases()))
    assert rate(figures, CITED_WHOLE, "repaired_retention") == 0.0
    assert rate(figures, CITED_WHOLE, "valid_retention") == 0.5


def test_a_fool_keeps_nothing_that_is_valid_and_lets_in_all_else() -> None:
    figures = replayed(decided(fool, cases()))
    for setting in SETTINGS:
        assert rate(figures, setting, "valid_retention") == 0.0
        assert rate(figures, setting, "unsupported_admission") == 1.0


def test_two_settings_are_compared_on_the_writes_that_only_one_of_them_keeps() -> None:
    figures = replayed(decided(oracle, cases(6)))
    compared = {(c.metric, c.first, c.second): c for c in figures.comparisons}
    found = compared["repaired_retention", CITED_WHOLE, EXPANDED_PARTS]
    assert (found.only_first, found.only_second) == (0, 6)
    assert found.p == pytest.approx(2 * 0.5**6)
    assert found.adjusted is not None and found.adjusted > found.p
    assert (found.difference.value, found.difference.low, found.difference.high) == (1.0, 1.0, 1.0)
    same = compared["valid_retention", EXPANDED_WHOLE, EXPANDED_PARTS]
    assert (same.only_first, same.only_second, same.p) == (0, 0, 1.0)


def test_a_metric_of_no_write_has_no_rate_and_no_test() -> None:
    figures = replayed(decided(oracle, cases()))
    assert rate(figures, CITED_WHOLE, "edited_admission") is None
    assert all(c.p is None and c.adjusted is None for c in figures.comparisons if c.metric == "edited_admission")


def test_edited_twins_are_counted_apart_from_recorded_writes_and_by_the_kind_of_edit() -> None:
    given = cases()
    twin = given[0].candidate.model_copy(update={"id": "twin", "memory": UNTRUE})
    edited = [Case(twin, given[0].history, {"status": "unresolved", "edit": "event_changed"})]
    found = decided(fool, given, edited)
    figures = replayed(found)
    assert (figures.writes, figures.edited) == (12, 1)
    assert rate(figures, EXPANDED_PARTS, "edited_admission") == 1.0
    assert [(one.edit, one.n, one.let_in[EXPANDED_PARTS]) for one in by_edit(found)] == [("event_changed", 1, 1)]


def test_the_scope_of_evidence_is_that_of_the_references_and_an_oracle_finds_the_same() -> None:
    found = decided(oracle, cases())
    for scope in (by_reference(cases()), by_gate(found)):
        assert scope.insufficient.value == pytest.approx(8 / 12)
        assert scope.recovered.value == pytest.approx(4 / 8)
        assert scope.supported_before.value == pytest.approx(4 / 12)
        assert scope.supported_after.value == pytest.approx(8 / 12)
        assert scope.several_passages.value == 0.0


def test_what_is_missed_with_all_evidence_shown_is_the_verifiers_miss() -> None:
    found = misses(decided(fool, cases()))
    assert [(one.setting, one.missed, one.retrieval, one.verifiers, one.untold) for one in found] == [
        (EXPANDED_WHOLE, 8, 0, 8, 0),
        (EXPANDED_PARTS, 8, 0, 8, 0),
    ]


def test_what_is_missed_with_evidence_outside_the_passages_is_retrievals() -> None:
    given = cases(1)
    unseen = {"status": "repaired", "obligations": [{"text": "x", "history": "supported", "evidence": ["t99"]}]}
    found = decided(fool, [given[1]._replace(reference=unseen), given[0]._replace(reference={"status": "admitted"})])
    assert [(one.retrieval, one.verifiers, one.untold) for one in misses(found)] == [(1, 0, 1), (1, 0, 1)]


def test_the_view_reaches_evidence_within_its_bounds_only() -> None:
    found = decided(oracle, cases())
    assert reach(found, EvidenceSettings()).repaired.value == 1.0
    assert reach(found, EvidenceSettings(retrieved=0)).repaired.value == 0.0
