"""BM25 against rank_bm25's pieces by hand, fusion by hand, and orders of any part of a collection."""

from __future__ import annotations

import math

import numpy as np
import pytest

from admission.evaluation.reading.rankers import Ranked, bm25_scores, dense_scores, fused, word_tokens

TEXTS = ["the cat sat", "the dog sat on the dog", "a bird"]


def test_words_are_lower_cased_runs_of_letters_and_digits() -> None:
    assert word_tokens("It's 10:30, Zoë!") == ["it", "s", "10", "30", "zoë"]


def test_bm25_is_the_published_formula() -> None:
    scores = bm25_scores(TEXTS, ["dog sat"])(0)
    average = (3 + 6 + 2) / 3

    def part(holding: int, count: int, length: int) -> float:
        idf = math.log(1 + (3 - holding + 0.5) / (holding + 0.5))
        return idf * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * length / average))

    assert scores.tolist() == pytest.approx([part(2, 1, 3), part(1, 2, 6) + part(2, 1, 6), 0.0])


def test_a_word_given_twice_counts_twice_and_an_unknown_one_not_at_all() -> None:
    once, twice, unknown = (bm25_scores(TEXTS, ["dog", "dog dog", "dog zebra"])(n) for n in range(3))
    assert twice.tolist() == pytest.approx((2 * once).tolist())
    assert unknown.tolist() == pytest.approx(once.tolist())


def test_a_question_without_any_known_word_scores_nothing() -> None:
    assert bm25_scores(TEXTS, [""])(0).tolist() == [0.0, 0.0, 0.0]


def test_dense_scores_are_cosines() -> None:
    memories = np.array([[1.0, 0.0], [0.6, 0.8]], dtype=np.float32)
    assert dense_scores(memories, memories)(1).tolist() == pytest.approx([0.6, 1.0])


def test_fusion_adds_reciprocal_ranks() -> None:
    first, second = np.array([0, 1, 2]), np.array([2, 0, 1])
    # 0: 1/61 + 1/62; 2: 1/63 + 1/61; 1: 1/62 + 1/63
    assert fused([first, second], 3).tolist() == [0, 2, 1]


def test_of_equal_fusion_sums_the_first_order_decides() -> None:
    assert fused([np.array([1, 0]), np.array([0, 1])], 2).tolist() == [1, 0]


def test_the_order_of_a_part_is_that_of_the_whole_without_the_rest() -> None:
    ranked = Ranked({"a": np.array([0.1, 0.9, 0.5, 0.5])})
    assert ranked.order("a").tolist() == [1, 2, 3, 0]
    assert ranked.order("a", np.array([True, False, True, True])).tolist() == [2, 3, 0]


def test_fusion_ranks_within_the_part_that_is_searched() -> None:
    ranked = Ranked({"a": np.array([3.0, 2.0, 1.0, 0.0]), "b": np.array([0.0, 3.0, 2.0, 1.0])})
    part = np.array([True, False, False, True])
    assert ranked.order("fusion", part).tolist() == [0, 3]
    assert ranked.scored("fusion", 2) == 4
    assert ranked.scored("a", 2) == 2
