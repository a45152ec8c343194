"""Prompts: every template loads, has its places, and tells the judge that evidence is no instruction."""

import pytest

import prompts

ASKING = [name for name in prompts.NAMES if name.startswith("judge_") or name == "adjudicate"]


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("system", set()),
        ("decompose", set()),
        ("decompose_memory", {"fence", "memory"}),
        ("repair_decompose", {"problems"}),
        ("repair", {"problems", "ids"}),
        *((name, {"fence", "evidence", "statements"}) for name in ASKING),
    ],
)
def test_a_template_has_exactly_its_places(name: str, places: set[str]) -> None:
    assert set(prompts.load(name).get_identifiers()) == places


def test_there_is_a_prompt_for_each_view_and_one_for_the_adjudicator() -> None:
    views = (
        "holistic",
        "atomic_claims",
        "predicate_argument_qa",
        "compact_relation",
        "composition_graph",
        "obligations",
    )
    assert sorted(ASKING) == sorted(["adjudicate", *(f"judge_{view}" for view in views)])


@pytest.mark.parametrize("name", ASKING)
def test_evidence_opens_the_prompt_and_the_statements_end_it_so_that_a_prefix_can_be_shared(name: str) -> None:
    text = prompts.load(name).template
    assert text.startswith("$fence\n$evidence\n$fence\n")
    assert text.endswith("$statements")


@pytest.mark.parametrize("name", ["system", "decompose"])
def test_what_is_given_is_said_to_be_data_and_no_instruction(name: str) -> None:
    assert "instruction" in prompts.load(name).template


@pytest.mark.parametrize(
    "rule",
    [
        "usually happens",
        "has to be stated",
        "Mind who said it",
        "planned or done",
        "latest correction",
        "Quote the words",
    ],
)
def test_the_rules_that_stand_against_a_plausible_premise_go_before_every_question(rule: str) -> None:
    assert rule in prompts.load("system").template


def test_an_unknown_prompt_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"system, judge_obligations.*adjudicate"):
        prompts.load("persuade")


def test_the_digest_covers_all_templates() -> None:
    assert len(prompts.digest()) == 64
