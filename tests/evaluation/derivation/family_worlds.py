"""Matched families of which every judge's number is known: a turn says it, and a scripted judge reads it there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from admission.evaluation.derivation.cases import Case, cases_of
from admission.evaluation.derivation.families import CELLS, Cell
from admission.records import Conversation, Question, Turn, Write

MEMORY = "Nora sold the boat because it leaked."
ORACLE: dict[Cell, float] = {
    "local_valid": 0.95,
    "local_invalid": 0.0,
    "distributed_valid": 0.95,
    "distributed_invalid": 0.0,
}
FOOL: dict[Cell, float] = {cell: 0.95 - support for cell, support in ORACLE.items()}


def family(
    id: str, supports: Mapping[Cell, float], target: str = "cause", cells: tuple[Cell, ...] = CELLS
) -> list[Case]:
    """The cells of one family, in each of which judges find so much support."""
    return [
        case for cell in cells for case in cases_of(_conversation(id, cell, supports[cell], target), passage_chars=1200)
    ]


def _conversation(id: str, cell: Cell, support: float, target: str) -> Conversation:
    said = ("Good morning.", f"Level {support:.2f} today.", "I had the boat for years.", "It leaked, I know that.")
    turns = tuple(Turn(id=f"t{n}", role="user", speaker="Nora", text=text) for n, text in enumerate(said, 1))
    valid = cell.endswith("_valid")
    evidence = ["t3"] if cell.startswith("local") else ["t3", "t4"]
    label = "supported" if valid else "insufficient"
    relation = {"text": MEMORY, "type": "relation", "label": label, "evidence": evidence, "target": True}
    reference: dict[str, Any] = {
        "status": "admitted_or_repaired" if valid else "unresolved",
        "family": id,
        "target": target,
        "cell": cell,
        "obligations": [relation],
    }
    write = Write(id=f"{id}.{cell}", memory=MEMORY, citations=("t2",), reference=reference)
    return Conversation(id=f"{id}.{cell}", namespace=("n",), turns=turns, writes=(write,))


def as_the_turn_says(question: Question) -> tuple[float, float]:
    """The number of the passage shown; no support where it is not shown."""
    found = [re.search(r"Level (\d\.\d+)", passage.text) for passage in question.passages]
    return (max((float(one[1]) for one in found if one), default=0.0), 0.0)
