"""What each policy keeps under a budget of tokens."""

from __future__ import annotations

import numpy as np
import pytest
from eviction_worlds import FakeEncoder, memories, word_count
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.errors import InputError
from admission.eviction.importance import EmbeddedImportance, Importance
from admission.eviction.policies import Adversarial, EvictionPolicy, Fifo, KeepAll, RandomOrder, survivors
from admission.eviction.redundancy import RedundancyAware
from admission.eviction.tokens import minilm_tokens

FIVE = memories("one two", "three four", "five six", "seven eight", "nine ten")
POLICIES: list[EvictionPolicy] = [
    Fifo(),
    RandomOrder(3),
    RedundancyAware(FakeEncoder()),
    Importance(EmbeddedImportance(FakeEncoder())),
    Adversarial({"m1", "m4"}, 3),
]


class FakeScorer:
    """Scores by hand."""

    def __init__(self, *scores: float) -> None:
        self._scores = scores

    @property
    def identity(self) -> dict[str, object]:
        return {"fake": True}

    def scores(self, texts: object) -> list[float]:
        return list(self._scores)


def test_no_eviction_keeps_everything_whatever_the_budget() -> None:
    assert survivors(FIVE, 0, KeepAll(), word_count) == ("m0", "m1", "m2", "m3", "m4")


@pytest.mark.parametrize(
    ("budget", "kept"), [(10, "01234"), (9, "1234"), (8, "1234"), (4, "34"), (3, "4"), (1, ""), (0, "")]
)
def test_first_in_first_out_keeps_the_newest_that_fit(budget: int, kept: str) -> None:
    assert survivors(FIVE, budget, Fifo(), word_count) == tuple(f"m{place}" for place in kept)


def test_random_eviction_follows_its_seed_and_the_memories() -> None:
    once, again = (survivors(FIVE, 4, RandomOrder(1), word_count) for _ in range(2))
    assert once == again
    assert len({survivors(FIVE, 4, RandomOrder(seed), word_count) for seed in range(20)}) > 3


def test_of_memories_that_say_the_same_all_but_one_go_before_anything_else() -> None:
    repeated = memories("ana likes green tea", "ana likes green tea", "ben owns a boat", "ana likes green tea")
    assert survivors(repeated, 8, RedundancyAware(FakeEncoder()), word_count) == ("m2", "m3")


def test_the_least_important_go_first_and_of_equals_the_oldest() -> None:
    policy = Importance(FakeScorer(9, 2, 5, 2, 5))
    assert survivors(FIVE, 8, policy, word_count) == ("m0", "m2", "m3", "m4")
    assert survivors(FIVE, 6, policy, word_count) == ("m0", "m2", "m4")
    assert survivors(FIVE, 4, policy, word_count) == ("m0", "m4")


def test_embedded_importance_ranks_small_talk_below_a_lasting_fact() -> None:
    scores = EmbeddedImportance(FakeEncoder()).scores(
        ["Hi! How are you today?", "I prefer tea and have an appointment with my family on that date"]
    )
    assert 1 <= scores[0] < scores[1] <= 10


def test_the_adversarial_control_evicts_gold_about_three_times_as_fast() -> None:
    many = memories(*(f"memory {n}" for n in range(400)))
    gold = {f"m{n}" for n in range(0, 400, 10)}
    gone_gold, gone_other = 0, 0
    for seed in range(20):
        gone = set(Adversarial(gold, seed).order(many)[:60].tolist())
        gone_gold += sum(place % 10 == 0 for place in gone)
        gone_other += sum(place % 10 != 0 for place in gone)
    assert 2.4 < (gone_gold / 40) / (gone_other / 360) < 3.4


def test_a_negative_budget_and_an_id_that_comes_twice_are_refused() -> None:
    with pytest.raises(InputError, match="budget"):
        survivors(FIVE, -1, Fifo(), word_count)
    with pytest.raises(InputError, match="same id"):
        survivors((*FIVE, FIVE[0]), 3, Fifo(), word_count)


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 60), st.integers(0, 4))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_what_is_kept_fits_the_budget_keeps_its_order_and_grows_with_it(
    lengths: list[int], budget: int, which: int
) -> None:
    held = memories(*(" ".join([f"w{place}"] * length) for place, length in enumerate(lengths)))
    kept = survivors(held, budget, POLICIES[which], word_count)
    sizes = dict(zip([memory.id for memory in held], lengths, strict=True))
    assert sum(sizes[id] for id in kept) <= budget
    assert list(kept) == [memory.id for memory in held if memory.id in set(kept)]
    assert set(kept) <= set(survivors(held, budget + 5, POLICIES[which], word_count))


def test_every_policy_orders_each_memory_once() -> None:
    for policy in POLICIES:
        assert sorted(policy.order(FIVE)) == list(range(5)), policy.name
        assert np.array_equal(policy.order(FIVE), policy.order(FIVE)), policy.name


def test_a_budget_counts_the_word_pieces_of_the_embedded_model() -> None:
    assert minilm_tokens(["Hello there", "tea", "unbelievably"]) == [2, 1, 5]
    assert minilm_tokens([]) == []
