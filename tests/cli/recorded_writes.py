"""Conversation files for the command line's tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import Result

Run = Callable[..., Result]


def conversation(id: str = "c1", *, writes: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A conversation of three turns. `writes` None: one write for each status, in the order of `EXPECTED`."""
    said = ["Good morning!", "Ines keeps a boat in Lisse.", "Untrue: Ines sold the boat."]
    turns = [{"id": f"t{n}", "role": "user", "speaker": "Ada", "text": text} for n, text in enumerate(said, 1)]
    every = [
        {"id": "w1", "memory": "Ines keeps a boat in Lisse.", "citations": ["t2"], "reference": {"status": "admitted"}},
        {"id": "w2", "memory": "Ines keeps a boat in Lisse.", "citations": ["t1"], "reference": {"status": "repaired"}},
        {"id": "w3", "memory": "Ines owns a horse.", "citations": [], "reference": {"status": "contradicted"}},
        {"id": "w4", "memory": "Ines sold the boat.", "citations": ["t3"], "reference": {"status": "contradicted"}},
        {"id": "w5", "memory": "", "citations": []},
    ]
    return {"id": id, "namespace": ["harbour", id], "turns": turns, "writes": every if writes is None else writes}


EXPECTED = ["admitted", "repaired", "unresolved", "contradicted", "invalid"]


def write_file(path: Path, *conversations: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(c) + "\n" for c in conversations), encoding="utf-8")
    return path
