"""The loss the networks learn by, for labels that do not always tell the two other classes apart."""

from __future__ import annotations

import torch
from torch import Tensor

NOT_ENTAILED = 3
"""The label that says only that the first class does not hold."""


def loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Weighted mean cross-entropy of (rows, 3) logits; `NOT_ENTAILED` rows ask that the last two share the chance."""
    logs = logits.log_softmax(-1)
    known = -logs.gather(1, labels.clamp(max=2)[:, None])[:, 0]
    either = -torch.logsumexp(logs[:, 1:], dim=-1)
    return (torch.where(labels == NOT_ENTAILED, either, known) * weights).sum() / weights.sum()
