"""Evaluate the shipped entailment weights: `python -m training.evaluate_entailment --data DIR [--locomo DIR]`."""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from admission.records import Judgment, Question
from admission.verifiers import entailment_weights
from admission.verifiers.entailment import EntailmentVerifier
from admission.verifiers.entailment_model import EntailmentNetwork
from training import sources
from training.claim_only import claim_only
from training.evaluate_verifiers import on_dialogues
from training.export_entailment import logits
from training.locomo import RETENTION, recorded
from training.verifier_data import DIALOGUES, dialogue_rows, exchange_rows, question

SETS = ("mnli", "cad", "vitaminc", "foolmetwice", "feversymmetric", "scone", "negation_nli", "wice", "q2", "cider",
        "fragments", "med_help", "bigbench")  # fmt: skip


def by_set(network: EntailmentNetwork, data: Path, size: int) -> dict[str, dict[str, float]]:
    """Per data set, on `size` test pairs: accuracy on the labels given, and AUC of entailed or not."""
    rng = random.Random(3)
    found: dict[str, dict[str, float]] = {}
    for source in SETS:
        held = [p for p in sources.pairs(data, source) if sources.purpose(p) == "test"]
        chosen = rng.sample(held, min(size, len(held)))
        scores = logits(network, chosen)
        chances = torch.softmax(torch.tensor(scores), dim=-1).numpy()
        best = scores.argmax(1)
        entailed = [p.label == "entailment" for p in chosen]
        contradicted = [place for place, p in enumerate(chosen) if p.label == "contradiction"]
        found[source] = {
            "n": len(chosen),
            "accuracy": round(float(np.mean(sources.right(best, chosen))), 3),
            "auc": round(float(roc_auc_score(entailed, chances[:, 0])), 3),
        }
        if contradicted:
            found[source]["contradiction_recall"] = round(float(np.mean(best[contradicted] == 2)), 3)
    return found


def on_locomo(verifier: EntailmentVerifier, folder: Path) -> dict[str, object]:
    """Whole memories against their cited passages and neighbours: valid writes, and their minimally edited twins."""
    asked: list[Question] = []
    valid: list[bool] = []
    edits: list[str] = []
    for write in recorded(folder):
        passages = [write.before[place] for place in sorted(write.near)]
        written = (write.memory, write.stands, "written")
        for memory, holds, edit in [written, *((twin, False, edit) for edit, twin in write.twins)]:
            asked.append(question(memory, passages))
            valid.append(holds)
            edits.append(edit)
    judged = verifier.judge(asked)
    return _twin_figures(verifier, judged, np.array(valid), edits)


def _twin_figures(
    verifier: EntailmentVerifier, judged: list[Judgment], valid: np.ndarray, edits: list[str]
) -> dict[str, object]:
    support = np.array([j.support for j in judged])
    at = float(np.quantile(support[valid], 1.0 - RETENTION, method="lower"))
    shipped = verifier.thresholds.support
    by_edit: dict[str, list[int]] = defaultdict(list)
    for place, edit in enumerate(edits):
        if not valid[place]:
            by_edit[edit].append(place)
    return {
        "valid": int(valid.sum()),
        "not_valid": int((~valid).sum()),
        "auc": round(float(roc_auc_score(valid, support)), 3),
        f"unsupported_admitted_at_retention_{RETENTION}": round(float((support[~valid] >= at).mean()), 3),
        "threshold_there": round(at, 3),
        "shipped": {
            "retained": round(float((support[valid] >= shipped).mean()), 3),
            "unsupported_admitted": round(float((support[~valid] >= shipped).mean()), 3),
        },
        "admitted_by_edit": {
            edit: round(float((support[places] >= at).mean()), 3) for edit, places in sorted(by_edit.items())
        },
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="folder that holds nli/")
    options.add_argument("--dialogues", type=Path, default=DIALOGUES)
    options.add_argument("--backbone", choices=sorted(entailment_weights.SHIPPED), default="mpnet")
    options.add_argument("--locomo", type=Path, help="folder of recorded writes and their twins, to measure only")
    options.add_argument("--pairs", type=int, default=300, help="test pairs a data set")
    arguments = options.parse_args()
    torch.set_num_threads(2)
    weights = entailment_weights.SHIPPED[arguments.backbone]
    verifier = EntailmentVerifier(weights=weights)
    rows = dialogue_rows(arguments.dialogues)
    found: dict[str, object] = {"identity": verifier.identity, "dialogues": on_dialogues(verifier, rows)}
    found["claim_only_baseline"] = claim_only({"dialogues": rows, "exchanges": exchange_rows()})
    if arguments.locomo:
        found["locomo_twins"] = on_locomo(verifier, arguments.locomo)
    found["sets"] = by_set(entailment_weights.load(weights), arguments.data, arguments.pairs)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
