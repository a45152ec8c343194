"""Fits the alignment verifier's calibration: `python -m training.fit_alignment --data DIR`. Minutes on one core.

Features come from the product's own code. Signs are fixed beforehand (more coverage never lowers support, a missing
piece never raises it), because the dialogues' unsupported claims repeat more of the chat's words than the supported
ones and a free fit would learn that quirk of the data.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from admission.records import Thresholds
from admission.verifiers import alignment
from admission.verifiers.alignment_features import FEATURES, features
from admission.verifiers.soft_match import texts_of
from admission.verifiers.states import StateEncoder
from training.fitting_data import chats, dialogue_sets, rare_on, threshold
from training.verifier_data import NLI_HELD_OUT, Labelled, nli_pairs

LAYERS = (6,)
NLI = {
    "mnli": ("mnli_train", 800),
    "cad": ("cad_train", 800),
    "vitaminc": ("vitaminc_train", 1000),
    "scone": ("scone_train", 300),
    "negation_nli": ("negnli_", 300),
    "wice": ("wice_claim_dev", 300),
    "q2": ("q2_dialog", 400),
    "foolmetwice": ("fmt_dev", 300),
}
WEIGHTS = {"dialogues": 1.0, "removed": 0.7, "exchanged": 0.7, "unrelated": 0.5, "summaries": 0.5, "composed": 0.7}
NLI_WEIGHT = 0.5
PENALTY = 10.0
# Too rare in the data to be learnt: their effect on support is at least this, in log-odds, set beforehand.
AT_LEAST = {
    "quotation_missing": -1.5,
    "taken_back_conflict": -0.5,
    "dates_conflict_aligned": -1.0,
    "names_conflict": -1.0,
}
# Neither more nor less of these says anything by itself: their signs are free.
_FREE = ("length", "spread", "named_subject", "mean_cosine", "second_cosine")


def signs(contradiction: bool) -> list[tuple[float | None, float | None]]:
    """Bounds of each coefficient. Contradiction needs a conflict about something the passages speak of: only conflicts
    and coverage may raise it, only passed checks lower it, and what is merely missing says nothing."""
    bounds: list[tuple[float | None, float | None]] = []
    for name in FEATURES:
        conflict = name.endswith(("_conflict", "_conflict_aligned"))
        if contradiction:
            raises = conflict or name in ("sentence", "turn", "window", "sentence_cosine", "cosine", "own")
            bounds.append((0.0, None) if raises else (None, 0.0) if name.endswith("_ok") else (0.0, 0.0))
        else:
            lowers = conflict or name.startswith("unmatched") or name.endswith("_missing")
            highest = AT_LEAST.get(name, 0.0)
            bounds.append((None, None) if name in _FREE else (None, highest) if lowers else (0.0, None))
    return bounds


def fit(x: np.ndarray, y: np.ndarray, weights: np.ndarray, bounds: list[Any]) -> tuple[np.ndarray, float]:
    """Weighted L2-penalised logistic regression within bounds: coefficients on the raw features, and intercept."""
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-6
    z, weights = (x - mean) / scale, weights / weights.mean()
    n = z.shape[1]

    def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
        score = z @ beta[:n] + beta[n]
        error = weights * (1 / (1 + np.exp(-score)) - y)
        value = (weights * np.logaddexp(0, np.where(y, -score, score))).sum() + 0.5 * PENALTY * (beta[:n] ** 2).sum()
        return float(value), np.append(z.T @ error + PENALTY * beta[:n], error.sum())

    bounds = [
        (None if a is None else a * s, None if b is None else b * s) for (a, b), s in zip(bounds, scale, strict=True)
    ]
    best = minimize(loss, np.zeros(n + 1), jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)],
                    options={"maxiter": 4000}).x  # fmt: skip
    return best[:n] / scale, float(best[n] - (best[:n] * mean / scale).sum())


def measured(rows: Sequence[Labelled], encoder: StateEncoder) -> np.ndarray:
    """(rows, features) by the verifier's own code, encoded in large batches."""
    out = []
    for start in range(0, len(rows), 512):
        part = rows[start : start + 512]
        encoder.encode([t for row in part for t in texts_of(row.question.obligation.text, row.question.passages)])
        for row in part:
            found = alignment.compare(row.question, encoder)
            out.append(features(found.alignment, found.evidence, found.checks))
        print(f"  {min(start + 512, len(rows))}/{len(rows)}", flush=True)
    return np.array(out)


