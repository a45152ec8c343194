"""Asking a chat model to split memories into statements, without I/O: its rounds of requests, its answers read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

import prompts
from admission.records import Candidate, Obligation, ObligationType, Usage
from admission.verifiers.chat.answers import Failure, Reply, Unusable, cut, items_of, schema_of
from admission.verifiers.chat.budget import Budget
from admission.verifiers.chat.exchange import Outcome, Request, Rounds
from admission.verifiers.chat.requests import Message, Messages, answered_with, fence_of, lines_of
from admission.verifiers.chat.verifier import ChatVerifier

ROLE = "decomposer"
_LIST = "obligations"

Objections = Callable[[str, Sequence[Obligation]], tuple[str, ...]]
"""What is wrong with these obligations of this memory, in words that the model is told; empty where nothing is."""


class Statement(BaseModel):
    """One statement as the model gives it. Fields it adds are ignored; what it leaves out or mistypes is an error."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, json_schema_extra={"additionalProperties": False}
    )

    text: str = Field(description="one stand-alone statement, in the memory's own words")
    type: ObligationType = Field(description="fact, relation or qualification")


SCHEMA = schema_of(Statement, _LIST, "The statements that must all be true for the memory to be true.")


class Proposal(NamedTuple):
    """What came of asking for one memory: its obligations, or none and why not (`code: detail`); and the cost."""

    obligations: tuple[Obligation, ...]
    reason: str
    cost: Usage


class ChatDecomposer:
    """Asks the model of `verifier` to split memories, one call a memory and one repair round, within the same bounds.

    The model sees the memory alone, no evidence. `objections` says what an answer in good form has wrong: it is
    repaired or dropped as a whole, like one in bad form.
    """

    def __init__(self, verifier: ChatVerifier, objections: Objections) -> None:
        self.name = verifier.name
        self.options = verifier.options
        self._caller = verifier.caller_for(SCHEMA)
        self._described = {name: verifier.identity[name] for name in ("model", "params")}
        self._objections = objections

    @property
    def identity(self) -> dict[str, object]:
        """What the proposals depend on."""
        asked = {"output", "max_calls_per_write", "max_tokens_per_write"}
        options = self.options.model_dump(mode="json", include=asked)
        return {"kind": "chat", **self._described, "options": options, "prompts": prompts.digest()}

    def propose(self, candidates: Sequence[Candidate]) -> list[Proposal]:
        """One proposal a candidate, in order."""
        return self._caller.carry(self.exchange(candidates))

    async def apropose(self, candidates: Sequence[Candidate]) -> list[Proposal]:
        """Async twin of `propose`."""
        return await self._caller.acarry(self.exchange(candidates))

    def exchange(self, candidates: Sequence[Candidate]) -> Rounds[list[Proposal]]:
        """The same without I/O; all memories of a round side by side, each on its own budget."""
        calls = [_Call(candidate, Budget(self.options, Usage())) for candidate in candidates]
        waiting = calls
        while waiting:
            granted = [call.budget.grants([1 + self.options.retries])[0] for call in waiting]
            sent = [(call, attempts) for call, attempts in zip(waiting, granted, strict=True) if attempts]
            for call in (call for call, attempts in zip(waiting, granted, strict=True) if not attempts):
                call.fail("budget", str(call.budget))
            outcomes: Sequence[Outcome] = ()
            if sent:
                outcomes = yield [Request(call.messages, ROLE, call.candidate.id, n, SCHEMA) for call, n in sent]
            waiting = [
                call
                for (call, _), outcome in zip(sent, outcomes, strict=True)
                if not call.settle(outcome, self._objections)
            ]
        return [call.proposal for call in calls]


class _Call:
    """One memory on its way: what is to be sent, whether it was repaired, and what came of it."""

    def __init__(self, candidate: Candidate, budget: Budget) -> None:
        self.candidate = candidate
        self.budget = budget
        self.messages = messages_for(candidate.memory)
        self.cost = Usage()
        self.repaired = False
        self.proposal = Proposal((), "", self.cost)

    def settle(self, outcome: Outcome, objections: Objections) -> bool:
        """Take the outcome in; False where it is to be sent again for its one repair."""
        self.cost += outcome.usage
        self.budget.charge(outcome.usage)
        if isinstance(outcome, Failure):
            return self.fail(outcome.code, outcome.detail)
        if outcome.refusal is not None:
            return self.fail("refused", f"the model declined to answer: {outcome.refusal}")
        found = proposed(outcome)
        if not isinstance(found, Unusable):
            code, problems = "unfaithful", objections(self.candidate.memory, found)
            if not problems:
                self.proposal = Proposal(found, "", self.cost)
                return True
        else:
            code, problems = found.code, found.problems
        if self.repaired:
            return self.fail(code, f"after a repair round: {'; '.join(problems)}")
        self.repaired = True
        again = prompts.load("repair_decompose").substitute(problems="; ".join(problems))
        self.messages = answered_with(self.messages, outcome.text, again)
        return False

    def fail(self, code: str, detail: str) -> bool:
        self.proposal = Proposal((), f"{code}: {cut(detail)}", self.cost)
        return True


def messages_for(memory: str) -> Messages:
    """The prompt for one memory: rules that all prompts share, then the memory as fenced data."""
    body = "\n".join(lines_of(memory))
    asked = prompts.load("decompose_memory").substitute(fence=fence_of(body), memory=body)
    return (Message("system", prompts.load("decompose").template), Message("user", asked))


def proposed(reply: Reply) -> tuple[Obligation, ...] | Unusable:
    """The obligations of an answer, on one line each and numbered in order, or what is wrong with it."""
    found = items_of(reply, _LIST, Statement)
    if isinstance(found, Unusable):
        return found
    texts = (" ".join(statement.text.split()) for statement in found)
    return tuple(
        Obligation(id=f"o{number}", text=text, type=statement.type)
        for number, (statement, text) in enumerate(zip(found, texts, strict=True), start=1)
    )
