"""What a reply does to the turn before it: confirms, refuses, or can only be read together with it."""

from __future__ import annotations

import pytest

from admission.replies import answers, confirms, ends_asking, only_asks, proposes, refuses

QUESTION = "Shall I book the ten o'clock?"
STATEMENT = "You like the seats at the window."


@pytest.mark.parametrize(
    "reply",
    [
        "Yes",
        "yep!",
        "Yeah, that's the one",
        "Exactly.",
        "correct",
        "That's right",
        "Sounds good",
        "Do that.",
        "Sí, claro",
        "Ja, gerne",
        "是的",
        "はい",
        "Absolutely",
        "Of course.",
        "You're right",
        "Well, yes.",
        "*Yes*",
        "Yes. No sugar.",
    ],
)
def test_a_clear_yes_confirms_whatever_was_said(reply: str) -> None:
    assert confirms(reply, STATEMENT)
    assert confirms(reply, QUESTION)


@pytest.mark.parametrize(
    "reply",
    [
        "OK",
        "Great, thanks",
        "Perfect, and nothing else",
        "👍",
        "👍🏽🚀",
        "✅",
        "The second one",
        "(a). We voted for it.",
        "b)",
        "Option 2 please",
        "I'd go with the first",
        "Both",
        "B.",
        "Right, do it",
        "Please, every day",
        "Fine",
        "10 it is",
    ],
)
def test_a_pick_or_an_acknowledgement_accepts_a_question_or_proposal(reply: str) -> None:
    assert confirms(reply, QUESTION)


@pytest.mark.parametrize("reply", ["OK. So far we use paper.", "Great.", "👍", "The second one", "Both"])
def test_it_accepts_nothing_where_nothing_was_proposed(reply: str) -> None:
    assert not confirms(reply, "The lake is deep.")


@pytest.mark.parametrize(
    "reply",
    [
        "No",
        "Nope, sorry",
        "Not sure",
        "Maybe later",
        "Ha, no, kidding",
        "Never",
        "I don't think so",
        "👎",
        "Nein",
        "いいえ",
    ],
)
def test_a_refusal_does_not_confirm(reply: str) -> None:
    assert refuses(reply)
    assert not confirms(reply, QUESTION)


@pytest.mark.parametrize(
    "reply",
    [
        "Yeah, no.",
        "Yeah, right.",
        "Sure, not.",
        "Thanks, that's all.",
        "A friend came by.",
        "Right side hurts.",
        "Please plan my trip.",
        "Good question",
        "No problem.",
        "I am tired.",
        "Truely odd",
        "",
        "What do you mean?",
    ],
)
def test_what_only_looks_like_a_yes_does_not_confirm(reply: str) -> None:
    assert not confirms(reply, QUESTION)


def test_no_problem_is_no_refusal() -> None:
    assert not refuses("No problem, go ahead")
    assert not refuses("Nothing beats tea.")


@pytest.mark.parametrize(
    "reply",
    ["Seven.", "Plans for the pond.", "No.", "On Tuesday, after the market.", "En junio, creo.", "The grey one!"],
)
def test_a_fragment_leans_on_the_question(reply: str) -> None:
    assert answers(reply, "Which would you take?")


@pytest.mark.parametrize("reply", ["Me too!", "Same here.", "So do I"])
def test_a_pro_form_leans_on_a_statement(reply: str) -> None:
    assert answers(reply, "I swim each morning.")


@pytest.mark.parametrize(
    "reply", ["The lessons at the pool have made a better swimmer of me.", "What do you mean by that?", "Why?"]
)
def test_a_sentence_of_its_own_and_a_question_back_do_not(reply: str) -> None:
    assert not answers(reply, "What did you do?")


def test_a_fragment_after_a_statement_answers_nothing() -> None:
    assert not answers("On Tuesday.", "The lake is deep.")


def test_questions_and_proposals_are_told_apart_from_statements() -> None:
    assert only_asks("Tea? Or coffee?") and not only_asks("I have tea. Or coffee?")
    assert ends_asking("I have tea. Would you like some?") and not ends_asking("Tea? I have some.")
    assert proposes("I can move it to noon.") and proposes("(a) red, (b) blue") and not proposes("The lake is deep.")
