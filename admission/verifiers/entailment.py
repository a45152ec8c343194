"""The entailment verifier: does any premise made of the passages entail the obligation, and does any contradict it?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from cachetools import LRUCache

from admission.errors import VerifierError, WeightsError
from admission.language import all_foreign, is_foreign
from admission.records import Judgment, Participant, Passage, Question, Thresholds
from admission.text import normalise, sentences, words
from admission.verifiers import entailment_weights, minilm
from admission.verifiers.attribution import only_others_say, own_word, speakers, subject_of
from admission.verifiers.premises import Premise, premises
from admission.verifiers.protocol import Verifier

if TYPE_CHECKING:
    from admission.verifiers.entailment_model import EntailmentNetwork


class _Reading(NamedTuple):
    """What is read for one question: premises of all passages, and, where the statement is about a participant, the
    premises of what is that participant's own word, and the share of its words that only others say."""

    all: list[Premise]
    subject: Participant | None = None
    own: tuple[Premise, ...] = ()
    others: float = 0.0


Scores = tuple[float, float]
"""Log-odds of entailment and of contradiction as the network gives them, rounded to `DECIMALS`."""

DECIMALS = 3
MAX_CLAIM_TOKENS = 96
SILENT = -3.0
"""Log-odds of what a participant is to have done or thought and says nothing about: lines of theirs that have nothing
to do with the statement score about as low."""
OTHERS_WORDS = 4.0
"""What a statement about a participant loses, in log-odds, when all its words are in the mouths of others."""
_BATCH = 16
_CACHED_PAIRS = 50_000


class Calibration(NamedTuple):
    """Log-odds of the network to a chance: Platt scaling (Platt 1999), fitted on claims that no training step saw.

    Beyond about `saturation` larger log-odds say little more: the network is less right at both ends than it is sure.
    """

    scale: float
    shift: float
    saturation: float | None = None

    def chance(self, odds: float) -> float:
        if self.saturation is not None:
            odds = self.saturation * math.tanh(odds / self.saturation)
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
        readings = [
            _reading(question, scorer) if known is None else _Reading([])
            for question, known in zip(questions, early, strict=True)
        ]
        scores = scorer.scores(
            {(p.text, q.obligation.text) for q, r in zip(questions, readings, strict=True) for p in (*r.all, *r.own)}
        )
        return [
            known if known is not None else self._judged(question, reading, scores)
            for question, reading, known in zip(questions, readings, early, strict=True)
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

    def _judged(self, question: Question, reading: _Reading, scores: Mapping[tuple[str, str], Scores]) -> Judgment:
        claim = question.obligation.text
        scored = [(p, *scores[p.text, claim]) for p in reading.all]
        best = min(scored, key=lambda s: (-s[1], len(s[0].turn_ids)))
        odds = told = _best_two([entailed for _, entailed, _ in scored])
        if reading.subject is not None:
            # The network hardly binds a name to its line. What a participant did or thinks has to stand in their own
            # word too: half of the log-odds is read with everybody else's lines left out.
            told = _best_two([scores[p.text, claim][0] for p in reading.own]) if reading.own else min(SILENT, odds)
        support = self._chance(question, (odds + told) / 2 - OTHERS_WORDS * reading.others)
        # A joint premise mixes subjects, and an unrelated one has nothing to say: neither may contradict.
        against = [(p, self._contradiction.chance(c)) for p, _, c in scored if p.related and len(p.turn_ids) <= 2]
        worst, contradiction = max(against, key=lambda s: s[1], default=(best[0], 0.0))
        label = self.thresholds.label(support, contradiction)
        shown = worst if label == "contradicted" else best[0]
        # Read without regard to whose word it is, it would have been enough.
        hearsay = label == "insufficient" and self._chance(question, odds) >= self.thresholds.support
        note = _note(label, shown, support, contradiction, reading.subject if hearsay else None)
        return self._judgment(question, support, contradiction, shown.turn_ids, note)

    def _chance(self, question: Question, odds: float) -> float:
        return self._support.chance(odds + (self._part_odds if _is_part(question) else 0.0))


def _reading(question: Question, scorer: _Scorer) -> _Reading:
    claim, passages = question.obligation.text, _readable(question.passages)
    subject = subject_of(claim, (*question.people, *speakers(passages)))
    found = scorer.premises(claim, passages)
    if subject is None:
        return _Reading(found)
    own = own_word(passages, subject)
    told = tuple(scorer.premises(claim, own)) if own else ()
    return _Reading(found, subject, told, only_others_say(claim, passages, subject))


def _best_two(odds: Sequence[float]) -> float:
    """The mean of the two best: one premise alone is often misread in the statement's favour."""
    return sum(sorted(odds)[-2:]) / min(2, len(odds))


def _is_part(question: Question) -> bool:
    """Whether the obligation is less than the memory it was split from."""
    return words(question.obligation.text) != words(question.memory)


def _note(label: str, shown: Premise, support: float, contradiction: float, unsaid_by: Participant | None) -> str:
    """`unsaid_by`: the participant the statement is about, where only the word of others bears it out."""
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
    if unsaid_by is not None:
        who = unsaid_by.name or f"the {unsaid_by.role}"
        said = f"{turns} would do for the statement, but {who} does not say so ({support:.2f})."
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
