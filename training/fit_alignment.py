"""Fits the alignment verifier's calibration: `python -m training.fit_alignment`. Minutes on one core.

Features come from the product's own code. Signs are fixed beforehand (more coverage never lowers support, a missing
piece never raises it), because unsupported claims are written in the chat's words more often than supported ones and a
free fit would learn that quirk of the data. Besides every claim for itself, each true memory is compared with its
edited twin: what the two share says nothing about the edit, and the difference of their features shows it best.
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
from training.fitting_data import rare_on, sets_by_purpose, threshold
from training.verifier_data import Labelled

LAYERS = (6,)
WEIGHTS = {"exchanges": 1.0, "dialogues": 0.7, "removed": 0.5, "unrelated": 0.5}
PAIRS = 1.0
"""Weight of a comparison of a true memory with its twin, beside a claim of an exchange for itself."""
PENALTY = 10.0
# Too rare in the data to be learnt: their effect on support is at least this, in log-odds, set beforehand.
AT_LEAST = {
    "quotation_missing": -1.5,
    "taken_back_conflict": -0.5,
    "dates_conflict_aligned": -1.0,
    "names_conflict": -1.0,
}
# Neither more nor less of these says anything by itself: their signs are free.
_FREE = ("length", "spread", "mean_cosine", "second_cosine", "reason_loose", "course_loose")
_LOWERS = ("_missing", "_lost", "_lost_in_turn", "_lacks", "_reversed", "_elsewhere")


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
            lowers = conflict or name.startswith(("unmatched", "displaced")) or name.endswith(_LOWERS)
            highest = AT_LEAST.get(name, 0.0)
            bounds.append((None, None) if name in _FREE else (None, highest) if lowers else (0.0, None))
    return bounds


def fit(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray, bounds: list[Any], pairs: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Weighted L2-penalised logistic regression within bounds: coefficients on the raw features, and intercept.

    `pairs` (n, features) are differences that should come out positive, each with the weight `PAIRS`.
    """
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-6
    z, weights = (x - mean) / scale, weights / weights.mean()
    apart = (pairs if pairs is not None else np.zeros((0, x.shape[1]))) / scale
    n = z.shape[1]

    def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
        score, ahead = z @ beta[:n] + beta[n], apart @ beta[:n]
        error = weights * (1 / (1 + np.exp(-score)) - y)
        value = (weights * np.logaddexp(0, np.where(y, -score, score))).sum() + 0.5 * PENALTY * (beta[:n] ** 2).sum()
        value += PAIRS * np.logaddexp(0, -ahead).sum()
        slope = z.T @ error + PENALTY * beta[:n] - PAIRS * (apart.T @ (1 / (1 + np.exp(ahead))))
        return float(value), np.append(slope, error.sum())

    bounds = [
        (None if a is None else a * s, None if b is None else b * s) for (a, b), s in zip(bounds, scale, strict=True)
    ]
    best = minimize(loss, np.zeros(n + 1), jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)],
                    options={"maxiter": 4000}).x  # fmt: skip
    return best[:n] / scale, float(best[n] - (best[:n] * mean / scale).sum())


def twins(rows: Sequence[Labelled]) -> np.ndarray:
    """(pairs, 2) places of the true memories of the exchanges and of their edited twins."""
    places = [i for i, row in enumerate(rows) if row.source == "exchanges"]
    return np.array(places, dtype=np.int64).reshape(-1, 2)


def measured(rows: Sequence[Labelled], encoder: StateEncoder) -> np.ndarray:
    """(rows, features) by the verifier's own code, encoded in large batches."""
    out = []
    for start in range(0, len(rows), 512):
        part = rows[start : start + 512]
        encoder.encode([t for row in part for t in texts_of(row.question.obligation.text, row.question.passages)])
        for row in part:
            found = alignment.compare(row.question, encoder)
            out.append(features(found.alignment, found.evidence, found.checks, found.structure))
        print(f"  {min(start + 512, len(rows))}/{len(rows)}", flush=True)
    return np.array(out)


def weigh(rows: Sequence[Labelled]) -> np.ndarray:
    return np.array([WEIGHTS[row.source] for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("admission/data") / alignment.WEIGHTS)
    parser.add_argument("--cache", type=Path, help="file to keep the features in, or to take them from if it exists")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    rows = sets_by_purpose(seed=0)
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
    pairs = twins(rows["train"])
    apart = x["train"][pairs[:, 0]] - x["train"][pairs[:, 1]]
    support = fit(x["train"], labels["train"] == 0, weights, signs(contradiction=False), apart)
    disputed = known & conflicted(x["train"])
    refute = fit(x["train"][disputed], labels["train"][disputed] == 2, weights[disputed], signs(contradiction=True))
    cuts = Thresholds(
        support=threshold(chances(x["calibration"], support), labels["calibration"] == 0),
        contradiction=rare_on(refuted(x["calibration"], refute)[labels["calibration"] == 0]),
    )
    report("support", chances(x["test"], support), labels["test"] == 0, rows["test"], cuts.support)
    by_kind(chances(x["test"], support), rows["test"])
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


def by_kind(scores: np.ndarray, rows: Sequence[Labelled]) -> None:
    """Of the exchanges' pairs, by kind: area under the curve, and the share where the true memory scores above."""
    pairs = twins(rows)
    kinds = np.array([rows[place].kind for place in pairs[:, 0]])
    for kind in sorted(set(kinds)):
        true, edited = scores[pairs[kinds == kind, 0]], scores[pairs[kinds == kind, 1]]
        truth = np.repeat([True, False], len(true))
        area = roc_auc_score(truth, np.concatenate([true, edited]))
        print(f"  {kind:14s} pairs={len(true):3d} AUC {area:.3f} won {(true > edited).mean():.3f}")


if __name__ == "__main__":
    main()
