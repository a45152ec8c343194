"""Downstream probes: readers that believe what they are shown, readers that never do, and what retrieval brings up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from admission.errors import InputError
from admission.evaluation.derivation.downstream import (
    ARMS,
    DownstreamCase,
    DownstreamFigures,
    downstream,
    read_cases,
    retrievals,
    shown,
)

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "examples" / "downstream"
TOWNS = ("Leeds", "York", "Hull", "Bath", "Ely", "Ripon")


def case(number: int, **more: str) -> DownstreamCase:
    town = TOWNS[number]
    fields = {
        "id": f"q{number}",
        "group": f"g{number % 2}",
        "question": f"When did Ana move to {town}?",
        "answer": "March",
        "memory": f"Ana moved to {town} in March.",
        "distorted": f"Ana moved to {town} in May.",
        "distorted_answer": "May",
    }
    return DownstreamCase.model_validate(fields | more)


CASES = [case(number) for number in range(len(TOWNS))]


def says(reference: str, answer: str) -> bool:
    return reference in answer


def figures(believes: bool) -> DownstreamFigures:
    """Of a reader that repeats what it is shown (an oracle of these probes), or one that says the opposite (a fool)."""

    def read(memories: tuple[str, ...], one: DownstreamCase) -> str:
        exact, distorted = one.memory in memories, one.distorted in memories
        if believes:
            return one.memory if exact else one.distorted if distorted else "I do not know."
        return one.distorted if exact else one.memory

    natural = retrievals(CASES, seed=1, k=3)
    return downstream(
        CASES,
        {arm: [read(shown(one, arm), one) for one in CASES] for arm in ARMS},
        natural,
        [read(one.retrieved, one.case) for one in natural],
        says,
    )


def test_a_reader_that_believes_its_memories_fails_always_where_they_are_distorted_or_gone() -> None:
    found = figures(believes=True)
    assert {one.arm: one.failures.value for one in found.arms} == {"exact": 0.0, "distorted": 1.0, "removed": 1.0}
    assert [(one.difference.value, one.only_arm) for one in found.rises] == [(1.0, 6), (1.0, 6)]
    valid, invalid = found.natural
    assert (valid.right.value, valid.misinformed.value) == (1.0, 0.0)
    assert (invalid.right.value, invalid.misinformed.value) == (0.0, 1.0)


def test_a_reader_that_believes_the_opposite_fails_only_with_the_exact_memory() -> None:
    found = figures(believes=False)
    assert {one.arm: one.failures.value for one in found.arms} == {"exact": 1.0, "distorted": 0.0, "removed": 0.0}
    assert [one.difference.value for one in found.rises] == [-1.0, -1.0]
    valid, invalid = found.natural
    assert (valid.right.value, valid.misinformed.value) == (0.0, 1.0)
    assert (invalid.right.value, invalid.misinformed.value) == (1.0, 0.0)


def test_an_answer_that_says_both_fails_for_it_asserts_the_distorted_claim() -> None:
    both = {arm: ["In March, or in May."] for arm in ARMS}
    found = downstream(CASES[:1], both, [], [], says)
    assert [(one.failures.value, one.missing, one.asserted) for one in found.arms] == [(1.0, 0, 1)] * 3


def test_each_memory_is_distorted_in_one_store_and_exact_in_the_other() -> None:
    found = retrievals(CASES, seed=1, k=1)
    assert len(found) == 12 and sum(one.distorted for one in found) == 6
    for one in found:
        assert one.retrieved == ((one.case.distorted if one.distorted else one.case.memory),)
        assert one.found
    assert retrievals(CASES, seed=1, k=1) == found
    assert not any(one.found for one in retrievals([case(0, question="Who sings?")], seed=1, k=1))


def test_a_failed_answer_leaves_its_case_out_and_names_it() -> None:
    answers = {arm: ["March", "March"] for arm in ARMS} | {"removed": [None, "March"]}
    natural = retrievals(CASES[:2], seed=1, k=1)
    found = downstream(CASES[:2], answers, natural, [None, "March", "March", "March"], says)
    assert found.failed == ("q0",) and found.failed_retrievals == (natural[0].case.id,)
    assert found.arms[0].failures.n == 1
    assert sum(one.retrieved.n for one in found.natural) == 3


def test_kinds_of_distortion_are_compared_by_themselves_too() -> None:
    cases = [case(0, kind="time"), case(1, kind="cause")]
    found = downstream(cases, {arm: ["March", "March"] for arm in ARMS}, [], [], says)
    assert [(one.kind, one.arm) for one in found.rises] == [
        (kind, arm) for kind in ("all", "cause", "time") for arm in ("distorted", "removed")
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"answer": ""}, "answer"),
        ({"distorted": "Ana moved to Leeds, in March"}, "distorted"),
        ({"distorted_answer": "march"}, "distorted_answer"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_bad_case_is_named_by_line_and_field(tmp_path: Path, change: dict[str, str], field: str) -> None:
    file = tmp_path / "cases.jsonl"
    rows = [case(1).model_dump(mode="json"), case(0).model_dump(mode="json") | change]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=rf"cases\.jsonl:2: {field}"):
        read_cases(file)


def test_ids_are_unique_and_a_file_holds_a_case(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text((json.dumps(case(0).model_dump(mode="json")) + "\n") * 2)
    with pytest.raises(InputError, match="is there twice"):
        read_cases(file)
    file.write_text("\n")
    with pytest.raises(InputError, match="holds no case"):
        read_cases(file)


def test_the_shipped_cases_pass_the_blind_check_and_a_mislabelled_one_does_not(tmp_path: Path) -> None:
    cases = read_cases(SHIPPED / "cases.jsonl")
    assert {kind: sum(one.kind == kind for one in cases) for kind in ("time", "modality", "attribution", "cause")} == {
        "time": 10, "modality": 10, "attribution": 10, "cause": 10,
    }  # fmt: skip
    check = [sys.executable, str(SHIPPED / "check.py")]
    assert subprocess.run(check, cwd=ROOT, capture_output=True).returncode == 0
    swapped = cases[0].model_copy(update={"answer": cases[0].distorted_answer, "distorted_answer": cases[0].answer})
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(swapped.model_dump(mode="json")) + "\n")
    found = subprocess.run([*check, str(file)], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 1 and "time-01" in found.stdout
