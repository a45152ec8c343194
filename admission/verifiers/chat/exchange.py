"""The rounds of requests that answer a judge's questions, without I/O: whoever drives them sends what they yield.

A driver is sent lists of requests and gives back one outcome a request, in order: over the network, or by batch files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from admission.model_settings import ChatOptions
from admission.records import Account, FailureCode, Judgment, Question, Usage, VerificationView
from admission.verifiers.chat.answers import SCHEMA, Failure, Measure, Reply, Unusable, cut, measured, read
from admission.verifiers.chat.budget import Budget
from admission.verifiers.chat.requests import Messages, messages_for, repair_of


class Request(NamedTuple):
    """One prompt to send, for which role and candidate, in at most so many attempts, and the schema of its answer."""

    messages: Messages
    role: str
    candidate: str | None
    attempts: int
    schema: Mapping[str, Any] = SCHEMA


T = TypeVar("T")
Outcome = Reply | Failure
Rounds = Generator[list[Request], Sequence[Outcome], T]
"""Yields the requests of a round, is sent one outcome a request in order, and returns what it makes of them."""
Exchange = Rounds[list[Judgment]]


@dataclass(frozen=True)
class Seat:
    """Who asks, and how: the verifier's name, role, view and options, and how it makes a judgment of a measure."""

    name: str
    role: str
    view: VerificationView
    options: ChatOptions
    judged: Callable[[Question, Measure], Judgment]


def exchange(questions: Sequence[Question], seat: Seat) -> Exchange:
    """One judgment a question, in order. Writes go side by side, each on its own account."""
    by_write: dict[Account | None, list[int]] = {}
    for number, question in enumerate(questions):
        by_write.setdefault(question.account, []).append(number)
    writes = {account: _Write([questions[n] for n in own], account, seat) for account, own in by_write.items()}
    judgments: dict[int, Judgment] = {}
    running = {account: write.run() for account, write in writes.items()}
    outcomes: dict[Account | None, Sequence[Outcome] | None] = dict.fromkeys(running)
    while running:
        rounds: dict[Account | None, list[Request]] = {}
        for account, run in list(running.items()):
            try:
                answer = outcomes[account]
                rounds[account] = next(run) if answer is None else run.send(answer)
            except StopIteration as stop:
                judgments.update(zip(by_write[account], stop.value, strict=True))
                del running[account]
        if rounds:
            answers = iter((yield [request for requests in rounds.values() for request in requests]))
            outcomes = {account: [next(answers) for _ in requests] for account, requests in rounds.items()}
    return [judgments[number] for number in range(len(questions))]


class _Call:
    """One prompt on its way: the questions it asks (by number), what is to be sent, and whether it was repaired."""

    def __init__(self, numbers: Sequence[int], messages: Messages) -> None:
        self.numbers = tuple(numbers)
        self.messages = messages
        self.broken: Unusable | None = None


