"""What a whole write costs with chat judges: the bar at four obligations, and which writes are within it."""

from __future__ import annotations

import pytest

from admission.verifiers.minilm import tokenizer
from benchmarks.write_cost import KINDS, STATUS, Cost, Kind, Write, published, published_on_one_view, through_the_gate

CALLS, TOKENS = 0.35, 0.40
WITHIN: list[Kind] = ["one turn", "a turn each", "another turn"]


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    tokenizer()  # before a request is timed


def within(cost: Cost, other: Cost) -> bool:
    return cost.calls <= CALLS * other.calls and cost.tokens <= TOKENS * other.tokens


@pytest.mark.parametrize("disputed", [0, 1])
@pytest.mark.parametrize("kind", WITHIN)
def test_a_whole_joint_write_of_four_facts_is_within_the_bar(kind: Kind, disputed: int) -> None:
    write = Write(kind, disputed=disputed)
    report, cost = through_the_gate("joint", write)
    assert (report.status, len(report.obligations)) == (STATUS[kind], 4)
    assert (report.usage.calls, report.usage.input_tokens) == (cost.calls, cost.tokens)
    assert within(cost, published(write))


def test_the_published_protocol_is_counted_by_its_own_rules() -> None:
    """Two calls an obligation and view, one a disagreement, one for the decomposition."""
    assert [published(Write(kind)).calls for kind in KINDS] == [9, 9, 9, 17]
    assert [published(Write(kind, disputed=1)).calls for kind in KINDS] == [10, 10, 10, 18]
    assert {published_on_one_view(Write(kind)).calls for kind in KINDS} == {9}


def test_an_admitted_write_is_one_look_and_a_repaired_one_two() -> None:
    calls = {kind: through_the_gate("joint", Write(kind))[1].calls for kind in KINDS}
    assert calls == {"one turn": 2, "a turn each": 2, "another turn": 4, "restated": 4}


def test_two_looks_are_more_than_the_bar_allows_beside_one_view() -> None:
    """Which docs/cost.md says: a repaired write against the expanded view alone, and a fact said again later."""
    repaired, again = Write("another turn"), Write("restated")
    assert not within(through_the_gate("joint", repaired)[1], published_on_one_view(repaired))
    assert not within(through_the_gate("joint", again)[1], published(again))


@pytest.mark.parametrize("kind", KINDS)
def test_the_calls_of_a_joint_write_do_not_grow_with_its_facts(kind: Kind) -> None:
    few, many = (through_the_gate("joint", Write(kind, facts))[1] for facts in (1, 8))
    assert few.calls == many.calls


def test_a_cascade_asks_its_model_about_the_whole_alone() -> None:
    assert through_the_gate("cascade", Write("a turn each"))[1].calls == 2
