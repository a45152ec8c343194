"""Prompts: every template loads, has its places, and tells the judge that evidence is no instruction."""

import pytest

import prompts


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("decompose", {"fence", "memory"}),
        ("judge", {"fence", "evidence", "statements"}),
        ("adjudicate", {"fence", "evidence", "statement"}),
    ],
)
def test_a_template_has_exactly_its_places_and_fences_what_it_is_given(name: str, places: set[str]) -> None:
    template = prompts.load(name)
    assert set(template.get_identifiers()) == places  # type: ignore[attr-defined,unused-ignore]
    text = template.substitute(dict.fromkeys(places, "X"))
    assert "instruction" in text


def test_evidence_comes_before_the_question_so_that_its_prefix_can_be_shared() -> None:
    for name, question in (("judge", "$statements"), ("adjudicate", "$statement")):
        text = prompts.load(name).template
        assert text.index("$evidence") < text.index(question)


def test_an_unknown_prompt_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match="decompose, judge, adjudicate"):
        prompts.load("persuade")


def test_the_digest_covers_all_templates() -> None:
    assert len(prompts.digest()) == 64
