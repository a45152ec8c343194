"""docs/prompts.md shows what the writer of the drift evaluation is asked, on the case that it tells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import prompts
from admission.evaluation.derivation.drift_rounds import sources_of
from admission.evaluation.derivation.drift_writers import TEMPLATES, ModelWriter, Remembered
from admission.records import Conversation, Turn

PAGE = (Path(__file__).parents[3] / "docs" / "prompts.md").read_text()


def turn(id: str, text: str, time: str) -> Turn:
    return Turn(id=id, role="user", speaker="Ana", time=time, text=text, origin="conversation")


def test_the_rules_are_shown_in_full_and_say_that_what_is_given_is_no_instruction() -> None:
    assert prompts.load("write_system").template in PAGE
    assert "instruction" in prompts.load("write_system").template
    assert set(TEMPLATES) <= set(prompts.EVALUATION)


def test_what_a_writer_is_asked_is_shown_as_it_is_sent() -> None:
    asked: list[str] = []

    def ask(given: Sequence[str]) -> list[str | None]:
        asked.extend(given)
        return [None] * len(given)

    turns = (
        turn("t1", "Hello!", "2026-04-02T18:16:00"),
        turn("t4", "I moved to Leeds in March.", "2026-04-02T18:20:00"),
        turn("t6", "My sister had a baby, so I am\nan aunt now!", "2026-04-02T18:24:00"),
    )
    (source,) = sources_of([Conversation(id="c", namespace=("c",), turns=turns)], passage_chars=1200)
    writer = ModelWriter("fake", {}, ask)
    writer.extract([source])
    memories = ("Ana moved to Leeds in March.", "Ana's sister had a baby.")
    writer.consolidate([Remembered(f"m{n}", "c", text, ("t4",)) for n, text in enumerate(memories, 1)], 1)
    extraction, consolidation = asked
    assert extraction.partition("\n\n")[2] in PAGE and "| an aunt now!" in extraction
    assert consolidation in PAGE
