"""Prompt templates as text files and their loader; imports nothing of ours."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["EVALUATION", "NAMES", "digest", "load"]

NAMES = (
    "system",
    "judge_obligations",
    "judge_holistic",
    "judge_atomic_claims",
    "judge_predicate_argument_qa",
    "judge_compact_relation",
    "judge_composition_graph",
    "adjudicate",
    "repair",
    "decompose",
    "decompose_memory",
    "repair_decompose",
    "label_system",
    "label_support",
    "label_contradiction",
)
"""`system` goes before each `judge_*` (one a view) and `adjudicate`, `decompose` before `decompose_memory`; `repair`
and `repair_decompose` ask anew for an unusable answer; `label_system` goes before the two questions `label_*` of a
local model."""
EVALUATION = (
    "read_system",
    "read_question",
    "mark_system",
    "mark_answer",
    "write_system",
    "write_extract",
    "write_consolidate",
)
"""Of evaluations, which no verifier asks by: `read_system` goes before `read_question`, `mark_system` before
`mark_answer`, `write_system` before the two others `write_*`."""


@cache
def load(name: str) -> Template:
    """The template of this name, with `$placeholders`. Raises `KeyError` naming the templates there are."""
    if name not in NAMES and name not in EVALUATION:
        raise KeyError(f"no prompt is called {name!r}; there are {', '.join((*NAMES, *EVALUATION))}")
    return Template((files(__name__) / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n"))


@cache
def digest(names: tuple[str, ...] = NAMES) -> str:
    """SHA-256 over these templates, as 64 hex characters: part of the configuration of what asks by them. By default
    over all those of verifiers."""
    whole = "\0".join(f"{name}\0{load(name).template}" for name in names)
    return hashlib.sha256(whole.encode()).hexdigest()
