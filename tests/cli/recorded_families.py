"""Two matched families for the command line's tests, which verifiers that match words tell apart."""

from __future__ import annotations

from typing import Any

MEMORY = "Ines keeps a boat in Lisse."
_SAID = {
    "local_valid": ("Good morning!", MEMORY, "The weather is fine."),
    "local_invalid": ("Good morning!", "Ines likes Lisse.", "The weather is fine."),
    "distributed_valid": (MEMORY, "Ines likes Lisse.", "The weather is fine."),
    "distributed_invalid": ("Ines likes boats.", "Ines likes Lisse.", "The weather is fine."),
}


def families(*ids: str, language: str = "en") -> list[dict[str, Any]]:
    """The lines of a conversation file, four a family."""
    return [_line(id, cell, said, language) for id in ids for cell, said in _SAID.items()]


def _line(id: str, cell: str, said: tuple[str, ...], language: str) -> dict[str, Any]:
    turns = [{"id": f"t{n}", "role": "user", "speaker": "Ada", "text": text} for n, text in enumerate(said, 1)]
    valid = cell.endswith("_valid")
    relation = {
        "text": MEMORY,
        "type": "relation",
        "label": "supported" if valid else "insufficient",
        "evidence": ["t2"] if cell.startswith("local") else ["t1", "t2"],
    }
    reference = {
        "status": "admitted_or_repaired" if valid else "unresolved",
        "family": id,
        "target": "scope",
        "cell": cell,
        "obligations": [relation],
    }
    name = f"{id}.{cell}"
    write = {"id": name, "memory": MEMORY, "citations": ["t2"], "reference": reference}
    return {"id": name, "namespace": ["f", name], "language": language, "turns": turns, "writes": [write]}
