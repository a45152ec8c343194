"""docs/models/local.md shows the prompts as they are sent, on the case that docs/prompts.md tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_local_models import passage, question, tokenizer

import prompts
from admission.verifiers.local.prompting import ASKED, Prompter

PAGE = (Path(__file__).parents[3] / "docs" / "models" / "local.md").read_text()
TURNS = (
    passage("t4", "I moved to Leeds in March.", 3, time="2026-04-02T18:20:00"),
    passage("t6", "My sister had a baby, so I am\nan aunt now!", 5, time="2026-04-02T18:24:00"),
)


def test_the_rules_are_shown_in_full() -> None:
    assert prompts.load("label_system").template in PAGE


@pytest.mark.parametrize("name", ASKED)
def test_each_question_is_shown_as_it_is_sent(name: str) -> None:
    made = tokenizer(None)
    asked = question("Ana moved to Leeds because her sister had a baby.", *TURNS, type="relation")
    sent = made.decode(Prompter(made).ids(asked)[ASKED.index(name)])
    rules = prompts.load("label_system").template
    assert sent.removeprefix(f"{rules}\n\n").removesuffix("\nAnswer:") in PAGE
