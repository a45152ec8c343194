"""Measures any verifier on held-out dialogues and, with `--locomo DIR`, on real writes and their edited twins.

`python -m training.evaluate_verifiers --verifier alignment --data DIR [--locomo DIR] [--json FILE]`. LoCoMo is for
measuring only: nothing may be chosen by these figures.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi
from sklearn.metrics import roc_auc_score

from admission.records import Judgment, Passage, Question
from admission.text import terms
from admission.verifiers.protocol import Verifier
from training.verifier_data import dialogue_claims, dialogue_rows, purpose, question, turn_passages

VERIFIERS = {
    "alignment": "admission.verifiers.alignment:AlignmentVerifier",
    "adjudicator": "admission.verifiers.adjudicator:AdjudicatorVerifier",
    "entailment": "admission.verifiers.entailment:EntailmentVerifier",
}
RETENTION = 0.85
NEIGHBOURS = 2
RETRIEVED = 8


def on_dialogues(verifier: Verifier, folder: Path) -> dict[str, Any]:
    """Claims of the held-out tenth against all turns of their dialogue."""
    rows = [row for row in dialogue_rows(folder / "dialogues" / "train.jsonl") if purpose(row["id"]) == "test"]
    claims = dialogue_claims(rows)
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
        "auc": area(holds, support),
        "contradiction_auc": area(refuted, np.array([j.contradiction for j in judgments])),
        "supported_retained": mean(said[holds]),
        "unsupported_admitted": mean(said[~holds]),
        "evidence_hit": mean(np.array([bool(hit) for hit in found])),
        "calibration_error": calibration_error(support, holds),
        "milliseconds_each": round(1000 * seconds / len(claims), 2),
        "by_kind": {
            kind: {"n": int(at.sum()), "accuracy": mean(said[at] == holds[at]), "auc": area(holds[at], support[at])}
            for kind, at in of_kind.items()
        },
    }


def on_locomo(verifier: Verifier, folder: Path) -> dict[str, Any]:
    """Each supported write and its edited twin, the whole memory as one obligation, on the passages `shown` picks."""
    questions: list[Question] = []
    valid: list[bool] = []
    edits: list[str] = []
    writes = {}
    for line in (folder / "writes_dev.jsonl").read_text(encoding="utf-8").splitlines():
        conversation = json.loads(line)
        passages = turn_passages(conversation["turns"])
        for write in conversation["writes"]:
            writes[write["id"]] = (write, passages)
    for line in (folder / "negatives_dev.jsonl").read_text(encoding="utf-8").splitlines():
        twin = json.loads(line)
        write, passages = writes[twin["of"]]
        for memory, holds in ((write["memory"], True), (twin["memory"], False)):
            questions.append(question(memory, shown(memory, write, passages), f"{twin['id']}/{holds}"))
            valid.append(holds)
            edits.append(twin["edit"])
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


def shown(memory: str, write: dict, passages: Sequence[Passage]) -> list[Passage]:
    """Cited turns, two neighbours on either side, and the eight best by BM25; nothing after the write."""
    places = {p.turn_id: i for i, p in enumerate(passages)}
    end = places[write["written_after"]] + 1 if write.get("written_after") else len(passages)
    before = passages[:end]
    chosen = {
        near
        for turn in write["citations"]
        if turn in places
        for near in range(places[turn] - NEIGHBOURS, places[turn] + NEIGHBOURS + 1)
    }
    scores = BM25Okapi([terms(f"{p.speaker} {p.text}") or [""] for p in before]).get_scores(terms(memory))
    chosen |= set(np.argsort(-scores, kind="stable")[:RETRIEVED].tolist())
    return [p for i, p in enumerate(before) if i in chosen]


def timed(verifier: Verifier, questions: Sequence[Question]) -> tuple[list[Judgment], float]:
    start = time.perf_counter()
    judgments = verifier.judge(questions)
    return judgments, time.perf_counter() - start


def mean(hits: np.ndarray) -> float:
    return round(float(np.mean(hits)), 3) if len(hits) else float("nan")


def area(truth: np.ndarray, scores: np.ndarray) -> float | None:
    return round(float(roc_auc_score(truth, scores)), 3) if 0 < truth.mean() < 1 else None


def calibration_error(scores: np.ndarray, truth: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error over equally filled bins."""
    parts = np.array_split(np.argsort(scores), bins)
    return round(float(sum(len(p) * abs(scores[p].mean() - truth[p].mean()) for p in parts) / len(scores)), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verifier", choices=sorted(VERIFIERS), required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with dialogues/")
    parser.add_argument("--locomo", type=Path, help="folder with writes_dev.jsonl and negatives_dev.jsonl")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    module, _, name = VERIFIERS[options.verifier].partition(":")
    verifier: Verifier = getattr(importlib.import_module(module), name)()
    found: dict[str, Any] = {"verifier": options.verifier, "dialogues": on_dialogues(verifier, options.data)}
    if options.locomo:
        found["locomo"] = on_locomo(verifier, options.locomo)
    text = json.dumps(found, indent=1)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
