"""The adjudicator: a second, smaller entailment network, asked blind where the two verifiers differ."""

from __future__ import annotations

from pathlib import Path

from admission.records import Thresholds
from admission.verifiers import entailment_weights
from admission.verifiers.entailment import EntailmentVerifier


class AdjudicatorVerifier(EntailmentVerifier):
    """The same reading of premises by fine-tuned MiniLM: another backbone, other training pairs, errors of its own.

    It shares no weights with the entailment verifier (MPNet) and none but the frozen backbone with alignment.
    """

    name = "adjudicator"

    def __init__(
        self, *, thresholds: Thresholds | None = None, weights: Path = entailment_weights.SHIPPED["minilm"]
    ) -> None:
        super().__init__(thresholds=thresholds, weights=weights)
