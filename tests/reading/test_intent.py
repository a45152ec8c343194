"""The classifier of intents by rule: how well it reads questions, and that it says so where it cannot tell."""

import pytest
from intent_questions import BUILT_ON, UNSEEN

from admission.reading.intent import intent_of


@pytest.mark.parametrize(("question", "intent"), BUILT_ON)
def test_the_questions_it_was_built_on_are_read_right(question: str, intent: str | None) -> None:
    assert intent_of(question) == intent


def test_of_unseen_questions_what_it_answers_is_nearly_always_right_and_never_turned_round() -> None:
    found = [(intent, intent_of(question)) for question, intent in UNSEEN]
    answered = [(intent, said) for intent, said in found if said is not None]
    assert sum(intent == said for intent, said in found) >= 37
    assert len(answered) >= 29
    assert sum(intent == said for intent, said in answered) >= 28
    assert not [pair for pair in answered if set(pair) == {"current", "history"}]


@pytest.mark.parametrize(
    "question", ["", "   ", "?", "Was ist meine Adresse?", "내 주소가 뭐였지?", "before " * 50_000]
)
def test_what_it_cannot_read_it_leaves_open(question: str) -> None:
    assert intent_of(question) is None
