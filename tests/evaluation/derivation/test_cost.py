"""The price named before a paid run: every obligation on both views by every paid judge; embedded ones are free."""

from __future__ import annotations

from typing import Any

from replayed_worlds import cases

from admission.evaluation.derivation.cost import Cost, estimate
from admission.evaluation.derivation.trials import Trial
from admission.settings import Settings, load_settings

ONE = cases(1)[1]  # its citation does not support it: both views are looked at
TRIAL = Trial("any", ONE.candidate, ONE.history)


def settings(setting: str = "expanded", **judges: str) -> Settings:
    asked: dict[str, Any] = {"view": "holistic", "adjudicator": "none", **judges}
    models = {"large": {"model": "scripted:large"}}
    return load_settings(overrides={"models": models, "verification": asked, "evidence": {"setting": setting}})


def test_embedded_judges_cost_nothing_and_are_not_loaded() -> None:
    assert estimate(load_settings(), [TRIAL]) == Cost(0, 0)


def test_two_paid_judges_are_asked_once_a_view() -> None:
    both = {"verifier_a": "chat:large", "verifier_b": "chat:large"}
    assert estimate(settings("citation_only", **both), [TRIAL]).requests == 2
    assert estimate(settings("expanded", **both), [TRIAL]).requests == 4
    assert estimate(settings("expanded", **both), [TRIAL, TRIAL]).requests == 8


def test_an_adjudicator_is_counted_for_every_obligation_on_every_view() -> None:
    paid = estimate(settings("expanded", adjudicator="chat:large"), [TRIAL])
    assert paid.requests == 2
    assert paid.input_tokens > 100


def test_a_cascade_is_counted_as_if_its_model_were_always_asked() -> None:
    cascade = settings("citation_only", verifier_b="cascade:large")
    assert estimate(cascade, [TRIAL]).requests == 1


def test_a_model_that_splits_is_paid_for_too() -> None:
    splits = settings("citation_only", decomposer="chat:large", view="obligations")
    assert estimate(splits, [TRIAL]).requests == 1
