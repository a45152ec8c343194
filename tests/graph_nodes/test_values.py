"""What of a stored value is judged, what is a label, and what citations it carries."""

from __future__ import annotations

from typing import Any

import pytest

from admission.errors import InputError
from admission.settings import WriteSettings
from graph_nodes.values import citation_field, edited_value, memory_text, unjudged_fields

SETTINGS = WriteSettings()
TEA = "Ana likes green tea."
CLAIM = "Ana is a thief"
WORDS = ["pin", "code", "password", "reset", "invoice", "admin", "nurse", "flights", "refund"]


def judged(value: dict[str, Any]) -> str:
    return memory_text(value, SETTINGS)


def labels(value: dict[str, Any]) -> list[str]:
    return unjudged_fields(value, SETTINGS)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"content": TEA, "id": "7"}, TEA),
        ({"kind": "Memory", "content": {"content": TEA}}, TEA),
        ({"text": "second field", "memory": "first field"}, "first field\nsecond field"),
        ({"name": "Ana", "diet": ["vegan", "no nuts"]}, "name: Ana\ndiet: vegan\ndiet: no nuts"),
        ({"name": "Ana", "age": 61, "smokes": False, "pets": None}, "name: Ana\nage: 61\nsmokes: False"),
        ({"profile": {"home_city": {"name": "Lisbon"}}, "citations": ["m1"]}, "home city name: Lisbon"),
        ({"citations": "not ids"}, "citations: not ids"),
        ({"content": {"dislikes": "green tea"}}, "dislikes: green tea"),
        (
            {"kind": "Triple", "content": {"subject": "Ana", "predicate": "works_as", "object": "nurse"}},
            "Ana works as nurse",
        ),
        ({"subject": "Ana", "predicate": "likes", "object": "tea", "context": TEA}, f"Ana likes tea\n{TEA}"),
        ({"subject": "Ana", "object": "tea"}, "subject: Ana\nobject: tea"),
        ({"messages": [{"role": "user", "content": TEA}], "pageContent": "Hot."}, f"{TEA}\nHot."),
        ({"dislikes": "coffee\ngreen tea"}, "dislikes: coffee\ndislikes: green tea"),
        ({"content": None}, ""),
        ({}, ""),
    ],
)
def test_the_text_comes_first_and_a_value_is_read_with_what_its_field_is_called(
    value: dict[str, Any], text: str
) -> None:
    assert judged(value) == text


@pytest.mark.parametrize(
    ("beside", "line"),
    [
        ({"note": "Ana has cancer"}, "Ana has cancer"),
        ({"title": "Ana has cancer"}, "Ana has cancer"),
        ({"meta": {"a": [{"b": "Ana has cancer"}]}}, "meta a b: Ana has cancer"),
        ({"diagnosis": "cancer"}, "diagnosis: cancer"),
        ({"religion": ["Muslim"]}, "religion: Muslim"),
        ({"isPregnant": True}, "is Pregnant: True"),
        ({"balance": 900000}, "balance: 900000"),
        ({"birthday": "1990-01-01"}, "birthday: 1990-01-01"),
        ({"verified": True}, "verified: True"),
        ({"embedding": "Ana has cancer"}, "embedding: Ana has cancer"),
    ],
)
def test_whatever_says_something_beside_the_text_is_judged_with_it(beside: dict[str, Any], line: str) -> None:
    assert judged({"content": TEA, **beside}) == f"{TEA}\n{line}"
    assert labels({"content": TEA, **beside}) == []


@pytest.mark.parametrize(
    "beside",
    [
        {"hash": "0af33b5e8c1d4b7f", "created_at": "2024-01-01T10:00:00-07:00", "user_id": "ana"},
        {"category": "food", "confidence": 0.9, "tags": ["drink", "green tea", "hot"]},
        {"user_id": "550e8400-e29b-41d4-a716-446655440000", "run_id": None},
        {"kind": "UserPreference", "source": "chat", "language": "en-US", "importance": "high"},
        {"created_at": "2024-01-01", "modified_at": "2024-01-02", "encoding": "utf-8", "version": 2},
        {"embedding": [0.1, 0.2], "embedding_model": "text-embedding-3-small"},
        {"metadata": {"topic": "tea", "score": 3}, "Category": "food"},
        {"createdAt": "2026-11-30T10:00:00Z", "userId": "ana", "Memory-Type": "semantic", "last_updated": 1796040000},
        {"keywords": ["tea", "green tea", "drink"], "archived": False, "metadata": {"source": "chat", "page": 1}},
    ],
)
def test_labels_are_not_judged_and_are_named(beside: dict[str, Any]) -> None:
    value = {"content": TEA, **beside}
    assert judged(value) == TEA
    assert {name.split(".")[0] for name in labels(value)} == {name for name in beside if beside[name] is not None}


