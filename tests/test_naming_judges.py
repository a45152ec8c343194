"""Judges that name what they rely on: one look at citations and later turns, and no tries for minimal evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from admission.gate import AdmissionGate
from admission.history import History
from admission.records import OBLIGATION_TYPES, Candidate, Judgment, ObligationType, Question, Report, Turn
from admission.settings import Settings
from admission.verifiers.cascade import CascadeVerifier
from admission.verifiers.scripted import ScriptedVerifier

Says = Callable[[Question], Judgment]


def turn(id: str, text: str, role: str = "user") -> Turn:
    speaker = "Ana" if role == "user" else "Helper"
    return Turn(id=id, role=role, speaker=speaker, text=text, origin="conversation")  # type: ignore[arg-type]


TURNS = [
    turn("t1", "I sold the old car last week."),
    turn("t2", "I bought a red bicycle from my neighbour."),
    turn("t3", "The weather is dreadful today."),
    turn("t4", "I sold more than I had thought."),
]
CAR, BICYCLE = "Ana sold the old car.", "Ana bought a red bicycle."
AGAIN = turn("t5", "As I said, I sold that old car.")


class FakeNaming(ScriptedVerifier):
    """A scripted verifier that names all it relies on for obligations of these types."""

    def __init__(self, name: str, script: Says, types: Iterable[ObligationType] = OBLIGATION_TYPES) -> None:
        super().__init__(name, script)
        self.names_evidence = frozenset(types)


def answer(question: Question, support: float, contradiction: float = 0.0, *named: str) -> Judgment:
    return Judgment(
        verifier="x", view=question.view, support=support, contradiction=contradiction, label="insufficient",
        evidence=named,
    )  # fmt: skip


def last_word(question: Question) -> str:
    return question.obligation.text.rstrip(".").split()[-1]


def found(question: Question) -> list[str]:
    return [p.turn_id for p in question.passages if last_word(question) in p.text]


def first_named(question: Question) -> Judgment:
    """Support where a turn has the obligation's last word; names the first that has."""
    named = found(question)[:1]
    return answer(question, 1.0 if named else 0.0, 0.0, *named)


def all_named(question: Question) -> Judgment:
    return answer(question, 1.0 if found(question) else 0.0, 0.0, *found(question))


def nothing(question: Question) -> Judgment:
    return answer(question, 0.0)


def gate_of(
    a: ScriptedVerifier, b: ScriptedVerifier, c: ScriptedVerifier | None = None, **settings: object
) -> Callable[..., Report]:
    verification = {"adjudicator": None} | dict(settings.pop("verification", {}))  # type: ignore[call-overload]
    gate = AdmissionGate(
        Settings(verification=verification, **settings),  # type: ignore[arg-type]
        verifier_a=a,
        verifier_b=b,
        adjudicator=c,
    )

    def decide(memory: str, *citations: str, turns: list[Turn] = TURNS) -> Report:
        candidate = Candidate(id="w", conversation="c", namespace=("n",), memory=memory, citations=citations)
        return gate.decide(candidate, History.of("c", turns))

    return decide


def pair(says: Says = first_named) -> tuple[FakeNaming, FakeNaming]:
    return FakeNaming("a", says), FakeNaming("b", says)


def shown(judge: ScriptedVerifier) -> list[tuple[str, tuple[str, ...]]]:
    """What a judge was asked, in order: obligation and turns."""
    return [(question.obligation.id, question.turn_ids) for question in judge.asked]


# --- One look ----------------------------------------------------------------------------------------------------


def test_citations_and_what_was_said_later_are_looked_at_once_and_together() -> None:
    a, b = pair()
    report = gate_of(a, b)(f"{CAR} {BICYCLE}", "t1", "t2")
    assert report.status == "admitted"
    assert shown(a) == shown(b) == [("o1", ("t1", "t2", "t4")), ("o2", ("t1", "t2", "t4"))]
    assert [f.evidence for f in report.obligations] == [("t1",), ("t2",)]
    assert report.views.citation_only == ("t1", "t2")
    assert report.views.expanded == ("t1", "t2", "t4")
    assert {p.id for p in report.passages} == {"t1", "t2", "t4"}


