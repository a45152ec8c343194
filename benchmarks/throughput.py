"""Throughput of the embedded judges: writes a second, the models' share of it, their speed against the machine's.

    python -m benchmarks.throughput --writes writes_dev.jsonl [--limit N] [--threads 2] [--json FILE]

One run measures all of it, so that ratios hold on a noisy machine: writes a second end to end (`decide_many`), the
share of that time spent in the encoders, pairs and tokens a second of each encoder, its floating point operations
a second, and the fp32 matrix product of the machine, measured before and after on matrices of the encoder's shape.
Operations counted are those of the linear layers (two a weight and token) and of attention; padding does not count.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from admission.conversations import read_conversations
from admission.gate import AdmissionGate
from admission.history import Timeline
from admission.settings import load_settings

ROWS = 1024
"""Tokens in the matrix that the machine's speed is measured with: about a batch."""


@dataclass
class Clock:
    """Time and work of one encoder."""

    seconds: float = 0.0
    texts: int = 0
    tokens: int = 0
    padded: int = 0
    operations: float = 0.0


def matmul_peak(width: int, repeats: int = 30) -> float:
    """fp32 operations a second of a (ROWS, width) by (width, 4 width) product, the best of `repeats`."""
    left, right = torch.randn(ROWS, width), torch.randn(width, 4 * width)
    left @ right
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        left @ right
        best = min(best, time.perf_counter() - began)
    return 2 * ROWS * width * 4 * width / best


def watch(encoder_class: type, clocks: dict[int, Clock]) -> Callable[[], None]:
    """Time every forward pass of an encoder class, by hidden width; returns what undoes it."""
    original = encoder_class.forward

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        found = original(self, *args, **kwargs)
        clock = clocks.setdefault(self.config.hidden_size, Clock())
        clock.seconds += time.perf_counter() - began
        mask = kwargs["attention_mask"]
        lengths = mask.sum(1).float()
        width, layers = self.config.hidden_size, self.config.num_hidden_layers
        weights = layers * (4 * width * width + 2 * width * self.config.intermediate_size)
        clock.texts += mask.shape[0]
        clock.tokens += int(lengths.sum())
        clock.padded += mask.numel()
        clock.operations += float(2 * weights * lengths.sum() + 4 * layers * width * (lengths**2).sum())
        return found

    encoder_class.forward = forward
    return lambda: setattr(encoder_class, "forward", original)


def measure(writes: Path, config: Path | None, limit: int) -> dict[str, Any]:
    from transformers import BertModel, MPNetModel

    gate = AdmissionGate(load_settings(config))
    pairs = []
    for conversation in read_conversations(writes):
        timeline = Timeline(conversation.id, conversation.turns, passage_chars=gate.settings.evidence.passage_chars)
        pairs += [(conversation.candidate(w), timeline.before(w.written_after)) for w in conversation.writes]
    pairs = pairs[:limit]
    list(gate.decide_many(pairs[:1]))  # loads the weights
    before = {width: matmul_peak(width) for width in (384, 768)}
    clocks: dict[int, Clock] = {}
    undo = [watch(kind, clocks) for kind in (BertModel, MPNetModel)]
    began = time.perf_counter()
    reports = list(gate.decide_many(pairs[1:]))
    seconds = time.perf_counter() - began
    for restore in undo:
        restore()
    inside = sum(clock.seconds for clock in clocks.values())
    peak = {width: max(before[width], matmul_peak(width)) for width in before}
    return {
        "writes": len(reports),
        "writes_per_second": round(len(reports) / seconds, 2),
        "share_outside_the_encoders": round(1 - inside / seconds, 3),
        "encoders": {
            {384: "minilm", 768: "mpnet"}[width]: {
                "texts_per_write": round(clock.texts / len(reports), 2),
                "tokens_per_text": round(clock.tokens / clock.texts, 1),
                "padding_share": round(1 - clock.tokens / clock.padded, 3),
                "texts_per_second": round(clock.texts / clock.seconds, 1),
                "share_of_time": round(clock.seconds / seconds, 3),
                "gflops": round(clock.operations / clock.seconds / 1e9, 1),
                "matmul_peak_gflops": round(peak[width] / 1e9, 1),
                "share_of_peak": round(clock.operations / clock.seconds / peak[width], 3),
            }
            for width, clock in sorted(clocks.items())
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=Path, required=True)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--limit", type=int, default=80)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    found = {"threads": arguments.threads, **measure(arguments.writes, arguments.config, arguments.limit)}
    text = json.dumps(found, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
