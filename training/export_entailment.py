"""Make the shipped weight file from a run: averaged weights, and what is fitted on calibration data.

    python -m training.export_entailment --backbone mpnet|minilm
    python -m training.export_entailment --refit --backbone mpnet|minilm

The second fits calibration and thresholds of the shipped weights anew, for after a change of how premises are read.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from admission.obligations import cover, split
from admission.records import Candidate, Question
from admission.verifiers import entailment_weights
from admission.verifiers.entailment import Calibration, EntailmentVerifier
from admission.verifiers.entailment_model import EntailmentNetwork, encode_pairs
from training import adapters, dialogue_pairs, sources
from training.sources import Pair
from training.verifier_data import (
    DIALOGUES,
    Labelled,
    dialogue_claims,
    dialogue_purpose,
    dialogue_rows,
    exchange_rows,
)

MAX_FALSE_CONTRADICTION = 0.03
"""Share of supported calibration claims that may be called contradicted."""
LOST_AS_WHOLE, LOST_AS_PART = 0.12, 0.04
"""Where a threshold on whole memories loses the first share of the true ones, it may lose the second by their parts."""
SATURATION: dict[str, float | None] = {"support": 3.0, "contradiction": None}
"""Of 2, 3, 4, 6 and none the one with the least cross-validated error of calibration on the calibration chats."""
UNFITTED: dict[str, object] = {
    "calibration": {"support": [1.0, 0.0], "contradiction": [1.0, 0.0], "part": 0.0},
    "thresholds": {"support": 0.5, "contradiction": 0.5},
}
"""What leaves the network's own odds as they are."""
MARGIN = 1e-6
LEAST_ODDS = float(np.log(MARGIN / (1 - MARGIN))) + 1e-9
"""What nothing to go by comes to."""


def logits(network: EntailmentNetwork, pairs: list[Pair]) -> np.ndarray:
    """Class logits (pairs, 3)."""
    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].premise))
    found = np.zeros((len(pairs), 3))
    for start in range(0, len(order), 32):
        part = order[start : start + 32]
        with torch.inference_mode():
            encoded = encode_pairs(network.backbone, [(pairs[i].premise, pairs[i].claim) for i in part])
            found[part] = network(**encoded).numpy()
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
    chosen["exchanges"] = [
        dialogue_pairs.from_claim(row, claim, rng)
        for row in exchange_rows()
        if dialogue_purpose(row["id"]) == "calibration"
        for claim in row["claims"]
    ]
    return chosen


