"""What the coverage check adds to a decomposition that leaves something of the memory unsaid."""

from __future__ import annotations

import pytest

from admission.obligations import cover
from admission.records import Obligation


def made(*texts: str) -> list[Obligation]:
    return [Obligation(id=f"x{n}", text=text, type="fact") for n, text in enumerate(texts)]


def covered(memory: str, *texts: str) -> list[str]:
    return [o.text for o in cover(memory, made(*texts))]


COMPLETE = [
    ("Noa sold her flat and bought a boat.", "Noa sold her flat.", "Noa bought a boat."),
    ("Noa doesn't eat meat.", "Noa does not eat meat."),
    ("Noa cannot swim.", "Noa can't swim."),
    ("Noa has three cats.", "Noa has 3 cats."),
    ("Noa paid 1,200 euros.", "Noa paid 1200 euros."),
    ("Noa likes hiking.", "Noa likes to hike."),
    ("Noa does not like olives or anchovies.", "Noa does not like olives.", "Noa does not like anchovies."),
    ("Hi! Noa lives in Graz.", "Noa lives in Graz."),
]


@pytest.mark.parametrize(("memory", "texts"), [(m, t) for m, *t in COMPLETE])
def test_a_complete_decomposition_is_left_as_it_is(memory: str, texts: list[str]) -> None:
    assert covered(memory, *texts) == texts


LOSSY = [
    # a clause, a number, a name, a negation, a modal, a quantifier, a connective
    ("Noa sold her flat and bought a boat.", ["Noa sold her flat."], "Noa bought a boat."),
    ("Noa has three cats.", ["Noa has cats."], "Noa has three cats."),
    ("Noa works with Per.", ["Noa works."], "Noa works with Per."),
    ("Noa does not smoke.", ["Noa smokes."], "Noa does not smoke."),
    ("Noa may move.", ["Noa moves."], "Noa may move."),
    ("All of the cats are black.", ["The cats are black."], "All of the cats are black."),
    ("Noa left because Per sang.", ["Noa left.", "Per sang."], "Noa left because Per sang."),
    ("Noa wants tea or coffee.", ["Noa wants tea.", "Noa wants coffee."], "Noa wants tea or coffee."),
    ("Noa moved to Graz on 3 May 2024.", ["Noa moved to Graz."], "Noa moved to Graz on 3 May 2024."),
    ("Noa still smokes.", ["Noa smokes."], "Noa still smokes."),
]


@pytest.mark.parametrize(("memory", "texts", "added"), LOSSY)
def test_what_is_missing_becomes_one_more_obligation(memory: str, texts: list[str], added: str) -> None:
    assert covered(memory, *texts) == [*texts, added]


def test_a_negation_counts_only_with_the_word_it_denies() -> None:
    texts = ["Noa does not smoke.", "Noa drinks."]
    assert covered("Noa does not smoke. Noa does not drink.", *texts) == [*texts, "Noa does not drink."]


def test_two_numbers_exchanged_are_not_covered() -> None:
    texts = ["The limit is 3 in production.", "The limit is 5 locally."]
    memory = "The limit is 3 locally and 5 in production."
    assert covered(memory, *texts) == [*texts, memory]


def test_what_is_missing_from_several_clauses_is_still_one_obligation() -> None:
    memory = "Noa sold her flat and bought a boat. Noa paints."
    assert covered(memory, "Noa sold her flat.") == ["Noa sold her flat.", "Noa bought a boat. Noa paints."]


def test_what_is_added_stands_alone() -> None:
    assert covered("Noa is a nurse. She lives in Graz.", "Noa is a nurse.")[-1] == "Noa lives in Graz."


def test_without_any_decomposition_the_whole_claim_is_one_obligation() -> None:
    assert covered("Noa likes tea.") == ["Noa likes tea."]
    assert covered("ok, thanks") == []


def test_blanks_and_exact_repetitions_go_and_ids_are_made_anew() -> None:
    found = cover("Noa likes tea.", made("Noa likes tea.", " ", "Noa likes tea.  ", "Noa is here."))
    assert [(o.id, o.text) for o in found] == [("o1", "Noa likes tea."), ("o2", "Noa is here.")]


def test_any_script_is_covered() -> None:
    assert covered("诺亚住在格拉茨。她喜欢茶。", "诺亚住在格拉茨。")[-1] == "她喜欢茶。"
