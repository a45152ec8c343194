"""Only texts that are clearly not English are called foreign; names, numbers, code and scraps are not."""

from __future__ import annotations

import pytest

from admission.language import all_foreign, is_foreign


@pytest.mark.parametrize(
    "text",
    [
        "Lucía vive en Valencia desde enero",
        "Mein Bruder wohnt in Graz und arbeitet bei der Bahn.",
        "Elle ne mange pas de viande, mais elle aime le poisson.",
        "Она переехала в Казань",
        "妹は大阪に住んでいます",
        "أختي تسكن في دمشق",
        "Min bror bor i Bergen og jeg savner ham",
    ],
)
def test_other_languages_are_foreign(text: str) -> None:
    assert is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "Lucía moved to La Rioja in May.",
        "Marie-Claire de la Tour visited",
        "Our guide was Herr von der Heide.",
        "Nina likes tea",
        "OK!",
        "👍",
        "",
        "3.5 km, 42 min",
        "She wrote 東京 on the label",
        "café on Tuesday?",
    ],
)
def test_english_names_numbers_and_scraps_are_not(text: str) -> None:
    assert not is_foreign(text)


def test_a_conversation_is_foreign_when_everything_with_letters_in_it_is() -> None:
    assert all_foreign(["Vivo en Sevilla con mi hermana.", "42", "😀"])
    assert not all_foreign(["Vivo en Sevilla con mi hermana.", "I live in Seville."])
    assert not all_foreign(["42", "😀"])
    assert not all_foreign([])
