"""Measures any verifier on held-out dialogues and, with `--locomo DIR`, on real writes and their edited twins.

`python -m training.evaluate_verifiers --verifier alignment [--data DIR] [--locomo DIR] [--json FILE]`. LoCoMo is for
measuring only: nothing may be chosen by these figures.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi
from sklearn.metrics import roc_auc_score

from admission.evaluation.reliability import calibration_error
from admission.records import Judgment, Passage, Question
from admission.text import terms
from admission.verifiers import KINDS, Verifier
from training.locomo import RETENTION, Recorded, recorded
from training.verifier_data import (
    DIALOGUES,
    LABELS,
    dialogue_claims,
    dialogue_purpose,
    dialogue_rows,
    exchange_rows,
    question,
)

RETRIEVED = 8


def on_dialogues(verifier: Verifier, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Claims of the held-out tenth of `rows` against all turns of their dialogue."""
    claims = dialogue_claims([row for row in rows if dialogue_purpose(row["id"]) == "test"])
    judgments, seconds = timed(verifier, [claim.question for claim in claims])
    support = np.array([j.support for j in judgments])
    holds = np.array([claim.label == 0 for claim in claims])
    refuted = np.array([claim.label == 2 for claim in claims])
    said = np.array([j.label == "supported" for j in judgments])
    found = [
        c.evidence and set(c.evidence) & set(j.evidence) for c, j in zip(claims, judgments, strict=True) if c.label == 0
    ]
    kinds = sorted({claim.kind for claim in claims})
    of_kind = {kind: np.array([claim.kind == kind for claim in claims]) for kind in kinds}
    return {
        "claims": len(claims),
        "abstained": sum(j.outcome == "abstained" for j in judgments),
        "accuracy": mean(said == holds),
        "best_accuracy": max(mean((support >= cut) == holds) for cut in np.unique(support)),
        "auc": area(holds, support),
        "contradiction_auc": area(refuted, np.array([j.contradiction for j in judgments])),
        "supported_retained": mean(said[holds]),
        "unsupported_admitted": mean(said[~holds]),
        "evidence_hit": mean(np.array([bool(hit) for hit in found])),
        "calibration_error": round(calibration_error(support, holds, "width"), 3),
        "milliseconds_each": round(1000 * seconds / len(claims), 2),
        "called": {
            truth: Counter(j.label for c, j in zip(claims, judgments, strict=True) if c.label == LABELS[truth])
            for truth in ("supported", "insufficient", "contradicted")
        },
        "by_kind": {
            kind: {"n": int(at.sum()), "accuracy": mean(said[at] == holds[at]), "auc": area(holds[at], support[at])}
            for kind, at in of_kind.items()
        },
    }


def on_exchanges(verifier: Verifier) -> dict[str, Any]:
    """The same on the held-out exchanges; and how often a true memory scores above its edited twin, by kind."""
    rows = [row for row in exchange_rows() if dialogue_purpose(row["id"]) == "test"]
    support = np.array([j.support for j in verifier.judge([claim.question for claim in dialogue_claims(rows)])])
    kind = np.array([claim["kind"] for row in rows for claim in row["claims"][::2]])
    won = (support[::2] > support[1::2]) + 0.5 * (support[::2] == support[1::2])
    found = on_dialogues(verifier, rows)
    found["twin_scored_lower"] = mean(won)
    for name, figures in found["by_kind"].items():
        figures["twin_scored_lower"] = mean(won[kind == name])
    return found


def on_locomo(verifier: Verifier, folder: Path) -> dict[str, Any]:
    """Each supported write and its edited twin, the whole memory as one obligation, on the passages `shown` picks."""
    questions: list[Question] = []
    valid: list[bool] = []
    edits: list[str] = []
    for write in recorded(folder):
        for edited, twin in write.twins:
            for memory, stands in ((write.memory, True), (twin, False)):
                questions.append(question(memory, shown(memory, write), f"{write.id}/{edited}/{stands}"))
                valid.append(stands)
                edits.append(edited)
    judgments, seconds = timed(verifier, questions)
    support, holds, edit = np.array([j.support for j in judgments]), np.array(valid), np.array(edits)
    cut = float(np.quantile(support[holds], 1 - RETENTION))
    shipped = verifier.thresholds.support
    return {
        "pairs": int(holds.sum()),
        "auc": area(holds, support),
        "admitted_at_retention": {
            "retention": mean(support[holds] >= cut),
            "unsupported": mean(support[~holds] >= cut),
        },
        "admitted_as_shipped": {
            "retention": mean(support[holds] >= shipped),
            "unsupported": mean(support[~holds] >= shipped),
        },
        "twin_scored_lower": mean(support[1::2] < support[::2]),
        "milliseconds_each": round(1000 * seconds / len(questions), 2),
        "unsupported_admitted_by_edit": {
            name: {"n": int(((edit == name) & ~holds).sum()), "admitted": mean(support[(edit == name) & ~holds] >= cut)}
            for name in sorted(set(edits))
        },
    }


def shown(memory: str, write: Recorded) -> list[Passage]:
    """Cited turns, their neighbours, and the eight best by BM25; nothing after the write."""
    scores = BM25Okapi([terms(f"{p.speaker} {p.text}") or [""] for p in write.before]).get_scores(terms(memory))
    chosen = write.near | set(np.argsort(-scores, kind="stable")[:RETRIEVED].tolist())
    return [passage for place, passage in enumerate(write.before) if place in chosen]


def timed(verifier: Verifier, questions: Sequence[Question]) -> tuple[list[Judgment], float]:
    start = time.perf_counter()
    judgments = verifier.judge(questions)
    return judgments, time.perf_counter() - start


def mean(hits: np.ndarray) -> float:
    return round(float(np.mean(hits)), 3) if len(hits) else float("nan")


def area(truth: np.ndarray, scores: np.ndarray) -> float | None:
    return round(float(roc_auc_score(truth, scores)), 3) if 0 < truth.mean() < 1 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verifier", choices=sorted(KINDS), required=True)
    parser.add_argument(
        "--data", type=Path, help="folder whose dialogues/train.jsonl is measured; the project's own otherwise"
    )
    parser.add_argument("--locomo", type=Path, help="folder with writes_dev.jsonl and negatives_dev.jsonl")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    rows = dialogue_rows(options.data / "dialogues" / "train.jsonl" if options.data else DIALOGUES)
    verifier = KINDS[options.verifier](None)
    found: dict[str, Any] = {
        "verifier": verifier.identity,
        "dialogues": on_dialogues(verifier, rows),
        "exchanges": on_exchanges(verifier),
    }
    if options.locomo:
        found["locomo"] = on_locomo(verifier, options.locomo)
    text = json.dumps(found, indent=1)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
