"""The restore counterfactual: which errors only retention mends, which retrieval, and which the reader."""

from __future__ import annotations

import numpy as np
import pytest
from eviction_worlds import FORCED, RANKED, FakeJudge, FakeReader, keeping, subject, worlds
from hypothesis import given, settings
from numpy.typing import NDArray

from admission.eviction.restore import CAP, ReadSetting, Subject, answered_from_gold, restore
from admission.eviction.scoring import Containment, Judged

TEXTS = ("tea in spring", "a boat", "blue paint", "the dog barks")


def outcome(asked: Subject, kept: NDArray[np.bool_], setting: ReadSetting = RANKED) -> tuple[str, int | None]:
    (found,) = restore([asked], [kept], setting, Containment())
    return found.outcome.cell, found.outcome.gain


def test_evidence_that_was_evicted_makes_the_error_irreversible() -> None:
    assert outcome(subject(TEXTS, [0], [0, 1, 2, 3]), keeping(4, 1, 2, 3)) == ("irreversible", 1)


def test_one_piece_evicted_of_several_is_enough() -> None:
    assert outcome(subject(TEXTS, [0, 1], [0, 1, 2, 3]), keeping(4, 1, 2, 3)) == ("irreversible", 1)


def test_evidence_that_survived_but_was_not_among_the_first_k_makes_the_error_recoverable() -> None:
    assert outcome(subject(TEXTS, [3], [0, 1, 2, 3]), keeping(4, 0, 1, 2, 3)) == ("recoverable", 1)


def test_a_question_read_with_its_evidence_is_right_and_gains_nothing() -> None:
    assert outcome(subject(TEXTS, [1], [0, 1, 2, 3]), keeping(4, 0, 1, 2, 3)) == ("right", 0)


def test_a_reader_that_fails_with_the_evidence_in_hand_leaves_a_residual_error() -> None:
    asked = subject(TEXTS, [0], [0, 1, 2, 3], answer="never written anywhere")
    (found,) = restore([asked], [keeping(4, 0, 1)], RANKED, Judged(FakeReader(), FakeJudge()))
    assert (found.outcome.cell, found.outcome.gain) == ("residual", 0)


def test_what_survived_is_ranked_without_what_was_evicted() -> None:
    asked = subject(TEXTS, [3], [0, 1, 2, 3])
    assert asked.context(keeping(4, 1, 2, 3), RANKED) == (1, 2)
    assert asked.context(keeping(4, 3), RANKED) == (3,)


def test_forced_reading_has_all_surviving_gold_and_fills_up_by_the_ranking() -> None:
    asked = subject(TEXTS, [2, 3], [0, 1, 2, 3])
    assert asked.context(keeping(4, 0, 1, 3), FORCED) == (0, 3)
    assert asked.context(keeping(4, 0, 1, 2, 3), FORCED.model_copy(update={"k": 1})) == (2, 3)


def test_a_restoration_adds_whole_memories_up_to_its_cap() -> None:
    asked = subject(TEXTS, [0, 1, 3], [0, 1, 2, 3])
    assert asked.with_added((2,), asked.gold, 5) == (0, 1, 2)
    assert asked.with_added((2,), asked.gold, CAP) == (0, 1, 2, 3)


def test_a_question_whose_gold_does_not_fit_the_cap_is_not_answered_from_it() -> None:
    asked = subject(TEXTS, [0, 1], [0, 1, 2, 3])
    assert answered_from_gold([asked], Containment(), cap=4) == ["wrong"]
    assert answered_from_gold([asked], Containment(), cap=5) == ["right"]


def test_a_failed_call_is_no_error_of_memory() -> None:
    class FakeAbsentReader(FakeReader):
        def answer(self, requests: object) -> list[str | None]:
            return [None]

    asked = subject(TEXTS, [0], [0, 1, 2, 3], answer="tea")
    (found,) = restore([asked], [keeping(4, 1)], RANKED, Judged(FakeAbsentReader(), FakeJudge()))
    assert (found.outcome.cell, found.outcome.gain) == ("unread", None)


def test_neither_reader_nor_judge_is_told_an_id_a_label_or_the_condition() -> None:
    reader, judge = FakeReader(), FakeJudge()
    asked = subject(TEXTS, [0, 3], [1, 2, 0, 3], answer="tea in spring")
    restore([asked], [keeping(4, 1, 2, 3)], RANKED, Judged(reader, judge))
    assert len(reader.seen) == 2
    for request in reader.seen:
        assert set(vars(request)) == {"question", "time", "context", "attempt"}
        assert all(set(vars(memory)) == {"text", "time"} for memory in request.context)
    for told in judge.seen:
        assert set(vars(told)) == {"question", "reference", "answer", "attempt"}
    told_all = repr(reader.seen) + repr(judge.seen)
    assert not any(id in told_all for id in ("m0", "m1", "m2", "m3", "gold", "evict", "forced", "ranked"))


def test_what_stands_in_the_context_already_is_not_read_twice() -> None:
    reader = FakeReader()
    asked = subject(TEXTS, [0], [0, 1, 2, 3], answer="not there")
    restore([asked], [keeping(4, 0, 1)], RANKED, Judged(reader, FakeJudge()))
    assert len(reader.seen) == 1


@given(worlds())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_the_cells_follow_from_what_survived_and_what_was_read(world: tuple[Subject, NDArray[np.bool_], int]) -> None:
    asked, kept, k = world
    before = kept.copy(), asked.ranked.copy(), asked.memories
    cells = {}
    for condition in (FORCED, RANKED):
        (found,) = restore([asked], [kept], condition.model_copy(update={"k": k}), Containment())
        read, gold = set(found.context), set(asked.gold)
        evicted = any(not kept[place] for place in gold)
        expected = "right" if gold <= read else "irreversible" if evicted else "recoverable"
        assert found.outcome.cell == expected
        assert all(kept[place] for place in found.context)
        cells[condition.condition] = found.outcome.cell
    assert cells["forced"] != "recoverable"
    assert (cells["forced"] == "irreversible") == (cells["ranked"] == "irreversible")
    assert np.array_equal(kept, before[0])
    assert np.array_equal(asked.ranked, before[1])
    assert asked.memories is before[2]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_reading_deeper_lowers_the_recoverable_and_never_the_irreversible(k: int) -> None:
    several = [subject(TEXTS, [gold], ranked) for gold in range(4) for ranked in ([0, 1, 2, 3], [3, 2, 1, 0])]
    kept = [keeping(4, 1, 2, 3)] * len(several)
    counts = []
    for depth in (k, k + 1):
        found = restore(several, kept, RANKED.model_copy(update={"k": depth}), Containment())
        counts.append([sum(each.outcome.cell == cell for each in found) for cell in ("recoverable", "irreversible")])
    assert counts[1][0] <= counts[0][0]
    assert counts[1][1] == counts[0][1]