class _Write:
    """The questions of one write in one role."""

    def __init__(self, questions: Sequence[Question], account: Account | None, seat: Seat) -> None:
        self.questions = questions
        self.seat = seat
        self.candidate = account.candidate if account is not None else None
        self.budget = Budget(seat.options, account.spent if account is not None else Usage())
        self.judgments: dict[int, Judgment] = {}
        self.costs = [Usage()] * len(questions)

    def run(self) -> Exchange:
        asking = self.seat.options.asking
        groups = list(self._groups(alone=asking == "isolated"))
        yield from self._ask(groups)
        if asking == "joint_then_isolated":
            yield from self._ask_again([number for group in groups if len(group) > 1 for number in group])
        return [self.judgments[n].model_copy(update={"cost": cost}) for n, cost in enumerate(self.costs)]

    def _groups(self, alone: bool) -> Iterator[list[int]]:
        """Numbers of the questions that form one call: those of one memory on the same passages, each id once.

        Where nothing is shown nothing is asked.
        """
        groups: dict[object, list[int]] = {}
        seen: Counter[object] = Counter()
        for number, question in enumerate(self.questions):
            if not any(passage.text.strip() for passage in question.passages):
                reason = "empty: there is no text to judge the statement on"
                self.judgments[number] = Judgment.abstained(self.seat.name, question.view, reason)
                continue
            shared = (question.memory, question.view, question.passages)
            nth = seen[shared, question.obligation.id]
            seen[shared, question.obligation.id] += 1
            groups.setdefault(number if alone else (shared, nth), []).append(number)
        yield from groups.values()

    def _ask(self, groups: Sequence[Sequence[int]]) -> Generator[list[Request], Sequence[Outcome], None]:
        """Judgments for all questions of the groups: a call each, and one repair round for an answer that is no use."""
        seat = self.seat
        waiting = [_Call(g, messages_for([self.questions[n] for n in g], seat.role, seat.view)) for g in groups]
        while waiting:
            sent = waiting[:1] if self.budget.one_by_one else waiting
            later = waiting[len(sent) :]
            granted = self.budget.grants([1 + seat.options.retries] * len(sent))
            going = [(call, attempts) for call, attempts in zip(sent, granted, strict=True) if attempts]
            for call, attempts in zip(sent, granted, strict=True):
                if not attempts:
                    self._fail(call, "budget", self._unaffordable(call))
            outcomes: Sequence[Outcome] = ()
            if going:
                outcomes = yield [Request(c.messages, seat.role, self.candidate, n) for c, n in going]
            again = [c for (c, _), outcome in zip(going, outcomes, strict=True) if not self._settle(c, outcome)]
            waiting = [*again, *later]

    def _settle(self, call: _Call, outcome: Outcome) -> bool:
        """Take the outcome in; False where the call is to be sent again for its one repair."""
        first = call.numbers[0]
        self.costs[first] += outcome.usage
        self.budget.charge(outcome.usage)
        if isinstance(outcome, Failure):
            self._fail(call, outcome.code, outcome.detail)
            return True
        if outcome.refusal is not None:
            self._fail(call, "refused", f"the model declined to answer: {outcome.refusal}")
            return True
        ids = [self.questions[n].obligation.id for n in call.numbers]
        verdicts = read(outcome, ids)
        if not isinstance(verdicts, Unusable):
            for number, id in zip(call.numbers, ids, strict=True):
                question = self.questions[number]
                measure = measured(question, verdicts[id], self.seat.options.check_quotes)
                self.judgments[number] = self.seat.judged(question, measure)
            return True
        if call.broken is not None:
            self._fail(call, verdicts.code, f"after a repair round: {'; '.join(verdicts.problems)}")
            return True
        call.broken = verdicts
        call.messages = repair_of(call.messages, outcome.text, verdicts.problems, ids)
        return False

    def _ask_again(self, numbers: Sequence[int]) -> Generator[list[Request], Sequence[Outcome], None]:
        """Relations and qualifications found supported among others, each alone; the stricter answer counts."""
        joint = {
            n: self.judgments[n]
            for n in numbers
            if self.questions[n].obligation.type != "fact" and self.judgments[n].label == "supported"
        }
        yield from self._ask([[n] for n in joint])
        for number, before in joint.items():
            self.judgments[number] = _stricter(before, self.judgments[number])

    def _unaffordable(self, call: _Call) -> str:
        return f"{self.budget}" + (f"; not repaired: {'; '.join(call.broken.problems)}" if call.broken else "")

    def _fail(self, call: _Call, code: FailureCode, detail: str) -> None:
        for number in call.numbers:
            view = self.questions[number].view
            self.judgments[number] = Judgment.failed(self.seat.name, view, code, cut(detail))


def _stricter(joint: Judgment, alone: Judgment) -> Judgment:
    """The answer that says less for the obligation; a failure says nothing at all."""
    if alone.outcome != "judged":
        return alone
    return min(alone, joint, key=lambda judgment: judgment.support - judgment.contradiction)
