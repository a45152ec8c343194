"""A judge of a gate asked about memories with more true obligations; answers are kept for a run that was stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from admission.deliberation import JudgeRole
from admission.evaluation.derivation.cost import CHARS_A_TOKEN, Cost
from admission.evaluation.derivation.noise import Answered, Asking
from admission.evaluation.derivation.noise_cases import EXTRAS, NoiseCase
from admission.evaluation.kept_answers import KeptAnswers
from admission.gate import AdmissionGate
from admission.records import Judgment, Question, canonical_json, digest
from admission.settings import Settings

Call = tuple[Question, ...]
_JUDGMENTS = TypeAdapter(tuple[Judgment, ...])


def asking_of(kind: str, settings: Settings) -> Asking:
    """How a verifier of this kind puts obligations that share their passages: a chat model's may stand in one prompt,
    embedded and local ones judge each by itself."""
    family, _, name = kind.partition(":")
    section = settings.models.get(name) if family in ("chat", "cascade") else None
    return "alone" if section is None or section.asking == "isolated" else "together"


def isolated(settings: Settings) -> Settings:
    """The settings with every chat model asked one obligation a prompt."""
    models = {name: model.model_copy(update={"asking": "isolated"}) for name, model in settings.models.items()}
    return settings.model_copy(update={"models": models})


class AskedJudge:
    """The judge in this role of a gate. `file`: where its answers are kept between runs, those of other judges too.

    Asked together, a memory takes one call for each number of added obligations. Asked alone, an obligation's answer
    does not depend on what else is asked, so each is asked once.
    """

    def __init__(self, gate: AdmissionGate, role: JudgeRole, asked: Asking, file: Path | None = None) -> None:
        self.asked = asked
        self.name = gate.verifiers[role].name
        self._gate = gate
        self._role = role
        identity = {
            "judge": gate.verifiers[role].identity,
            "asked": asked,
            "strictness": gate.settings.verification.strictness,
            "view": gate.settings.verification.view,
        }
        self._kept = KeptAnswers(file, digest(identity))

    def calls(self, noise: NoiseCase) -> list[Call]:
        return [noise.questions(extra) for extra in (EXTRAS if self.asked == "together" else EXTRAS[-1:])]

    def missing(self, cases: Sequence[NoiseCase]) -> list[Call]:
        """The calls that no earlier run made."""
        return [call for noise in cases for call in self.calls(noise) if self._kept.get(_key(call)) is None]

    def cost(self, cases: Sequence[NoiseCase]) -> Cost:
        """About what the missing calls cost; nothing where the judge computes."""
        total = Cost()
        for call in self.missing(cases):
            rounds = self._gate.verifiers[self._role].exchange(call)
            requests = next(rounds, []) if rounds is not None else []
            chars = sum(len(message.content) for request in requests for message in request.messages)
            total = total.plus(Cost(len(requests), chars // CHARS_A_TOKEN))
        return total

    def ask(self, cases: Sequence[NoiseCase], advance: Callable[[], None] = lambda: None) -> None:
        """Make the missing calls. One with a failed answer is not kept: the next run makes it again."""
        for call in self.missing(cases):
            found = self._gate.judge(self._role, list(call), 1)
            if all(one.outcome != "failed" for one in found):
                self._kept.keep(_key(call), json.dumps([one.model_dump(mode="json") for one in found]))
            advance()

    def answered(self, noise: NoiseCase) -> Answered:
        """The case with the answers there are."""
        kept = [self._kept.get(_key(call)) for call in self.calls(noise)]
        found = [_JUDGMENTS.validate_json(one) for one in kept if one is not None]
        if len(found) < len(kept):
            return Answered(noise, None)
        if self.asked == "together":
            return Answered(noise, tuple(found))
        return Answered(noise, tuple(found[0][: len(noise.own) + extra] for extra in EXTRAS))


def _key(call: Call) -> str:
    return canonical_json([question.model_dump(mode="json") for question in call])
