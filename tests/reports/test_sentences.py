"""What a person reads about a memory, for each way a report can end."""

from __future__ import annotations

from report_examples import finding, judgment, report

from admission.records import Citations, Judgment, Report, Views
from admission.reports.sentences import explanation, finding_sentence, headline


def test_an_admitted_memory_names_the_turn_that_says_it() -> None:
    assert headline(report("admitted", "persist", finding("supported", evidence=("t3",)))) == "Kept: t3 says it."


def test_a_repaired_memory_names_the_true_source_and_the_cited_one(repaired: Report) -> None:
    assert headline(repaired) == "Kept, with its source corrected: t3 and t5 say it; the author cited t1 only."


def test_a_repaired_memory_without_citations_says_so() -> None:
    bare = Citations(author=(), final=("t3",))
    kept = report("repaired", "persist", finding("supported", evidence=("t3",)), citations=bare)
    assert headline(kept) == "Kept, with its source corrected: t3 says it; the author cited nothing."


def test_a_contradicted_memory_names_the_turn_that_says_otherwise(contradicted: Report) -> None:
    assert headline(contradicted) == "Held back: t3 says otherwise about “The boat is called Heron”."


def test_what_is_not_shown_is_not_called_false() -> None:
    held = report("unresolved", "quarantine", finding("insufficient", text="Ines sold the boat."))
    assert headline(held) == "Held back: nothing found in the conversation before the write shows “Ines sold the boat”."


def test_the_supported_part_of_an_open_memory_is_named_too() -> None:
    moved = finding("supported", text="Ines moved.", evidence=("t3",))
    cause = finding("insufficient", text="She moved because of the boat.", id="o2", type="relation")
    sentences = explanation(report("unresolved", "quarantine", moved, cause))
    assert sentences[0].endswith("shows “She moved because of the boat”.")
    assert "Its part “Ines moved” is supported by t3." in sentences
    assert sentences[-1] == "It is in quarantine: no search finds it, and it can be restored."


def test_the_contradiction_comes_before_what_is_merely_open() -> None:
    open_part = finding("insufficient", text="It is red.")
    refuted = finding("contradicted", text="It is a car.", id="o2", evidence=("t1", "t3"))
    sentences = explanation(report("contradicted", "quarantine", open_part, refuted))
    assert sentences[0] == "Held back: the conversation says otherwise (t1 and t3) about “It is a car”."
    assert sentences[1] == "Also: nothing found in the conversation before the write shows “It is red”."


def test_conflicting_evidence_is_said_to_speak_both_ways() -> None:
    held = report("unresolved", "quarantine", finding("conflicting", text="It is red.", evidence=("t1", "t3")))
    assert headline(held) == "Held back: the conversation speaks both for and against “It is red” (t1 and t3)."


def test_a_failed_verifier_is_the_reason_given() -> None:
    failed = Judgment.failed("chat", "expanded", "timeout", "no answer in 120 s")
    broken = finding("insufficient", text="It is red.", resolved_by="none", judgments=(failed,))
    held = report("unresolved", "quarantine", broken)
    assert headline(held) == "Held back: a verifier failed on “It is red” (timeout: no answer in 120 s)."
    assert finding_sentence(broken).endswith("a verifier failed, and what is not checked is not kept.")


def test_verifiers_that_all_abstain_are_the_reason_given() -> None:
    shy = tuple(Judgment.abstained(name, "expanded", "language: not English") for name in ("a", "b"))
    held = report(
        "unresolved", "quarantine", finding("insufficient", text="Es rot.", resolved_by="none", judgments=shy)
    )
    assert headline(held) == "Held back: a verifier could not judge “Es rot” (language: not English)."


def test_a_write_without_a_conversation_says_so() -> None:
    alone = finding("insufficient", text="It is red.", resolved_by="none", judgments=())
    held = report("unresolved", "quarantine", alone, views=Views(), passages=())
    assert headline(held) == "Held back: there was no earlier conversation to check “It is red” against."


def test_in_the_citation_setting_only_the_cited_turns_are_blamed() -> None:
    held = report(
        "unresolved",
        "quarantine",
        finding("insufficient", text="It is red.", view="citation_only"),
        views=Views(citation_only=("t1",)),
    )
    assert headline(held) == "Held back: the turns the author cited do not show “It is red”."


def test_a_fault_of_the_gate_itself_is_told() -> None:
    held = report("unresolved", "quarantine", reasons=("internal_error: KeyError: 'x'",))
    assert headline(held) == "Held back: it could not be checked (internal_error: KeyError: 'x')."


def test_an_empty_memory_and_one_without_a_claim_are_told_apart(invalid: Report) -> None:
    assert headline(invalid) == "Not kept: the memory is empty."
    assert headline(report("invalid", "drop", memory="Hm.")) == (
        "Not kept: the memory states nothing that could be checked."
    )


def test_an_action_against_the_verdict_is_laid_to_the_policy() -> None:
    held = report("admitted", "review", finding("supported", evidence=("t3",)))
    kept = report("unresolved", "persist_marked", finding("insufficient", text="It is red."))
    assert headline(held) == "Waiting for a person by policy, although t3 says it."
    assert headline(kept).startswith("Kept and marked by policy, although nothing found")


def test_citations_that_do_not_count_are_named() -> None:
    citations = Citations(author=("t1", "t9"), invalid=("t9",), final=("t1",))
    reasons = ("supported_on_citations: t1", "citation_ineligible: t2 may not be evidence")
    kept = report("admitted", "persist", finding("supported", evidence=("t1",)), citations=citations, reasons=reasons)
    assert "The author also cited t9, which is no turn before this write." in explanation(kept)
    assert "A citation does not count: t2 may not be evidence." in explanation(kept)


def test_how_an_obligation_was_settled(contradicted: Report) -> None:
    assert finding_sentence(finding("supported", evidence=("t3", "t5"))) == (
        "Supported by t3 and t5; both verifiers agree."
    )
    assert finding_sentence(contradicted.obligations[0]) == (
        "Contradicted by t3; the verifiers differed and the adjudicator, blind to both, decided."
    )
    alone = finding("contradicted", resolved_by="single", judgments=(judgment("a", 0.1, 0.9, "contradicted"),))
    assert finding_sentence(alone) == "Contradicted; only one verifier could judge it."


def test_data_in_a_sentence_cannot_steer_a_terminal() -> None:
    held = report("unresolved", "quarantine", finding("insufficient", text="a\x1b[2Jb\u202ec\nd"))
    assert "“a\\x1b[2Jb\\u202ec d”" in headline(held)
