"""The adjudicator: blind, independent of order, honest about what it cannot judge."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.errors import WeightsError
from admission.records import Judgment, Obligation, Passage, Question
from admission.verifiers import adjudicator
from admission.verifiers.adjudicator import AdjudicatorVerifier

CHAT = (
    ("Rhea", "A dog is sleeping on the sofa."),
    ("Odd", "Nobody is playing the piano tonight."),
    ("Rhea", "The printer is out of toner again."),
)


def passages(*lines: tuple[str, str]) -> tuple[Passage, ...]:
    return tuple(
        Passage(id=f"t{i}", turn_id=f"t{i}", position=i, role="user", speaker=speaker, text=text, origin="conversation")
        for i, (speaker, text) in enumerate(lines, start=1)
    )


def ask(text: str, *lines: tuple[str, str]) -> Question:
    obligation = Obligation(id="o1", text=text, type="fact")
    return Question(obligation=obligation, memory=text, view="expanded", passages=passages(*(lines or CHAT)))


@pytest.fixture(scope="module")
def verifier() -> AdjudicatorVerifier:
    return AdjudicatorVerifier()


def judge(verifier: AdjudicatorVerifier, text: str, *lines: tuple[str, str]) -> Judgment:
    (judgment,) = verifier.judge([ask(text, *lines)])
    return judgment


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
    shuffled = list(question.passages)
    random.Random(5).shuffle(shuffled)
    other = question.model_copy(update={"passages": tuple(shuffled)})
    (a,), (b,) = verifier.judge([question]), verifier.judge([other])
    assert (a.label, set(a.evidence)) == (b.label, set(b.evidence))
    assert a.support == pytest.approx(b.support, abs=1e-4)


def test_the_turn_that_says_it_is_named_first(verifier: AdjudicatorVerifier) -> None:
    assert judge(verifier, "A dog is asleep on the sofa.").evidence[0] == "t1"


def test_it_abstains_without_passages_and_on_another_language(verifier: AdjudicatorVerifier) -> None:
    nothing = ask("A dog sleeps.").model_copy(update={"passages": ()})
    (judgment,) = verifier.judge([nothing])
    assert judgment.reason.startswith("no_passages")
    foreign = judge(verifier, "Der Hund ist nicht auf dem Sofa und schläft.")
    assert foreign.reason.startswith("language")


def test_answers_come_in_the_order_of_the_questions(verifier: AdjudicatorVerifier) -> None:
    questions = [
        ask("A dog is on the sofa."),
        ask("A dog sleeps.").model_copy(update={"passages": ()}),
        ask("It rains."),
    ]
    assert [j.outcome for j in verifier.judge(questions)] == ["judged", "abstained", "judged"]


def test_missing_weights_are_a_typed_error(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(adjudicator, "files", lambda _: tmp_path)
    adjudicator.shipped.cache_clear()
    with pytest.raises(WeightsError, match="missing"):
        AdjudicatorVerifier()
    adjudicator.shipped.cache_clear()


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gets_a_judgment_or_an_abstention(obligation: str, said: str) -> None:
    (judgment,) = AdjudicatorVerifier().judge([ask(obligation, ("Rhea", said))])
    assert judgment.outcome in ("judged", "abstained")
