"""A verifier over an NLI classifier: does any premise made of the passages entail the statement, or contradict it?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from scipy.special import expit

from admission.errors import SettingsError, VerifierError
from admission.local_settings import Meaning
from admission.records import Judgment, Question, Thresholds
from admission.verifiers.local.loading import LocalModel
from admission.verifiers.local.prompting import defuser
from admission.verifiers.premises import Premise, premises
from admission.verifiers.protocol import Verifier

if TYPE_CHECKING:
    import torch

MEANINGS: tuple[Meaning, ...] = get_args(Meaning)
_NAMED: dict[str, Meaning] = {"entail": "entailment", "neutral": "neutral", "contradict": "contradiction"}
_SCORED: tuple[Meaning, ...] = ("entailment", "contradiction")
_JOINT = 2  # turns in the largest premise that may contradict: a joint one mixes subjects


class _Scores(NamedTuple):
    """Log-odds of a pair, each against the two other classes."""

    entailment: float
    contradiction: float


class NliVerifier(Verifier):
    """Reads premises and statement as the embedded entailment verifier does, with any three-class NLI model.

    `support` is the sigmoid of the mean of the two best log-odds of entailment over the premises, `contradiction` that
    of the highest log-odds of contradiction over related premises of at most two turns. `labels` says what the model's
    outputs mean where its own names do not. Abstains on no text, and on a statement that takes more than half of what
    can be read. Raises `SettingsError` for a model whose outputs cannot be told.
    """

    reads_whole = True

    def __init__(
        self,
        local: LocalModel,
        name: str,
        *,
        labels: Sequence[Meaning] | None = None,
        batch_size: int = 8,
        max_tokens: int = 8192,
        thresholds: Thresholds | None = None,
    ) -> None:
        self.name = name
        self.thresholds = thresholds or Thresholds()
        self.local = local
        self._model: Any = local.model
        self._tokenizer: Any = local.tokenizer
        self._labels = meanings(local.model.config, labels)
        self._batch_size = batch_size
        self._limit = min(n for n in (max_tokens, local.reach) if n is not None)
        self._defuse = defuser(local.tokenizer)
        self._count: Callable[[str], int] = lru_cache(maxsize=16384)(self._tokens)

    @property
    def identity(self) -> dict[str, object]:
        return {
            "kind": "local nli",
            **self.local.identity,
            "labels": list(self._labels),
            "max_tokens": self._limit,
            "thresholds": self.thresholds.model_dump(),
        }

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        read = [self._read(question) for question in questions]
        pairs = {
            (premise.text, claim)
            for asked in read
            if not isinstance(asked, Judgment)
            for claim, found in [asked]
            for premise in found
        }
        try:
            scores = self._scores(pairs)
        except RuntimeError as error:
            detail = f"the model did not compute ({error}); a smaller batch_size or max_tokens takes less memory"
            raise VerifierError("model_error", detail) from error
        return [
            asked
            if isinstance(asked, Judgment)
            else self._judged(question, [(premise, scores[premise.text, asked[0]]) for premise in asked[1]])
            for question, asked in zip(questions, read, strict=True)
        ]

    def _read(self, question: Question) -> tuple[str, list[Premise]] | Judgment:
        """The statement and its premises as the model reads them, or the abstention where it cannot be judged."""
        passages = [p for p in question.passages if p.text.strip()]
        if not passages:
            reason = "empty: there is no text to judge the statement on"
            return Judgment.abstained(self.name, question.view, reason)
        claim = self._defuse(question.obligation.text)
        length = self._count(claim)
        if length > self._limit // 2:
            reason = f"too_long: the statement has {length} tokens, {self._limit // 2} can be read"
            return Judgment.abstained(self.name, question.view, reason)
        shown = [
            p.model_copy(update={"text": self._defuse(p.text), "speaker": self._defuse(p.speaker or "") or None})
            for p in passages
        ]
        room = self._limit - self._tokenizer.num_special_tokens_to_add(pair=True) - length
        return claim, premises(shown, claim, room, self._count)

    def _judged(self, question: Question, scored: Sequence[tuple[Premise, _Scores]]) -> Judgment:
        best, *others = sorted(scored, key=lambda s: (-s[1].entailment, len(s[0].turn_ids)))
        # One premise alone is often misread in the statement's favour: the next best has its say.
        odds = (best[1].entailment + others[0][1].entailment) / 2 if others else best[1].entailment
        support = float(expit(odds))
        if not math.isfinite(support):
            detail = "the model's numbers are not finite; try dtype float32"
            return Judgment.failed(self.name, question.view, "model_error", detail)
        against = [s for s in scored if s[0].related and len(s[0].turn_ids) <= _JOINT]
        worst = max(against, key=lambda s: s[1].contradiction, default=None)
        contradiction = float(expit(worst[1].contradiction)) if worst is not None else 0.0
        label = self.thresholds.label(support, contradiction)
        shown = worst[0] if worst is not None and label == "contradicted" else best[0]
        note = f"Premise {', '.join(shown.turn_ids)}: entailed {support:.2f}, contradicted {contradiction:.2f}."
        return self._judgment(question, support, contradiction, shown.turn_ids, note)

    def _scores(self, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], _Scores]:
        """Scores of each (premise, claim), in batches of pairs of about the same length."""
        import torch

        # The order depends on the texts alone, so that the same questions make the same batches.
        todo = sorted(pairs, key=lambda pair: (self._count(pair[0]) + self._count(pair[1]), pair))
        found: dict[tuple[str, str], _Scores] = {}
        with self.local.lock, torch.inference_mode():
            for start in range(0, len(todo), self._batch_size):
                batch = todo[start : start + self._batch_size]
                found.update(zip(batch, self._computed(batch), strict=True))
        return found

    def _computed(self, pairs: Sequence[tuple[str, str]]) -> list[_Scores]:
        encoded = self._tokenizer(
            [premise for premise, _ in pairs],
            [claim for _, claim in pairs],
            padding=True,
            truncation="only_first",
            max_length=self._limit,
            return_tensors="pt",
        )
        logits = self._model(**encoded.to(self._model.device)).logits.float()
        entailment, contradiction = (_against_rest(logits, self._labels.index(meaning)) for meaning in _SCORED)
        return [_Scores(*map(float, odds)) for odds in zip(entailment, contradiction, strict=True)]

    def _tokens(self, text: str) -> int:
        return len(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def meanings(config: Any, labels: Sequence[Meaning] | None) -> tuple[Meaning, ...]:
    """What the outputs of a model mean, in their order: as `labels` says, or by the names in its configuration.

    Raises `SettingsError` naming `labels` where neither gives each of the three meanings once.
    """
    names = [str(config.id2label[n]) for n in range(config.num_labels)]
    remedy = f"say what its outputs mean in their order, as labels = {list(MEANINGS)}"
    if labels is not None:
        if len(names) != len(labels):
            raise SettingsError("labels", f"the model has {len(names)} outputs", "use a model with three")
        return tuple(labels)
    found = [[meaning for part, meaning in _NAMED.items() if part in name.lower()] for name in names]
    if sorted(meaning for one in found for meaning in one) != sorted(MEANINGS) or any(len(one) != 1 for one in found):
        raise SettingsError("labels", f"the model calls its outputs {', '.join(names)}", remedy)
    return tuple(one[0] for one in found)


def _against_rest(logits: torch.Tensor, column: int) -> torch.Tensor:
    """Log-odds of one class against the others together."""
    rest = [n for n in range(logits.shape[1]) if n != column]
    return logits[:, column] - logits[:, rest].logsumexp(1)
