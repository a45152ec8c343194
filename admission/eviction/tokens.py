"""Counting tokens: what a budget is measured in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from admission.verifiers import minilm

Sizes = NDArray[np.int64]
"""(memories,) tokens of each."""
TokenCount = Callable[[Sequence[str]], Sequence[int]]
"""Texts to the number of tokens of each."""


def minilm_tokens(texts: Sequence[str]) -> list[int]:
    """Word pieces of the embedded all-MiniLM-L6-v2, without its two marks. Raises `WeightsError` if it is missing."""
    if not texts:
        return []
    found = minilm.tokenizer()(list(texts), add_special_tokens=False, truncation=False, verbose=False)
    return [len(ids) for ids in found["input_ids"]]
