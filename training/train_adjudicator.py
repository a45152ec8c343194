"""Trains the adjudicator's head: `python -m training.train_adjudicator --data DIR`. Stopped, it goes on where it was.

Token states of every text are computed once by the frozen encoder and kept in the run folder (about 4 GB), then the
head is trained on them on one thread. At the end the temperature is fitted on held-out pairs, the thresholds on the
calibration dialogues, and the weights are written as fp16.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from scipy.optimize import minimize_scalar
from sklearn.metrics import roc_auc_score
from torch import Tensor

from admission.records import Thresholds
from admission.verifiers import adjudicator
from admission.verifiers.adjudicator_head import AdjudicatorHead, pad
from admission.verifiers.states import StateEncoder, TokenStates
from training.fitting_data import chats, dialogue_sets, rare_on, threshold
from training.objective import loss
from training.verifier_data import NLI_HELD_OUT, NLI_TRAIN, Labelled, nli_pairs

LAYERS = (3, 6)
HEAD: dict[str, Any] = {"input_width": 384 * len(LAYERS), "width": 128, "heads": 4, "blocks": 2, "dropout": 0.15}
BATCH = 64
RATE = 1e-3
WEIGHTS = {"removed": 0.7, "unrelated": 0.5, "exchanged": 0.7}
SAVED_EVERY = 100


class Pair(NamedTuple):
    """Tokens of the joint premise and of the obligation, the label (3 = not supported), and the loss weight."""

    premise: Tensor
    claim: Tensor
    label: int
    weight: float


def data(folder: Path, seed: int) -> dict[str, list[Labelled]]:
    """Rows to learn from, to fit temperature and thresholds on, and to test with."""
    dialogues, summarised = dialogue_sets(seed), chats(folder)
    kept = list(nli_pairs(folder / "nli", NLI_HELD_OUT, seed))
    return {
        "train": [*nli_pairs(folder / "nli", NLI_TRAIN, seed), *dialogues["train"], *summarised["train"]],
        "calibration": [*dialogues["calibration"], *kept[::2]],
        "test": [*kept[1::2], *dialogues["test"], *summarised["test"]],
    }


def states(rows: Sequence[Labelled], cache: Path) -> dict[str, TokenStates]:
    """States of every text of `rows`; those in the cache are not computed again."""
    known: dict[str, TokenStates] = pickle.loads(cache.read_bytes()) if cache.exists() else {}
    texts = dict.fromkeys(text for row in rows for text in adjudicator.texts_of(row.question))
    missing = [text for text in texts if text not in known]
    encoder = StateEncoder(LAYERS, cached_texts=1)
    for start in range(0, len(missing), 2000):
        part = missing[start : start + 2000]
        known.update(zip(part, encoder.encode(part), strict=True))
        print(f"encoded {start + len(part)}/{len(missing)}", flush=True)
    if missing:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_bytes(pickle.dumps(known, protocol=5))
    return known


def pairs(rows: Sequence[Labelled], known: dict[str, TokenStates]) -> list[Pair]:
    """The joint premise of each row, chosen as the verifier chooses it; fp16 until it is used."""
    made = []
    for row in rows:
        claim, *said = (known[text] for text in adjudicator.texts_of(row.question))
        _, chosen = adjudicator.closest(row.question.passages, said, claim)
        premise = torch.cat([torch.from_numpy(state.layers) for state in chosen])
        if premise.shape[0] and claim.layers.shape[0]:
            made.append(Pair(premise, torch.from_numpy(claim.layers), row.label, WEIGHTS.get(row.source, 1.0)))
        else:
            nothing = torch.zeros(1, HEAD["input_width"])
            made.append(Pair(nothing, nothing, row.label, 0.0))
    return made


def batches(rows: Sequence[Pair], rng: random.Random) -> Iterator[list[Pair]]:
    """Shuffled batches of similar length, for ever."""
    while True:
        order = list(range(len(rows)))
        rng.shuffle(order)
        bunches = [
            sorted(order[i : i + 50 * BATCH], key=lambda j: rows[j].premise.shape[0])
            for i in range(0, len(order), 50 * BATCH)
        ]
        cuts = [bunch[i : i + BATCH] for bunch in bunches for i in range(0, len(bunch), BATCH)]
        rng.shuffle(cuts)
        for cut in cuts:
            yield [rows[i] for i in cut]


def train(head: AdjudicatorHead, rows: Sequence[Pair], steps: int, checkpoint: Path) -> None:
    """AdamW with a short warm-up and a linear decay over `steps`; resumes from `checkpoint`."""
    optimiser = torch.optim.AdamW(head.parameters(), lr=RATE, weight_decay=0.02)
    first = 0
    if checkpoint.exists():
        stored = torch.load(checkpoint, weights_only=True)
        head.load_state_dict(stored["head"])
        if "optimiser" in stored:
            optimiser.load_state_dict(stored["optimiser"])
        first = stored["step"]
    source = batches(rows, random.Random(first))
    head.train()
    for step in range(first, steps):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / 100) * max(0.02, 1 - step / steps)
        batch = next(source)
        logits = head(*pad([p.premise.float() for p in batch]), *pad([p.claim.float() for p in batch]))
        value = loss(logits, torch.tensor([p.label for p in batch]), torch.tensor([p.weight for p in batch]))
        optimiser.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        optimiser.step()
        if (step + 1) % SAVED_EVERY == 0 or step + 1 == steps:
            print(f"step {step + 1}/{steps} loss {value.item():.3f}", flush=True)
            kept = {"head": head.state_dict(), "optimiser": optimiser.state_dict(), "step": step + 1}
            torch.save(kept, checkpoint)


def scored(head: AdjudicatorHead, rows: Sequence[Pair]) -> Tensor:
    """(rows, 3) logits."""
    out = torch.zeros(len(rows), 3)
    order = sorted(range(len(rows)), key=lambda i: rows[i].premise.shape[0])
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            out[chosen] = head(
                *pad([rows[i].premise.float() for i in chosen]), *pad([rows[i].claim.float() for i in chosen])
            )
    return out


def temperature(logits: Tensor, labels: Tensor) -> float:
    """The temperature with the least cross-entropy."""
    ones = torch.ones(len(labels))
    best = minimize_scalar(lambda t: float(loss(logits / t, labels, ones)), bounds=(0.3, 5.0), method="bounded")
    return round(float(best.x), 3)


def report(rows: Sequence[Labelled], chances: np.ndarray) -> None:
    """By set: three-way accuracy where labels are three, AUC of supported or not, mean support where none is."""
    labels = np.array([row.label for row in rows])
    for source in dict.fromkeys(row.source for row in rows):
        at = np.array([row.source == source for row in rows])
        truth, mine = labels[at] == 0, chances[at]
        best = mine.argmax(1)
        right = np.where(labels[at] == 3, best != 0, best == labels[at]).mean()
        area = (
            f"AUC {roc_auc_score(truth, mine[:, 0]):.3f}" if 0 < truth.mean() < 1 else f"mean {mine[:, 0].mean():.2f}"
        )
        print(f"  {source:12s} n={at.sum():4d} accuracy {right:.3f} {area}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds nli/")
    parser.add_argument("--out", type=Path, default=Path("admission/data") / adjudicator.WEIGHTS)
    parser.add_argument("--run", type=Path, default=Path("training/runs/adjudicator"))
    parser.add_argument("--steps", type=int, default=4400)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    options.run.mkdir(parents=True, exist_ok=True)
    rows = data(options.data, seed=0)
    known = states([row for part in rows.values() for row in part], options.run / "states.pkl")
    made = {name: pairs(part, known) for name, part in rows.items()}
    del known
    head = AdjudicatorHead(**HEAD)
    train(head, made["train"], options.steps, options.run / "checkpoint.pt")
    head.eval()
    export(head, rows, made, options.out)


def export(head: AdjudicatorHead, rows: dict[str, list[Labelled]], made: dict[str, list[Pair]], out: Path) -> None:
    """Fits temperature and thresholds, prints the test figures, writes the weight file."""
    labels = torch.tensor([row.label for row in rows["calibration"]])
    logits = scored(head, made["calibration"])
    heat = temperature(logits, labels)
    chances = (logits / heat).softmax(-1).numpy()
    at = np.array([row.source == "dialogues" for row in rows["calibration"]])
    truth = labels.numpy()[at]
    cuts = Thresholds(
        support=threshold(chances[at][:, 0], truth == 0), contradiction=rare_on(chances[at][truth == 0][:, 2])
    )
    report(rows["test"], (scored(head, made["test"]) / heat).softmax(-1).numpy())
    about = {"head": {**HEAD, "dropout": 0.0}, "layers": LAYERS, "temperature": heat, "thresholds": cuts.model_dump()}
    tensors = {name: value.half().contiguous() for name, value in head.state_dict().items()}
    save_file(tensors, out, metadata={"format": adjudicator.FORMAT, "about": json.dumps(about)})
    out.chmod(0o644)
    print(f"{out}: {out.stat().st_size} bytes, temperature {heat}, {cuts}")


if __name__ == "__main__":
    main()
