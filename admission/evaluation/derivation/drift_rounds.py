"""Rounds of extraction and consolidation, once as they come and once with a gate that lets into each next round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from admission.evaluation.derivation.drift import (
    Drift,
    DriftFigures,
    Traced,
    differences,
    drift_of,
    round_figures,
)
from admission.evaluation.derivation.drift_writers import Remembered, Source, Writer
from admission.history import Timeline
from admission.records import Candidate, Conversation

Admit = Callable[[Sequence[Remembered]], Sequence[bool]]
"""Of the memories of a round, in order: may each go on to the next?"""


class Rounds(NamedTuple):
    """The memories of each round from extraction on: as they come (`ungated`), and as they were put to the gate."""

    ungated: tuple[tuple[Traced, ...], ...]
    gated: tuple[tuple[Traced, ...], ...]


def sources_of(conversations: Sequence[Conversation], *, passage_chars: int) -> list[Source]:
    """The conversations with their whole histories."""
    return [Source(one, Timeline(one.id, one.turns, passage_chars=passage_chars).before(None)) for one in conversations]


def candidate_of(memory: Remembered, source: Source) -> Candidate:
    """A memory as the gate is given it: written at the end of the conversation, citing what it rests on. One that did
    not change since the round before is the same candidate, so it is decided once."""
    return Candidate(
        id=memory.id,
        conversation=memory.conversation,
        namespace=source.conversation.namespace,
        memory=memory.text,
        citations=memory.turns,
    )


def run_rounds(writer: Writer, sources: Sequence[Source], count: int, admit: Admit) -> Rounds:
    """Extraction, then `count` rounds of consolidation, both ways from the same extracted memories."""
    by_id = {source.conversation.id: source for source in sources}
    memories = writer.extract(sources)
    ungated = [_traced(memories, by_id)]
    gated = [_traced(memories, by_id, admit(memories))]
    for number in range(1, count + 1):
        memories = writer.consolidate(memories, number)
        ungated.append(_traced(memories, by_id))
        rewritten = writer.consolidate([one.memory for one in gated[-1] if one.kept], number)
        gated.append(_traced(rewritten, by_id, admit(rewritten)))
    return Rounds(tuple(ungated), tuple(gated))


def drift_figures(writer: Writer, sources: Sequence[Source], rounds: Rounds) -> DriftFigures:
    """The figures of all rounds."""
    ways = ((False, rounds.ungated), (True, rounds.gated))
    return DriftFigures(
        writer=writer.name,
        conversations=len(sources),
        rounds=tuple(
            round_figures(number, traced, gated=gated) for gated, own in ways for number, traced in enumerate(own)
        ),
        differences=differences(rounds.gated[-1], rounds.ungated[-1]),
        unusable=writer.unusable,
    )


def _traced(
    memories: Sequence[Remembered], sources: Mapping[str, Source], kept: Sequence[bool] | None = None
) -> tuple[Traced, ...]:
    decided = [None] * len(memories) if kept is None else kept
    return tuple(
        Traced(memory, _drift(memory, sources[memory.conversation]), decision)
        for memory, decision in zip(memories, decided, strict=True)
    )


def _drift(memory: Remembered, source: Source) -> Drift | None:
    history = source.history
    turns = [turn for turn in memory.turns if history.contains(turn)]
    passages = [passage for turn in turns for passage in history.passages_of(turn)]
    return drift_of(memory.text, passages)
