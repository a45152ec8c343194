"""Panel: when two judgments agree, when a third judge is asked, and what stays closed."""

import pytest

from admission.panel import Settled, adjudicate, blind, settle
from admission.records import Judgment, Label, Obligation, Passage, Question


def judged(label: Label) -> Judgment:
    support, contradiction = {
        "supported": (0.9, 0.1),
        "contradicted": (0.1, 0.9),
        "conflicting": (0.9, 0.9),
        "insufficient": (0.1, 0.1),
    }[label]
    return Judgment(verifier="v", view="expanded", support=support, contradiction=contradiction, label=label)


ABSTAINED = Judgment.abstained("v", "expanded", "language: es")
FAILED = Judgment.failed("v", "expanded", "timeout", "no answer")


@pytest.mark.parametrize("label", ["supported", "contradicted", "conflicting", "insufficient"])
def test_the_same_label_from_both_is_agreement(label: Label) -> None:
    assert settle(judged(label), judged(label)) == Settled(label, "agreement")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (judged("supported"), judged("insufficient")),
        (judged("supported"), judged("contradicted")),
        (judged("conflicting"), judged("contradicted")),
        (judged("supported"), ABSTAINED),
        (ABSTAINED, judged("insufficient")),
    ],
)
def test_different_labels_or_one_abstention_go_to_the_third_judge(first: Judgment, second: Judgment) -> None:
    assert settle(first, second) is None


@pytest.mark.parametrize("other", [judged("supported"), judged("contradicted"), ABSTAINED, FAILED])
def test_a_failed_verifier_leaves_the_obligation_open_whatever_the_other_says(other: Judgment) -> None:
    assert settle(FAILED, other) == settle(other, FAILED) == Settled("insufficient", "none")


def test_two_abstentions_settle_nothing() -> None:
    assert settle(ABSTAINED, ABSTAINED) == Settled("insufficient", "none")


def test_what_a_verifier_found_contradicted_is_not_made_supported_by_a_third_judge() -> None:
    third = judged("supported")
    assert adjudicate(judged("supported"), judged("contradicted"), third) == Settled("conflicting", "adjudication")
    assert adjudicate(judged("supported"), judged("insufficient"), third) == Settled("supported", "adjudication")


def test_the_third_judge_decides_a_disagreement() -> None:
    third = judged("contradicted")
    assert adjudicate(judged("supported"), judged("insufficient"), third) == Settled("contradicted", "adjudication")


@pytest.mark.parametrize("third", [None, ABSTAINED, FAILED])
def test_without_a_third_judgment_lone_support_is_not_support(third: Judgment | None) -> None:
    assert adjudicate(judged("supported"), ABSTAINED, third) == Settled("insufficient", "none")
    assert adjudicate(judged("supported"), judged("contradicted"), third) == Settled("insufficient", "none")
    assert adjudicate(ABSTAINED, judged("contradicted"), third) == Settled("contradicted", "single")


def test_the_blind_question_shows_the_same_passages_in_another_order() -> None:
    passages = tuple(
        Passage(id=f"t{i}", turn_id=f"t{i}", position=i, role="user", text="x", origin="conversation") for i in range(3)
    )
    question = Question(
        obligation=Obligation(id="o1", text="x", type="fact"), memory="x", view="expanded", passages=passages
    )
    assert [p.id for p in blind(question).passages] == ["t2", "t1", "t0"]
    assert blind(question).model_copy(update={"passages": passages}) == question
