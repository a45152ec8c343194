"""Answers of chat models: one verdict for each id or none at all, and no support that stands nowhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scripted_chat import passage, question, verdict

from admission.records import Usage
from admission.verifiers.chat.answers import NOTE_CHARS, SCHEMA, Measure, Reply, Unusable, Verdict, measured, read

GOOD = {"verdicts": [verdict("o1", turns=["t1"], quote="sold"), verdict("o2", 0.0)]}
SHOWN = question("Ana sold it.", passage("t1", "I sold the old car, because I moved."), passage("t2", "You did?"))


def reading(answer: Any, *ids: str, cut_off: bool = False) -> dict[str, Verdict] | Unusable:
    return read(Reply(answer, Usage(), cut_off=cut_off), ids or ("o1", "o2"))


def measure(check_quotes: bool = True, **fields: Any) -> Measure:
    stated = verdict("o1", turns=["t1"], quote="sold the old car") | fields
    return measured(SHOWN, Verdict.model_validate(stated), check_quotes)


@pytest.mark.parametrize(
    "answer", [GOOD, json.dumps(GOOD), f"```json\n{json.dumps(GOOD, indent=1)}\n```", f"\n```\n{json.dumps(GOOD)}```\n"]
)
def test_a_complete_answer_is_read_from_arguments_text_or_a_code_fence(answer: Any) -> None:
    found = reading(answer)
    assert isinstance(found, dict)
    assert [(v.supported, v.turns) for v in found.values()] == [(0.9, ["t1"]), (0.0, [])]


@pytest.mark.parametrize(
    ("answer", "code", "problem"),
    [
        ("", "missing_answer", "empty"),
        ({"verdicts": GOOD["verdicts"][:1]}, "missing_answer", '"o2" has no verdict'),
        ({"verdicts": [*GOOD["verdicts"], verdict("o2")]}, "malformed_answer", '"o2" has 2 verdicts'),
        ({"verdicts": [*GOOD["verdicts"], verdict("o9")]}, "malformed_answer", '"o9" was not asked'),
        ({"verdicts": []}, "missing_answer", '"o1" has no verdict'),
        ({"results": []}, "malformed_answer", 'a list of "verdicts"'),
        (json.dumps(GOOD)[:70], "malformed_answer", "not JSON"),
        (json.dumps(GOOD) + json.dumps(GOOD), "malformed_answer", "not JSON"),
        ("Both are supported.", "malformed_answer", "not JSON"),
        ("[" * 100_000, "malformed_answer", "not JSON"),
        ('{"verdicts": [{"id": "o1", "supported": 1, "supported": 0}]}', "malformed_answer", "twice"),
        ('{"verdicts": [{"id": "o1", "supported": NaN}]}', "malformed_answer", "verdict 1"),
        ({"verdicts": [verdict("o1", 1.5)]}, "malformed_answer", "verdict 1, supported"),
        ({"verdicts": [verdict("o1", supported="0.9")]}, "malformed_answer", "verdict 1, supported"),
        ({"verdicts": [verdict("o1", supported=True)]}, "malformed_answer", "verdict 1, supported"),
        ({"verdicts": [verdict("o1") | {"turns": "t1"}]}, "malformed_answer", "verdict 1, turns"),
        ({"verdicts": [{"id": "o1", "supported": 0.9}]}, "malformed_answer", "contradicted"),
        ({"verdicts": ["o1"]}, "malformed_answer", "verdict 1"),
    ],
)
def test_anything_else_is_unusable_as_a_whole_with_what_is_wrong(answer: Any, code: str, problem: str) -> None:
    found = reading(answer)
    assert isinstance(found, Unusable)
    assert found.code == code
    assert problem in "; ".join(found.problems)


def test_an_answer_that_was_cut_off_is_not_read_even_if_what_is_there_could_be() -> None:
    found = reading(GOOD, cut_off=True)
    assert found == Unusable("malformed_answer", ("it was cut off before its end",))


def test_the_schema_asks_for_every_field_of_a_verdict_and_for_no_other() -> None:
    asked = SCHEMA["properties"]["verdicts"]["items"]
    assert set(asked["required"]) == set(asked["properties"]) == set(Verdict.model_fields)
    assert asked["additionalProperties"] is False
    assert "minimum" not in json.dumps(SCHEMA)


def test_a_verdict_counts_with_the_turns_it_names_and_its_quote_as_the_note() -> None:
    assert measure() == Measure(0.9, 0.0, ("t1",), 't1: "sold the old car"')


@pytest.mark.parametrize(("turns", "note"), [([], "names no turn"), (["t9", "system"], "were not shown (t9, system)")])
def test_a_verdict_that_names_no_turn_shown_is_worth_nothing_either_way(turns: list[str], note: str) -> None:
    found = measure(turns=turns, contradicted=0.8)
    assert found[:3] == (0.0, 0.0, ())
    assert note in found.note


def test_turns_not_shown_are_dropped_where_one_that_was_stands_beside_them() -> None:
    assert measure(turns=["t9", "t1", "t1"]).evidence == ("t1",)


@pytest.mark.parametrize(
    "quote", ["Sold the  OLD car", "“sold the old car”,", "sold the old ... because I moved", "old car […] I moved"]
)
def test_a_quote_stands_whatever_its_case_spacing_marks_and_gaps(quote: str) -> None:
    assert measure(quote=quote).support == 0.9


@pytest.mark.parametrize("quote", ["bought a new car", "sold the old ... and bought a boat", "You did?", "", " ... "])
def test_a_quote_that_stands_in_none_of_the_named_turns_is_no_support(quote: str) -> None:
    found = measure(quote=quote)
    assert found[:3] == (0.0, 0.0, ())
    assert found.note.startswith("does not count")
    assert measure(check_quotes=False, quote=quote).support == 0.9


def test_a_note_is_printable_one_line_and_short() -> None:
    note = measure(check_quotes=False, quote="\x1b[31m\u202e\n\ud800" + "x" * 5000).note
    assert len(note) <= NOTE_CHARS
    assert note.isprintable()
    note.encode()
