"""The counterfactual check: support that stays without its evidence is plausibility, which admits nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from rich.console import Console

from admission.counterfactual import NEUTRAL, replaced, without
from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Candidate, Finding, Judgment, Obligation, Question, Report, Role, Turn
from admission.reports.html import page
from admission.reports.sentences import explanation, finding_sentence
from admission.reports.text import report_view
from admission.settings import Settings
from admission.text import content_terms
from admission.verifiers.scripted import ScriptedVerifier

Says = Callable[[Question], tuple[float, float] | Judgment]


def turn(id: str, text: str, role: Role = "user", speaker: str = "Ana") -> Turn:
    return Turn(id=id, role=role, speaker=speaker, text=text, origin="conversation")


TURNS = [
    turn("t1", "I sold the old car last week."),
    turn("t2", "How will you get to work?", "assistant", "Helper"),
    turn("t3", "I bought a red bicycle at a shop."),
    turn("t4", "The weather is dreadful today."),
    turn("t5", "We watched a long film last night."),
]
BICYCLE = "Ana bought a red bicycle."
YACHT = "Ana owns a yacht."


def said(question: Question) -> str:
    return " ".join(p.text for p in question.passages)


def judgment(name: str, question: Question, support: float, evidence: tuple[str, ...]) -> Judgment:
    return Judgment(
        verifier=name, view=question.view, support=support, contradiction=0.0, label="insufficient", evidence=evidence
    )


def reader(name: str) -> Says:
    """Supports an obligation where a passage has its last word, and names the first that has."""

    def says(question: Question) -> Judgment:
        word = question.obligation.text.rstrip(".").split()[-1]
        found = [p.turn_id for p in question.passages if word in p.text]
        return judgment(name, question, 1.0 if found else 0.0, tuple(found[:1]))

    return says


def believer(name: str) -> Says:
    """Supports whatever it is asked, on whatever it is shown."""
    return lambda question: judgment(name, question, 1.0, question.turn_ids[:1])


def gate(
    a: Says | None = None, b: Says | None = None, c: Says | None = None, on: bool = True
) -> tuple[AdmissionGate, dict[str, ScriptedVerifier]]:
    judges = {"a": ScriptedVerifier("a", a or reader("a")), "b": ScriptedVerifier("b", b or reader("b"))}
    if c is not None:
        judges["c"] = ScriptedVerifier("c", c)
    settings = Settings(verification={"adjudicator": None, "counterfactual": on})  # type: ignore[arg-type]
    return AdmissionGate(settings, verifier_a=judges["a"], verifier_b=judges["b"], adjudicator=judges.get("c")), judges


def candidate(memory: str, *citations: str) -> Candidate:
    return Candidate(id="w", conversation="c", namespace=("n",), memory=memory, citations=citations)


def decide(memory: str, *citations: str, turns: list[Turn] = TURNS, **judges: object) -> Report:
    built, _ = gate(**judges)  # type: ignore[arg-type]
    return built.decide(candidate(memory, *citations), History.of("c", turns))


def checks(report: Report, check: str) -> list[Judgment]:
    return [j for finding in report.obligations for j in finding.judgments if j.check == check]


# --- What the check lets through and what it stops ---------------------------------------------------------------


@pytest.mark.parametrize("citations", [("t3",), ("t4",), (), ("t1", "t3", "t4")])
def test_judges_of_plausibility_admit_nothing(citations: tuple[str, ...]) -> None:
    believers = {"a": believer("a"), "b": believer("b")}
    assert decide(YACHT, *citations, on=False, **believers).status in ("admitted", "repaired")
    report = decide(YACHT, *citations, **believers)
    assert (report.status, report.action) == ("unresolved", "quarantine")
    (finding,) = report.obligations
    assert (finding.label, finding.resolved_by, finding.evidence) == ("insufficient", "agreement", ())
    assert report.reasons[0].startswith("plausible_without_evidence: o1 'Ana owns a yacht.'")


@pytest.mark.parametrize(("citations", "status"), [(("t3",), "admitted"), (("t4",), "repaired")])
def test_judges_that_read_pass_with_the_evidence_they_had(citations: tuple[str, ...], status: str) -> None:
    plain, checked = decide(BICYCLE, *citations, on=False), decide(BICYCLE, *citations)
    assert checked.status == status
    assert checked.decision == plain.decision
    assert checked.obligations[0].evidence == plain.obligations[0].evidence == ("t3",)


def test_one_believer_beside_a_reader_is_enough_to_take_the_support_back() -> None:
    report = decide(BICYCLE, "t3", a=believer("a"))
    assert report.status == "unresolved"
    assert report.reasons[0].endswith("called supported without its evidence by a; on unrelated passages by a")


def test_support_named_nowhere_once_the_evidence_is_gone_is_plausibility() -> None:
    """This judge falls on unrelated passages, but not where only the evidence is missing."""

    def of_the_topic(question: Question) -> Judgment:
        named = tuple(p.turn_id for p in question.passages if "bicycle" in p.text)
        return judgment("a", question, 1.0 if named or "car" in said(question) else 0.0, named)

    report = decide(BICYCLE, "t1", "t3", a=of_the_topic)
    assert report.status == "unresolved"
    assert report.reasons[0].endswith("called supported without its evidence by a")


def test_further_independent_evidence_is_not_taken_for_plausibility() -> None:
    again = [turn(f"t{n}", f"Day {n}: that bicycle rides well.") for n in (6, 7)]
    report = decide(BICYCLE, "t3", "t6", "t7", turns=[*TURNS, *again])
    assert report.status == "admitted"
    assert [j.label for j in checks(report, "unrelated")] == ["insufficient"] * 2


def test_of_evidence_without_end_no_more_than_three_removals_are_asked_for() -> None:
    """A reader that names only one of many turns at a time: each removal shows it the next."""
    again = [turn(f"t{n}", f"Day {n}: that bicycle rides well.") for n in range(6, 16)]

    def unsure_of_less(question: Question) -> Judgment:
        # Smaller sets support nothing, so that the minimal evidence does not gather all of the turns at once.
        found = [p.turn_id for p in question.passages if "bicycle" in p.text]
        return judgment("a", question, 1.0 if len(found) > 5 else 0.0, tuple(found[:1]))

    cited = [t.id for t in again]
    report = decide(BICYCLE, *cited, turns=[*TURNS, *again], a=unsure_of_less, b=unsure_of_less)
    assert [j.evidence for j in checks(report, "removed")][::2] == [("t7",), ("t8",), ("t9",)]
    assert report.status == "admitted"


def test_a_judge_that_abstains_because_nothing_is_left_has_fallen_as_it_should() -> None:
    def careful(question: Question) -> tuple[float, float] | Judgment:
        if not question.passages:
            return Judgment.abstained("a", question.view, "empty: there is nothing to judge on")
        return reader("a")(question)

    report = decide(BICYCLE, "t3", a=careful)
    assert report.status == "admitted"
    assert [j.outcome for j in checks(report, "removed")] == ["abstained", "judged"]


@pytest.mark.parametrize("check", ["removed", "unrelated"])
def test_a_judge_that_fails_the_check_leaves_the_write_unresolved_with_the_reason(check: str) -> None:
    def breaks(question: Question) -> tuple[float, float] | Judgment:
        emptied = "bicycle" not in said(question)
        if emptied and (check == "removed") == (not question.passages):
            return Judgment.failed("a", question.view, "timeout", "no answer")
        return reader("a")(question)

    report = decide(BICYCLE, "t3", a=breaks)
    assert (report.status, report.obligations[0].label) == ("unresolved", "insufficient")
    where = "without its evidence" if check == "removed" else "on unrelated passages"
    assert report.reasons[0] == f"verifier_failed: a on o1, {where}: timeout: no answer"
    assert not any(reason.startswith("plausible") for reason in report.reasons)


def test_a_contradiction_is_told_before_what_is_plausible_only() -> None:
    def against_cars(question: Question) -> tuple[float, float] | Judgment:
        return (0.0, 1.0) if "car" in question.obligation.text else believer("a")(question)

    report = decide("Ana kept the old car. Ana owns a yacht.", "t1", "t3", a=against_cars, b=against_cars)
    assert report.status == "contradicted"
    codes = [reason.split(":")[0] for reason in report.reasons]
    assert codes == ["contradicted", "insufficient", "plausible_without_evidence"]


# --- Who is asked what -------------------------------------------------------------------------------------------


def test_the_adjudicator_and_the_verifier_it_sided_with_are_checked_and_the_other_is_not() -> None:
    no = lambda question: (0.0, 0.0)  # noqa: E731
    report = decide(BICYCLE, "t3", b=no, c=reader("c"))
    assert (report.status, report.obligations[0].resolved_by) == ("admitted", "adjudication")
    assert [j.verifier for j in checks(report, "unrelated")] == ["a", "c"]
    held = decide(BICYCLE, "t3", b=no, c=believer("c"))
    assert (held.status, held.obligations[0].resolved_by) == ("unresolved", "adjudication")


def test_what_is_not_supported_is_not_checked() -> None:
    report = decide(YACHT, "t3")
    assert report.obligations[0].label == "insufficient"
    assert [j for j in report.obligations[0].judgments if j.check is not None] == []
    assert report.usage == decide(YACHT, "t3", on=False).usage


def test_every_question_of_the_check_is_in_the_price() -> None:
    built, judges = gate()
    report = built.decide(candidate(BICYCLE, "t3"), History.of("c", TURNS))
    asked = sum(len(judge.asked) for judge in judges.values())
    assert report.usage.calls == asked == decide(BICYCLE, "t3", on=False).usage.calls + 4
    assert len(checks(report, "removed")) == len(checks(report, "unrelated")) == 2


def test_every_driver_gives_the_same_reports() -> None:
    history = History.of("c", TURNS)
    writes = [candidate(BICYCLE, "t3"), candidate(f"{BICYCLE} Ana sold the old car.", "t4"), candidate(YACHT, "t1")]
    for judges in ({}, {"a": believer("a"), "b": believer("b")}, {"a": believer("a"), "c": reader("c")}):
        one_by_one = [gate(**judges)[0].decide(w, history) for w in writes]
        awaited = [asyncio.run(gate(**judges)[0].adecide(w, history)) for w in writes]
        in_lock_step = list(gate(**judges)[0].decide_many([(w, history) for w in writes], batch=2))
        timeless = [
            [report.model_copy(update={"timing_ms": {}}) for report in reports]
            for reports in (one_by_one, awaited, in_lock_step)
        ]
        assert timeless[0] == timeless[1] == timeless[2]


def test_the_check_is_part_of_the_configuration_digest() -> None:
    assert gate(on=True)[0].config_digest != gate(on=False)[0].config_digest


# --- The two questions -------------------------------------------------------------------------------------------


def question(history: History, text: str, *turn_ids: str) -> Question:
    obligation = Obligation(id="o1", text=text, type="fact")
    passages = tuple(p for id in turn_ids for p in history.passages_of(id))
    return Question(obligation=obligation, memory=text, view="citation_only", passages=passages)


def test_a_replacement_is_of_the_same_speaker_of_about_equal_length_and_the_farthest_that_shares_no_word() -> None:
    history = History.of(
        "c",
        [
            turn("t1", "The bicycle was on sale, they told me."),
            turn("t2", "Would you like some ideas for a trip?", "assistant", "Helper"),
            turn("t3", "No."),
            turn("t4", "My sister called from Porto yesterday."),
            turn("t5", "Porto is lovely at this time of year."),
            turn("t6", "I bought a red bicycle at a shop."),
        ],
    )
    instead = replaced(question(history, BICYCLE, "t6"), {"t6"}, history)
    assert [p.id for p in instead.passages] == ["t4"]


def test_as_many_passages_come_instead_as_were_taken_away_and_none_twice() -> None:
    history = History.of("c", TURNS)
    instead = replaced(question(history, BICYCLE, "t1", "t3"), {"t1", "t3"}, history)
    assert [p.id for p in instead.passages] == ["t4", "t5"]


def test_where_the_conversation_has_nothing_unrelated_the_same_speaker_makes_small_talk() -> None:
    history = History.of("c", TURNS[1:3])
    (instead,) = replaced(question(history, BICYCLE, "t3"), {"t3"}, history).passages
    assert (instead.role, instead.speaker) == ("user", "Ana")
    assert instead.text in NEUTRAL
    assert not history.contains(instead.turn_id)


def test_small_talk_shares_no_content_word_with_the_obligation_and_is_as_long_as_what_it_replaces() -> None:
    long = turn("t1", "I bought a red bicycle. " * 40)
    history = History.of("c", [long])
    statement = "Ana heard the rain at noon, and the bus was late."
    (instead,) = replaced(question(history, statement, "t1"), {"t1"}, history).passages
    assert set(content_terms(statement)).isdisjoint(content_terms(instead.text))
    assert len(long.text) / 2 <= len(instead.text) <= len(long.text) * 2


def test_what_counts_only_beside_an_answer_goes_with_the_answer() -> None:
    history = History.of(
        "c",
        [
            turn("t1", "Shall I note that you like red bicycles best?", "assistant", "Helper"),
            turn("t2", "Yes, please."),
            turn("t3", "The weather is dreadful today."),
        ],
    )
    asked = question(history, "Ana likes red bicycles best.", "t1", "t2", "t3")
    assert [p.turn_id for p in without(asked, {"t2"}, history).passages] == ["t3"]


# --- What a person reads -----------------------------------------------------------------------------------------


def test_the_report_tells_checks_from_the_verdict_and_says_why_it_does_not_count() -> None:
    report = decide(YACHT, "t3", a=believer("a"), b=believer("b"))
    assert explanation(report)[0] == (
        "Held back: a verifier finds “Ana owns a yacht” supported without its evidence too,"
        " so that support does not count."
    )
    assert finding_sentence(report.obligations[0]) == (
        "Not shown by the passages; a verifier finds it supported without its evidence too,"
        " so that support does not count."
    )
    console = Console(width=200)
    with console.capture() as shown:
        console.print(report_view(report))
    for text in (shown.get(), page([report], title="run")):
        assert "citation_only, evidence removed" in text
        assert "citation_only, unrelated passages" in text
        assert "judgments of the check" in text


def test_a_finding_whose_check_failed_says_so() -> None:
    broken = Judgment.failed("a", "citation_only", "timeout", "no answer").model_copy(update={"check": "removed"})
    finding = Finding(
        id="o1", text=BICYCLE, type="fact", label="insufficient", view="citation_only", resolved_by="agreement",
        judgments=(broken,),
    )  # fmt: skip
    assert finding_sentence(finding) == (
        "Not shown by the passages; a verifier failed while its support was checked, and what is not checked is not"
        " kept."
    )
