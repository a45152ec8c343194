"""Recorded LoCoMo writes and their minimally edited twins: only measured, nothing is trained or chosen by them."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from admission.records import Passage
from training.verifier_data import turn_passages

RETENTION = 0.85
"""Share of valid writes that is kept where admission of the others is compared."""
NEIGHBOURS = 2
"""Turns each side of a cited one that are shown with it."""


@dataclass(frozen=True)
class Recorded:
    """A memory as written, whether its reference says it stands, and its twins as (what was edited, memory).

    `before` are all turns up to the write, `near` the places in it of cited turns and their neighbours.
    """

    id: str
    memory: str
    stands: bool
    twins: tuple[tuple[str, str], ...]
    before: tuple[Passage, ...]
    near: frozenset[int]


def recorded(folder: Path) -> list[Recorded]:
    """Every write of `folder`/writes_dev.jsonl with its twins from negatives_dev.jsonl."""
    twins: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for twin in _lines(folder / "negatives_dev.jsonl"):
        twins[twin["conversation"], twin["of"]].append((twin["edit"], twin["memory"]))
    found = []
    for conversation in _lines(folder / "writes_dev.jsonl"):
        passages = turn_passages(conversation["turns"])
        places = {passage.turn_id: place for place, passage in enumerate(passages)}
        for write in conversation["writes"]:
            end = places[write["written_after"]] + 1 if write.get("written_after") else len(passages)
            cited = [places[turn] for turn in write["citations"] if turn in places]
            near = {n for place in cited for n in range(place - NEIGHBOURS, place + NEIGHBOURS + 1) if 0 <= n < end}
            stands = (write.get("reference") or {}).get("status") in ("admitted", "repaired")
            edited = tuple(twins[conversation["id"], write["id"]])
            before = tuple(passages[:end])
            found.append(Recorded(write["id"], write["memory"], stands, edited, before, frozenset(near)))
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
