"""What each route searches, and what that costs."""

from __future__ import annotations

import numpy as np
import pytest
from reading_worlds import STALE, by_position, memory, question, two_people

from admission.evaluation.reading.comparison import Comparison, compare
from admission.evaluation.reading.dataset import ReadingData
from admission.evaluation.reading.routes import newest_first, random_others, routes, seconds


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(by_position(two_people()), ["scripted"], budgets=(4, 10))


def test_the_global_route_is_half_full_of_the_other_persons_memories(found: Comparison) -> None:
    figures = found.of("global", "scripted", 10)
    assert figures.scope_violations.value == 0.5
    assert figures.computations == 40


def test_the_namespace_route_holds_none_of_them_and_computes_half_the_similarities(found: Comparison) -> None:
    figures = found.of("namespace", "scripted", 10)
    assert figures.scope_violations.value == 0.0
    assert figures.computations == 20
    assert figures.against_global["recall"].value > 0


def test_filtering_afterwards_costs_the_global_search_and_finds_no_more_than_its_depth_held(found: Comparison) -> None:
    shallow, deep = found.of("post-filter@20", "scripted", 10), found.of("post-filter@500", "scripted", 10)
    assert shallow.computations == deep.computations == 40
    assert deep.recall == found.of("namespace", "scripted", 10).recall


def test_what_is_needed_is_found_in_as_many_places_as_the_boundary_leaves(found: Comparison) -> None:
    # Of five questions a person, those that need memories 0 to 3 of one's own fit in four places.
    assert found.of("namespace", "scripted", 4).reach.value == pytest.approx(3 / 5)
    assert found.of("global", "scripted", 4).reach.value == pytest.approx(1 / 5)


def test_a_random_part_of_the_same_size_costs_the_same_and_finds_less() -> None:
    data = two_people(memories_each=50)
    found = compare(by_position(data), ["scripted"], budgets=(50,))
    random, own = found.of("random partition", "scripted", 50), found.of("namespace", "scripted", 50)
    assert random.computations == own.computations
    assert random.recall.value < own.recall.value


def test_the_oracle_keeps_what_is_required_and_draws_the_rest() -> None:
    mask = random_others(10, 100, np.array([3, 99]), (0, 1))
    assert mask.sum() == 10
    assert mask[3] and mask[99]
    assert random_others(10, 100, np.array([3, 99]), (0, 1)).tolist() == mask.tolist()
    assert random_others(10, 100, np.array([3, 99]), (0, 2)).tolist() != mask.tolist()


def test_current_only_leaves_out_what_is_stale_even_where_the_past_is_asked_for() -> None:
    memories = (memory("old", "ana", lifecycle=STALE), memory("new", "ana"))
    data = ReadingData("d", memories, (question("q", "ana", ["old"], intent="history"),), "")
    found = compare(by_position(data), ["scripted"], budgets=(2,))
    assert found.of("namespace", "scripted", 2).recall.value == 1.0
    assert found.of("current only", "scripted", 2).recall.value == 0.0


def test_recency_takes_the_newest_before_the_question_without_any_similarity() -> None:
    times = ["2024-01-01", "2024-03-01", "2024-02-01T08:00:00", None, "2024-05-01"]
    order = newest_first(np.array([seconds(time) for time in times]), "2024-03-01")
    assert order.tolist() == [1, 2, 0, 4, 3]
    route = next(route for route in routes() if route.name == "recency")
    assert not route.uses_ranker


def test_a_question_without_a_time_takes_the_newest_of_all() -> None:
    assert newest_first(np.array([seconds("2024-01-01"), seconds("2024-02-01")]), None).tolist() == [1, 0]


def test_a_memory_without_a_namespace_is_in_nobodys() -> None:
    memories = (memory("mine", "ana"), memory("whose", None))
    data = ReadingData("d", memories, (question("q", "ana", ["mine"]),), "")
    found = compare(by_position(data), ["scripted"], budgets=(2,))
    assert found.of("namespace", "scripted", 2).computations == 1
    assert found.of("global", "scripted", 2).scope_violations.value == 0.0


def test_what_the_data_do_not_state_stays_open_and_makes_the_upper_bound_one(found: Comparison) -> None:
    assert found.stated == ("scope",)
    every_axis = found.of("namespace", "scripted", 10, "all")
    assert (every_axis.lower.value, every_axis.upper.value, every_axis.coverage.value) == (0.0, 1.0, 0.0)
    assert every_axis.known_risk.value is None
    assert found.of("namespace", "scripted", 10).upper.value == 0.0


def test_the_same_run_gives_the_same_figures(found: Comparison) -> None:
    assert compare(by_position(two_people()), ["scripted"], budgets=(4, 10)) == found