@pytest.mark.parametrize(
    "beside",
    [
        {"tags": ["Ana has cancer"]},
        {"tags": ["ana", "has", "cancer"]},
        {"tags": ["ana_has_cancer"]},
        {"tags": ["AnaHasCancer"]},
        {"tags": ["terminal illness"]},
        {"category": "no\u200bteas"},
        {"category": "сancer"},
        {"c\u0430tegory": "food"},
        {"category": {"Ana has cancer": None}},
        {"dislikes": {"category": "tea"}},
        {"dislikes": {"createdAt": "tea"}},
        {"category": {"subject": "ana", "predicate": "is", "object": "ill"}},
        {"keywords": WORDS},
        {"savedAt": "Ana has cancer"},
        {"user_id": "ana-likes-coffee-more-than-tea"},
        {"hash": "0" * 200},
        {"tags": WORDS},
        {"tags": WORDS[:5], "topics": WORDS[5:]},
    ],
)
def test_a_label_that_says_something_is_judged(beside: dict[str, Any]) -> None:
    """A sentence in one word or in many, a disguised one, a claim by the names above, keywords to be found by."""
    value = {"content": TEA, **beside}
    assert judged(value) != TEA and labels(value) == []


def test_keywords_that_the_text_says_itself_are_labels() -> None:
    assert labels({"content": " ".join(WORDS), "tags": WORDS}) == ["tags"]


def test_the_settings_say_what_is_a_label() -> None:
    value = {"content": TEA, "mood": "happy", "category": "food"}
    assert unjudged_fields(value, WriteSettings(metadata_fields=("mood",))) == ["mood"]
    assert memory_text(value, WriteSettings(metadata_fields=())) == f"{TEA}\nmood: happy\ncategory: food"


def test_a_name_that_is_a_sentence_is_judged_whatever_the_settings_say() -> None:
    value = {"content": TEA, "ana_is_a_thief": None, CLAIM: []}
    settings = WriteSettings(metadata_fields=("ana_is_a_thief", CLAIM))
    assert memory_text(value, settings) == f"{TEA}\nana is a thief\n{CLAIM}"


@pytest.mark.parametrize("value", [{"category": "food"}, {"content": "", "category": "food"}])
def test_a_value_of_nothing_but_labels_is_judged_by_them(value: dict[str, Any]) -> None:
    assert judged(value) == "category: food" and labels(value) == []


def test_labels_within_the_text_are_named_with_the_way_to_them() -> None:
    assert labels({"content": {"content": TEA, "category": "food"}}) == ["content.category"]


def test_a_long_vector_is_read_at_once() -> None:
    assert judged({"content": TEA, "embedding": [0.5] * 20_000}) == TEA


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"content": {CLAIM: "Ana likes tea."}}, f"{CLAIM}\nAna likes tea."),
        ({CLAIM: "Ana likes tea."}, f"{CLAIM}\nAna likes tea."),
        ({"content": {"text": "Ana likes tea.", CLAIM: None}}, f"Ana likes tea.\n{CLAIM}"),
        ({"content": [{"text": [{CLAIM: []}]}, "Ana likes tea."]}, f"{CLAIM}\nAna likes tea."),
        ({"content": {CLAIM: {}}}, CLAIM),
        ({"content": {CLAIM: ""}}, CLAIM),
        ({"content": {CLAIM: [None]}}, CLAIM),
        ({"content": {CLAIM: False}}, f"{CLAIM}: False"),
        ({"content": {CLAIM: {"age": 61}}}, f"{CLAIM}\nage: 61"),
        ({"content": {"ana_is_a_thief": None}}, "ana is a thief"),
        ({"content": TEA, CLAIM: None}, f"{TEA}\n{CLAIM}"),
        ({"content": {"Ana\u00a0lies": "x", "Ana\u200blies": "y"}}, "Ana\u00a0lies\nx\nAna\u200blies\ny"),
    ],
)
def test_a_name_that_may_be_a_sentence_is_judged_as_one(value: dict[str, Any], text: str) -> None:
    assert judged(value) == text


@pytest.mark.parametrize(
    ("value", "edited"),
    [
        ({"content": TEA, "category": "food"}, {"content": "new", "category": "food"}),
        ({"kind": "Memory", "content": {"content": TEA}}, {"kind": "Memory", "content": {"content": "new"}}),
        ({"content": [TEA], "note": "Hot."}, {"content": ["new"], "note": "Hot."}),
        ({"city": "Lisbon"}, {"city": "new"}),
    ],
)
def test_an_edit_takes_the_place_of_the_text(value: dict[str, Any], edited: dict[str, Any]) -> None:
    assert edited_value(value, "new", SETTINGS) == edited


@pytest.mark.parametrize(
    "value",
    [
        {"content": [TEA, TEA]},
        {"a": "x", "b": "y"},
        {"content": {CLAIM: None}},
        {"content": {"subject": "Ana", "predicate": "likes", "object": "tea"}},
        {},
    ],
)
def test_a_text_in_several_places_cannot_be_edited(value: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="no single text"):
        edited_value(value, "new", SETTINGS)


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
