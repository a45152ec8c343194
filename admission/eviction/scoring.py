"""Who says whether a question was answered from a context: containment, or a reader whose answer a judge marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from admission.eviction.records import LabelledQuestion, Memory
from admission.records import Record

Mark = Literal["right", "wrong", "abstained"]
"""What an answer is. Only a right one counts as answered; that it abstains says how it fails."""


@dataclass(frozen=True)
class Trial:
    """One question with the memories that are read for it, oldest first. `attempt`: which asking of it this is."""

    question: LabelledQuestion
    context: tuple[Memory, ...]
    attempt: int = 0


class Failed(Record):
    """Trials that are not counted: which question they asked, who failed (`reader` or `judge`), how, how many times."""

    question: str
    by: Literal["reader", "judge"]
    problem: str
    times: int = 1


class Scoring(Protocol):
    """What was each trial's answer? None where asking failed: it is not counted, and `failures` names it.

    `limits`: what its figures cannot show, for the report. `identity`: what its answers depend on, as JSON."""

    name: str
    limits: tuple[str, ...]

    @property
    def identity(self) -> dict[str, object]: ...

    @property
    def failures(self) -> tuple[Failed, ...]:
        """The trials that failed so far."""
        ...

    def marks(self, trials: Sequence[Trial]) -> list[Mark | None]: ...


class Containment:
    """Right exactly when every gold memory is in the context: what a reader could do that never fails with its evidence
    and never succeeds without. It reads labels instead of text, so it needs no model."""

    name = "containment"
    failures: tuple[Failed, ...] = ()
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

    def marks(self, trials: Sequence[Trial]) -> list[Mark | None]:
        held = (set(trial.question.gold) <= {memory.id for memory in trial.context} for trial in trials)
        return ["right" if whole else "wrong" for whole in held]


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


@dataclass(frozen=True)
class Unmarked:
    """An answer that a judge did not mark, and why."""

    problem: str


class Reader(Protocol):
    """Answers from a context, or abstains where it does not say. None where asking failed."""

    name: str

    @property
    def identity(self) -> dict[str, object]: ...

    def answer(self, requests: Sequence[ReadRequest]) -> list[str | None]: ...


class Judge(Protocol):
    """Does an answer say what the reference says?"""

    name: str

    @property
    def identity(self) -> dict[str, object]: ...

    def marks(self, requests: Sequence[JudgeRequest]) -> list[Mark | Unmarked]: ...


NO_ANSWER = "no answer: the request failed, was cut off, or is longer than the model reads"
NO_REFERENCE = "the question has no reference answer"


class Judged:
    """A reader whose answers a judge marks, blind to the condition. Equal requests are sent once a call."""

    def __init__(self, reader: Reader, judge: Judge, limits: tuple[str, ...] = ()) -> None:
        self.name = f"{reader.name}, judged by {judge.name}"
        self.limits = limits
        self._reader = reader
        self._judge = judge
        self._failed: Counter[Failed] = Counter()

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": "judged", "reader": self._reader.identity, "judge": self._judge.identity}

    @property
    def failures(self) -> tuple[Failed, ...]:
        return tuple(failed.model_copy(update={"times": times}) for failed, times in self._failed.items())

    def marks(self, trials: Sequence[Trial]) -> list[Mark | None]:
        asked = [request_of(trial) for trial in trials]
        # Without a reference nobody could mark the answer, so it is not asked for.
        once = list(dict.fromkeys(r for t, r in zip(trials, asked, strict=True) if t.question.answer is not None))
        answers = dict(zip(once, self._reader.answer(once), strict=True))
        to_judge = [_to_judge(trial, answers.get(request)) for trial, request in zip(trials, asked, strict=True)]
        judged = list(dict.fromkeys(request for request in to_judge if isinstance(request, JudgeRequest)))
        marks = dict(zip(judged, self._judge.marks(judged), strict=True))
        return [
            self._counted(trial, request if isinstance(request, Failed) else marks[request])
            for trial, request in zip(trials, to_judge, strict=True)
        ]

    def _counted(self, trial: Trial, found: Mark | Unmarked | Failed) -> Mark | None:
        if isinstance(found, Unmarked):
            found = Failed(question=trial.question.id, by="judge", problem=found.problem)
        if isinstance(found, Failed):
            self._failed[found] += 1
            return None
        return found


def request_of(trial: Trial) -> ReadRequest:
    """What a reader gets of a trial."""
    context = tuple(ReadMemory(memory.text, memory.time) for memory in trial.context)
    return ReadRequest(trial.question.text, trial.question.time, context, trial.attempt)


def _to_judge(trial: Trial, answer: str | None) -> JudgeRequest | Failed:
    question = trial.question
    if question.answer is None:
        return Failed(question=question.id, by="judge", problem=NO_REFERENCE)
    if answer is None:
        return Failed(question=question.id, by="reader", problem=NO_ANSWER)
    return JudgeRequest(question.text, question.answer, answer, trial.attempt)
