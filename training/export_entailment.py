"""Make the shipped weight file from a run: averaged weights, temperature and thresholds fitted on calibration data."""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from admission.records import Thresholds
from admission.verifiers import entailment_weights
from admission.verifiers.entailment import EntailmentVerifier
from admission.verifiers.entailment_model import EntailmentNetwork, encode_pairs
from training import dialogue_pairs, sources
from training.sources import Pair
from training.verifier_data import DIALOGUES, dialogue_claims, dialogue_purpose, dialogue_rows

PAIRS_A_SET = 400
MAX_FALSE_CONTRADICTION = 0.03
"""Share of supported calibration claims that may be called contradicted."""


def logits(network: EntailmentNetwork, pairs: list[Pair]) -> np.ndarray:
    """Class logits (pairs, 3)."""
    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].premise))
    found = np.zeros((len(pairs), 3))
    for start in range(0, len(order), 32):
        part = order[start : start + 32]
        with torch.inference_mode():
            found[part] = network(**encode_pairs([(pairs[i].premise, pairs[i].claim) for i in part])).numpy()
    return found


def calibration_pairs(data: Path, dialogue_file: Path, size: int, seed: int) -> dict[str, list[Pair]]:
    """Pairs no training step saw: up to `size` of MultiNLI and of CAD, and every claim of the calibration dialogues."""
    rng = random.Random(seed)
    chosen = {}
    for source in ("mnli", "cad"):
        found = [p for p in sources.pairs(data, source) if sources.purpose(p) == "calibration"]
        chosen[source] = rng.sample(found, min(size, len(found)))
    chosen["dialogues"] = [
        dialogue_pairs.from_claim(row, claim, rng)
        for row in dialogue_rows(dialogue_file)
        if dialogue_purpose(row["id"]) == "calibration"
        for claim in row["claims"]
    ]
    return chosen


def temperature(scores: np.ndarray, pairs: list[Pair]) -> float:
    """The temperature with the least cross-entropy on pairs with one of the three labels."""
    exact = [place for place, pair in enumerate(pairs) if pair.label != "not_entailment"]
    labels = [sources.LABELS.index(pairs[place].label) for place in exact]

    def cost(log_temperature: float) -> float:
        logs = log_softmax(scores[exact] / np.exp(log_temperature), axis=1)
        return float(-logs[np.arange(len(labels)), labels].mean())

    return round(float(np.exp(minimize_scalar(cost, bounds=(-1.0, 2.0), method="bounded").x)), 4)


def thresholds(verifier: EntailmentVerifier, rows: list[dict[str, Any]]) -> Thresholds:
    """Support: the best balanced accuracy on the claims of `rows`, averaged over its neighbourhood so that one claim
    does not decide. Contradiction: the least number at which few supported claims are called contradicted."""
    claims = dialogue_claims(rows)
    judged = verifier.judge([claim.question for claim in claims])
    support = np.array([j.support for j in judged])
    against = np.array([j.contradiction for j in judged])
    holds = np.array([claim.label == 0 for claim in claims])
    grid = np.linspace(0.02, 0.98, 193)
    balanced = np.array([((support[holds] >= t).mean() + (support[~holds] < t).mean()) / 2 for t in grid])
    smooth = np.convolve(np.pad(balanced, 10, mode="edge"), np.ones(21) / 21, mode="valid")
    least = float(np.quantile(against[holds], 1.0 - MAX_FALSE_CONTRADICTION))
    return Thresholds(support=round(float(grid[smooth.argmax()]), 3), contradiction=round(min(0.99, least + 1e-3), 3))


def export(run: Path, data: Path, dialogue_file: Path, output: Path) -> dict[str, object]:
    """Write `output` from the checkpoint of `run`; returns the metadata written."""
    state = torch.load(run / "checkpoint.pt", weights_only=True)
    step, elapsed, seen, _ = state["numbers"]
    described: dict[str, object] = {
        "step": step,
        "training_minutes": round(elapsed / 60, 1),
        "training_pairs": seen,
        "data": sorted(sources.SHARES),
        "temperature": 1.0,
        "support": 0.5,
        "contradiction": 0.5,
    }
    entailment_weights.save(output, state["average"], described)
    pairs = [p for part in calibration_pairs(data, dialogue_file, PAIRS_A_SET, seed=11).values() for p in part]
    described["temperature"] = temperature(logits(entailment_weights.load(output), pairs), pairs)
    entailment_weights.save(output, state["average"], described)
    held = [row for row in dialogue_rows(dialogue_file) if dialogue_purpose(row["id"]) == "calibration"]
    fitted = thresholds(EntailmentVerifier(weights=output), held)
    described |= {"support": fitted.support, "contradiction": fitted.contradiction}
    entailment_weights.save(output, state["average"], described)
    return described


def options(description: str | None) -> argparse.ArgumentParser:
    """What both the training run and the export are told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds nli/")
    parser.add_argument("--dialogues", type=Path, default=DIALOGUES)
    parser.add_argument("--run", type=Path, default=Path(__file__).parent / "runs" / "entailment")
    parser.add_argument("--output", type=Path, default=entailment_weights.WEIGHTS)
    return parser


def main() -> None:
    arguments = options(__doc__).parse_args()
    torch.set_num_threads(2)
    print(json.dumps(export(arguments.run, arguments.data, arguments.dialogues, arguments.output)))


if __name__ == "__main__":
    main()
