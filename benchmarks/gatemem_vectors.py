"""Sentence vectors of the shipped MiniLM for benchmarks: mean-pooled and of length one, as its model card says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from admission.verifiers import minilm

if TYPE_CHECKING:
    from transformers import BertModel

_BATCH = 64
_LONGEST = 256
_known: dict[str, NDArray[np.float32]] = {}


def embedded(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of `texts`, shape (n, 384); each text is computed once a process."""
    new = sorted({text for text in texts if text not in _known}, key=lambda text: (len(text), text))
    for begin in range(0, len(new), _BATCH):
        batch = new[begin : begin + _BATCH]
        _known.update(zip(batch, _computed(batch), strict=True))
    return np.stack([_known[text] for text in texts])


@lru_cache(maxsize=1)
def _encoder() -> BertModel:
    return minilm.encoder()


def _computed(texts: list[str]) -> NDArray[np.float32]:
    import torch

    tokens = minilm.tokenizer()(texts, padding=True, truncation=True, max_length=_LONGEST, return_tensors="pt")
    with torch.inference_mode():
        states = _encoder()(**tokens).last_hidden_state
    mask = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
    pooled = (states * mask).sum(1) / mask.sum(1)
    vectors: NDArray[np.float32] = torch.nn.functional.normalize(pooled, dim=1).numpy()
    return vectors
