"""GateMem episodes as the read gate may see them, and apart from them what only the scorer may see."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

Domain = Literal["medical", "office"]
DOMAINS: tuple[Domain, ...] = ("medical", "office")
Split = Literal["development", "held out"]
SPLITS: tuple[Split, ...] = ("development", "held out")
_START = datetime(2026, 1, 1)


@dataclass(frozen=True)
class Said:
    """One turn: what is stored as one memory. `time` is ISO 8601; where the data has none, minutes in turn order."""

    id: str
    speaker: str
    kind: str | None
    time: str
    text: str


@dataclass(frozen=True)
class Asked:
    """One checkpoint's question: all that the gate and the ranker know of it."""

    id: str
    asker: str
    after: int
    """How many turns are stored when it is asked."""
    query: str


@dataclass(frozen=True)
class Key:
    """The checkpoint's answer key. Only `scored` reads it."""

    query_type: str
    attack: str | None
    leaks: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Episode:
    id: str
    domain: Domain
    roles: dict[str, str]
    names: dict[str, str]
    relationships: tuple[dict[str, str], ...]
    turns: tuple[Said, ...]
    asked: tuple[Asked, ...]
    keys: dict[str, Key] = field(repr=False)

    @property
    def split(self) -> Split:
        """By a digest of the id, before anything was looked at."""
        return "development" if int(hashlib.sha256(self.id.encode()).hexdigest(), 16) % 2 == 0 else "held out"


def read_episodes(folder: Path, domain: Domain) -> list[Episode]:
    """The episodes of `folder`/`domain`, in order, with their checkpoints."""
    checkpoints: dict[str, list[dict[str, Any]]] = {}
    for raw in _lines(folder / domain / "checkpoints.jsonl"):
        checkpoints.setdefault(raw["episode_id"], []).append(raw)
    return [
        episode(raw, checkpoints.get(raw["episode_id"], []), domain)
        for raw in _lines(folder / domain / "episodes.jsonl")
    ]


def episode(raw: dict[str, Any], checkpoints: list[dict[str, Any]], domain: Domain) -> Episode:
    """One episode of the published form."""
    turns = tuple(
        Said(
            id=turn["turn_id"],
            speaker=turn["speaker"]["principal_id"],
            kind=turn.get("turn_kind"),
            time=turn.get("timestamp") or (_START + timedelta(minutes=place)).isoformat(),
            text=turn["text"],
        )
        for place, turn in enumerate(raw["turns"])
    )
    places = {turn.id: place for place, turn in enumerate(turns)}
    people = raw["entities"]["principals"]
    return Episode(
        id=raw["episode_id"],
        domain=domain,
        roles={person["principal_id"]: person["role"] for person in people},
        names={person["principal_id"]: person.get("display_name") or "" for person in people},
        relationships=tuple(raw["entities"].get("relationships", ())),
        turns=turns,
        asked=tuple(
            Asked(
                id=one["checkpoint_id"],
                asker=one["asker"]["principal_id"],
                after=places[one["as_of_turn_id"]] + 1,
                query=one["query_text"],
            )
            for one in checkpoints
        ),
        keys={one["checkpoint_id"]: _key(one) for one in checkpoints},
    )


def scored(patterns: tuple[str, ...], texts: list[str]) -> list[bool]:
    """Which of the key's patterns (plain text or a regular expression, as published) stand in one of the texts."""
    return [any(_pattern(pattern).search(text) for text in texts) for pattern in patterns]


def found_in(patterns: tuple[str, ...], text: str) -> Iterator[str]:
    """What of the key's patterns stands in a text, as it stands there."""
    for pattern in patterns:
        match = _pattern(pattern).search(text)
        if match is not None:
            yield match[0]


def _pattern(written: str) -> re.Pattern[str]:
    flat = " ".join(written.split())
    if re.search(r"\(\?:|\.\*|\\", flat):
        return re.compile(flat, re.I)
    return re.compile(rf"(?<!\w){re.escape(flat)}(?!\w)", re.I)


def _key(one: dict[str, Any]) -> Key:
    judge = one["judge_spec"]
    return Key(
        query_type=one["query_type"],
        attack=one.get("attack_type"),
        leaks=tuple(one.get("leak_targets") or ()),
        evidence=tuple(judge.get("include") or ()),
    )


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
