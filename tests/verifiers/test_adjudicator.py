"""The adjudicator: a network of its own, blind to order, honest about what it cannot judge."""

from __future__ import annotations

import pytest

from admission.records import Judgment, Obligation, Passage, Question
from admission.verifiers import minilm, mpnet
from admission.verifiers.adjudicator import AdjudicatorVerifier
from admission.verifiers.entailment import EntailmentVerifier

CHAT = (
    ("Rhea", "A dog is sleeping on the sofa."),
    ("Odd", "Nobody is playing the piano tonight."),
    ("Rhea", "The printer is out of toner again."),
)


def ask(text: str, *lines: tuple[str, str]) -> Question:
    passages = tuple(
        Passage(id=f"t{i}", turn_id=f"t{i}", position=i, role="user", speaker=speaker, text=said, origin="conversation")
        for i, (speaker, said) in enumerate(lines or CHAT, start=1)
    )
    obligation = Obligation(id="o1", text=text, type="fact")
    return Question(obligation=obligation, memory=text, view="expanded", passages=passages)


@pytest.fixture(scope="module")
def verifier() -> AdjudicatorVerifier:
    return AdjudicatorVerifier()


def judge(verifier: AdjudicatorVerifier, text: str, *lines: tuple[str, str]) -> Judgment:
    (judgment,) = verifier.judge([ask(text, *lines)])
    return judgment


def test_it_is_another_network_than_the_entailment_verifier_on_another_backbone(verifier: AdjudicatorVerifier) -> None:
    assert verifier.identity["backbone"] == minilm.WEIGHTS_SHA256
    assert EntailmentVerifier().identity["backbone"] == mpnet.WEIGHTS_SHA256
    assert verifier.identity["weights"] != EntailmentVerifier().identity["weights"]


@pytest.mark.parametrize(
    ("entailed", "not_entailed"),
    [
        ("A dog is asleep on the sofa.", "A dog is running in the garden."),
        ("A dog is on the sofa.", "A cat is on the roof."),
        ("The printer has no toner.", "The printer was sold in May."),
    ],
)
def test_what_follows_scores_above_what_does_not(
    verifier: AdjudicatorVerifier, entailed: str, not_entailed: str
) -> None:
    assert judge(verifier, entailed).support > judge(verifier, not_entailed).support


def test_a_denial_speaks_against_more_than_for(verifier: AdjudicatorVerifier) -> None:
    judgment = judge(verifier, "Somebody is playing the piano.", CHAT[1])
    assert judgment.contradiction > judgment.support


def test_the_order_of_the_passages_changes_nothing(verifier: AdjudicatorVerifier) -> None:
    question = ask("A dog is asleep on the sofa.")
    turned = question.model_copy(update={"passages": tuple(reversed(question.passages))})
    assert verifier.judge([question]) == verifier.judge([turned])


def test_it_signs_its_judgments_with_its_own_name(verifier: AdjudicatorVerifier) -> None:
    judgment = judge(verifier, "A dog is asleep on the sofa.")
    assert (judgment.verifier, judgment.evidence[:1]) == ("adjudicator", ("t1",))


def test_it_abstains_without_passages_and_on_another_language(verifier: AdjudicatorVerifier) -> None:
    nothing = ask("A dog sleeps.").model_copy(update={"passages": ()})
    (empty,) = verifier.judge([nothing])
    foreign = judge(verifier, "Der Hund schläft auf dem alten Sofa und träumt.")
    assert (empty.outcome, foreign.outcome) == ("abstained", "abstained")
