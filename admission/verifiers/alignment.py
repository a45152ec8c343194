"""The alignment verifier: soft word alignment on frozen embeddings, explicit checks, a small calibrated logistic."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from admission.errors import WeightsError
from admission.language import all_foreign, is_foreign
from admission.records import Judgment, Question, Thresholds
from admission.verifiers import minilm
from admission.verifiers.alignment_features import FEATURES, best_turns, features, unmatched_words
from admission.verifiers.alignment_note import doubts, note_on
from admission.verifiers.alignment_structure import Structure, structure
from admission.verifiers.checks import Check, Evidence, gather, read, run_checks
from admission.verifiers.checks.reading import PERSONAL, read_passages
from admission.verifiers.protocol import Verifier
from admission.verifiers.soft_match import Alignment, align, texts_of
from admission.verifiers.states import StateEncoder

FORMAT = 1
WEIGHTS = "alignment.json"
_NEAR_EXACT = 0.9
_FOREIGN = "language: only English is judged"
_ENCODED_AT_ONCE = 64


@dataclass(frozen=True)
class Calibration:
    """The fitted logistic: one coefficient a feature and an intercept, for support and for contradiction."""

    support: tuple[float, ...]
    support_intercept: float
    contradiction: tuple[float, ...]
    contradiction_intercept: float
    thresholds: Thresholds
    layers: tuple[int, ...]
    digest: str


@lru_cache(maxsize=1)
def shipped() -> Calibration:
    """The calibration in the package. Raises `WeightsError` if missing, of another format or for other features."""
    source = files("admission.data") / WEIGHTS
    if not source.is_file():
        raise WeightsError(WEIGHTS, "the alignment verifier's calibration is missing", "reinstall memory-admission")
    raw = source.read_bytes()
    data = json.loads(raw)
    if data.get("format") != FORMAT or tuple(data["features"]) != FEATURES:
        raise WeightsError(
            WEIGHTS,
            f"format {data.get('format')!r} or its features are not what this version computes (format {FORMAT})",
            "reinstall memory-admission, or fit again with training/fit_alignment.py",
        )
    return Calibration(
        support=tuple(data["support"]["coefficients"]),
        support_intercept=data["support"]["intercept"],
        contradiction=tuple(data["contradiction"]["coefficients"]),
        contradiction_intercept=data["contradiction"]["intercept"],
        thresholds=Thresholds(**data["thresholds"]),
        layers=tuple(data["layers"]),
        digest=hashlib.sha256(raw).hexdigest(),
    )


@dataclass(frozen=True)
class Comparison:
    """One question measured: the alignment, its ranked sentences, what the checks found, and clauses compared."""

    alignment: Alignment
    evidence: Evidence
    checks: tuple[Check, ...]
    structure: Structure


def compare(question: Question, encoder: StateEncoder) -> Comparison:
    """Aligns the question's obligation with its passages and runs every check on the result."""
    statement = read(question.obligation.text)
    alignment = align(statement, question.passages, encoder)
    evidence = gather(statement, alignment.sentences, alignment.by_sentence())
    return Comparison(alignment, evidence, run_checks(statement, evidence, alignment.part), structure(alignment))


class AlignmentVerifier(Verifier):
    """Independent of the entailment model by construction: frozen embeddings, readable checks, some coefficients.

    Contradiction is 0 unless a check found a conflict: words that are merely missing refute nothing.

    It abstains (reason code in brackets) when there are no passages to compare with (`no_passages`) or no words to
    compare (`no_claim`), when obligation
    or passages are not English unless the text is there almost word for word (`language`), and when the obligation
    opens with a pronoun that nothing in it resolves (`antecedent`).
    """

    name = "alignment"

    def __init__(self, thresholds: Thresholds | None = None) -> None:
        """`thresholds`: those fitted on held-out dialogues by default. Raises `WeightsError` without a calibration."""
        self._calibration = shipped()
        self.thresholds = thresholds or self._calibration.thresholds
        self._encoder = StateEncoder(self._calibration.layers)

    @property
    def identity(self) -> dict[str, object]:
        return {
            "kind": self.name,
            "format": FORMAT,
            "encoder": minilm.WEIGHTS_SHA256,
            "calibration": self._calibration.digest,
            "thresholds": self.thresholds.model_dump(),
        }

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        """One judgment a question; all texts of a batch are encoded together first."""
        judgments: list[Judgment] = []
        for start in range(0, len(questions), _ENCODED_AT_ONCE):
            part = questions[start : start + _ENCODED_AT_ONCE]
            self._encoder.encode([text for q in part if q.passages for text in texts_of(q.obligation.text, q.passages)])
            judgments.extend(self._judge_one(question) for question in part)
        return judgments

    def _judge_one(self, question: Question) -> Judgment:
        reason = self._unjudgeable(question)
        if reason:
            return Judgment.abstained(self.name, question.view, reason)
        found = compare(question, self._encoder)
        vector = features(found.alignment, found.evidence, found.checks, found.structure)
        fitted = self._calibration
        conflict = any(check.state == "conflict" for check in found.checks)
        chosen = best_turns(found.alignment)
        closest = question.passages[chosen[0]].text
        if is_foreign(closest) and not _almost_says(closest, question.obligation.text):
            return Judgment.abstained(self.name, question.view, _FOREIGN)
        return self._judgment(
            question,
            support=_logistic(vector, fitted.support, fitted.support_intercept),
            contradiction=_logistic(vector, fitted.contradiction, fitted.contradiction_intercept) if conflict else 0.0,
            evidence=_turns([question.passages[p].turn_id for p in chosen], found.checks),
            note=note_on(found.checks, unmatched_words(found.alignment, chosen), doubts(found.structure)),
        )

    def _unjudgeable(self, question: Question) -> str:
        """Why this question cannot be judged (`code: detail`), or an empty text."""
        text = question.obligation.text
        if not read_passages(question.passages):
            return "no_passages: there is nothing to compare the obligation with"
        if not read(text).words:
            return "no_claim: the obligation has no words"
        said = [passage.text for passage in question.passages]
        if (is_foreign(text) or all_foreign(said)) and not any(_almost_says(one, text) for one in said):
            return _FOREIGN
        first = read(text).words[0]
        if first.lower in PERSONAL:
            return f"antecedent: {first.text!r} does not say who is meant"
        return ""


def _almost_says(said: str, text: str) -> bool:
    """Whether the words of `text` stand in `said` almost as they are, in this order."""
    wanted, found = [w.lower for w in read(text).words], [w.lower for w in read(said).words]
    if not wanted:
        return False
    place, hits = 0, 0
    for word in wanted:
        if word in found[place:]:
            place = found.index(word, place) + 1
            hits += 1
    return hits >= _NEAR_EXACT * len(wanted)


def _logistic(vector: Iterable[float], coefficients: Iterable[float], intercept: float) -> float:
    score = intercept + float(np.dot(np.asarray(vector), np.asarray(coefficients)))
    # Rounded, so that which other texts were in the batch (last bits of float arithmetic) does not show in a report.
    return round(float(1.0 / (1.0 + np.exp(-np.clip(score, -30.0, 30.0)))), 3)


def _turns(aligned: Sequence[str], checks: Sequence[Check]) -> list[str]:
    """Turns that carried the alignment, then those that a conflict rests on."""
    return list(dict.fromkeys([*aligned, *(c.turn_id for c in checks if c.state == "conflict" and c.turn_id)]))
