"""Where labelled pairs come from: the data sets, their share of the mix, and what is held out of each."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction", "not_entailment")
HELD_OUT_MARKS = ("test", "val", "oracle")
"""Parts of a file name that mark an evaluation split."""
KEPT_FOR_TRAINING = ("fmt_dev", "fever_symmetric_dev")
CALIBRATION = ("cad_dev",)

SHARES = {
    "exchanges": 0.24,
    "dialogues": 0.16,
    "vitaminc": 0.18,
    "mnli": 0.18,
    "cad": 0.08,
    "negation_nli": 0.04,
    "scone": 0.04,
    "foolmetwice": 0.03,
    "feversymmetric": 0.01,
    "fragments": 0.01,
    "med_help": 0.01,
    "cider": 0.01,
    "q2": 0.008,
    "summedits": 0.002,
}
"""Share of draws by source. Those of `dialogues` and `exchanges` are made in dialogue_pairs.py, the latter by twos."""

OWN = ("dialogues", "exchanges")
"""Sources of the project's own."""

EVALUATION_ONLY = ("wice", "bigbench")


@dataclass(frozen=True)
class Pair:
    """A premise, a claim about it, and one of `LABELS`; `not_entailment` says no more than that.

    `twin`: the claim is an edit of the pair's before it, which has the same premise.
    """

    premise: str
    claim: str
    label: str
    source: str
    part: str
    twin: bool = False


def pairs(data: Path, source: str) -> Iterator[Pair]:
    """Every pair of one data set of `data`/nli."""
    with gzip.open(data / "nli" / f"{source}.jsonl.gz", "rt", encoding="utf-8") as file:
        for text in file:
            row = json.loads(text)
            yield Pair(row["premise"], row["hypothesis"], row["label"], source, row["file"])


def purpose(pair: Pair) -> str:
    """`train`, `calibration` or `test`. Sets without a split of their own give a tenth, by premise, to testing."""
    if pair.source in EVALUATION_ONLY:
        return "test"
    if pair.part in CALIBRATION:
        return "calibration"
    if any(mark in pair.part for mark in HELD_OUT_MARKS):
        if pair.part == "mnli_val":
            return "calibration" if _bucket(pair.premise) < 5 else "test"
        return "test"
    if pair.part in KEPT_FOR_TRAINING or "train" in pair.part:
        return "train"
    return "test" if _bucket(pair.premise) == 0 else "train"


def _bucket(premise: str) -> int:
    return hashlib.sha256(premise.encode()).digest()[0] % 10


def right(best: Iterable[int], labelled: Iterable[Pair]) -> list[bool]:
    """Whether each class chosen (its place in `LABELS`) is the pair's; entailed or not where no more is known."""
    return [
        (place != 0) if pair.label == "not_entailment" else LABELS[place] == pair.label
        for place, pair in zip(best, labelled, strict=True)
    ]
