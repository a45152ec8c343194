"""Figures published with the method, to be shown beside: other models' on other samples, never a bar.

Source: DerivAudit; Qwen3-30B-A3B, Gemma-4-31B and Llama-3.3-70B-Instruct on 400 unedited writes of LoCoMo and
HaluMem-Medium, of which 391 have a reference label (313 supported, 78 not). Shares in [0, 1].
"""

from __future__ import annotations

from typing import NamedTuple

WHOSE = "published: other models on other samples"


class PublishedReplay(NamedTuple):
    """One model's shares in the three settings; None where nothing was published."""

    model: str
    repaired_retention: tuple[float | None, float | None, float | None]
    valid_retention: tuple[float | None, float | None, float | None]
    unsupported_admission: tuple[float | None, float | None, float | None]


REPLAY = (
    PublishedReplay("Qwen3-30B-A3B", (0.821, 0.938, 0.929), (0.904, 0.901, 0.907), (0.846, 0.808, 0.769)),
    PublishedReplay("Gemma-4-31B", (0.580, 0.955, None), (None, None, None), (0.667, None, 0.590)),
    PublishedReplay("Llama-3.3-70B-Instruct", (0.857, 0.982, None), (None, None, None), (0.833, None, 0.885)),
)


class PublishedScope(NamedTuple):
    """One data set's evidence scope by its reference labels."""

    data: str
    insufficient: float
    recovered: float
    supported_before: float
    supported_after: float
    several_passages: tuple[int, int]


SCOPE = (
    PublishedScope("200 of LoCoMo", 0.425, 0.600, 0.535, 0.795, (25, 107)),
    PublishedScope("200 of HaluMem", 0.510, 0.598, 0.470, 0.770, (14, 94)),
)
