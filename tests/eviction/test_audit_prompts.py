"""docs/prompts.md shows what reader and judge of the audit are asked, on the case that it tells."""

from __future__ import annotations

from pathlib import Path

import pytest

import prompts
from admission.eviction.answering.judges import marking
from admission.eviction.answering.model_reader import reading
from admission.eviction.scoring import JudgeRequest, ReadMemory, ReadRequest

PAGE = (Path(__file__).parents[2] / "docs" / "prompts.md").read_text()
ASKED = "When did Ana move to Leeds?"
TURNS = (
    ReadMemory("Ana: I moved to Leeds in March.", "2026-04-02T18:20:00"),
    ReadMemory("Ana: My sister had a baby, so I am\nan aunt now!", "2026-04-02T18:24:00"),
)


@pytest.mark.parametrize("name", ["read_system", "mark_system"])
def test_the_rules_are_shown_in_full(name: str) -> None:
    assert prompts.load(name).template in PAGE


def test_what_reader_and_judge_are_asked_is_shown_as_it_is_sent() -> None:
    assert reading(ReadRequest(ASKED, "2026-05-01", TURNS)).prompt in PAGE
    assert marking(JudgeRequest(ASKED, "March 2026", "She moved there in March.")).prompt in PAGE


@pytest.mark.parametrize("name", ["read_system", "mark_system"])
def test_what_is_given_is_said_to_be_data_and_no_instruction(name: str) -> None:
    assert "instruction" in prompts.load(name).template


def test_what_verifiers_are_identified_by_does_not_hang_on_the_prompts_of_evaluations() -> None:
    assert not set(prompts.NAMES) & set(prompts.EVALUATION)
    assert prompts.digest() == prompts.digest(prompts.NAMES) != prompts.digest((*prompts.NAMES, *prompts.EVALUATION))