def test_where_nothing_is_said_later_the_citations_alone_are_looked_at() -> None:
    a, b = pair()
    report = gate_of(a, b)(BICYCLE, "t2", turns=TURNS[:3])
    assert (report.status, shown(a), report.views.expanded) == ("admitted", [("o1", ("t2",))], ())


def test_the_latest_word_counts() -> None:
    def corrected(question: Question) -> Judgment:
        back = [p.turn_id for p in question.passages if "still mine" in p.text]
        return answer(question, 1.0, 1.0, "t1", *back) if back else first_named(question)

    later = turn("t5", "No, the old car is still mine.")
    decide = gate_of(*pair(corrected))
    assert decide(CAR, "t1").status == "admitted"
    report = decide(CAR, "t1", turns=[*TURNS, later])
    assert (report.status, report.obligations[0].label) == ("unresolved", "conflicting")


def test_with_the_citation_only_setting_nothing_else_is_shown() -> None:
    a, b = pair()
    report = gate_of(a, b, evidence={"setting": "citation_only"})(CAR, "t1")
    assert (report.status, shown(a)) == ("admitted", [("o1", ("t1",))])


def test_citations_that_leave_no_room_are_looked_at_before_what_was_said_later() -> None:
    a, b = pair()
    report = gate_of(a, b, evidence={"total": 2, "retrieved": 1})(CAR, "t1", "t3", turns=[*TURNS[:3], AGAIN])
    assert report.status == "admitted"
    assert shown(a)[0] == ("o1", ("t1", "t3"))


# --- What the citations alone carry ------------------------------------------------------------------------------


def test_support_named_outside_the_citations_has_them_asked_alone() -> None:
    a, b = pair(all_named)
    report = gate_of(a, b)(f"{CAR} {BICYCLE}", "t1", "t2", turns=[*TURNS, AGAIN])
    assert report.status == "admitted"
    assert shown(a)[2:] == [("o1", ("t1", "t2"))]  # the other obligation stands on its citation as it is
    assert [f.evidence for f in report.obligations] == [("t1",), ("t2",)]
    assert [f.view for f in report.obligations] == ["citation_only"] * 2


def test_where_they_do_not_carry_it_alone_the_memory_is_repaired_with_what_was_named() -> None:
    a, b = pair()
    report = gate_of(a, b)(CAR, "t3", "t4", turns=[*TURNS, AGAIN])
    assert report.status == "repaired"
    assert shown(a) == [("o1", ("t3", "t4", "t5")), ("o1", ("t3", "t4"))]
    assert report.citations.final == ("t5",)
    assert [j.label for j in report.obligations[0].judgments] == ["supported"] * 2 + ["insufficient"] * 2


def test_they_are_not_asked_alone_where_another_obligation_stands_on_no_citation_anyway() -> None:
    a, b = pair()
    report = gate_of(a, b)(f"{BICYCLE} {CAR}", "t3", "t4", turns=[*TURNS, AGAIN])
    assert report.status == "repaired"
    first, second, wide = shown(a)
    assert first[1] == second[1] == ("t3", "t4", "t5")
    assert wide == ("o1", ("t1", "t2", "t3", "t4", "t5"))
    assert report.citations.final == ("t2", "t5")


def test_citations_that_may_be_no_evidence_are_not_asked_alone() -> None:
    a, b = pair()
    recalled = Turn(id="m", role="system", speaker="store", text="Ana sold the old car.", origin="memory")
    report = gate_of(a, b)(CAR, "m", turns=[recalled, *TURNS])
    assert (report.status, report.citations.final) == ("repaired", ("t1",))
    assert len(a.asked) == len(b.asked) == 1


# --- The expanded view -------------------------------------------------------------------------------------------


def test_all_that_the_citations_leave_open_is_asked_on_the_same_passages() -> None:
    a, b = pair()
    report = gate_of(a, b)(f"{CAR} {BICYCLE}", "t3", turns=TURNS[:3])
    assert (report.status, report.citations.final) == ("repaired", ("t1", "t2"))
    assert shown(a) == [("o1", ("t3",)), ("o2", ("t3",)), ("o1", ("t1", "t2", "t3")), ("o2", ("t1", "t2", "t3"))]


def test_without_citations_there_is_one_look_at_the_expanded_view() -> None:
    a, b = pair()
    report = gate_of(a, b)(f"{CAR} {BICYCLE}")
    assert (report.status, report.citations.final) == ("repaired", ("t1", "t2"))
    assert [turns for _, turns in shown(a)] == [("t1", "t2", "t3", "t4")] * 2


