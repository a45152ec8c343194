"""docs/prompts.md shows the prompts as they are sent, filled in on the case it tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted_chat import passage, question

import prompts
from admission.obligations.fidelity import objections
from admission.records import Obligation, VerificationView
from admission.verifiers.chat import decomposer
from admission.verifiers.chat.requests import messages_for, repair_of

PAGE = (Path(__file__).parents[3] / "docs" / "prompts.md").read_text()
TURNS = (
    passage("t4", "I moved to Leeds in March.", 3, time="2026-04-02T18:20:00"),
    passage("t6", "My sister had a baby, so I am\nan aunt now!", 5, time="2026-04-02T18:24:00"),
)
CASE = [
    question("Ana moved to Leeds.", *TURNS, id="o1"),
    question("Ana's sister had a baby.", *TURNS, id="o2"),
    question("Ana moved to Leeds because her sister had a baby.", *TURNS, id="o3", type="relation"),
    question("Ana moved to Leeds in March.", *TURNS, id="o4", type="qualification"),
]
WHOLE = CASE[0].model_copy(
    update={
        "obligation": Obligation(
            id="o1", text="Ana moved to Leeds in March because her sister had a baby.", type="fact"
        )
    }
)


def test_the_shared_part_is_shown_in_full() -> None:
    assert prompts.load("system").template in PAGE


@pytest.mark.parametrize(
    ("role", "view"),
    [
        ("verifier_a", "obligations"),
        ("verifier_a", "holistic"),
        ("verifier_a", "atomic_claims"),
        ("verifier_a", "predicate_argument_qa"),
        ("verifier_a", "compact_relation"),
        ("verifier_a", "composition_graph"),
        ("adjudicator", "obligations"),
    ],
)
def test_each_prompt_is_shown_as_it_is_sent(role: str, view: VerificationView) -> None:
    asked = {"holistic": [WHOLE], "atomic_claims": CASE[:2]}.get(view, CASE)
    user = messages_for(asked, role, view)[1].content
    evidence, question_part = user.split("\n\n", 1)
    assert evidence in PAGE
    assert question_part in PAGE


def test_the_repair_is_shown_as_it_is_sent() -> None:
    assert repair_of((), "", ['"o3" has no verdict'], ["o1", "o2", "o3", "o4"])[-1].content in PAGE


def test_the_prompt_for_decomposition_is_shown_as_it_is_sent() -> None:
    system, user = decomposer.messages_for(WHOLE.obligation.text)
    assert system.content in PAGE
    assert user.content in PAGE


def test_the_repair_of_a_decomposition_is_shown_as_it_is_sent() -> None:
    told = ("Ana moved to York in March.", "Ana's sister had a baby.", CASE[2].obligation.text)
    problems = objections(WHOLE.obligation.text, [Obligation(id="o1", text=text, type="fact") for text in told])
    assert prompts.load("repair_decompose").substitute(problems="; ".join(problems)) in PAGE
