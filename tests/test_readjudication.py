"""Which unresolved memories may be judged again: only what was said since, shown to the judges, on what is open."""

from __future__ import annotations

from typing import Any

import pytest

from admission.errors import InputError
from admission.history import History
from admission.readjudication import Budget, could_be_judged, new_evidence, readjudicated
from admission.records import Action, Finding, Judgment, Label, Report, Status, Turn
from admission.settings import EvidenceSettings

EXPANDED = EvidenceSettings()


def turn(id: str, text: str, role: Any = "user", **fields: Any) -> Turn:
    return Turn(id=id, role=role, text=text, origin=fields.pop("origin", None), **fields)


def history(*turns: Turn) -> History:
    return History.of("c", turns)


def finding(text: str, label: Label = "insufficient", *judgments: Judgment) -> Finding:
    return Finding(
        id=f"o-{text}", text=text, type="fact", label=label, view="expanded", resolved_by="none", judgments=judgments
    )


def report(*findings: Finding, after: str | None = "t1", status: Status = "unresolved", **fields: Any) -> Report:
    return Report(
        id="r1",
        conversation="c",
        namespace=("m",),
        memory="Ana rents a flat in Oslo.",
        written_after=after,
        status=status,
        action=fields.pop("action", "quarantine"),
        obligations=findings,
        config_digest="c",
        input_digest="i",
        **fields,
    )


HELLO = turn("t1", "Good morning! I rent a flat.")
OPEN = report(finding("Ana rents a flat in Oslo."))


def found(of: Report, *turns: Turn, settings: EvidenceSettings = EXPANDED) -> tuple[str, ...]:
    evidence = new_evidence(of, history(*turns), settings)
    return () if evidence is None else evidence.turns


def test_a_later_turn_on_what_is_open_counts_and_an_earlier_one_does_not() -> None:
    assert found(OPEN, HELLO, turn("t2", "The flat is in Oslo.")) == ("t2",)
    assert found(OPEN, HELLO) == ()
    assert found(OPEN, turn("t0", "The flat is in Oslo."), HELLO, turn("t2", "Bye!")) == ()


def test_what_is_supported_already_asks_for_nothing_more() -> None:
    half = report(finding("Ana rents a flat.", "supported"), finding("Ana keeps a parrot."))
    assert found(half, HELLO, turn("t2", "My flat has two rooms.")) == ()
    assert found(half, HELLO, turn("t2", "My parrot is grey.")) == ("t2",)


@pytest.mark.parametrize("status", ["admitted", "repaired", "contradicted", "invalid"])
def test_only_unresolved_memories_lack_evidence(status: Status) -> None:
    assert found(report(*OPEN.obligations, status=status), HELLO, turn("t2", "The flat is in Oslo.")) == ()


def test_a_participants_name_alone_is_no_news() -> None:
    assert found(OPEN, turn("t1", "Hi!", speaker="Ana"), turn("t2", "I am Ana, by the way.", speaker="Ana")) == ()


@pytest.mark.parametrize("origin", ["memory", "instruction"])
def test_what_may_not_be_evidence_is_no_news(origin: Any) -> None:
    assert found(OPEN, HELLO, turn("t2", "Ana rents a flat in Oslo.", "tool", origin=origin)) == ()


def test_what_the_assistant_says_of_the_user_is_news_only_with_the_users_yes() -> None:
    open_ = report(finding("The user rents a flat in Oslo."))
    said = turn("t2", "Do you rent a flat in Oslo?", "assistant")
    assert found(open_, HELLO, said) == ()
    assert "t3" in found(open_, HELLO, said, turn("t3", "Yes."))


def test_a_late_answer_to_an_earlier_question_is_news() -> None:
    asked = turn("t1", "Do you rent a flat in Oslo?", "assistant")
    assert found(report(finding("The user rents a flat in Oslo.")), asked, turn("t2", "Yes, I do.")) == ("t2",)


@pytest.mark.parametrize("after", [None, "gone"])
def test_where_nothing_says_when_it_was_written_all_turns_are_new(after: str | None) -> None:
    assert found(report(after=after), turn("t1", "My flat is in Oslo.")) == ("t1",)


def test_a_turn_counts_only_if_the_judges_would_be_shown_it() -> None:
    talk = [HELLO, turn("t2", "The flat is in Oslo.")]
    assert found(OPEN, *talk, settings=EvidenceSettings(setting="citation_only")) == ()
    assert found(OPEN, *talk, settings=EvidenceSettings(retrieved=0)) == ()


def test_the_share_is_of_the_open_obligation_nearest_to_a_new_turn() -> None:
    open_ = report(finding("rents flat Oslo harbour"), finding("parrot sings"))
    evidence = new_evidence(
        open_, history(HELLO, turn("t2", "A flat by the harbour; Oslo."), turn("t3", "parrot")), EXPANDED
    )
    assert evidence is not None and evidence.turns == ("t2", "t3")
    assert evidence.share == 0.75


@pytest.mark.parametrize(
    ("action", "readmit", "becomes"),
    [
        ("persist", "review", "review"),
        ("persist_marked", "review", "review"),
        ("persist", "store", "persist"),
        ("quarantine", "store", "quarantine"),
        ("drop", "review", "drop"),
    ],
)
def test_what_is_to_be_stored_waits_unless_the_caller_says_otherwise(
    action: Action, readmit: Any, becomes: Action
) -> None:
    evidence = new_evidence(OPEN, history(HELLO, turn("t2", "The flat is in Oslo.")), EXPANDED)
    assert evidence is not None
    new = readjudicated(report(action=action, reasons=("why: so",)), OPEN, evidence, readmit)
    assert new.action == becomes
    assert new.reasons == (
        "readjudicated: in place of r1; what was said since turn t1 counts too (t2)",
        "why: so",
    )


def test_a_judge_that_did_not_answer_is_no_verdict() -> None:
    failed = Judgment.failed("a", "expanded", "timeout", "no answer")
    assert could_be_judged(OPEN)
    assert not could_be_judged(report(finding("x", "insufficient", failed)))
    assert not could_be_judged(report(reasons=("internal_error: a fault",)))


def test_a_budget_allows_until_a_bound_is_reached() -> None:
    assert Budget().allows(10**6, 10**6)
    assert Budget(writes=2).allows(1, 99) and not Budget(writes=2).allows(2, 0)
    assert Budget(calls=9).allows(99, 8) and not Budget(calls=9).allows(0, 9)
    with pytest.raises(InputError, match=r"budget\.writes: is -1"):
        Budget(writes=-1)
