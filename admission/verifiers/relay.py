"""A verifier that answers some questions itself and puts the rest to another, in one logic for all drivers."""

from __future__ import annotations

import asyncio
import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, NamedTuple, Self

from admission.errors import VerifierError
from admission.records import Judgment, Question, Usage, VerificationView
from admission.verifiers.protocol import Verifier

if TYPE_CHECKING:
    from admission.verifiers.chat.exchange import Exchange


class Part(NamedTuple):
    """What is left of a batch: the questions for the other verifier, and what makes its answers the whole batch's."""

    asked: list[Question]
    complete: Callable[[Sequence[Judgment]], list[Judgment]]


class Relay(Verifier):
    """Base of verifiers that stand before another one, `then`.

    A call of `then` that fails as a whole is a failure of the questions put to it, and of no other. Every judgment
    carries what it cost, so that usage is a sum.
    """

    def __init__(self, name: str, then: Verifier) -> None:
        self.name = name
        self.then = then

    @abstractmethod
    def _begin(self, questions: Sequence[Question]) -> Part:
        """Answer what can be answered here; it may compute and read files."""

    def seated(self, role: str, view: VerificationView) -> Self:
        seat = copy.copy(self)
        seat.then = self.then.seated(role, view)
        return seat

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        part = self._begin(questions)
        try:
            answers = self.then.judge(part.asked) if part.asked else []
        except VerifierError as error:
            answers = self._failed(part.asked, error)
        return part.complete(_one_each(part.asked, answers))

    async def ajudge(self, questions: Sequence[Question]) -> list[Judgment]:
        part = await asyncio.to_thread(self._begin, questions)
        try:
            answers = await self.then.ajudge(part.asked) if part.asked else []
        except VerifierError as error:
            answers = self._failed(part.asked, error)
        return await asyncio.to_thread(part.complete, _one_each(part.asked, answers))

    def exchange(self, questions: Sequence[Question]) -> Exchange | None:
        return self._exchange(questions) if self.then.exchange(()) is not None else None

    def _exchange(self, questions: Sequence[Question]) -> Exchange:
        part = self._begin(questions)
        rounds = self.then.exchange(part.asked) if part.asked else None
        answers = (yield from rounds) if rounds is not None else []
        return part.complete(_one_each(part.asked, answers))

    def usage(self, questions: Sequence[Question], judgments: Sequence[Judgment]) -> Usage:
        return reduce(add, (judgment.cost for judgment in judgments if judgment.cost is not None), Usage())

    def _failed(self, asked: Sequence[Question], error: VerifierError) -> list[Judgment]:
        return [Judgment.failed(self.name, question.view, error.code, error.detail) for question in asked]


def _one_each(asked: Sequence[Question], answers: Sequence[Judgment]) -> Sequence[Judgment]:
    if len(answers) != len(asked):
        raise VerifierError("malformed_answer", f"{len(asked)} questions got {len(answers)} answers")
    return answers
