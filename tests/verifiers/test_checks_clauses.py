"""Clauses as the alignment verifier reads them: whose doing, in which mode, and opened by what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.verifiers.checks.clauses import Owner, clauses
from admission.verifiers.checks.links import link_of
from admission.verifiers.checks.modes import mode_of
from admission.verifiers.checks.reading import read


def owners(sentence: str) -> list[Owner | None]:
    return [clause.owner for clause in clauses(sentence)]


@pytest.mark.parametrize(
    ("sentence", "owner"),
    [
        ("I keep three hives.", Owner("speaker")),
        ("Our shed leaks.", Owner("speaker")),
        ("You keep three hives.", Owner("addressee")),
        ("My wife keeps three hives.", Owner("third", frozenset({"wife"}))),
        ("Tobias's sister keeps three hives.", Owner("third", frozenset({"sister"}))),
        ("It was Tobias who sold the hives.", Owner("third", frozenset({"tobias"}))),
        ("It rained.", Owner("thing")),
        ("Sold the hives.", None),
    ],
)
def test_the_subject_named_first_is_whose_doing_it_is(sentence: str, owner: Owner | None) -> None:
    assert owners(sentence)[0] == owner


def test_every_clause_has_its_own_subject() -> None:
    assert owners("I sing, but my brother plays the cello.") == [
        Owner("speaker"),
        Owner("third", frozenset({"brother"})),
    ]


@pytest.mark.parametrize(
    ("sentence", "link"),
    [
        ("I moved because the lease ended.", "cause"),
        ("The lease ended, so I moved.", "effect"),
        ("I moved to save the fare.", "purpose"),
        ("I move if the rent goes up.", "condition"),
        ("I moved before the lease ended.", "before"),
        ("I moved, the lease ended.", "comma"),
    ],
)
def test_what_opens_a_clause_says_how_it_is_linked(sentence: str, link: str) -> None:
    assert clauses(sentence)[-1].link == link


@pytest.mark.parametrize(
    ("clause", "mode"),
    [
        ("I sold the boat", "fact"),
        ("I'll sell the boat", "plan"),
        ("I'm going to sell the boat", "plan"),
        ("I'd love to sell the boat", "wish"),
        ("I hope to sell the boat", "wish"),
        ("I'm thinking of selling the boat", "chance"),
        ("I might sell the boat", "chance"),
    ],
)
def test_a_clause_is_told_in_one_mode(clause: str, mode: str) -> None:
    assert mode_of(clause) == mode


def test_what_led_to_something_is_its_cause() -> None:
    link = link_of(read("The flood led Rhea to sell the boat, which is why she walks."))
    assert link is not None
    assert (link.kind, link.other.text, link.main.text) == (
        "cause",
        "The flood led Rhea to sell the boat",
        "she walks",
    )


def test_a_time_given_with_since_is_no_cause() -> None:
    assert link_of(read("Rhea has kept bees since October.")) is None


@given(st.text(max_size=80))
def test_the_clauses_of_any_text_cover_its_words_in_order(text: str) -> None:
    found = clauses(text)
    places = [i for clause in found for i in range(clause.first, clause.last)]
    assert places == list(range(len(read(text).words)))
