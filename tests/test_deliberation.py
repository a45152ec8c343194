"""Deliberation: one memory judged round by round, with the verifiers played by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Candidate, Decision, Judgment, Question, Report, Turn
from admission.settings import Settings
from admission.verifiers.scripted import ScriptedVerifier

Says = Callable[[Question], tuple[float, float] | Judgment]

TURNS = [
    Turn(id="t1", role="user", speaker="Ana", text="I sold the old car last week.", origin="conversation"),
    Turn(id="t2", role="assistant", speaker="assistant", text="How will you get to work?", origin="conversation"),
    Turn(id="t3", role="user", speaker="Ana", text="I bought a red bicycle from my neighbour.", origin="conversation"),
    Turn(id="t4", role="system", speaker="store", text="Ana collects stamps.", origin="memory"),
    Turn(id="t5", role="user", speaker="Ana", text="The weather is dreadful today.", origin="conversation"),
]
MEMORY = "Ana sold the old car. Ana bought a red bicycle."


def texts(question: Question) -> str:
    return " ".join(p.text for p in question.passages)


def word_judge(question: Question) -> tuple[float, float]:
    """Supports an obligation when a passage has its last word: simple enough to see what a verdict rests on."""
    return (1.0 if question.obligation.text.rstrip(".").split()[-1] in texts(question) else 0.0), 0.0


def decide(
    memory: str, *citations: str, a: Says = word_judge, b: Says = word_judge, c: Says | None = None, **settings: object
) -> tuple[Report, dict[str, ScriptedVerifier]]:
    judges = {"a": ScriptedVerifier("a", a), "b": ScriptedVerifier("b", b)}
    if c is not None:
        judges["c"] = ScriptedVerifier("c", c)
    verification = {"adjudicator": None} | dict(settings.pop("verification", {}))  # type: ignore[call-overload]
    gate = AdmissionGate(
        Settings(verification=verification, **settings),  # type: ignore[arg-type]
        verifier_a=judges["a"],
        verifier_b=judges["b"],
        adjudicator=judges.get("c"),
    )
    candidate = Candidate(id="w", conversation="c", namespace=("n",), memory=memory, citations=citations)
    return gate.decide(candidate, History.of("c", TURNS)), judges


def test_a_memory_its_citations_support_is_admitted_and_the_rest_is_not_looked_at() -> None:
    report, judges = decide(MEMORY, "t1", "t3")
    assert (report.status, report.action) == ("admitted", "persist")
    assert report.views.expanded == ()
    assert report.citations.final == ("t1", "t3")
    assert {q.view for q in judges["a"].asked} == {"citation_only"}


def test_a_true_memory_with_the_wrong_citation_is_repaired_with_its_minimal_evidence() -> None:
    report, _ = decide(MEMORY, "t5")
    assert (report.status, report.action) == ("repaired", "persist")
    assert report.citations.final == ("t1", "t3")
    assert [f.evidence for f in report.obligations] == [("t1",), ("t3",)]


def test_only_what_the_citations_leave_open_goes_to_the_expanded_view() -> None:
    report, judges = decide(MEMORY, "t1")
    assert report.status == "repaired"
    assert [f.view for f in report.obligations] == ["citation_only", "expanded"]
    expanded = {q.obligation.text for q in judges["a"].asked if q.view == "expanded"}
    assert expanded == {"Ana bought a red bicycle."}


def test_without_citations_the_evidence_is_found_and_becomes_the_citations() -> None:
    report, _ = decide("Ana bought a red bicycle.")
    assert report.decision == Decision(status="repaired", action="persist", reasons=report.reasons)
    assert report.citations.final == ("t3",)


def test_the_citation_only_setting_looks_no_further() -> None:
    report, judges = decide(MEMORY, "t1", evidence={"setting": "citation_only"})
    assert report.status == "unresolved"
    assert {q.view for q in judges["a"].asked} == {"citation_only"}


def test_what_the_conversation_does_not_say_is_unresolved_with_the_obligation_named() -> None:
    report, _ = decide("Ana sold the old car. Ana owns a yacht.", "t1")
    assert (report.status, report.action) == ("unresolved", "quarantine")
    assert any("Ana owns a yacht." in reason for reason in report.reasons)


def test_one_contradicted_obligation_makes_the_memory_contradicted() -> None:
    def against_bicycles(question: Question) -> tuple[float, float]:
        return (0.0, 1.0) if "bicycle" in question.obligation.text else word_judge(question)

    report, _ = decide(MEMORY, "t1", "t3", a=against_bicycles, b=against_bicycles)
    assert (report.status, report.action) == ("contradicted", "quarantine")


def test_evidence_for_and_against_is_conflicting_and_unresolved() -> None:
    report, _ = decide("Ana sold the old car.", "t1", a=lambda q: (1.0, 1.0), b=lambda q: (1.0, 1.0))
    assert report.status == "unresolved"
    assert report.obligations[0].label == "conflicting"


@pytest.mark.parametrize("memory", ["", "   ", "...", "👍", "ok, thanks!"])
def test_a_memory_without_a_claim_is_invalid_and_asks_nobody(memory: str) -> None:
    report, judges = decide(memory, "t1")
    assert (report.status, report.action, report.obligations) == ("invalid", "drop", ())
    assert judges["a"].asked == judges["b"].asked == []


def test_a_disagreement_goes_to_the_third_judge_who_sees_no_verdict_and_another_order() -> None:
    report, judges = decide(
        "Ana sold the old car.", "t1", "t3", a=lambda q: (1.0, 0.0), b=lambda q: (0.0, 0.0), c=lambda q: (1.0, 0.0)
    )
    assert report.status == "admitted"
    finding = report.obligations[0]
    assert finding.resolved_by == "adjudication"
    assert [j.verifier for j in finding.judgments] == ["a", "b", "c"]
    assert [p.turn_id for p in judges["c"].asked[0].passages] == ["t3", "t1"]


def test_a_disagreement_without_a_third_judge_stays_unresolved() -> None:
    report, _ = decide("Ana sold the old car.", "t1", a=lambda q: (1.0, 0.0), b=lambda q: (0.0, 0.0))
    assert report.status == "unresolved"


def test_agreement_asks_no_third_judge() -> None:
    _, judges = decide(MEMORY, "t1", "t3", c=lambda q: (0.0, 0.0))
    assert judges["c"].asked == []


def test_citations_that_name_no_turn_or_no_evidence_are_reported_and_never_stored() -> None:
    report, judges = decide("Ana sold the old car.", "t1", "t99", "t4")
    assert report.status == "admitted"
    assert report.citations.invalid == ("t99",)
    assert report.citations.final == ("t1",)
    assert any(r.startswith("citation_invalid: t99") for r in report.reasons)
    assert any(r.startswith("citation_ineligible: t4") for r in report.reasons)
    assert all("stamps" not in texts(q) for q in judges["a"].asked)


def test_a_recalled_memory_is_no_evidence_for_itself() -> None:
    report, _ = decide("Ana collects stamps.", "t4")
    assert report.status == "unresolved"


def test_without_a_conversation_nothing_is_asked_and_the_want_of_evidence_is_the_reason() -> None:
    judge = ScriptedVerifier("a", lambda q: (1.0, 0.0))
    gate = AdmissionGate(Settings(verification={"adjudicator": None}), verifier_a=judge, verifier_b=judge)  # type: ignore[arg-type]
    candidate = Candidate(id="w", conversation="c", namespace=("n",), memory="Ana sold the old car.")
    report = gate.decide(candidate, History.of("c", []))
    assert report.status == "unresolved"
    assert any(r.startswith("no_history") for r in report.reasons)
    assert judge.asked == []


def test_the_holistic_view_asks_for_the_memory_as_a_whole() -> None:
    report, judges = decide(MEMORY, "t1", "t3", verification={"view": "holistic"})
    assert [f.text for f in report.obligations] == [MEMORY]
    assert judges["a"].asked[0].obligation.text == MEMORY


def test_judgments_of_both_views_are_kept() -> None:
    report, _ = decide("Ana bought a red bicycle.", "t1")
    assert [(j.verifier, j.view) for j in report.obligations[0].judgments] == [
        ("a", "citation_only"),
        ("b", "citation_only"),
        ("a", "expanded"),
        ("b", "expanded"),
    ]


def test_a_contradiction_on_the_citations_is_not_undone_by_passages_that_say_nothing() -> None:
    def only_alone(question: Question) -> tuple[float, float]:
        return (0.0, 1.0) if len(question.passages) == 1 else (0.0, 0.0)

    report, _ = decide("Ana kept the old car.", "t1", a=only_alone, b=only_alone)
    assert report.status == "contradicted"
    assert report.obligations[0].evidence == ("t1",)


def test_support_in_the_expanded_view_outweighs_a_contradiction_on_the_citations() -> None:
    def later_word(question: Question) -> tuple[float, float]:
        return (1.0, 0.0) if "bicycle" in texts(question) else (0.0, 1.0)

    report, _ = decide("Ana bought a red bicycle.", "t1", a=later_word, b=later_word)
    assert report.status == "repaired"


def test_an_obligation_without_support_has_no_evidence() -> None:
    report, _ = decide("Ana owns a yacht.", "t1")
    assert report.obligations[0].evidence == ()


def test_what_the_citations_support_is_held_against_what_was_said_of_it_later() -> None:
    """The latest word counts, though the citations alone support the memory."""
    later = Turn(id="t6", role="user", speaker="Ana", text="No, the old car is still mine.", origin="conversation")

    def corrected(question: Question) -> tuple[float, float]:
        return 1.0, 1.0 if "still mine" in texts(question) else 0.0

    judge = ScriptedVerifier("a", corrected)
    gate = AdmissionGate(Settings(verification={"adjudicator": None}), verifier_a=judge, verifier_b=judge)  # type: ignore[arg-type]
    candidate = Candidate(id="w", conversation="c", namespace=("n",), memory="Ana sold the old car.", citations=("t1",))
    report = gate.decide(candidate, History.of("c", [*TURNS, later]))
    assert (report.status, report.obligations[0].label) == ("unresolved", "conflicting")
    assert report.views.expanded == ("t1", "t6")
    before = gate.decide(candidate, History.of("c", TURNS))
    assert (before.status, before.views.expanded) == ("admitted", ())
