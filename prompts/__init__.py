"""Prompt templates as text files and their loader; imports nothing of ours."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["NAMES", "digest", "load"]

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


@cache
def load(name: str) -> Template:
    """The template of this name, with `$placeholders`. Raises `KeyError` naming the templates there are."""
    if name not in NAMES:
        raise KeyError(f"no prompt is called {name!r}; there are {', '.join(NAMES)}")
    return Template((files(__name__) / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n"))


@cache
def digest() -> str:
    """SHA-256 over all templates, as 64 hex characters: part of the configuration of a verifier that uses them."""
    whole = "\0".join(f"{name}\0{load(name).template}" for name in NAMES)
    return hashlib.sha256(whole.encode()).hexdigest()
