"""Train the entailment verifier's weights: `python -m training.train_entailment --data DIR --minutes 75`."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from admission.verifiers import entailment_model as model
from admission.verifiers import minilm
from training import dialogue_pairs, sources
from training.export_entailment import calibration_pairs, export, logits, options
from training.objective import loss
from training.sources import Pair
from training.verifier_data import dialogue_purpose, dialogue_rows

BATCH, CHUNK = 16, 128
LONG = ("cider", "summedits")
ENCODER_RATE, HEAD_RATE, WARM_UP, FLOOR = 1.2e-4, 6e-4, 0.03, 0.03
AVERAGE = 0.997
CONTRADICTION_WEIGHT = 1.3
UNRELATED = 0.07
"""Share of pairs whose premise is exchanged for one of another pair: SNLI's habit would call those contradictions."""
SAVE_EVERY, LOOK_EVERY = 120.0, 1200.0
LOOKED_AT = 100
"""Calibration pairs a set that a look takes."""


class Mix:
    """An endless stream of batches from all sources by their shares, bucketed by length. Same seed, same stream."""

    def __init__(self, data: Path, dialogue_file: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.pools = {
            source: [p for p in sources.pairs(data, source) if sources.purpose(p) == "train" and _short(p)]
            for source in sources.SHARES
            if source != "dialogues"
        }
        training = [row for row in dialogue_rows(dialogue_file) if dialogue_purpose(row["id"]) == "train"]
        self.claims = [(row, claim) for row in training for claim in row["claims"]]
        self.distractors = [p.premise for name in ("mnli", "cad", "vitaminc") for p in self.pools[name]]
        self.decks: dict[str, list[int]] = {}

    def _next(self, source: str) -> Pair:
        size = len(self.claims) if source == "dialogues" else len(self.pools[source])
        deck = self.decks.get(source)
        if not deck:
            deck = self.decks[source] = self.rng.sample(range(size), size)
        place = deck.pop()
        if source == "dialogues":
            row, claim = self.claims[place]
            if self.rng.random() < UNRELATED:
                return dialogue_pairs.from_other(row, claim, self.rng.choice(self.claims)[0], self.rng)
            return dialogue_pairs.from_claim(row, claim, self.rng)
        pair = self.pools[source][place]
        if self.rng.random() < UNRELATED:
            pair = replace(pair, premise=self.rng.choice(self.distractors), label="neutral")
        return dialogue_pairs.as_chat(pair, self.distractors, self.rng)

    def batches(self) -> Iterator[list[Pair]]:
        names, shares = list(sources.SHARES), list(sources.SHARES.values())
        while True:
            drawn = [self._next(name) for name in self.rng.choices(names, shares, k=BATCH * CHUNK)]
            lengths = minilm.tokenizer()([p.premise for p in drawn], [p.claim for p in drawn])["input_ids"]
            order = sorted(range(len(drawn)), key=lambda place: len(lengths[place]))
            drawn = [drawn[place] for place in order]
            chunk = [drawn[start : start + BATCH] for start in range(0, len(drawn), BATCH)]
            self.rng.shuffle(chunk)
            yield from chunk


def _short(pair: Pair) -> bool:
    return len(pair.premise) + len(pair.claim) < (700 if pair.source in LONG else 280)


def loss_of(logits: Tensor, labels: list[str]) -> Tensor:
    """The loss of a batch; contradictions weigh more."""
    index = torch.tensor([sources.LABELS.index(label) for label in labels])
    return loss(logits, index, torch.where(index == 2, CONTRADICTION_WEIGHT, 1.0))


class Run:
    """Network, averaged weights, optimiser and clock of one training run; all of it survives a stop."""

    def __init__(self, folder: Path, minutes: float) -> None:
        self.folder, self.seconds = folder, minutes * 60.0
        self.network = model.EntailmentNetwork(minilm.encoder(), dropout=0.1)
        for module in self.network.encoder.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        self.tuned = {n: p for n, p in self.network.named_parameters() if model.is_tuned(n)}
        for name, parameter in self.network.named_parameters():
            parameter.requires_grad_(name in self.tuned)
        groups = [
            {"params": [p for n, p in self.tuned.items() if n.startswith("encoder.")], "peak": ENCODER_RATE},
            {"params": [p for n, p in self.tuned.items() if not n.startswith("encoder.")], "peak": HEAD_RATE},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=0.0, weight_decay=0.01, fused=True)
        self.average = {n: p.detach().clone() for n, p in self.tuned.items()}
        self.step, self.elapsed, self.seen, self.smooth = 0, 0.0, 0, 1.1

    def learn(self, batch: list[Pair]) -> None:
        began = time.monotonic()
        progress = min(1.0, self.elapsed / self.seconds)
        factor = min(1.0, progress / WARM_UP) * max(FLOOR, 1.0 - progress)
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * factor
        self.network.train()
        encoded = model.encode_pairs([(p.premise, p.claim) for p in batch], step=1)
        value = loss_of(self.network(**encoded), [p.label for p in batch])
        value.backward()
        torch.nn.utils.clip_grad_norm_(self.tuned.values(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        self.seen += len(batch)
        decay = min(AVERAGE, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            averages = list(self.average.values())
            torch._foreach_lerp_(averages, [p.detach() for p in self.tuned.values()], 1.0 - decay)
        self.smooth += 0.01 * (value.item() - self.smooth)
        self.elapsed += time.monotonic() - began

    def save(self) -> None:
        state = {
            "tuned": {n: p.detach() for n, p in self.tuned.items()},
            "average": self.average,
            "optimiser": self.optimiser.state_dict(),
            "numbers": (self.step, self.elapsed, self.seen, self.smooth),
        }
        partial = self.folder / "checkpoint.pt.partial"
        torch.save(state, partial)
        partial.replace(self.folder / "checkpoint.pt")

    def resume(self) -> None:
        path = self.folder / "checkpoint.pt"
        if not path.exists():
            return
        state = torch.load(path, weights_only=True)
        with torch.no_grad():
            for name, parameter in self.tuned.items():
                parameter.copy_(state["tuned"][name])
        self.average = state["average"]
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.elapsed, self.seen, self.smooth = state["numbers"]

    def averaged_network(self) -> model.EntailmentNetwork:
        network = model.EntailmentNetwork(minilm.encoder())
        network.load_state_dict({**network.state_dict(), **self.average})
        return network.eval()


def look(network: model.EntailmentNetwork, held: dict[str, list[Pair]]) -> dict[str, float]:
    """Accuracy (entailed or not where a set is binary) on a few held-out pairs a set."""
    return {
        name: round(float(np.mean(sources.right(logits(network, pairs).argmax(1), pairs))), 3)
        for name, pairs in held.items()
    }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--minutes", type=float, default=75.0, help="training time in all; a stopped run resumes")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(arguments.seed)
    arguments.run.mkdir(parents=True, exist_ok=True)
    run = Run(arguments.run, arguments.minutes)
    run.resume()
    mix = Mix(arguments.data, arguments.dialogues, arguments.seed + run.step)
    # Test pairs are not looked at while training.
    held = calibration_pairs(arguments.data, arguments.dialogues, LOOKED_AT, seed=5)
    saved = looked = run.elapsed
    with (arguments.run / "log.jsonl").open("a", encoding="utf-8") as log:
        for batch in mix.batches():
            run.learn(batch)
            done = run.elapsed >= run.seconds
            record: dict[str, object] = {}
            if run.step % 100 == 0 or done:
                record = {"step": run.step, "minutes": round(run.elapsed / 60, 2), "pairs": run.seen}
                record |= {"loss": round(run.smooth, 4), "pairs_per_second": round(run.seen / run.elapsed, 1)}
            if run.elapsed - looked >= LOOK_EVERY or done:
                looked = run.elapsed
                record["held_out"] = look(run.averaged_network(), held)
            if record:
                log.write(json.dumps(record) + "\n")
                log.flush()
            if run.elapsed - saved >= SAVE_EVERY or done:
                saved = run.elapsed
                run.save()
            if done:
                break
    print(json.dumps(export(arguments.run, arguments.data, arguments.dialogues, arguments.output)))


if __name__ == "__main__":
    main()
