"""The adjudicator: a blind third judge, a trained late-interaction head on frozen MiniLM token states."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from admission.errors import WeightsError
from admission.language import all_foreign, is_foreign
from admission.records import Judgment, Passage, Question, Thresholds
from admission.text import normalise
from admission.verifiers import minilm
from admission.verifiers.protocol import Verifier
from admission.verifiers.states import StateEncoder, TokenStates

if TYPE_CHECKING:
    from torch import Tensor

    from admission.verifiers.adjudicator_head import AdjudicatorHead

FORMAT = "1"
WEIGHTS = "adjudicator.safetensors"
JOINT = 4
"""Passages in the joint premise."""
SINGLES = 3
"""Best passages that are also judged alone."""
_BATCH = 64
_KEPT = 0.02


@dataclass(frozen=True)
class Fitted:
    """The head and what was fitted with it. `digest` is the SHA-256 of the weight file."""

    head: AdjudicatorHead
    layers: tuple[int, ...]
    temperature: float
    thresholds: Thresholds
    digest: str


@lru_cache(maxsize=1)
def shipped() -> Fitted:
    """The head in the package, in evaluation mode. Raises `WeightsError` when missing or of another format."""
    import torch
    from safetensors.torch import load

    from admission.verifiers.adjudicator_head import AdjudicatorHead

    source = files("admission.data") / WEIGHTS
    if not source.is_file():
        raise WeightsError(WEIGHTS, "the adjudicator's weights are missing", "reinstall memory-admission")
    raw = source.read_bytes()
    metadata = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")]).get("__metadata__", {})
    if metadata.get("format") != FORMAT:
        raise WeightsError(
            WEIGHTS, f"its format is {metadata.get('format')!r}, not {FORMAT!r}", "reinstall memory-admission"
        )
    about = json.loads(metadata["about"])
    head = AdjudicatorHead(**about["head"])
    head.load_state_dict({name: tensor.to(torch.float32) for name, tensor in load(raw).items()})
    return Fitted(
        head=head.eval(),
        layers=tuple(about["layers"]),
        temperature=about["temperature"],
        thresholds=Thresholds(**about["thresholds"]),
        digest=hashlib.sha256(raw).hexdigest(),
    )


class AdjudicatorVerifier(Verifier):
    """Judges an obligation on a cut of the passages of its own, whatever their order, knowing no verdicts.

    Premises: the `JOINT` passages whose MiniLM embedding is closest to the obligation's, together, and the closest
    `SINGLES` alone. Support and contradiction are each the highest over the premises, so that a passage that speaks
    for and one that speaks against are both heard. It abstains (`no_passages`, `no_claim`, `language`).
    """

    name = "adjudicator"

    def __init__(self, thresholds: Thresholds | None = None) -> None:
        """`thresholds`: those fitted on held-out data by default. Raises `WeightsError` without weights."""
        self._fitted = shipped()
        self.thresholds = thresholds or self._fitted.thresholds
        self._encoder = StateEncoder(self._fitted.layers)

    @property
    def identity(self) -> dict[str, object]:
        return {
            "kind": self.name,
            "format": FORMAT,
            "encoder": minilm.WEIGHTS_SHA256,
            "weights": self._fitted.digest,
            "thresholds": self.thresholds.model_dump(),
        }

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        judgments: dict[int, Judgment] = {}
        asked: list[tuple[int, list[Passage], list[TokenStates], TokenStates]] = []
        for start in range(0, len(questions), _BATCH):
            part = [(i, q) for i, q in enumerate(questions[start : start + _BATCH], start)]
            self._encoder.encode([t for _, q in part if not _unjudgeable(q) for t in texts_of(q)])
            for i, question in part:
                reason = _unjudgeable(question)
                if reason:
                    judgments[i] = Judgment.abstained(self.name, question.view, reason)
                    continue
                claim, *states = self._encoder.encode(texts_of(question))
                passages, chosen = closest(question.passages, states, claim)
                if not len(claim.ids) or not chosen:
                    judgments[i] = Judgment.abstained(self.name, question.view, "no_claim: there are no words to judge")
                    continue
                asked.append((i, passages, chosen, claim))
        for (i, passages, _, _), scores in zip(asked, self._scores(asked), strict=True):
            judgments[i] = self._said(questions[i], passages, scores)
        return [judgments[i] for i in range(len(questions))]

    def _scores(self, asked: Sequence[tuple[int, list[Passage], list[TokenStates], TokenStates]]) -> list[np.ndarray]:
        """For each question (premises, 3) class probabilities: the joint premise first, then the single ones."""
        pairs: list[tuple[Tensor, Tensor]] = []
        counts = []
        for _, _, states, claim in asked:
            cut = premises(states)
            counts.append(len(cut))
            pairs.extend((premise, tensor(claim)) for premise in cut)
        chances = probabilities(self._fitted.head, pairs, self._fitted.temperature)
        ends = np.cumsum(counts)
        return [chances[end - count : end] for end, count in zip(ends, counts, strict=True)]

    def _said(self, question: Question, passages: Sequence[Passage], scores: np.ndarray) -> Judgment:
        # Rounded, so that which other texts were in the batch (the last bits of floats) does not show in a report.
        support, contradiction = round(float(scores[:, 0].max()), 3), round(float(scores[:, 2].max()), 3)
        alone = scores[1:, 0] if support >= contradiction else scores[1:, 2]
        strongest = np.argsort(-alone, kind="stable")
        turns = [passages[i].turn_id for i in strongest if alone[i] >= alone.max() - _KEPT] or [passages[0].turn_id]
        together = scores[0, 0] >= scores[1:, 0].max(initial=0.0)
        if support >= contradiction and together:
            turns = [*turns, *(p.turn_id for p in passages)]
        said = "taken together" if together else "one passage alone"
        note = f"Judged {said}: for {support:.2f}, against {contradiction:.2f}."
        return self._judgment(question, support, contradiction, list(dict.fromkeys(turns)), note)


def texts_of(question: Question) -> list[str]:
    """The texts encoded for a question: the obligation, then each passage with its speaker in front."""
    return [normalise(question.obligation.text), *(_line(passage) for passage in question.passages)]


def closest(
    passages: Sequence[Passage], states: Sequence[TokenStates], claim: TokenStates
) -> tuple[list[Passage], list[TokenStates]]:
    """The `JOINT` passages closest to the obligation by sentence cosine, the closest first; none without tokens."""
    cosines = np.array([float(state.vector @ claim.vector) for state in states])
    order = [i for i in np.argsort(-cosines, kind="stable") if len(states[i].ids)][:JOINT]
    return [passages[i] for i in order], [states[i] for i in order]


def premises(states: Sequence[TokenStates]) -> list[Tensor]:
    """The joint premise, then the closest passages alone. The head sees a set of tokens: no order can sway it."""
    import torch

    rows = [tensor(state) for state in states]
    return [torch.cat(rows), *rows[:SINGLES]]


def tensor(state: TokenStates) -> Tensor:
    import torch

    return torch.from_numpy(state.layers.astype(np.float32))


def probabilities(head: AdjudicatorHead, pairs: Sequence[tuple[Tensor, Tensor]], temperature: float) -> np.ndarray:
    """(pairs, 3) class probabilities, computed in batches of similar length."""
    import torch

    from admission.verifiers.adjudicator_head import pad

    out = np.zeros((len(pairs), 3))
    order = sorted(range(len(pairs)), key=lambda i: pairs[i][0].shape[0])
    with torch.inference_mode():
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            premise, premise_padding = pad([pairs[i][0] for i in batch])
            claim, claim_padding = pad([pairs[i][1] for i in batch])
            logits = head(premise, premise_padding, claim, claim_padding)
            out[batch] = (logits / temperature).softmax(-1).numpy()
    return out


def _line(passage: Passage) -> str:
    text = normalise(passage.text)
    return f"{normalise(passage.speaker)}: {text}" if passage.speaker else text


def _unjudgeable(question: Question) -> str:
    """Why the question cannot be judged (`code: detail`), or an empty text."""
    if not any(passage.text.strip() for passage in question.passages):
        return "no_passages: there is nothing to judge the obligation on"
    if is_foreign(question.obligation.text) or all_foreign(passage.text for passage in question.passages):
        return "language: only English is judged"
    return ""