def weigh(rows: Sequence[Labelled]) -> np.ndarray:
    return np.array([WEIGHTS.get(row.source, NLI_WEIGHT) for row in rows])


def data(folder: Path, seed: int) -> dict[str, list[Labelled]]:
    """Rows to learn from, to fit the thresholds on, and to test with; no dialogue is in two of them."""
    dialogues, summarised = dialogue_sets(seed), chats(folder)
    small = {name: (split, min(count, 200)) for name, (split, count) in NLI_HELD_OUT.items()}
    return {
        "train": [*dialogues["train"], *nli_pairs(folder / "nli", NLI, seed), *summarised["train"]],
        "calibration": dialogues["calibration"],
        "test": [*dialogues["test"], *nli_pairs(folder / "nli", small, seed), *summarised["test"]],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds nli/")
    parser.add_argument("--out", type=Path, default=Path("admission/data") / alignment.WEIGHTS)
    parser.add_argument("--cache", type=Path, help="file to keep the features in, or to take them from if it exists")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    rows = data(options.data, seed=0)
    if options.cache and options.cache.exists():
        x = dict(np.load(options.cache))
    else:
        encoder = StateEncoder(LAYERS, cached_texts=20000)
        x = {name: measured(part, encoder) for name, part in rows.items()}
        if options.cache:
            np.savez(options.cache, **x)
    labels = {name: np.array([row.label for row in part]) for name, part in rows.items()}
    known = labels["train"] != 3
    weights = weigh(rows["train"])
    support = fit(x["train"], labels["train"] == 0, weights, signs(contradiction=False))
    disputed = known & conflicted(x["train"])
    refute = fit(x["train"][disputed], labels["train"][disputed] == 2, weights[disputed], signs(contradiction=True))
    cuts = Thresholds(
        support=threshold(chances(x["calibration"], support), labels["calibration"] == 0),
        contradiction=rare_on(refuted(x["calibration"], refute)[labels["calibration"] == 0]),
    )
    report("support", chances(x["test"], support), labels["test"] == 0, rows["test"], cuts.support)
    report("contradiction", refuted(x["test"], refute), labels["test"] == 2, rows["test"], cuts.contradiction)
    shipped = {
        "format": alignment.FORMAT,
        "layers": LAYERS,
        "features": FEATURES,
        "support": {"coefficients": [round(float(c), 5) for c in support[0]], "intercept": round(support[1], 5)},
        "contradiction": {"coefficients": [round(float(c), 5) for c in refute[0]], "intercept": round(refute[1], 5)},
        "thresholds": cuts.model_dump(),
    }
    options.out.write_text(json.dumps(shipped, indent=1) + "\n", encoding="utf-8")


def chances(x: np.ndarray, fitted: tuple[np.ndarray, float]) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-(x @ fitted[0] + fitted[1]))))


def conflicted(x: np.ndarray) -> np.ndarray:
    """(rows,) whether any check found a conflict."""
    return np.asarray((x[:, [name.endswith("_conflict") for name in FEATURES]] > 0).any(axis=1))


def refuted(x: np.ndarray, fitted: tuple[np.ndarray, float]) -> np.ndarray:
    """Contradiction as the verifier gives it: 0 without a conflict."""
    return np.where(conflicted(x), chances(x, fitted), 0.0)


def report(name: str, scores: np.ndarray, wanted: np.ndarray, rows: Sequence[Labelled], cut: float) -> None:
    """By set: how many, the mean score, the area under the curve and the accuracy at the threshold."""
    print(f"{name} at {cut}")
    for source in dict.fromkeys(row.source for row in rows):
        chosen = np.array([row.source == source for row in rows])
        truth = wanted[chosen]
        area = f"{roc_auc_score(truth, scores[chosen]):.3f}" if 0 < truth.mean() < 1 else "-"
        right = ((scores[chosen] >= cut) == truth).mean()
        print(f"  {source:14s} n={chosen.sum():4d} mean {scores[chosen].mean():.2f} AUC {area} accuracy {right:.3f}")


if __name__ == "__main__":
    main()
