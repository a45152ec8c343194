"""What trials would cost: requests counted on deliberations that look at everything and agree on nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from admission.decomposition import RuleDecomposer
from admission.deliberation import ROLES, JudgeRole
from admission.evaluation.derivation.trials import Trial
from admission.gate import AdmissionGate, Open, merged
from admission.records import Judgment, Question, Thresholds
from admission.settings import Settings
from admission.verifiers.chat.exchange import Request
from admission.verifiers.protocol import Verifier

CHARS_A_TOKEN = 4
"""A rough count: a provider's own tokenizer is not at hand."""


class Cost(NamedTuple):
    """Requests to chat models and their input tokens, about."""

    requests: int = 0
    input_tokens: int = 0

    def plus(self, other: Cost) -> Cost:
        return Cost(self.requests + other.requests, self.input_tokens + other.input_tokens)


def estimate(settings: Settings, trials: Iterable[Trial]) -> Cost:
    """About what the trials cost a gate of these settings: each obligation asked on both views and adjudicated.

    Agreement makes it less, as does a cascade, of which the model is counted as if it were always asked; repairs of
    answers, retries and the search for the smallest evidence make it more. Nothing is sent and no network computes.
    """
    verification = settings.verification
    kinds = {role: _paid(getattr(verification, role), settings) for role in (*ROLES, "decomposer")}
    total = Cost()
    if not any(kinds.values()):
        return total
    free = {role: _Free(role) if getattr(verification, role) and not kinds[role] else None for role in ROLES}
    paid = {role: kind for role, kind in kinds.items() if kind is not None}
    gate = AdmissionGate(
        settings.model_copy(update={"verification": verification.model_copy(update=paid)}),
        verifier_a=free["verifier_a"],
        verifier_b=free["verifier_b"],
        adjudicator=free["adjudicator"],
        by_file=True,
    )
    for trial in trials:
        total = total.plus(_of(gate, trial))
    return total


def _paid(kind: str | None, settings: Settings) -> str | None:
    """The chat model that a kind of judge or decomposer pays for; None where it pays for none."""
    family, _, name = (kind or "").partition(":")
    return f"chat:{name}" if family in ("chat", "cascade") and name in settings.models else None


class _Free(Verifier):
    """Stands where a judge is that costs nothing; its answers are given for it."""

    def __init__(self, role: str) -> None:
        self.name = role
        self.thresholds = Thresholds()

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": "free", "role": self.name}

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        raise NotImplementedError("what a judge would say is not asked when its price is counted")


def _of(gate: AdmissionGate, trial: Trial) -> Cost:
    total = Cost()
    case = gate.opened(trial.candidate, trial.history)
    if case.splits:
        rounds = gate.decomposer.exchange([trial.candidate])
        if rounds is not None:
            total = total.plus(_cost(next(rounds, [])))
        (found,) = RuleDecomposer().decompose([trial.candidate])
        case.divide(found)
    while case.report is None:
        total = total.plus(_round(gate, case))
    return total


def _round(gate: AdmissionGate, case: Open) -> Cost:
    """Count a round's requests, and answer it so that the judges differ and the adjudicator finds nothing."""
    total, asked = Cost(), merged([case])
    for role, questions in asked.items():
        exchange = gate.verifiers[role].exchange(questions)
        if exchange is not None:
            total = total.plus(_cost(next(exchange, [])))
    gate.deliver([case], asked, {role: [_answer(gate, role, q) for q in asked[role]] for role in asked})
    return total


def _answer(gate: AdmissionGate, role: JudgeRole, question: Question) -> Judgment:
    found = role == "verifier_b"
    return Judgment(
        verifier=gate.verifiers[role].name,
        view=question.view,
        support=float(found),
        contradiction=0.0,
        label="supported" if found else "insufficient",
    )


def _cost(requests: Sequence[Request]) -> Cost:
    chars = sum(len(message.content) for request in requests for message in request.messages)
    return Cost(len(requests), chars // CHARS_A_TOKEN)