# --- Minimal evidence --------------------------------------------------------------------------------------------


def test_the_minimal_evidence_is_what_both_named() -> None:
    def last_named(question: Question) -> Judgment:
        return answer(question, 1.0 if found(question) else 0.0, 0.0, *found(question)[-1:])

    turns = [turn("t0", "Later that car broke down."), *TURNS[:3]]
    a, b = FakeNaming("a", first_named), FakeNaming("b", last_named)
    report = gate_of(a, b)(CAR, "t3", turns=turns)
    assert (report.status, report.citations.final) == ("repaired", ("t0", "t1"))
    assert len(a.asked) == len(b.asked) == 2


def test_a_third_judge_that_names_is_not_asked_again() -> None:
    a, b, c = FakeNaming("a", first_named), FakeNaming("b", nothing), FakeNaming("c", first_named)
    report = gate_of(a, b, c)(CAR, "t1", turns=TURNS[:3])
    assert (report.status, report.obligations[0].evidence) == ("admitted", ("t1",))
    assert len(a.asked) == len(b.asked) == len(c.asked) == 1


def test_beside_a_judge_that_names_only_the_other_is_tried_on_smaller_sets() -> None:
    """Each set holds what the one named, so that it carries the word of both."""
    a, b = FakeNaming("a", first_named), ScriptedVerifier("b", lambda question: (1.0, 0.0))
    report = gate_of(a, b)(CAR, "t1", "t2", "t3", turns=TURNS[:3])
    assert report.obligations[0].evidence == ("t1",)
    assert [turns for _, turns in shown(a)] == [("t1", "t2", "t3")]
    assert [turns for _, turns in shown(b)[1:]] == [("t1",), ("t1", "t2"), ("t1", "t3")]


def test_a_judge_that_named_nothing_after_all_is_tried_on_smaller_sets() -> None:
    def unnamed(question: Question) -> Judgment:
        return answer(question, 1.0 if found(question) else 0.0)

    a, b = pair(unnamed)
    report = gate_of(a, b)(CAR, "t1", "t2", turns=TURNS[:3])
    assert (report.status, report.obligations[0].evidence) == ("admitted", ("t1",))


def test_an_answer_that_is_named_brings_the_question_it_answers() -> None:
    turns = [turn("t1", "Shall I note that you sold the old car?", "assistant"), turn("t2", "Yes, please."), TURNS[2]]

    def yes(question: Question) -> Judgment:
        named = ("t2",) if {"t1", "t2"} <= set(question.turn_ids) else ()
        return answer(question, 1.0 if named else 0.0, 0.0, *named)

    report = gate_of(*pair(yes))(CAR, "t3", turns=turns)
    assert (report.status, report.citations.final) == ("repaired", ("t1", "t2"))


def test_the_counterfactual_check_takes_away_what_was_named() -> None:
    a, b = pair()
    report = gate_of(a, b, verification={"counterfactual": True})(CAR, "t1")
    assert report.status == "admitted"
    assert ("o1", ("t4",)) in shown(a)
    plausible = pair(lambda question: answer(question, 1.0, 0.0, *question.turn_ids[:1]))
    assert gate_of(*plausible, verification={"counterfactual": True})(CAR, "t1").status == "unresolved"


# --- Who names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("naming", [(True, False), (False, True), (False, False)])
def test_unless_both_verifiers_name_the_citations_are_looked_at_first(naming: tuple[bool, bool]) -> None:
    judges = [
        FakeNaming(name, all_named, OBLIGATION_TYPES if names else ()) for name, names in zip("ab", naming, strict=True)
    ]
    report = gate_of(*judges)(CAR, "t1")
    assert report.status == "admitted"
    assert shown(judges[0])[0] == ("o1", ("t1",))


def test_a_cascade_names_for_what_only_its_model_is_asked() -> None:
    model = FakeNaming("chat:large", first_named)
    embedded = [ScriptedVerifier(name, all_named) for name in ("entailment", "alignment")]
    cascade = CascadeVerifier("cascade:large", embedded, model)
    assert cascade.names_evidence == {"relation"}
    assert CascadeVerifier("cascade:large", embedded, embedded[0]).names_evidence == frozenset()
