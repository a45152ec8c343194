"""Trials: each decided once, kept between runs, decided again where a judge had failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from replayed_worlds import cases, oracle

from admission.errors import InputError
from admission.evaluation.derivation.cases import drawn
from admission.evaluation.derivation.trials import Trial, Trials
from admission.gate import AdmissionGate
from admission.records import Judgment, Question
from admission.reports.jsonl import ReportLog
from admission.settings import load_settings
from admission.verifiers.scripted import ScriptedVerifier


def counted(script: object = oracle) -> tuple[AdmissionGate, ScriptedVerifier]:
    judge = ScriptedVerifier("a", script)  # type: ignore[arg-type]
    return AdmissionGate(load_settings(), verifier_a=judge, verifier_b=ScriptedVerifier("b", script)), judge  # type: ignore[arg-type]


def written(trials: list[Trial]) -> list[tuple[str, str]]:
    return [(trial.candidate.conversation, trial.candidate.id) for trial in trials]


def trials_of(setting: str = "one") -> list[Trial]:
    return [Trial(setting, case.candidate, case.history) for case in cases(2)]


def test_every_trial_has_its_report_in_order() -> None:
    gate, _ = counted()
    trials = Trials({"one": gate})
    trials.run(trials_of())
    assert [r.status for t in trials_of() if (r := trials.report(t))] == 2 * ["admitted", "repaired", "unresolved"]


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    gate, _ = counted()
    Trials({"one": gate}, tmp_path / "reports.jsonl").run(trials_of())
    again, judge = counted()
    trials = Trials({"one": again}, tmp_path / "reports.jsonl")
    assert trials.missing(trials_of()) == []
    trials.run(trials_of())
    assert judge.asked == []


def test_what_was_decided_before_a_stop_is_not_decided_again(tmp_path: Path) -> None:
    gate, _ = counted()

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Trials({"one": gate}, tmp_path / "reports.jsonl").run(trials_of(), stop)
    left = Trials({"one": counted()[0]}, tmp_path / "reports.jsonl").missing(trials_of())
    assert written(left) == written(trials_of())[1:]


def test_settings_that_are_the_same_share_their_reports() -> None:
    gate, judge = counted()
    trials = Trials({"one": gate, "two": gate})
    trials.run([*trials_of("one"), *trials_of("two")])
    once = len(judge.asked)
    alone, other = counted()
    Trials({"one": alone}).run(trials_of("one"))
    assert once == len(other.asked)


def test_a_report_in_which_a_judge_failed_is_made_again_in_the_next_run(tmp_path: Path) -> None:
    def fails(question: Question) -> Judgment:
        return Judgment.failed("a", question.view, "timeout", "no answer in time")

    gate, _ = counted(fails)
    Trials({"one": gate}, tmp_path / "reports.jsonl").run(trials_of())
    missing = Trials({"one": gate}, tmp_path / "reports.jsonl").missing(trials_of())
    assert written(missing) == written(trials_of())


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "reports.jsonl"
    file.write_text("my diary\n")
    with pytest.raises(InputError):
        Trials({"one": counted()[0]}, file)
    assert file.read_text() == "my diary\n"


def test_a_sample_is_drawn_by_its_seed_and_keeps_the_order() -> None:
    given = cases(5)
    sample = drawn(given, 4, seed=3)
    assert sample == drawn(given, 4, seed=3) and sample != drawn(given, 4, seed=4)
    assert [given.index(case) for case in sample] == sorted(given.index(case) for case in sample)
    assert drawn(given, None) == given == drawn(given, 99)


def test_nothing_is_judged_while_another_run_has_the_file(tmp_path: Path) -> None:
    gate, judge = counted()
    report = counted()[0].decide(cases(1)[0].candidate, cases(1)[0].history)
    trials = Trials({"one": gate}, tmp_path / "reports.jsonl")
    with ReportLog(tmp_path / "reports.jsonl") as other:
        other.append(report)
        with pytest.raises(InputError, match="another run"):
            trials.run(trials_of())
    assert judge.asked == []
