"""What the alignment verifier is fitted on, by purpose, and how its thresholds are chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from training.verifier_data import (
    DIALOGUES,
    Labelled,
    counterfactuals,
    dialogue_claims,
    dialogue_purpose,
    dialogue_rows,
    exchange_rows,
)

MADE = ("removed", "unrelated")
"""What is made from true claims besides: their evidence taken away, and another chat put in its place."""


def sets_by_purpose(seed: int) -> dict[str, list[Labelled]]:
    """Claims of dialogues and exchanges, to learn from, to fit thresholds on and to test with; no chat is in two.

    An exchange's true memory stands right before its edited twin, both with the source `exchanges`.
    """
    chats = {"dialogues": dialogue_rows(DIALOGUES), "exchanges": exchange_rows()}
    found: dict[str, list[Labelled]] = {"train": [], "calibration": [], "test": []}
    for purpose, rows in found.items():
        for source, listed in chats.items():
            chosen = [row for row in listed if dialogue_purpose(row["id"]) == purpose]
            rows.extend(replace(claim, source=source) for claim in dialogue_claims(chosen))
            if purpose != "calibration":
                rows.extend(_made(chosen, seed))
    return found


def _made(rows: list[dict[str, Any]], seed: int) -> list[Labelled]:
    return [row for row in counterfactuals(rows, seed) if row.source in MADE]


def threshold(scores: np.ndarray, positive: np.ndarray) -> float:
    """The cut with the best balanced accuracy, halfway between the two neighbouring scores."""
    order = np.argsort(-scores)
    hits = np.cumsum(positive[order]) / max(1, positive.sum())
    alarms = np.cumsum(~positive[order]) / max(1, (~positive).sum())
    best = int(np.argmax(hits - alarms))
    following = scores[order[min(best + 1, len(order) - 1)]]
    return round(float((scores[order[best]] + following) / 2), 4)


def rare_on(scores: np.ndarray, share: float = 0.03) -> float:
    """The cut that calls at most this share of the supported claims contradicted: a false alarm loses a true memory."""
    return round(float(np.quantile(scores, 1 - share)) + 1e-4, 4)
