"""Who says whether a question was answered from a context: containment, or a reader whose answer a judge marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from admission.eviction.records import LabelledQuestion, Memory


@dataclass(frozen=True)
class Trial:
    """One question with the memories that are read for it, oldest first. `attempt`: which asking of it this is."""

    question: LabelledQuestion
    context: tuple[Memory, ...]
    attempt: int = 0


class Scoring(Protocol):
    """Was each trial answered rightly? None where asking failed.

    `limits`: what its figures cannot show, for the report. `identity`: what its answers depend on, as JSON."""

    name: str
    limits: tuple[str, ...]

    @property
    def identity(self) -> dict[str, object]: ...

    def right(self, trials: Sequence[Trial]) -> list[bool | None]: ...


class Containment:
    """Right exactly when every gold memory is in the context: what a reader could do that never fails with its evidence
    and never succeeds without. It reads labels instead of text, so it needs no model."""

    name = "containment"
    limits: tuple[str, ...] = (
        "Containment is a ceiling, not a reader: a question counts as answered exactly when all its gold evidence is "
        "read. So a question is left out only where its gold does not fit the restoration's cap, no error is residual, "
        "harm, placebo, surviving-only and whole-store flips are 0 and repeat agreement is 1, all by construction: "
        "these are identities, not findings. An irreversible count is the number of questions that lost a piece of "
        "gold; a model may answer some of these from other memories, or fail with all of it.",
    )

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": self.name}

    def right(self, trials: Sequence[Trial]) -> list[bool | None]:
        return [set(trial.question.gold) <= {memory.id for memory in trial.context} for trial in trials]


@dataclass(frozen=True)
class ReadMemory:
    """A memory as a reader sees it."""

    text: str
    time: str | None


@dataclass(frozen=True)
class ReadRequest:
    """All that a reader gets: the question, the day it is asked on if known, and texts. No id, no label, no answer.

    `attempt` is not for the model: a reader that keeps its answers keeps those of every attempt apart."""

    question: str
    time: str | None
    context: tuple[ReadMemory, ...]
    attempt: int = 0


@dataclass(frozen=True)
class JudgeRequest:
    """All that a judge gets: no context, no policy, no label of evidence. `attempt`: as in `ReadRequest`."""

    question: str
    reference: str
    answer: str
    attempt: int = 0


class Reader(Protocol):
    """Answers from a context, or abstains where it does not say. None where asking failed."""

    name: str

    @property
    def identity(self) -> dict[str, object]: ...

    def answer(self, requests: Sequence[ReadRequest]) -> list[str | None]: ...


class Judge(Protocol):
    """Does an answer say what the reference says? None where asking failed."""

    name: str

    @property
    def identity(self) -> dict[str, object]: ...

    def right(self, requests: Sequence[JudgeRequest]) -> list[bool | None]: ...


class Judged:
    """A reader whose answers a judge marks, blind to the condition. Equal requests are sent once a call."""

    def __init__(self, reader: Reader, judge: Judge, limits: tuple[str, ...] = ()) -> None:
        self.name = f"{reader.name}, judged by {judge.name}"
        self.limits = limits
        self._reader = reader
        self._judge = judge

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": "judged", "reader": self._reader.identity, "judge": self._judge.identity}

    def right(self, trials: Sequence[Trial]) -> list[bool | None]:
        asked = [_request(trial) for trial in trials]
        once = list(dict.fromkeys(asked))
        answers = dict(zip(once, self._reader.answer(once), strict=True))
        marked: list[JudgeRequest | None] = []
        for trial, request in zip(trials, asked, strict=True):
            answer, reference = answers[request], trial.question.answer
            known = answer is not None and reference is not None
            judged = JudgeRequest(trial.question.text, str(reference), str(answer), trial.attempt) if known else None
            marked.append(judged)
        to_judge = list(dict.fromkeys(request for request in marked if request is not None))
        verdicts = dict(zip(to_judge, self._judge.right(to_judge), strict=True))
        return [None if request is None else verdicts[request] for request in marked]


def _request(trial: Trial) -> ReadRequest:
    context = tuple(ReadMemory(memory.text, memory.time) for memory in trial.context)
    return ReadRequest(trial.question.text, trial.question.time, context, trial.attempt)
