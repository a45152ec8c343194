"""Alignment clause by clause: whose doing it is, in which mode, and what joins the parts of a link."""

from __future__ import annotations

import pytest

from admission.records import Passage
from admission.verifiers.alignment_links import linked
from admission.verifiers.alignment_note import doubts
from admission.verifiers.alignment_structure import Structure, structure
from admission.verifiers.checks import read
from admission.verifiers.soft_match import align
from admission.verifiers.states import StateEncoder

LAST_LAYER = 6


@pytest.fixture(scope="module")
def encoder() -> StateEncoder:
    return StateEncoder((LAST_LAYER,))


def compared(encoder: StateEncoder, obligation: str, *lines: tuple[str, str]) -> Structure:
    shown = [
        Passage(id=f"t{i}", turn_id=f"t{i}", position=i, role="user", speaker=speaker, text=text,
                origin="conversation", end=len(text))
        for i, (speaker, text) in enumerate(lines, start=1)
    ]  # fmt: skip
    return structure(align(read(obligation), shown, encoder))


@pytest.mark.parametrize(
    ("own", "other", "lines"),
    [
        ("Rhea keeps bees.", "Odd keeps bees.", (("Rhea", "I keep bees."), ("Odd", "Lovely."))),
        ("Rhea keeps bees.", "Odd keeps bees.", (("Odd", "You keep bees, Rhea."), ("Rhea", "Just three hives."))),
        ("Rhea's wife keeps bees.", "Rhea keeps bees.", (("Rhea", "My wife keeps bees."), ("Odd", "Lovely."))),
        ("Tobias keeps bees.", "Odd keeps bees.", (("Odd", "Tobias still keeps bees."), ("Rhea", "Lovely."))),
        ("Rhea mended the kiln.", "Odd mended the kiln.",
         (("Rhea", "I mended the kiln."), ("Odd", "A mended kiln! I am so glad."))),
    ],
)  # fmt: skip
def test_a_statement_fits_the_one_it_is_told_of(
    encoder: StateEncoder, own: str, other: str, lines: tuple[tuple[str, str], ...]
) -> None:
    assert compared(encoder, own, *lines).coverage("owner") > compared(encoder, other, *lines).coverage("owner")


@pytest.mark.parametrize(
    ("fits", "does_not", "said"),
    [
        ("Rhea sold the boat.", "Rhea hopes to sell the boat.", "I sold the boat."),
        ("Rhea may sell the boat.", "Rhea sold the boat.", "I might sell the boat."),
        ("Rhea hopes to sell the boat.", "Rhea sold the boat.", "I'd love to sell the boat."),
    ],
)
def test_a_statement_fits_the_mode_it_is_told_in(encoder: StateEncoder, fits: str, does_not: str, said: str) -> None:
    good, bad = compared(encoder, fits, ("Rhea", said)), compared(encoder, does_not, ("Rhea", said))
    assert good.coverage("mode") / good.coverage() > bad.coverage("mode") / bad.coverage()


def test_a_question_asserts_nothing_until_it_is_answered_yes(encoder: StateEncoder) -> None:
    asked = ("Odd", "Did you sell the boat?")
    denied = compared(encoder, "Rhea sold the boat.", asked, ("Rhea", "Not a word about it, please."))
    agreed = compared(encoder, "Rhea sold the boat.", asked, ("Rhea", "Yes, on Monday."))
    assert agreed.coverage("all") > denied.coverage("all")


def test_a_cause_needs_a_link_in_its_own_direction(encoder: StateEncoder) -> None:
    claim = "Rhea moved because her lease ended."
    said = linked(compared(encoder, claim, ("Rhea", "I moved because my lease ended.")))
    turned = linked(compared(encoder, claim, ("Rhea", "My lease ended because I moved.")))
    beside = linked(compared(encoder, claim, ("Rhea", "I moved and my lease ended.")))
    assert said.strong > max(turned.strong, beside.strong)
    assert turned.reversed > said.reversed
    assert beside.loose > 0.5


def test_so_says_the_cause_first(encoder: StateEncoder) -> None:
    found = linked(compared(encoder, "Rhea moved because her lease ended.", ("Rhea", "My lease ended, so I moved.")))
    assert found.strong > 0.8


def test_a_link_that_joins_something_else_does_not_count(encoder: StateEncoder) -> None:
    lines = (("Rhea", "My lease ended in May. I moved because the sea is near."),)
    found = linked(compared(encoder, "Rhea moved because her lease ended.", *lines))
    assert found.elsewhere > found.strong


def test_doubts_name_whose_doing_it_is_and_how_it_is_told(encoder: StateEncoder) -> None:
    others = compared(encoder, "Odd keeps bees.", ("Rhea", "I keep bees."), ("Odd", "Lovely."))
    assert doubts(others) == ["'bees' is told of Rhea, not of Odd (t1)"]
    wished = compared(encoder, "Rhea sold the boat.", ("Rhea", "I'd love to sell the boat."))
    assert any("told as a wish, not told as a fact (t1)" in doubt for doubt in doubts(wished))
