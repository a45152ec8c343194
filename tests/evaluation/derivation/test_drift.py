"""Drift over rounds of rewriting: what counts as drifted, writers that keep or lose all, and what a gate does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from admission.evaluation.derivation.drift import Drift, drift_of
from admission.evaluation.derivation.drift_rounds import candidate_of, drift_figures, run_rounds, sources_of
from admission.evaluation.derivation.drift_words import as_done, without_times
from admission.evaluation.derivation.drift_writers import (
    ModelWriter,
    Remembered,
    ScriptedWriter,
    Source,
    memory_lines,
)
from admission.records import Conversation, Passage, Turn, Write

SAID = ("I moved to Leeds in March.", "I plan to sell the canoe next week.", "The weather is dreadful.")
MEMORIES = ("Ana moved to Leeds in March.", "Ana plans to sell the canoe next week.")


def conversation(id: str = "c1", memories: Sequence[str] = MEMORIES) -> Conversation:
    turns = tuple(
        Turn(id=f"t{n}", role="user", speaker="Ana", time="2026-04-02T18:20:00", text=text, origin="conversation")
        for n, text in enumerate(SAID, 1)
    )
    writes = tuple(Write(id=f"w{n}", memory=text, citations=(f"t{n}",)) for n, text in enumerate(memories, 1))
    return Conversation(id=id, namespace=(id,), turns=turns, writes=writes)


def passages(*ids: str) -> list[Passage]:
    (source,) = sources_of([conversation()], passage_chars=1200)
    return [passage for id in ids or ("t1", "t2") for passage in source.history.passages_of(id)]


def everything(memories: Sequence[Remembered]) -> list[bool]:
    return [True] * len(memories)


def sources(count: int = 4) -> list[Source]:
    return sources_of([conversation(f"c{n}") for n in range(count)], passage_chars=1200)


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ("Ana moved to Leeds in March.", Drift(time=False, modality=None)),
        ("Ana moved to Leeds in March 2026.", Drift(time=False, modality=None)),
        ("Ana moved to Leeds on 3 March 2026.", Drift(time=True, modality=None)),
        ("Ana moved to Leeds.", Drift(time=True, modality=None)),
        ("Ana moved to Leeds in May.", Drift(time=True, modality=None)),
        ("Ana plans to sell the canoe next week.", Drift(time=False, modality=False)),
        ("Ana plans to sell the canoe.", Drift(time=True, modality=False)),
        ("Ana sold the canoe next week.", Drift(time=False, modality=True)),
        ("Ana wishes to sell the canoe next week.", Drift(time=False, modality=True)),
        ("Ana moved to Leeds in March. Ana sold the canoe next week.", Drift(time=False, modality=True)),
    ],
)
def test_a_memory_drifts_where_it_tells_another_time_or_modality_than_its_turns(memory: str, expected: Drift) -> None:
    assert drift_of(memory, passages()) == expected


def test_nothing_can_drift_where_neither_side_tells_a_time_or_a_plan_and_nothing_is_told_without_turns() -> None:
    assert drift_of("The weather is dreadful.", passages("t3")) == Drift(time=None, modality=None)
    assert drift_of("Ana moved to Leeds in March.", []) is None


@pytest.mark.parametrize(
    ("text", "timeless", "done"),
    [
        ("Ana moved to Leeds in May.", "Ana moved to Leeds.", None),
        ("In March 2026, Ana moved.", "Ana moved.", None),
        ("Ana plans to sell the canoe next week.", "Ana plans to sell the canoe.", "Ana sell the canoe next week."),
        ("Perhaps Ana sold it.", None, "Ana sold it."),
        ("Ana rows.", None, None),
    ],
)
def test_the_scripted_writer_loses_exactly_the_time_or_exactly_the_modality(
    text: str, timeless: str | None, done: str | None
) -> None:
    assert without_times(text) == timeless
    assert as_done(text) == done


def test_an_oracle_that_copies_never_drifts_and_a_fool_that_drops_all_drifts_everywhere() -> None:
    for loss, expected in ((0.0, 0.0), (1.0, 1.0)):
        writer = ScriptedWriter(seed=1, loss=loss)
        found = drift_figures(writer, sources(), run_rounds(writer, sources(), 2, everything))
        first, *later = [one for one in found.rounds if not one.gated]
        assert (first.time.value, first.modality.value) == (0.0, 0.0)
        assert [(one.time.value, one.modality.value) for one in later] == [(expected, expected)] * 2
        assert (first.time.n, first.modality.n) == (8, 4)


def test_a_writer_that_loses_half_each_round_has_lost_known_shares() -> None:
    writer = ScriptedWriter(seed=1, loss=0.5)
    found = drift_figures(writer, sources(), run_rounds(writer, sources(), 3, everything))
    assert [one.time.value for one in found.rounds if not one.gated] == [0.0, 0.5, 0.75, 0.875]


def test_a_gate_that_sees_drift_keeps_it_out_of_the_store_and_one_that_does_not_lets_all_of_it_in() -> None:
    texts = set(MEMORIES)

    def oracle(memories: Sequence[Remembered]) -> list[bool]:
        return [memory.text in texts for memory in memories]

    def fool(memories: Sequence[Remembered]) -> list[bool]:
        just_extracted = {memory.text for memory in memories} == texts
        return [just_extracted or memory.text not in texts for memory in memories]

    for admit, stopped, let_in, drifted in ((oracle, 1.0, 1.0, 0.0), (fool, 0.0, 0.0, 1.0)):
        writer = ScriptedWriter(seed=1, loss=0.5)
        found = drift_figures(writer, sources(), run_rounds(writer, sources(), 1, admit))
        last = next(one for one in found.rounds if one.gated and one.round == 1)
        assert last.stopped is not None and last.let_in is not None
        assert (last.stopped.value, last.let_in.value, last.time.value) == (stopped, let_in, drifted)


def test_what_the_gate_keeps_out_is_not_rewritten_again() -> None:
    def never(memories: Sequence[Remembered]) -> list[bool]:
        return [False] * len(memories)

    writer = ScriptedWriter(seed=1, loss=0.5)
    rounds = run_rounds(writer, sources(), 2, never)
    assert [len(traced) for traced in rounds.gated] == [8, 0, 0]
    assert [len(traced) for traced in rounds.ungated] == [8, 8, 8]


def test_a_memory_is_put_to_the_gate_with_the_turns_it_rests_on() -> None:
    (source,) = sources(1)
    candidate = candidate_of(Remembered("m3", "c0", "Ana rows.", ("t1", "t3")), source)
    assert (candidate.id, candidate.citations, candidate.namespace) == ("m3", ("t1", "t3"), ("c0",))


def test_the_lines_of_an_answer_are_memories_with_the_ids_behind_them_and_talk_and_repetition_are_left_out() -> None:
    answer = 'Here they are:\n- Ana moved. [t1, "t2"]\n* Ana plans a trip [t3].\n3) Ana rows.\n- Ana rows.\n- ?\n'
    assert list(memory_lines(answer)) == [
        ("Ana moved.", ("t1", "t2")),
        ("Ana plans a trip", ("t3",)),
        ("Ana rows.", ("",)),
    ]
    assert list(memory_lines("Ana moved. [t1]")) == [("Ana moved.", ("t1",))]
    assert list(memory_lines("")) == []


def test_a_model_writes_from_turns_it_names_or_else_from_all_it_was_shown_and_merges_what_memories_rest_on() -> None:
    asked: list[str] = []

    def ask(prompts: Sequence[str]) -> list[str | None]:
        asked.extend(prompts)
        if "Write down" in prompts[0]:
            return ["- Ana moved to Leeds. [t1]\n- Ana has plans." for _ in prompts]
        return ["- Ana moved to Leeds and has plans. [m1, m2]" for _ in prompts]

    writer = ModelWriter("fake", {"kind": "fake"}, ask)
    extracted = writer.extract(sources(2))
    assert [(memory.conversation, memory.id, memory.turns) for memory in extracted] == [
        ("c0", "m1", ("t1",)),
        ("c0", "m2", ("t1", "t2", "t3")),
        ("c1", "m1", ("t1",)),
        ("c1", "m2", ("t1", "t2", "t3")),
    ]
    merged = writer.consolidate(extracted, 1)
    assert [(memory.text, memory.turns) for memory in merged] == [
        ("Ana moved to Leeds and has plans.", ("t1", "t2", "t3"))
    ] * 2
    assert 'turn "t2"' in asked[0] and "| Ana has plans." in asked[-1]


def test_what_a_model_gives_no_answer_on_stays_as_it_is_and_is_counted() -> None:
    writer = ModelWriter("fake", {"kind": "fake"}, lambda prompts: [None] * len(prompts))
    (source,) = sources(1)
    memories = [Remembered("m7", "c0", "Ana rows.", ("t1",)), Remembered("m9", "c0", "Ana sings.", ("t2",))]
    assert [memory.text for memory in writer.consolidate(memories, 1)] == ["Ana rows.", "Ana sings."]
    assert writer.extract([source]) == []
    assert writer.unusable == 2
