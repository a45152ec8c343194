"""Log probabilities of an answer: the mean of what each number might have been, and nothing where that is not told."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_chat import verdict

from admission.records import Usage
from admission.verifiers.chat.answers import Reply, Verdict, read
from admission.verifiers.chat.logprobs import Token, expected, tokens_of


def stream(*tokens: str | tuple[str, dict[str, float]]) -> tuple[Token, ...]:
    """Tokens by their texts: those without probabilities are sure, the text of the others is the first of theirs."""
    pairs = [(token, {token: 1.0}) if isinstance(token, str) else token for token in tokens]
    return tuple(Token(said.encode(), {text.encode(): p for text, p in chances.items()}) for said, chances in pairs)


def number(*tokens: str | tuple[str, dict[str, float]]) -> float:
    """The expectation of the one number of a JSON list that is made of these tokens."""
    parts = stream("[", *tokens, "]")
    return float(expected(b"".join(token.said for token in parts).decode(), parts)[0])  # type: ignore[index]


def test_a_number_is_the_mean_of_what_might_have_stood_there_by_probability() -> None:
    assert number("0", ".", ("9", {"9": 0.6, "1": 0.4})) == pytest.approx(0.6 * 0.9 + 0.4 * 0.1)


def test_doubts_at_several_of_its_tokens_are_all_counted() -> None:
    found = number(("0", {"0": 0.9, "1": 0.1}), ".", ("9", {"9": 0.6, "2": 0.4}), ("5", {"5": 0.5, "1": 0.5}))
    assert found == pytest.approx(0.1 * 1 + 0.9 * (0.4 * 0.2 + 0.6 * (0.5 * 0.95 + 0.5 * 0.91)))


@pytest.mark.parametrize(("text", "other"), [("1", "0"), ("1", "0.")])
def test_an_alternative_that_only_begins_a_number_counts_as_the_middle_of_what_it_may_become(
    text: str, other: str
) -> None:
    assert number((text, {text: 0.8, other: 0.2})) == pytest.approx(0.8 * 1 + 0.2 * 0.5)
    assert number("0", (".", {".": 0.7, ",": 0.3}), "8") == pytest.approx(0.7 * 0.8)


@pytest.mark.parametrize(
    "tokens",
    [
        (("0.9", {"0.9": 0.6, "0.1": 0.4}),),
        ((" 0.9", {" 0.9": 0.6, " 0.1": 0.4}),),
        ("0.", ("9 ", {"9 ": 0.6, "1 ": 0.4})),
        ("0", (".9", {".9": 0.6, ".1": 0.4})),
        ("0", ".", ("9", {"9": 0.6, "1 ": 0.4}), ""),
    ],
)
def test_numbers_are_found_wherever_tokens_begin_and_end(tokens: Any) -> None:
    assert number(*tokens) == pytest.approx(0.6 * 0.9 + 0.4 * 0.1)


def test_alternatives_that_are_no_number_from_0_to_1_are_left_out() -> None:
    assert number(("0", {"0": 0.8, '"': 0.1, "7": 0.1}), ".", "9") == pytest.approx(0.9)
    assert number(("0", {"0": 0.6, "1": 0.3, "null": 0.1}), ".", "9") == pytest.approx((0.6 * 0.9 + 0.3) / 0.9)


def test_a_number_stays_as_it_was_said_where_most_of_what_might_have_been_is_unknown() -> None:
    assert number("0", ".", ("9", {"9": 0.3, "1": 0.1})) == 0.9


def test_a_number_stays_as_it_was_said_without_alternatives_or_with_an_exponent() -> None:
    assert number("0", ".", ("9", {"9": 0.7})) == 0.9
    assert number("9", ("e", {"e": 0.6, ".": 0.4}), "-", "1") == 0.9


def test_each_number_has_its_own_place_and_digits_in_strings_are_none() -> None:
    answer = stream(
        '{"0.5": "', ("0", {"0": 0.5, "1": 0.5}), '.5, \\" 1", "a": ', "0", ".", ("9", {"9": 0.6, "1": 0.4}), ', "b": ',
        ("1", {"1": 1.0}), "}",
    )  # fmt: skip
    text = b"".join(token.said for token in answer).decode()
    assert expected(text, answer) == {"0.5": '0.5, " 1', "a": pytest.approx(0.58), "b": 1.0}


def test_what_stands_before_and_after_the_answer_is_passed_over() -> None:
    said = ('{"a": 0.', ("9", {"9": 0.6, "1": 0.4}), "}")
    around = stream('First I thought {"a": 0.9}, then:\n', *said, "<end>")
    assert expected('{"a": 0.9}', around) == {"a": pytest.approx(0.58)}


@pytest.mark.parametrize("tokens", [stream('{"a": 0.8}'), stream('{"a": ', "0.9"), ()])
def test_tokens_of_another_text_tell_nothing(tokens: tuple[Token, ...]) -> None:
    assert expected('{"a": 0.9}', tokens) is None


UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(0, 1) | st.integers(0, 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@UNHURRIED
@given(value=JSON, cuts=st.lists(st.integers(0, 400), max_size=12), pretty=st.booleans())
def test_however_a_text_is_cut_into_tokens_sure_ones_leave_every_number_as_it_is(
    value: Any, cuts: list[int], pretty: bool
) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1 if pretty else None)
    data = text.encode()
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    parts = [data[start:end] for start, end in pairwise(places)]
    assert expected(text, [Token(part, {part: 1.0}) for part in parts]) == value


@UNHURRIED
@given(
    st.dictionaries(st.sampled_from([str(n) for n in range(10)]), st.floats(0.01, 1), min_size=1),
    st.floats(0.05, 1),
)
def test_an_expectation_lies_between_the_numbers_that_might_have_been(weights: dict[str, float], sure: float) -> None:
    total = sum(weights.values()) / sure
    said = next(iter(weights))
    found = number("0", ".", (said, {digit: weight / total for digit, weight in weights.items()}))
    assert min(map(int, weights)) / 10 - 1e-9 <= found <= max(map(int, weights)) / 10 + 1e-9


def place(token: str, chance: float, **more: Any) -> dict[str, Any]:
    return {"token": token, "logprob": math.log(chance), "bytes": list(token.encode()), "top_logprobs": []} | more


def test_tokens_are_read_as_the_chat_completions_give_them() -> None:
    other = {"token": "1", "logprob": math.log(0.25), "bytes": [49]}
    answer = {"content": [place("0", 0.5, top_logprobs=[other])], "refusal": None}
    assert tokens_of(answer) == (Token(b"0", {b"1": pytest.approx(0.25), b"0": pytest.approx(0.5)}),)


def test_a_character_over_two_tokens_is_put_together_from_their_bytes() -> None:
    first, second = list("é".encode())
    answer = {
        "content": [
            place('{"q": "', 1.0),
            place("\\xc3", 1.0, bytes=[first]),
            place("\\xa9", 1.0, bytes=[second]),
            place('", "n": 0.', 1.0),
            place("9", 0.6, top_logprobs=[{"token": "1", "logprob": math.log(0.4)}], bytes=None),
            place("}", 1.0),
        ]
    }
    assert expected('{"q": "é", "n": 0.9}', tokens_of(answer)) == {"q": "é", "n": pytest.approx(0.58)}


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        [],
        {},
        {"content": None},
        {"content": [{"token": "0"}]},
        {"content": [place("0", 1.0, logprob=float("nan"))]},
        {"content": [place("0", 1.0, logprob=3.2)]},
        {"content": [place("0", 1.0, bytes=[300])]},
        {"content": [place("0", 0.9, top_logprobs=[place("1", 0.8)])]},
    ],
)
def test_what_is_no_list_of_log_probabilities_gives_no_tokens(logprobs: object) -> None:
    assert tokens_of(logprobs) == ()


def reading(text: str, tokens: tuple[Token, ...], *ids: str) -> dict[str, Verdict]:
    found = read(Reply(text, Usage(), tokens=tokens), ids)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("fence", ["", "```json\n{}\n```"])
def test_the_verdicts_of_an_answer_are_weighed_in_a_code_fence_too(fence: str) -> None:
    words = json.dumps({"verdicts": [verdict("o1", 0.9, ["t1"], "sold", contradicted=0.8)]})
    text = fence.replace("{}", words) or words
    before, after = text.split("0.9")
    tokens = stream(before, "0.", ("9", {"9": 0.6, "1": 0.4}), after)
    found = reading(text, tokens, "o1")["o1"]
    assert (found.supported, found.contradicted) == (pytest.approx(0.58), 0.8)
    assert (found.turns, found.quote) == (["t1"], "sold")


def test_a_verdict_of_nothing_either_way_stays_nothing_for_it_names_no_evidence() -> None:
    text = json.dumps({"verdicts": [verdict("o1", 0.0), verdict("o2", 0.9, ["t1"], "sold")]})
    before, after = text.split("0.0", 1)
    found = reading(text, stream(before, "0.", ("0", {"0": 0.6, "9": 0.4}), after), "o1", "o2")
    assert (found["o1"].supported, found["o2"].supported) == (0.0, 0.9)


def test_the_arguments_of_a_tool_call_have_no_tokens_of_their_own() -> None:
    answer = {"verdicts": [verdict("o1", 0.9)]}
    found = read(Reply(answer, Usage(), tokens=stream(json.dumps(answer))), ["o1"])
    assert isinstance(found, dict)
    assert found["o1"].supported == 0.9
