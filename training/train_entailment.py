"""Train an entailment network: `python -m training.train_entailment --data DIR --backbone mpnet --minutes 100`."""

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
from torch.nn import functional

from admission.verifiers import entailment_model as model
from training import adapters, dialogue_pairs, sources
from training.export_entailment import calibration_pairs, export, logits, options
from training.objective import loss
from training.sources import Pair
from training.verifier_data import dialogue_purpose, dialogue_rows, exchange_rows

BATCH, CHUNK = 16, 128
LONG = ("cider", "summedits")
WARM_UP, FLOOR = 0.03, 0.03
AVERAGE = 0.997
CONTRADICTION_WEIGHT = 1.3
RANKING_WEIGHT = 0.5
"""Weight of the loss that asks a true memory to be entailed more than its edited twin by the same lines."""
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
            if source not in sources.OWN
        }
        training = [row for row in dialogue_rows(dialogue_file) if dialogue_purpose(row["id"]) == "train"]
        self.claims = [(row, claim) for row in training for claim in row["claims"]]
        chats = [row for row in exchange_rows() if dialogue_purpose(row["id"]) == "train"]
        self.twins = [
            (row, row["claims"][place : place + 2]) for row in chats for place in range(0, len(row["claims"]), 2)
        ]
        self.rows = training + chats
        self.distractors = [p.premise for name in ("mnli", "cad", "vitaminc") for p in self.pools[name]]
        self.decks: dict[str, list[int]] = {}

    def _next(self, source: str) -> list[Pair]:
        pool = {"dialogues": self.claims, "exchanges": self.twins}.get(source) or self.pools[source]
        deck = self.decks.get(source)
        if not deck:
            deck = self.decks[source] = self.rng.sample(range(len(pool)), len(pool))
        place, unrelated = deck.pop(), self.rng.random() < UNRELATED
        if source == "exchanges":
            row, (true, twin) = self.twins[place]
            if unrelated:
                return [dialogue_pairs.from_other(row, true, self.rng.choice(self.rows), self.rng)]
            return dialogue_pairs.from_twins(row, true, twin, self.rng)
        if source == "dialogues":
            row, claim = self.claims[place]
            if unrelated:
                return [dialogue_pairs.from_other(row, claim, self.rng.choice(self.rows), self.rng)]
            return [dialogue_pairs.from_claim(row, claim, self.rng)]
        pair = self.pools[source][place]
        if unrelated:
            pair = replace(pair, premise=self.rng.choice(self.distractors), label="neutral")
        return [dialogue_pairs.as_chat(pair, self.distractors, self.rng)]

    def batches(self) -> Iterator[list[Pair]]:
        """Batches of about `BATCH` pairs; a true memory and its twin are always in one batch, one after the other."""
        names, shares = list(sources.SHARES), list(sources.SHARES.values())
        while True:
            drawn = [self._next(name) for name in self.rng.choices(names, shares, k=BATCH * CHUNK)]
            drawn.sort(key=lambda group: len(group[0].premise) + len(group[0].claim))
            flat = [pair for group in drawn for pair in group]
            chunk, start = [], 0
            while start < len(flat):
                end = start + BATCH
                end += end < len(flat) and flat[end].twin
                chunk.append(flat[start:end])
                start = end
            self.rng.shuffle(chunk)
            yield from chunk


def _short(pair: Pair) -> bool:
    return len(pair.premise) + len(pair.claim) < (700 if pair.source in LONG else 280)


def loss_of(logits: Tensor, batch: list[Pair]) -> Tensor:
    """The loss of a batch: classes, contradictions weighing more; and of each true memory against its twin."""
    index = torch.tensor([sources.LABELS.index(pair.label) for pair in batch])
    value = loss(logits, index, torch.where(index == 2, CONTRADICTION_WEIGHT, 1.0))
    twins = [place for place, pair in enumerate(batch) if pair.twin and batch[place - 1].label == "entailment"]
    if twins:
        odds = logits[:, 0] - torch.logsumexp(logits[:, 1:], dim=-1)
        places = torch.tensor(twins)
        value = value + RANKING_WEIGHT * functional.softplus(odds[places] - odds[places - 1]).sum() / len(batch)
    return value


class Run:
    """Network, averaged weights, optimiser and clock of one training run; all of it survives a stop."""

    def __init__(self, folder: Path, backbone: str, minutes: float, start: Path | None = None) -> None:
        self.folder, self.seconds = folder, minutes * 60.0
        self.backbone = model.BACKBONES[backbone]
        self.network = adapters.trainable(backbone)
        if start is not None:
            adapters.start_from(self.network, start)
        self.trained = {n: p for n, p in self.network.named_parameters() if p.requires_grad}
        recipe = adapters.RECIPES[backbone]
        groups = [
            {"params": [p for n, p in self.trained.items() if n.startswith("encoder.")], "peak": recipe.encoder_rate},
            {"params": [p for n, p in self.trained.items() if not n.startswith("encoder.")], "peak": recipe.head_rate},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=0.0, weight_decay=0.01, fused=True)
        self.average = {n: p.detach().clone() for n, p in self.trained.items()}
        self.step, self.elapsed, self.seen, self.smooth = 0, 0.0, 0, 1.1

    def learn(self, batch: list[Pair]) -> None:
        began = time.monotonic()
        progress = min(1.0, self.elapsed / self.seconds)
        factor = min(1.0, progress / WARM_UP) * max(FLOOR, 1.0 - progress)
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * factor
        self.network.train()
        encoded = model.encode_pairs(self.backbone, [(p.premise, p.claim) for p in batch], step=1)
        value = loss_of(adapters.logits(self.network, encoded), batch)
        value.backward()
        torch.nn.utils.clip_grad_norm_(self.trained.values(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        self.seen += len(batch)
        decay = min(AVERAGE, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            averages = list(self.average.values())
            torch._foreach_lerp_(averages, [p.detach() for p in self.trained.values()], 1.0 - decay)
        self.smooth += 0.01 * (value.item() - self.smooth)
        self.elapsed += time.monotonic() - began

    def save(self) -> None:
        state = {
            "trained": {n: p.detach() for n, p in self.trained.items()},
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
            for name, parameter in self.trained.items():
                parameter.copy_(state["trained"][name])
        self.average = state["average"]
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.elapsed, self.seen, self.smooth = state["numbers"]

    def averaged_network(self) -> model.EntailmentNetwork:
        """The network with the exponential average of its trained weights."""
        network = adapters.trainable(self.backbone.name)
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
    parser.add_argument("--data", type=Path, required=True, help="folder that holds nli/")
    parser.add_argument("--minutes", type=float, default=75.0, help="training time in all; a stopped run resumes")
    parser.add_argument("--start", type=Path, help="a shipped weight file to go on from, in place of the backbone")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(arguments.seed)
    folder = arguments.run / arguments.backbone
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(folder, arguments.backbone, arguments.minutes, arguments.start)
    run.resume()
    mix = Mix(arguments.data, arguments.dialogues, arguments.seed + run.step)
    # Test pairs are not looked at while training.
    held = calibration_pairs(arguments.data, arguments.dialogues, LOOKED_AT, seed=5)
    saved = looked = run.elapsed
    with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
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
    print(json.dumps(export(arguments)))


if __name__ == "__main__":
    main()
