"""What chat judges cost beside the published protocol: the bar at four obligations, and how cost grows."""

from __future__ import annotations

import pytest

from admission.verifiers.minilm import tokenizer
from benchmarks.chat_cost import Case, one_view, published, shared_prefix, tokens


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    tokenizer()  # before a request is timed


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
def test_joint_asking_takes_at_most_35_of_the_calls_and_40_of_the_tokens_at_four_obligations(rate: float) -> None:
    case = Case(obligations=4, rate=rate)
    calls, spent = one_view("joint", case).cost()
    of_calls, of_tokens = published(case)
    assert of_calls == 2 * 4 + round(4 * rate) + 1
    assert calls <= 0.35 * of_calls
    assert spent <= 0.40 * of_tokens


def test_joint_calls_do_not_grow_with_obligations_and_tokens_hardly() -> None:
    few, many = (one_view("joint", Case(obligations=count, rate=0.0)).cost() for count in (1, 8))
    assert few[0] == many[0] == 2
    assert many[1] < 1.1 * few[1]


def test_a_second_run_with_the_cache_sends_nothing() -> None:
    assert one_view("joint, second run with cache", Case()).cost() == (0, 0)


def test_a_cascade_asks_nothing_about_one_fact_that_its_embedded_verifiers_agree_on() -> None:
    assert one_view("cascade", Case(obligations=1, rate=0.0)).cost() == (0, 0)


def test_successive_requests_of_a_write_share_all_but_their_last_lines() -> None:
    first, second = one_view("isolated", Case(obligations=2, rate=0.0)).models[0].heard
    assert shared_prefix(first, second) > 0.95 * tokens(second)
