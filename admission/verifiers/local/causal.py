"""A verifier over a causal language model: two questions an obligation, scored by the log-odds of Yes against No."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import add

from scipy.special import expit

import prompts
from admission.errors import VerifierError
from admission.records import Judgment, Passage, Question, Thresholds, Usage
from admission.verifiers.local.label_odds import LabelScorer, tokens_read
from admission.verifiers.local.loading import LocalModel
from admission.verifiers.local.prompting import ASKED, Ids, Prompter
from admission.verifiers.protocol import Verifier


class CausalVerifier(Verifier):
    """Asks a causal model of this process whether the turns say a statement, and whether they say what makes it false.

    Each question is one forward pass without sampling; the sigmoid of the log-odds of Yes against No is the number.
    What is put to it on the same passages shares their keys and values. A label names no turn, so `evidence` stays
    empty; the deliberation finds the smallest set of passages that still supports what this judge supports. Abstains
    on no text at all, and on a prompt longer than `max_tokens` or than the model can read. Raises `SettingsError` for
    a tokenizer that does not tell Yes from No.
    """

    def __init__(
        self,
        local: LocalModel,
        name: str,
        *,
        batch_size: int = 8,
        max_tokens: int = 8192,
        thresholds: Thresholds | None = None,
    ) -> None:
        self.name = name
        self.thresholds = thresholds or Thresholds()
        self.local = local
        self._prompter = Prompter(local.tokenizer)
        self._limit = min(n for n in (max_tokens, local.reach) if n is not None)
        self._scorer = LabelScorer(
            local, self._prompter.yes, self._prompter.no, opening=self._prompter.opening(), batch_size=batch_size
        )

    @property
    def identity(self) -> dict[str, object]:
        return {
            "kind": "local causal",
            **self.local.identity,
            "max_tokens": self._limit,
            "prompts": prompts.digest(),
            "thresholds": self.thresholds.model_dump(),
        }

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        judgments: dict[int, Judgment] = {}
        groups: dict[tuple[Passage, ...], dict[int, tuple[Ids, ...]]] = {}
        for number, question in enumerate(questions):
            asked = self._asked(question)
            if isinstance(asked, Judgment):
                judgments[number] = asked
            else:
                groups.setdefault(question.passages, {})[number] = asked
        for group in groups.values():
            odds = self._odds([ids for asked in group.values() for ids in asked])
            cost = Usage(calls=len(odds), input_tokens=tokens_read([ids for asked in group.values() for ids in asked]))
            for place, number in enumerate(group):
                support, contradiction = odds[place * len(ASKED) : (place + 1) * len(ASKED)]
                judgment = self._judged(questions[number], support, contradiction)
                judgments[number] = judgment.model_copy(update={"cost": cost if place == 0 else None})
        return [judgments[number] for number in range(len(questions))]

    def usage(self, questions: Sequence[Question], judgments: Sequence[Judgment]) -> Usage:
        """Prompts scored and tokens read for these judgments; what prompts on the same passages share counts once."""
        return reduce(add, (judgment.cost for judgment in judgments if judgment.cost is not None), Usage())

    def _asked(self, question: Question) -> tuple[Ids, ...] | Judgment:
        """The prompts of a question, or the abstention where it cannot be put."""
        if not any(passage.text.strip() for passage in question.passages):
            reason = "empty: there is no text to judge the statement on"
            return Judgment.abstained(self.name, question.view, reason)
        asked = self._prompter.ids(question)
        longest = max(map(len, asked))
        if longest > self._limit:
            reason = f"too_long: the prompt has {longest} tokens, {self._limit} can be read"
            return Judgment.abstained(self.name, question.view, reason)
        return asked

    def _odds(self, asked: list[Ids]) -> list[float]:
        try:
            return self._scorer.odds(asked)
        except RuntimeError as error:
            detail = f"the model did not compute ({error}); a smaller batch_size or max_tokens takes less memory"
            raise VerifierError("model_error", detail) from error

    def _judged(self, question: Question, support: float, contradiction: float) -> Judgment:
        if not (math.isfinite(support) and math.isfinite(contradiction)):
            detail = "the log-odds are no finite numbers; try dtype float32"
            return Judgment.failed(self.name, question.view, "model_error", detail)
        note = f"Log-odds of Yes: {support:+.2f} to being said, {contradiction:+.2f} to being denied."
        return self._judgment(question, float(expit(support)), float(expit(contradiction)), note=note)
