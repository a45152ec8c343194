"""Which records a forget directive means, by what it names and what it describes, and texts without it."""

from __future__ import annotations

import pytest

from admission.reading.directives import read_directives
from admission.reading.forgetting import Forgetting, Forgotten, holds, means, redacted

EARLIER = (
    ("a", "While I am away, call the Swan Inn desk at 030-555-0142 and ask for Mira."),
    ("b", "The dentist moved my visit to Tuesday at 9:30."),
    ("c", "Temporary callback number noted: 030-555-0177, messages generic."),
    ("d", "My own mobile is 030-555-0100."),
)


def forgotten(text: str, earlier: tuple[tuple[str, str], ...] = EARLIER) -> Forgotten:
    (directive,) = read_directives("z", text, by="ivo")
    return Forgetting().resolve(directive, earlier)


def meant(found: Forgotten, records: tuple[tuple[str, str], ...] = EARLIER) -> list[str]:
    return [key for key, text in records if means(found, key, text)]


def test_records_that_hold_what_is_named_are_meant() -> None:
    assert meant(forgotten("Delete the number 030-555-0177.")) == ["c"]
    assert meant(forgotten("Forget the swan-inn contact and the alias Mira.")) == ["a"]


def test_the_number_of_a_named_place_is_meant_wherever_it_stands() -> None:
    found = forgotten("Delete the old Swan Inn desk number.")
    assert "030-555-0142" in found.values
    assert means(found, "later", "I still have 030-555-0142 written down.")
    assert not means(found, "d", EARLIER[3][1])


def test_a_description_means_the_records_that_hold_most_of_its_words_and_their_identifiers() -> None:
    found = forgotten("Please delete the temporary callback number.")
    assert found.keys == {"c"}
    assert found.values == ("030-555-0177",)
    assert meant(found) == ["c"]


def test_a_description_of_two_words_means_nothing_for_it_could_mean_anything() -> None:
    assert meant(forgotten("Please delete my visit.")) == []


def test_a_deferred_request_means_nothing_yet() -> None:
    assert meant(forgotten("Once I am back, delete the number 030-555-0142.")) == []


@pytest.mark.parametrize("fragment", ["does it end in 0142", "it began 030-555", "so 555-0142 it was"])
def test_a_telling_part_of_a_forgotten_identifier_counts(fragment: str) -> None:
    assert holds(fragment, "030-555-0142")


@pytest.mark.parametrize("other", ["030-555-0143", "call 0142-77", "in 555 days", "batch-dock-19", "dock-191"])
def test_another_identifier_does_not(other: str) -> None:
    assert not holds(other, "030-555-0142")
    assert not holds(other, "dock-19")


def test_a_lone_name_needs_its_capital_and_is_no_date() -> None:
    assert holds("Ask for June there.", "June")
    assert not holds("See you on June 12.", "June")
    assert not holds("a mira cast", "Mira")


def test_what_is_left_of_a_directive_holds_none_of_its_values() -> None:
    text = "Delete the Swan Inn line 030-555-0142; the Swan-Inn desk is closed."
    left = redacted(text, ("Swan Inn", "030-555-0142"))
    assert "Swan" not in left and "0142" not in left
    assert left.startswith("Delete the ") and left.endswith("desk is closed.")
