"""What alignment and adjudicator have in common when they are fitted: dialogue rows by purpose, and thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from training.composed import composed
from training.verifier_data import (
    DIALOGUES,
    Labelled,
    counterfactuals,
    dialogue_claims,
    dialogue_purpose,
    dialogue_rows,
    summaries,
)


def dialogue_sets(seed: int) -> dict[str, list[Labelled]]:
    """Claims of the project's dialogues by purpose; to learn from and to test with, also what is made from them."""
    rows = dialogue_rows(DIALOGUES)
    parts = {name: [r for r in rows if dialogue_purpose(r["id"]) == name] for name in ("train", "calibration", "test")}
    return {
        "train": _with_made(parts["train"], seed),
        "calibration": dialogue_claims(parts["calibration"]),
        "test": _with_made(parts["test"], seed + 1),
    }


def _with_made(rows: list[dict[str, Any]], seed: int) -> list[Labelled]:
    return [*dialogue_claims(rows), *counterfactuals(rows, seed), *composed(rows, seed)]


def chats(data: Path) -> dict[str, list[Labelled]]:
    """SummEdits' chats to learn from and to test with; a chat is wholly in one of them."""
    rows = summaries(data / "nli" / "summedits.jsonl.gz")
    held = [dialogue_purpose(row.question.obligation.id.split("/")[0]) == "test" for row in rows]
    return {
        "train": [row for row, out in zip(rows, held, strict=True) if not out],
        "test": [row for row, out in zip(rows, held, strict=True) if out],
    }


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
