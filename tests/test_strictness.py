"""Strictness: one number in log-odds that moves every judge's support threshold, and nothing else."""

from __future__ import annotations

import asyncio
from math import exp, log

import pytest

from admission.errors import SettingsError
from admission.gate import AdmissionGate
from admission.history import Timeline
from admission.records import Candidate, Judgment, Question, Report, Thresholds, Turn
from admission.settings import Settings, load_settings
from admission.verifiers.scripted import ScriptedVerifier

TURN = Turn(id="t1", role="user", speaker="Ana", text="I sold the old car.", origin="conversation")
HISTORY = Timeline("c", [TURN]).before(None)
CANDIDATE = Candidate(id="w", conversation="c", namespace=("n",), memory="Ana sold the old car.", citations=("t1",))


def gate(strictness: float, support: float = 0.7, contradiction: float = 0.0) -> AdmissionGate:
    """Verifier A answers with numbers, verifier B with whole judgments of its own label."""

    def labelled(question: Question) -> Judgment:
        return Judgment(
            verifier="b", view=question.view, support=support, contradiction=contradiction, label="supported",
            evidence=("t1",),
        )  # fmt: skip

    settings = Settings(verification={"adjudicator": None, "strictness": strictness})  # type: ignore[arg-type]
    return AdmissionGate(
        settings,
        verifier_a=ScriptedVerifier("a", lambda question: (support, contradiction)),
        verifier_b=ScriptedVerifier("b", labelled, Thresholds(support=0.6)),
    )


def labels(report: Report) -> list[str]:
    return [judgment.label for finding in report.obligations for judgment in finding.judgments]


@pytest.mark.parametrize(
    ("support", "log_odds", "expected"),
    [(0.5, log(3), 0.75), (0.5, -log(3), 0.25), (0.75, log(3), 0.9), (0.0, 5.0, 0.0), (1.0, -5.0, 1.0)],
)
def test_odds_of_one_to_one_become_three_to_one_at_log_three(support: float, log_odds: float, expected: float) -> None:
    moved = Thresholds(support=support, contradiction=0.3).stricter(log_odds)
    assert moved.support == pytest.approx(expected)
    assert moved.contradiction == 0.3


def test_no_strictness_leaves_a_threshold_as_it_is_to_the_last_bit() -> None:
    assert all(Thresholds(support=n / 997).stricter(0.0).support == n / 997 for n in range(998))


def test_moving_there_and_back_ends_where_it_began() -> None:
    assert Thresholds(support=0.62).stricter(2.5).stricter(-2.5).support == pytest.approx(0.62)


def test_every_judges_threshold_moves_whoever_made_the_label() -> None:
    """Of .7: A's .5 becomes .7 at log(7/3); B's .6 is passed by then, its own word for "supported" notwithstanding."""
    just_below, above = log(7 / 3) - 0.01, log(7 / 3) + 0.01
    assert labels(gate(0.0).decide(CANDIDATE, HISTORY)) == ["supported", "supported"]
    assert labels(gate(just_below).decide(CANDIDATE, HISTORY)) == ["supported", "insufficient"]
    assert labels(gate(above).decide(CANDIDATE, HISTORY)) == ["insufficient", "insufficient"]
    assert gate(-2.0, support=0.2).decide(CANDIDATE, HISTORY).status == "admitted"


def test_awaited_decisions_are_as_strict() -> None:
    for strictness, status in ((0.0, "admitted"), (3.0, "unresolved")):
        assert asyncio.run(gate(strictness).adecide(CANDIDATE, HISTORY)).status == status


def test_what_counts_as_contradicted_does_not_move() -> None:
    for strictness in (-5.0, 0.0, 5.0):
        report = gate(strictness, support=0.0, contradiction=0.6).decide(CANDIDATE, HISTORY)
        assert labels(report) == ["contradicted", "contradicted"]


def test_the_strictness_is_part_of_the_configuration_digest() -> None:
    assert gate(0.5).config_digest != gate(0.0).config_digest
    assert gate(0.5).config_digest == gate(0.5).config_digest


def test_a_verifier_that_several_gates_share_is_not_changed_by_any() -> None:
    shared = ScriptedVerifier("a", lambda question: (1 / (1 + exp(-2)), 0.0))
    for strictness, status in ((3.0, "unresolved"), (1.9, "admitted"), (3.0, "unresolved")):
        settings = Settings(verification={"adjudicator": None, "strictness": strictness})  # type: ignore[arg-type]
        again = AdmissionGate(settings, verifier_a=shared, verifier_b=shared)
        assert again.decide(CANDIDATE, HISTORY).status == status
    assert shared.thresholds == Thresholds()


@pytest.mark.parametrize("value", ["11", "-11", "nan", "inf", "much"])
def test_a_strictness_out_of_reach_is_named(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADMISSION_VERIFICATION__STRICTNESS", value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert caught.value.field == "verification.strictness"
