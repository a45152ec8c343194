"""The gate's drivers: the same reports one by one, awaited and in lock-step; failures are reasons, never admissions."""

from __future__ import annotations

import asyncio
import time

import pytest

from admission.errors import SettingsError, VerifierError
from admission.gate import AdmissionGate
from admission.history import Timeline
from admission.records import Candidate, Judgment, Question, Report, Turn
from admission.settings import Settings
from admission.verifiers.scripted import ScriptedVerifier

TIMELINE = Timeline(
    "c",
    [
        Turn(id=f"t{n}", role="user", speaker="Ana", text=text, origin="conversation")
        for n, text in enumerate(
            ["I sold the old car.", "I bought a red bicycle.", "My brother lives in Lisbon.", "I like green tea."],
            start=1,
        )
    ],
)
MEMORIES = [
    ("Ana sold the old car.", ("t1",)),
    ("Ana bought a red bicycle and sold the old car.", ("t3",)),
    ("Ana owns a yacht.", ("t1",)),
    ("", ()),
    ("Ana likes green tea. Ana's brother lives in Lisbon.", ("t3", "t9")),
]


def last_word(question: Question) -> tuple[float, float]:
    word = question.obligation.text.rstrip(".").split()[-1]
    return (1.0 if any(word in p.text for p in question.passages) else 0.0), 0.0


def gate(a: object = last_word, b: object = last_word, **verification: object) -> AdmissionGate:
    settings = Settings(verification={"adjudicator": None, **verification})  # type: ignore[arg-type]
    return AdmissionGate(settings, verifier_a=ScriptedVerifier("a", a), verifier_b=ScriptedVerifier("b", b))  # type: ignore[arg-type]


def candidates() -> list[Candidate]:
    return [
        Candidate(id=f"w{n}", conversation="c", namespace=("n",), memory=memory, citations=citations)
        for n, (memory, citations) in enumerate(MEMORIES)
    ]


def timeless(report: Report) -> Report:
    return report.model_copy(update={"timing_ms": {}})


def test_every_driver_gives_the_same_reports() -> None:
    history = TIMELINE.before(None)
    one_by_one = [timeless(gate().decide(c, history)) for c in candidates()]
    awaited = [timeless(asyncio.run(gate().adecide(c, history))) for c in candidates()]
    in_lock_step = [timeless(r) for r in gate().decide_many([(c, history) for c in candidates()], batch=3)]
    assert one_by_one == awaited == in_lock_step
    assert [r.status for r in one_by_one] == ["admitted", "repaired", "unresolved", "invalid", "repaired"]


def test_many_writes_in_lock_step_cost_one_call_a_judge_a_round() -> None:
    calls: list[int] = []

    class Counting(ScriptedVerifier):
        def judge(self, questions):  # type: ignore[no-untyped-def]
            calls.append(len(questions))
            return super().judge(questions)

    counting = Counting("a", last_word)
    settings = Settings(verification={"adjudicator": None})  # type: ignore[arg-type]
    many = AdmissionGate(settings, verifier_a=counting, verifier_b=ScriptedVerifier("b", last_word))
    list(many.decide_many([(candidates()[0], TIMELINE.before(None))] * 10))
    assert calls == [10]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (VerifierError("budget", "no calls left"), "budget"),
        (RuntimeError("weights are gone"), "model_error"),
        (TimeoutError(), "timeout"),
    ],
)
def test_a_verifier_that_raises_leaves_the_write_unresolved_with_the_reason(error: Exception, code: str) -> None:
    def breaks(question: Question) -> tuple[float, float]:
        raise error

    for report in (
        gate(a=breaks).decide(candidates()[0], TIMELINE.before(None)),
        asyncio.run(gate(a=breaks).adecide(candidates()[0], TIMELINE.before(None))),
    ):
        assert (report.status, report.action) == ("unresolved", "quarantine")
        assert any(reason.startswith("verifier_failed") and code in reason for reason in report.reasons)


@pytest.mark.parametrize("answers", [[], [Judgment.abstained("a", "expanded", "x")] * 3, ["supported"]])
def test_an_answer_that_is_not_one_judgment_a_question_fails_the_whole_call(answers: list[object]) -> None:
    class Short(ScriptedVerifier):
        def judge(self, questions):  # type: ignore[no-untyped-def]
            return answers

    settings = Settings(verification={"adjudicator": None})  # type: ignore[arg-type]
    short = AdmissionGate(
        settings, verifier_a=Short("a", last_word), verifier_b=ScriptedVerifier("b", lambda q: (1.0, 0.0))
    )
    report = short.decide(candidates()[0], TIMELINE.before(None))
    assert report.status == "unresolved"
    assert any("malformed_answer" in reason for reason in report.reasons)


def test_a_verifier_that_never_answers_times_out() -> None:
    def sleeps(question: Question) -> tuple[float, float]:
        time.sleep(5)
        return 1.0, 0.0

    report = gate(a=sleeps, timeout_s=0.05).decide(candidates()[0], TIMELINE.before(None))
    assert report.status == "unresolved"
    assert any("timeout" in reason for reason in report.reasons)


def test_a_verifier_that_is_not_known_is_refused_at_the_start() -> None:
    with pytest.raises(SettingsError) as caught:
        AdmissionGate(Settings(verification={"verifier_a": "oracle"}))  # type: ignore[arg-type]
    assert caught.value.field == "verification.verifier_a"


def test_the_configuration_digest_changes_with_settings_and_judges_and_nothing_else() -> None:
    assert gate().config_digest == gate().config_digest
    assert gate().config_digest != gate(view="holistic").config_digest
    other = AdmissionGate(
        Settings(verification={"adjudicator": None}),  # type: ignore[arg-type]
        verifier_a=ScriptedVerifier("another", last_word),
        verifier_b=ScriptedVerifier("b", last_word),
    )
    assert gate().config_digest != other.config_digest


def test_the_input_digest_changes_with_the_memory_and_with_the_turns_before_it() -> None:
    first, second = candidates()[:2]
    early, late = TIMELINE.before("t2"), TIMELINE.before("t3")
    digests = {gate().decide(c, h).input_digest for c in (first, second) for h in (early, late)}
    assert len(digests) == 4


def test_a_label_is_derived_from_the_numbers_and_evidence_kept_to_what_was_shown() -> None:
    def boasts(question: Question) -> Judgment:
        claimed = {"support": 0.0, "contradiction": 0.0, "label": "supported", "evidence": ("t1", "ghost")}
        return Judgment(verifier="a", view=question.view, **claimed)  # type: ignore[arg-type]

    report = gate(a=boasts, b=boasts).decide(candidates()[0], TIMELINE.before(None))
    assert report.status == "unresolved"
    assert all("ghost" not in j.evidence for f in report.obligations for j in f.judgments)


@pytest.mark.parametrize(
    "memory",
    [
        "Ana sold the old c\u0430r.",  # a Cyrillic letter
        "Ana sold the old car." + "".join(chr(0xE0000 + ord(char)) for char in "Bo owns it"),
        "Ana sold the old \u202ecar.",
    ],
)
def test_a_memory_that_reads_otherwise_than_it_looks_is_not_admitted(memory: str) -> None:
    yes = lambda question: (1.0, 0.0)  # noqa: E731
    candidate = candidates()[0].model_copy(update={"memory": memory})
    report = gate(a=yes, b=yes).decide(candidate, TIMELINE.before(None))
    assert report.status == "unresolved"
    assert report.reasons[0].startswith("disguised_text")
