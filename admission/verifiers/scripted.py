"""A verifier that answers from a script: for tests, demonstrations of the protocol, and measuring overhead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from admission.records import Judgment, Question, Thresholds
from admission.verifiers.protocol import Verifier

Script = Callable[[Question], tuple[float, float] | Judgment]


class ScriptedVerifier(Verifier):
    """Answers each question with what `script` returns: (support, contradiction) in [0, 1], or a whole judgment.

    `asked` keeps every question in order.
    """

    def __init__(self, name: str, script: Script, thresholds: Thresholds | None = None) -> None:
        self.name = name
        self.thresholds = thresholds or Thresholds()
        self.asked: list[Question] = []
        self._script = script

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": "scripted", "name": self.name, "thresholds": self.thresholds.model_dump()}

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        self.asked.extend(questions)
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Judgment:
        answer = self._script(question)
        if isinstance(answer, Judgment):
            return answer
        return self._judgment(question, *answer, evidence=question.turn_ids)
