"""What of a stored value is judged, and what citations it carries."""

from __future__ import annotations

from typing import Any

import pytest

from admission.settings import WriteSettings
from graph_nodes.values import citation_field, memory_text, unjudged_fields

SETTINGS = WriteSettings()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"content": "Ana likes tea.", "id": "7"}, "Ana likes tea."),
        ({"kind": "Memory", "content": {"content": "Ana likes tea."}}, "Ana likes tea."),
        ({"text": "second field", "memory": "first field"}, "first field"),
        ({"name": "Ana", "diet": ["vegan", "no nuts"]}, "Ana\nvegan\nno nuts"),
        ({"name": "Ana", "age": 61, "smokes": False, "pets": None}, "Ana\nage: 61\nsmokes: False"),
        ({"profile": {"city": {"name": "Lisbon"}}, "citations": ["m1"]}, "Lisbon"),
        ({"citations": "not ids"}, "not ids"),
        ({"content": None}, ""),
        ({}, ""),
    ],
)
def test_the_first_text_field_is_judged_or_else_everything_the_value_says(value: dict[str, Any], text: str) -> None:
    assert memory_text(value, SETTINGS) == text


CLAIM = "Ana is a thief"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"content": {CLAIM: "Ana likes tea."}}, f"{CLAIM}\nAna likes tea."),
        ({CLAIM: "Ana likes tea."}, f"{CLAIM}\nAna likes tea."),
        ({"content": {"x": "Ana likes tea.", CLAIM: None}}, f"Ana likes tea.\n{CLAIM}"),
        ({"content": [{"x": [{CLAIM: []}]}, "Ana likes tea."]}, f"{CLAIM}\nAna likes tea."),
        ({"content": {CLAIM: {}}}, CLAIM),
        ({"content": {CLAIM: ""}}, f"{CLAIM}\n"),
        ({"content": {CLAIM: [None]}}, CLAIM),
        ({"content": {CLAIM: False}}, f"{CLAIM}: False"),
        ({"content": {CLAIM: {"age": 61}}}, f"{CLAIM}\nage: 61"),
        ({"content": {"Ana\u00a0lies": "x", "Ana\u200blies": "y"}}, "Ana\u00a0lies\nx\nAna\u200blies\ny"),
    ],
)
def test_a_name_of_several_words_is_judged_with_what_it_holds(value: dict[str, Any], text: str) -> None:
    assert memory_text(value, SETTINGS) == text


@pytest.mark.parametrize("name", ["home_city", "homeCity", "e-mail", "user.name", "città", "都市"])
def test_a_name_of_one_word_is_no_part_of_the_text(name: str) -> None:
    assert memory_text({"content": {name: "Lisbon"}}, SETTINGS) == "Lisbon"


def test_a_name_of_several_words_beside_the_text_is_told_as_not_judged() -> None:
    assert unjudged_fields({"content": "Ana likes tea.", CLAIM: None}, SETTINGS) == [CLAIM]


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"citations": ["m1"]}, "citations"),
        ({"citations": "m1", "sources": []}, "sources"),
        ({"citations": [1]}, None),
        ({}, None),
    ],
)
def test_citations_are_a_list_of_ids_in_a_field_the_settings_name(value: dict[str, Any], field: str | None) -> None:
    assert citation_field(value, SETTINGS) == field
