"""The labelled pairs: a wrongly superseded memory is the expensive error, so precision is held first."""

from __future__ import annotations

import pytest
from labelled_pairs import judged, pairs


@pytest.mark.parametrize("part", ["dev", "heldout", "fresh"])
def test_each_part_has_as_many_pairs_that_must_not_supersede_and_many_kinds_of_them(part: str) -> None:
    listed = pairs(part)
    negative = [pair for pair in listed if not pair.supersedes]
    assert len(listed) >= 60 and 2 * len(negative) >= len(listed)
    assert len({pair.kind for pair in negative}) >= 12
    assert len({pair.id for pair in listed}) == len(listed)


@pytest.mark.parametrize("part", ["dev", "heldout", "fresh"])
def test_by_the_words_alone_nothing_is_superseded_that_should_not_be(part: str) -> None:
    certain = [(pair, found) for pair in pairs(part) if (found := judged(pair)) is not None and found.ask is None]
    assert [pair.id for pair, _ in certain if not pair.supersedes] == []


@pytest.mark.parametrize(("part", "at_least"), [("dev", 0.9), ("heldout", 0.7), ("fresh", 0.7)])
def test_most_of_what_supersedes_is_found(part: str, at_least: float) -> None:
    positive = [pair for pair in pairs(part) if pair.supersedes]
    assert sum(judged(pair) is not None for pair in positive) >= at_least * len(positive)


def test_where_only_the_world_tells_a_judge_is_asked_with_the_new_value_in_the_old_sentence() -> None:
    asked = {pair.kind: found.ask for pair in pairs("dev") if (found := judged(pair)) is not None and found.ask}
    assert asked["within"] == ("Ana lives in New York.", "Ana lives in Brooklyn.")
