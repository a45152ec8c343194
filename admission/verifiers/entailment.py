"""The entailment verifier: does any premise made of the passages entail the obligation, and does any contradict it?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from cachetools import LRUCache

from admission.errors import VerifierError, WeightsError
from admission.language import all_foreign, is_foreign
from admission.records import Judgment, Passage, Question, Thresholds
from admission.text import normalise, sentences, words
from admission.verifiers import entailment_weights, minilm
from admission.verifiers.premises import Premise, premises
from admission.verifiers.protocol import Verifier

if TYPE_CHECKING:
    from admission.verifiers.entailment_model import EntailmentNetwork

Scores = tuple[float, float]
"""Log-odds of entailment and of contradiction as the network gives them, rounded to `DECIMALS`."""

DECIMALS = 3
MAX_CLAIM_TOKENS = 96
_BATCH = 16
_CACHED_PAIRS = 50_000


class Calibration(NamedTuple):
    """Platt scaling (Platt 1999), fitted on claims that no training step saw: log-odds of the network to a chance."""

    scale: float
    shift: float

    def chance(self, odds: float) -> float:
        return 1.0 / (1.0 + math.exp(-(self.scale * odds + self.shift)))


class EntailmentVerifier(Verifier):
    """Natural language inference over lines of conversation, by a fine-tuned MPNet on the CPU.

    `thresholds` default to those fitted on held-out data and stored with the weights at `weights`. The network is
    loaded at the first question. Abstains on another language than English (unless the obligation stands in a passage
    word for word), on no text at all, and on an obligation too long to be read whole. Raises `WeightsError`.
    """

    name = "entailment"
    reads_whole = True

    def __init__(self, *, thresholds: Thresholds | None = None, weights: Path = entailment_weights.WEIGHTS) -> None:
        described = entailment_weights.describe(weights)
        self.thresholds = thresholds or Thresholds.model_validate(described["thresholds"])
        self._support, self._contradiction = (
            Calibration(*described["calibration"][name]) for name in ("support", "contradiction")
        )
        self._part_odds = float(described["calibration"]["part"])
        self._weights, self._sha256 = weights, str(described["sha256"])

    @property
    def identity(self) -> dict[str, object]:
        from admission.verifiers.entailment_model import precision

        return {
            "kind": self.name,
            "weights": self._sha256,
            "backbone": entailment_weights.describe(self._weights)["base_sha256"],
            "precision": precision(),
            "thresholds": self.thresholds.model_dump(),
        }

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        try:
            return self._judge(questions)
        except WeightsError as error:
            raise VerifierError("unavailable", str(error)) from error
        except RuntimeError as error:
            raise VerifierError("model_error", f"the network did not compute ({error})") from error

    def _judge(self, questions: Sequence[Question]) -> list[Judgment]:
        scorer = _scorer(self._weights, self._sha256)
        early = [self._without_model(question) for question in questions]
        read = [
            scorer.premises(question.obligation.text, _readable(question.passages)) if known is None else []
            for question, known in zip(questions, early, strict=True)
        ]
        pairs = {(p.text, q.obligation.text) for q, found in zip(questions, read, strict=True) for p in found}
        scores = scorer.scores(pairs)
        return [
            known
            if known is not None
            else self._judged(question, [(p, *scores[p.text, question.obligation.text]) for p in found])
            for question, found, known in zip(questions, read, early, strict=True)
        ]

    def _without_model(self, question: Question) -> Judgment | None:
        """The judgment of a question that needs no model, or None."""
        claim, passages = question.obligation.text, [p for p in question.passages if p.text.strip()]
        if not passages:
            return Judgment.abstained(self.name, question.view, "empty: there is no text to judge the statement on")
        if is_foreign(claim) or all_foreign(p.text for p in passages):
            same = next((p for p in passages if _stands_in(claim, p.text)), None)
            if same is not None:
                note = f"The statement stands in {same.turn_id} word for word."
                return self._judgment(question, 1.0, 0.0, (same.turn_id,), note)
            what = "statement" if is_foreign(claim) else "passages"
            return Judgment.abstained(
                self.name, question.view, f"language: the {what} cannot be judged, only English can"
            )
        length = token_count(claim)
        if length > MAX_CLAIM_TOKENS:
            return Judgment.abstained(
                self.name, question.view, f"too_long: the statement has {length} tokens, {MAX_CLAIM_TOKENS} can be read"
            )
        return None

    def _judged(self, question: Question, scored: Sequence[tuple[Premise, float, float]]) -> Judgment:
        best, *others = sorted(scored, key=lambda s: (-s[1], len(s[0].turn_ids)))
        # One premise alone is often misread in the statement's favour: the next best has its say.
        odds = (best[1] + others[0][1]) / 2 if others else best[1]
        support = self._support.chance(odds + (self._part_odds if _is_part(question) else 0.0))
        # A joint premise mixes subjects, and an unrelated one has nothing to say: neither may contradict.
        against = [(p, self._contradiction.chance(c)) for p, _, c in scored if p.related and len(p.turn_ids) <= 2]
        worst, contradiction = max(against, key=lambda s: s[1], default=(best[0], 0.0))
        label = self.thresholds.label(support, contradiction)
        shown = worst if label == "contradicted" else best[0]
        note = _note(label, shown, support, contradiction)
        return self._judgment(question, support, contradiction, shown.turn_ids, note)


def _is_part(question: Question) -> bool:
    """Whether the obligation is less than the memory it was split from."""
    return words(question.obligation.text) != words(question.memory)


def _note(label: str, shown: Premise, support: float, contradiction: float) -> str:
    turns = " and ".join(shown.turn_ids)
    entails, contradicts, comes = (
        ("entails", "contradicts", "comes") if len(shown.turn_ids) == 1 else ("entail", "contradict", "come")
    )
    said = {
        "supported": f"{turns} {entails} the statement ({support:.2f}).",
        "contradicted": f"{turns} {contradicts} the statement ({contradiction:.2f}).",
        "conflicting": f"{turns} {entails} the statement ({support:.2f}), but it is also contradicted"
        f" ({contradiction:.2f}).",
        "insufficient": f"Nothing shown entails the statement; {turns} {comes} nearest ({support:.2f}).",
    }[label]
    return said + (" A long turn was cut to its sentences nearest to the statement." if shown.cut else "")


def _readable(passages: Sequence[Passage]) -> list[Passage]:
    return [p for p in passages if p.text.strip() and not is_foreign(p.text)]


def _stands_in(claim: str, text: str) -> bool:
    """Whether `claim` is, but for case and punctuation, the whole of `text` or one of its sentences."""

    def plain(part: str) -> list[str]:
        return [word.casefold() for word in words(normalise(part))]

    wanted = plain(claim)
    return bool(wanted) and any(
        wanted == plain(part) for part in (text, *(text[start:end] for start, end in sentences(text)))
    )


@lru_cache(maxsize=65536)
def token_count(text: str) -> int:
    """Word pieces of `text`, without special ones; both backbones cut words alike."""
    return len(minilm.tokenizer()(text, add_special_tokens=False, verbose=False)["input_ids"])


class _Scorer:
    """One loaded network and the scores of pairs it has read, for every verifier of the process with these weights."""

    def __init__(self, network: EntailmentNetwork) -> None:
        self._network = network
        self._known: LRUCache[tuple[str, str], Scores] = LRUCache(_CACHED_PAIRS)
        self._lock = Lock()

    def premises(self, claim: str, passages: Sequence[Passage]) -> list[Premise]:
        from admission.verifiers.entailment_model import MAX_TOKENS

        room = MAX_TOKENS - self._network.backbone.special_tokens - token_count(claim)
        return premises(passages, claim, room, token_count)

    def scores(self, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], Scores]:
        """Scores of each (premise, claim), in batches of pairs of about the same length."""
        with self._lock:
            found = {pair: self._known[pair] for pair in pairs if pair in self._known}
            # The order depends on the texts alone, so that the same questions make the same batches.
            todo = sorted(pairs - found.keys(), key=lambda pair: (token_count(pair[0]) + token_count(pair[1]), pair))
            for start in range(0, len(todo), _BATCH):
                batch = todo[start : start + _BATCH]
                found.update(zip(batch, self._compute(batch), strict=True))
            self._known.update((pair, found[pair]) for pair in todo)
            return found

    def _compute(self, pairs: Sequence[tuple[str, str]]) -> list[Scores]:
        import torch

        from admission.verifiers.entailment_model import encode_pairs

        with torch.inference_mode():
            logits = self._network(**encode_pairs(self._network.backbone, pairs))
            rest = torch.stack([torch.logsumexp(logits[:, 1:], 1), torch.logsumexp(logits[:, :2], 1)], dim=1)
            odds = (logits[:, [0, 2]] - rest).tolist()
        return [(round(entailed, DECIMALS), round(against, DECIMALS)) for entailed, against in odds]


@lru_cache(maxsize=2)
def _scorer(weights: Path, sha256: str) -> _Scorer:
    """`sha256` makes a changed file a new scorer: nothing scored by other weights is ever reported."""
    return _Scorer(entailment_weights.load(weights))