def fitted(verifier: EntailmentVerifier, rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Calibration and thresholds of `verifier`, which gives the network's own odds, on the claims of `rows`.

    Calibration: a logistic of the odds (Platt scaling), those of support saturated (`Calibration`); `part`, in
    log-odds, is what a part of a memory is given, so that few true memories are lost by a part that was judged alone.
    Support threshold: the best balanced accuracy, averaged over its neighbourhood so that one claim does not decide.
    Contradiction threshold: the least number at which few supported claims are called contradicted.
    """
    claims = dialogue_claims(rows)
    judged = verifier.judge([claim.question for claim in claims])
    known = np.array([j.outcome == "judged" for j in judged])
    holds = np.array([claim.label == 0 for claim in claims])
    refuted = np.array([claim.label == 2 for claim in claims])
    odds = {"support": logit([j.support for j in judged]), "contradiction": logit([j.contradiction for j in judged])}
    calibration: dict[str, Any] = {}
    chances = {}
    for name, truth in (("support", holds), ("contradiction", refuted)):
        told = known & (odds[name] > LEAST_ODDS)
        most = SATURATION[name]
        spread = odds[name] if most is None else most * np.tanh(odds[name] / most)
        model = LogisticRegression(C=1e3).fit(spread[told, None], truth[told])
        scale, shift = max(0.05, float(model.coef_[0, 0])), float(model.intercept_[0])
        calibration[name] = Calibration(round(scale, 4), round(shift, 4), most)
        chances[name] = np.where(told, expit(scale * spread + shift), 0.0)
    parts = logit([j.support for j in verifier.judge(_parts([c for c in claims if c.label == 0]))])
    whole = np.quantile(odds["support"][known & holds], LOST_AS_WHOLE)
    calibration["part"] = round(max(0.0, float(whole - np.quantile(parts, LOST_AS_PART))), 3)
    grid = np.linspace(0.02, 0.98, 193)
    support = chances["support"]
    balanced = np.array([((support[holds] >= t).mean() + (support[~holds] < t).mean()) / 2 for t in grid])
    smooth = np.convolve(np.pad(balanced, 10, mode="edge"), np.ones(21) / 21, mode="valid")
    least = float(np.quantile(chances["contradiction"][holds], 1.0 - MAX_FALSE_CONTRADICTION))
    thresholds = {
        "support": round(float(grid[smooth.argmax()]), 3),
        "contradiction": round(min(0.99, least + 1e-3), 3),
    }
    return {"calibration": calibration, "thresholds": thresholds}


def _parts(claims: list[Labelled]) -> list[Question]:
    """The obligations of each claim that is more than one."""
    asked = []
    for claim in claims:
        memory = claim.question.memory
        obligations = cover(memory, split(Candidate(id="c", conversation="c", namespace=("c",), memory=memory)))
        if len(obligations) > 1:
            asked += [claim.question.model_copy(update={"obligation": o}) for o in obligations if o.text != memory]
    return asked


def logit(chances: Sequence[float]) -> np.ndarray:
    inside = np.clip(chances, MARGIN, 1 - MARGIN)
    return np.log(inside / (1 - inside))


def export(arguments: argparse.Namespace) -> dict[str, object]:
    """Write the weight file from the latest checkpoint of a run (see `options`); returns the metadata written."""
    backbone, output = arguments.backbone, arguments.output or entailment_weights.SHIPPED[arguments.backbone]
    state = torch.load(arguments.run / backbone / "checkpoint.pt", weights_only=True)
    step, elapsed, seen, _ = state["numbers"]
    described: dict[str, object] = {
        "step": step,
        "training_minutes": round(elapsed / 60, 1),
        "training_pairs": seen,
        "data": sorted(sources.SHARES),
        **UNFITTED,
    }
    entailment_weights.save(output, backbone, adapters.shipped(state["average"]), described)
    return refit(output, output, arguments.dialogues)


def refit(weights: Path, output: Path, dialogues: Path) -> dict[str, object]:
    """Write `weights` to `output` with calibration and thresholds fitted on the calibration chats; the metadata."""
    partial = output.with_name(output.name + ".unfitted")
    entailment_weights.copy_with(weights, partial, UNFITTED)
    rows = (*dialogue_rows(dialogues), *exchange_rows())
    held = [row for row in rows if dialogue_purpose(row["id"]) == "calibration"]
    entailment_weights.copy_with(weights, output, fitted(EntailmentVerifier(weights=partial), held))
    partial.unlink()
    return entailment_weights.describe(output)


def options(description: str | None) -> argparse.ArgumentParser:
    """What both the training run and the export are told."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=Path, default=DIALOGUES)
    parser.add_argument("--run", type=Path, default=Path(__file__).parent / "runs" / "entailment")
    parser.add_argument("--backbone", choices=sorted(adapters.RECIPES), default="mpnet")
    parser.add_argument("--output", type=Path, help="default: the weight file shipped for this backbone")
    return parser


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--refit", action="store_true", help="only fit what is shipped anew")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    if arguments.refit:
        shipped = entailment_weights.SHIPPED[arguments.backbone]
        print(json.dumps(refit(shipped, arguments.output or shipped, arguments.dialogues)))
    else:
        print(json.dumps(export(arguments)))


if __name__ == "__main__":
    main()
