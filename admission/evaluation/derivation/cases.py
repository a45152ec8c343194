"""Recorded writes as cases: what is put to a gate, and beside it what is only scored by."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from admission.errors import InputError
from admission.evaluation.loaders import load_conversations
from admission.evaluation.replay_metrics import UNSUPPORTED, VALID, ReferenceStatus
from admission.evaluation.seed import SEED
from admission.history import History, Timeline
from admission.records import Candidate, Conversation, digest

T = TypeVar("T")


class Case(NamedTuple):
    """A write and the turns before it. `reference` is what people say of it (`{}`: nothing), never shown to a gate."""

    candidate: Candidate
    history: History
    reference: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """Conversation and id: no two cases of an evaluation share it."""
        return (self.candidate.conversation, self.candidate.id)

    @property
    def group(self) -> str:
        """What is drawn together in the statistics: the conversation."""
        return self.candidate.conversation

    @property
    def valid(self) -> bool | None:
        """Whether the reference says that the history supports the memory; None where it does not say."""
        status = self.reference.get("status")
        return True if status in VALID else False if status in UNSUPPORTED else None


def read_cases(files: Sequence[Path], *, passage_chars: int) -> list[Case]:
    """The writes of the files, in their order.

    Raises `InputError` for a file without writes, a write that occurs twice, two conversations of one id (statistics
    draw by it), and a reference that is not one: a misspelt status must not make a write one that nothing is said of.
    """
    cases: list[Case] = []
    seen: dict[tuple[str, str], Path] = {}
    said: dict[str, str] = {}
    for file in files:
        before = len(cases)
        for conversation in load_conversations(file):
            turns = digest([turn.model_dump(mode="json") for turn in conversation.turns])
            if said.setdefault(conversation.id, turns) != turns:
                problem = f"{conversation.id!r} was another conversation before"
                raise InputError("id", problem, "give each conversation its own id", where=str(file))
            for case in cases_of(conversation, passage_chars=passage_chars):
                _check_reference(case, where=f"{file}, {case.group}, {case.candidate.id}")
                if case.key in seen:
                    problem = f"{case.candidate.id!r} of {case.group!r} is in {seen[case.key]} already"
                    raise InputError(
                        "writes.id", problem, "give each write of a conversation its own id", where=str(file)
                    )
                seen[case.key] = file
                cases.append(case)
        if len(cases) == before:
            raise InputError("FILE", "holds no recorded write", "give conversations with `writes`", where=str(file))
    return cases


def drawn(every: Sequence[T], sample: int | None, seed: int = SEED) -> list[T]:
    """So many of the cases, or of what else is measured, drawn with `seed`, in their order; all without `sample`."""
    if sample is None or sample >= len(every):
        return list(every)
    return [every[place] for place in sorted(random.Random(seed).sample(range(len(every)), sample))]


def cases_of(conversation: Conversation, *, passage_chars: int) -> Iterator[Case]:
    """The writes of one conversation."""
    timeline: Timeline | None = None
    for write in conversation.writes:
        timeline = timeline or Timeline(conversation.id, conversation.turns, passage_chars=passage_chars)
        yield Case(conversation.candidate(write), timeline.before(write.written_after), write.reference or {})


def _check_reference(case: Case, *, where: str) -> None:
    reference = case.reference
    status = reference.get("status")
    if status is not None and status not in get_args(ReferenceStatus):
        known = ", ".join(get_args(ReferenceStatus))
        raise InputError("reference.status", f"{status!r} is no status", f"use one of {known}", where=where)
    obligations = reference.get("obligations") or []
    if not isinstance(obligations, list):
        raise InputError("reference.obligations", "is not a list", "give a list of objects", where=where)
    for number, item in enumerate(obligations):
        field = f"reference.obligations.{number}"
        if not isinstance(item, Mapping):
            raise InputError(field, "is not an object", 'write {"text": ..., "label": ...}', where=where)
        evidence = item.get("evidence") or []
        if not isinstance(evidence, list) or not all(isinstance(turn, str) for turn in evidence):
            raise InputError(f"{field}.evidence", "is not a list of turn ids", 'write ["t1", "t2"]', where=where)
        if unknown := [turn for turn in evidence if not case.history.contains(turn)]:
            problem = f"{unknown[0]!r} is no turn before the write"
            raise InputError(f"{field}.evidence", problem, "name turns of the history", where=where)


def pairs(cases: Iterable[Case]) -> list[tuple[Candidate, History]]:
    """What a gate is given of the cases."""
    return [(case.candidate, case.history) for case in cases]
