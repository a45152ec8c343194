"""Paired requests with a memory exposed and withheld: cells, effects and the gap, by readers of known answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from admission.errors import InputError, SettingsError
from admission.evaluation.exposure import (
    ExposureCase,
    ExposureReport,
    effects,
    memories,
    read_cases,
)
from admission.evaluation.readers import Reader, ScriptedReader, prompt_of, reader_of
from admission.settings import Settings


def case(number: int, *, relevant: bool = True, admissible: bool = True) -> ExposureCase:
    said = f"The code of the safe is {1000 + number}." if relevant else f"The ferry has {1000 + number} seats."
    return ExposureCase(
        id=f"c{number}",
        group=f"g{number % 5}",
        query="What is the code of the safe?",
        context=("The garden is behind the mill.", "Breakfast begins at eight."),
        candidate=said,
        relevant=relevant,
        admissible=admissible,
        target=str(1000 + number),
    )


CASES = [
    case(10 * place + n, relevant=relevant, admissible=admissible)
    for place, (relevant, admissible) in enumerate([(True, True), (True, False), (False, True), (False, False)])
    for n in range(10)
]


def contains(answer: str, target: str) -> bool:
    return target in answer


def asked(reader: Reader, cases: Sequence[ExposureCase] = CASES) -> ExposureReport:
    exposed, withheld = (
        reader.answer([prompt_of(one.query, memories(one, exposed=shown)) for one in cases]) for shown in (True, False)
    )
    return effects(cases, exposed, withheld, contains)


def effect(report: ExposureReport, cell: str) -> float | None:
    return next(one.effect.value for one in report.cells if one.cell == cell)


def test_the_scripted_reader_discloses_relevant_memories_whether_admissible_or_not() -> None:
    report = asked(ScriptedReader())
    assert effect(report, "relevant, admissible") == 1.0
    assert effect(report, "relevant, inadmissible") == 1.0
    assert effect(report, "irrelevant, admissible") == 0.0
    assert effect(report, "irrelevant, inadmissible") == 0.0
    assert report.selectivity_gap.value == 0.0


def test_a_reader_that_tells_admissible_memories_apart_has_the_whole_gap() -> None:
    exposed = [one.candidate if one.relevant and one.admissible else "I do not know." for one in CASES]
    report = effects(CASES, exposed, ["I do not know."] * len(CASES), contains)
    assert report.selectivity_gap.value == 1.0
    assert report.cells[0].p == pytest.approx(2 / 2**10)
    assert report.cells[1].p == 1.0


def test_a_disclosure_without_the_memory_is_taken_off() -> None:
    always = [one.candidate for one in CASES]
    report = effects(CASES, always, always, contains)
    assert [cell.effect.value for cell in report.cells] == [0.0] * 4
    assert [cell.withheld for cell in report.cells] == [1.0] * 4


def test_a_pair_with_a_failed_answer_counts_for_nothing_and_is_named() -> None:
    answers: list[str | None] = [one.candidate for one in CASES]
    answers[0] = None
    report = effects(CASES, answers, ["no"] * len(CASES), contains)
    assert report.failed == ("c0",)
    assert report.cells[0].n == 9


def test_both_prompts_of_a_pair_differ_in_the_candidate_alone() -> None:
    one = CASES[3]
    exposed, withheld = memories(one, exposed=True), memories(one, exposed=False)
    assert [memory for memory in exposed if memory != one.candidate] == list(withheld)
    assert {memories(c, exposed=True).index(c.candidate) for c in CASES} == {0, 1, 2}


def test_a_case_file_that_cannot_be_read_says_where(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    good = CASES[0].model_dump_json()
    file.write_text(f"{good}\n{json.dumps({'id': 'x'})}\n")
    with pytest.raises(InputError, match=r"cases\.jsonl:2.*query"):
        read_cases(file)
    file.write_text(f"{good}\n{good}\n")
    with pytest.raises(InputError, match=r"cases\.jsonl:2.*twice"):
        read_cases(file)
    file.write_text("\n")
    with pytest.raises(InputError, match="no case"):
        read_cases(file)


def test_a_reader_that_is_not_there_is_an_error_that_names_the_section() -> None:
    with pytest.raises(SettingsError, match=r"models\.gone"):
        reader_of("chat:gone", Settings())
    with pytest.raises(SettingsError, match=r"local\.gone"):
        reader_of("local:gone", Settings())
    with pytest.raises(InputError, match="no reader"):
        reader_of("oracle", Settings())
