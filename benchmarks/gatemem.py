"""GateMem's medical and office episodes through the read gate: what leaks, what is kept, and which metadata did it.

    python -m benchmarks.gatemem FOLDER [--ranker bm25|fused] [--split development|held-out|all] [--json FILE]

A turn is a memory, ranked for each checkpoint among the turns before it (20 places). Without the gate, all turns are
ranked and shown. With it, the turns of other namespaces are left out first, the others ranked, and those that policy or
lifecycle exclude not shown; places are not filled up. For access-control (`privacy`) and forgetting (`safety`)
checkpoints: is any leak target in what is shown? For `utility`: which share of the required evidence is in it? The gate
is built from `gatemem_deployment`; answer keys are read by the scorer alone. Episodes are split in halves by a digest
of their id; rules and vocabulary were written on the development half.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from admission.bm25 import Bm25Index
from admission.evaluation.paired import Interval, group_interval
from admission.metadata import RecordMetadata
from admission.reading.context import QueryContext
from admission.reading.forgetting import FRAGMENT, SHARE
from admission.reading.gate import ReadGate
from admission.text import content_words, index_terms
from benchmarks.gatemem_deployment import STEPS, Deployment
from benchmarks.gatemem_episodes import DOMAINS, SPLITS, Asked, Episode, read_episodes, scored
from benchmarks.gatemem_vectors import embedded

PLACES = 20
OFF = "off"
HEADINGS = {
    "privacy": "privacy leaks",
    "privacy_by_others": "... not own words",
    "safety": "forgetting leaks",
    "safety_by_others": "... not own words",
    "utility": "evidence kept",
    "redacted": "redacted kept",
}
ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((f"+ {step}" if place else step, {"step": step}) for place, step in enumerate(STEPS)),
    ("all, ? shown", {"step": STEPS[-1], "expose_unresolved": True}),
    ("all, values cut", {"step": STEPS[-1], "cut": True}),
    ("forget alone", {"step": "forget", "forget_only": True, "expose_unresolved": True}),
)


@dataclass(frozen=True)
class Outcome:
    """One checkpoint in one arm. `leaked`: the share of leak targets shown, `leaked_by_others`: that in what the asker
    did not say, `kept`: that of the required evidence; None where the checkpoint has none. `unresolved`: of the ranked
    memories, those the gate could not tell about."""

    episode: str
    domain: str
    split: str
    query_type: str
    attack: str | None
    leaked: float | None
    leaked_by_others: float | None
    kept: float | None
    ranked: int
    shown: int
    unresolved: int


@dataclass(frozen=True)
class Seen:
    """What a reader gets: text by place among the turns; how many were ranked, and of how many nothing is known."""

    texts: dict[int, str]
    ranked: int
    unresolved: int


Ranker = Callable[[Asked, Sequence[int]], list[int]]


class Bm25Ranker:
    """BM25 over an episode's turns; candidates are places of turns."""

    def __init__(self, episode: Episode) -> None:
        self._index = Bm25Index()
        for turn in episode.turns:
            self._index.add(index_terms(content_words(turn.text)))

    def __call__(self, asked: Asked, candidates: Sequence[int]) -> list[int]:
        scores = self._index.scores(index_terms(content_words(asked.query)), asked.after)
        return sorted((place for place in candidates if scores[place] > 0), key=lambda place: (-scores[place], -place))


class FusedRanker:
    """BM25 and the cosine of mean-pooled MiniLM, fused by reciprocal rank (Cormack et al. 2009, k = 60)."""

    def __init__(self, episode: Episode) -> None:
        self._bm25 = Bm25Ranker(episode)
        self._turns = embedded([turn.text for turn in episode.turns])

    def __call__(self, asked: Asked, candidates: Sequence[int]) -> list[int]:
        near = self._turns @ embedded([asked.query])[0]
        dense = sorted(candidates, key=lambda place: (-near[place], -place))
        score: dict[int, float] = defaultdict(float)
        for ranking in (self._bm25(asked, candidates), dense):
            for rank, place in enumerate(ranking, start=1):
                score[place] += 1 / (60 + rank)
        return sorted(score, key=lambda place: (-score[place], -place))


def measured(episode: Episode, rank: Ranker, deployment: Deployment | None) -> list[Outcome]:
    """All checkpoints of an episode; `deployment` None: without the gate."""
    return [_outcome(episode, asked, _seen(episode, asked, rank, deployment)) for asked in episode.asked]


def _seen(episode: Episode, asked: Asked, rank: Ranker, deployment: Deployment | None) -> Seen:
    everything = range(asked.after)
    if deployment is None:
        ranked = rank(asked, everything)[:PLACES]
        return Seen({place: episode.turns[place].text for place in ranked}, len(ranked), 0)
    gate = ReadGate(deployment.settings(asked))
    context = QueryContext(
        query=asked.query,
        question_id=asked.id,
        principal=asked.asker,
        namespace=deployment.namespace_of(asked.asker),
        roles=(episode.roles[asked.asker],) if asked.asker in episode.roles else None,
        time=episode.turns[asked.after - 1].time,
    )
    if deployment.forget_only:
        # No namespaces, no policy: lifecycle is all there is.
        ranked = rank(asked, everything)[:PLACES]
        read = {place: gate.read(deployment.metadata(place, asked.after), context) for place in ranked}
        shown = [place for place in ranked if read[place].lifecycle.value is not False]
        unresolved = 0
    else:
        # Scope turns on the namespace alone: it is read once for each.
        spaces = {space: gate.read(RecordMetadata(namespace=space), context) for space in set(deployment.namespaces)}
        inside = [place for place in everything if spaces[deployment.namespaces[place]].scope.value is not False]
        ranked = rank(asked, inside)[:PLACES]
        read = {place: gate.read(deployment.metadata(place, asked.after), context) for place in ranked}
        shown = [place for place in ranked if gate.exposes(read[place])]
        unresolved = sum(one.admissible is None for one in read.values())
    texts = {place: deployment.shown(place, asked.after) for place in shown}
    return Seen(texts, len(ranked), unresolved)


def _outcome(episode: Episode, asked: Asked, seen: Seen) -> Outcome:
    key = episode.keys[asked.id]
    texts = list(seen.texts.values())
    others = [text for place, text in seen.texts.items() if episode.turns[place].speaker != asked.asker]
    return Outcome(
        episode=episode.id,
        domain=episode.domain,
        split=episode.split,
        query_type=key.query_type,
        attack=key.attack,
        leaked=_share(scored(key.leaks, texts)),
        leaked_by_others=_share(scored(key.leaks, others)),
        kept=_share(scored(key.evidence, texts)),
        ranked=seen.ranked,
        shown=len(texts),
        unresolved=seen.unresolved,
    )


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def arms(episodes: Iterable[Episode], ranker: Callable[[Episode], Ranker]) -> dict[str, list[Outcome]]:
    """Every arm's outcomes, checkpoints in the same order in each. What is not known ("?") is withheld where the arm's
    name does not say otherwise."""
    found: dict[str, list[Outcome]] = {}
    for episode in episodes:
        rank = ranker(episode)
        found.setdefault(OFF, []).extend(measured(episode, rank, None))
        for name, options in ROWS:
            found.setdefault(name, []).extend(measured(episode, rank, Deployment(episode, **options)))
    return found


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Leaks by checkpoint type (any target shown; share of targets) and evidence kept, with episode intervals."""
    by_type = {kind: [one for one in outcomes if one.query_type == kind] for kind in ("privacy", "safety", "utility")}
    rows: dict[str, Any] = {}
    for kind in ("privacy", "safety"):
        aimed = [one for one in by_type[kind] if one.leaked is not None]
        rows[kind] = _mean([float(bool(one.leaked)) for one in aimed], aimed).model_dump()
        rows[f"{kind}_by_others"] = _mean([float(bool(one.leaked_by_others)) for one in aimed], aimed).model_dump()
        rows[f"{kind}_targets"] = _mean([one.leaked or 0.0 for one in aimed], aimed).model_dump()
    for name, kind in (("utility", "utility"), ("redacted", "privacy")):
        needed = [one for one in by_type[kind] if one.kept is not None]
        rows[name] = _mean([one.kept or 0.0 for one in needed], needed).model_dump()
    rows["ranked"] = sum(one.ranked for one in outcomes)
    rows["shown"] = sum(one.shown for one in outcomes)
    rows["unresolved"] = sum(one.unresolved for one in outcomes)
    return rows


def differences(off: Sequence[Outcome], on: Sequence[Outcome]) -> dict[str, Any]:
    """On minus off, checkpoint by checkpoint."""
    pairs = list(zip(off, on, strict=True))
    found: dict[str, Any] = {}
    for kind in ("privacy", "safety"):
        aimed = [(a, b) for a, b in pairs if a.query_type == kind and a.leaked is not None]
        changes = [float(bool(b.leaked)) - float(bool(a.leaked)) for a, b in aimed]
        found[kind] = _mean(changes, [a for a, _ in aimed]).model_dump()
    needed = [(a, b) for a, b in pairs if a.query_type == "utility" and a.kept is not None]
    found["utility"] = _mean(
        [(b.kept or 0.0) - (a.kept or 0.0) for a, b in needed], [a for a, _ in needed]
    ).model_dump()
    return found


def _mean(values: list[float], outcomes: Sequence[Outcome]) -> Interval:
    return group_interval(values, [one.episode for one in outcomes])


def report(outcomes: dict[str, list[Outcome]]) -> dict[str, Any]:
    """Per domain and split, every arm's summary and its difference from `off`."""
    found: dict[str, Any] = {}
    for domain in DOMAINS:
        for split in SPLITS:
            picked = {
                arm: [one for one in all_ if one.domain == domain and one.split == split]
                for arm, all_ in outcomes.items()
            }
            if picked[OFF]:
                found[f"{domain}, {split}"] = {
                    arm: {**summary(chosen), "change": differences(picked[OFF], chosen)}
                    for arm, chosen in picked.items()
                }
    return found


SHARES = (2.0, 1.0, SHARE, 0.5)
"""How much of a description a record has to hold; above 1 descriptions are not matched, only what is named."""


def matching(episodes: Sequence[Episode]) -> dict[str, dict[str, int]]:
    """How well forget directives find the turns they mean, by split and `Forgetting.share`.

    `aimed`: turns with a leak target of the episode's forgetting checkpoints, of four characters or more; `matched`:
    turns that all directives of the episode mean; `both`. A target that is still in use counts as aimed at, too.
    """
    found: dict[str, dict[str, int]] = {}
    for one in episodes:
        keys = [key for key in one.keys.values() if key.query_type == "safety"]
        targets = tuple(sorted({target for key in keys for target in key.leaks if len(target) >= FRAGMENT}))
        aimed = {turn.id for turn in one.turns if any(scored(targets, [turn.text]))}
        for share in SHARES:
            deployment = Deployment(one, STEPS[-1], share=share)
            matched = deployment.matched
            row = found.setdefault(f"{one.domain}, {one.split}, {share:g}", defaultdict(int))
            row["aimed"] += len(aimed)
            row["matched"] += len(matched)
            row["both"] += len(aimed & matched)
            row["directives"] += len(deployment.said)
            row["without authority"] += len(deployment.said) - len(deployment.directives)
            row["deferred"] += sum(directive.deferred for directive in deployment.directives)
            row["nobody told apart"] += sum(
                directive.who_said is not None and not directive.who for directive in deployment.directives
            )
    return found


def tables(found: dict[str, Any]) -> list[Table]:
    made = []
    for title, by_arm in found.items():
        table = Table(title=title)
        for heading in ("what the gate knows", *HEADINGS.values(), "shown / ranked", "?"):
            table.add_column(heading)
        for arm, row in by_arm.items():
            cells = [_cell(row[kind]) for kind in HEADINGS]
            table.add_row(arm, *cells, f"{row['shown']} / {row['ranked']}", str(row["unresolved"]))
        made.append(table)
    return made


def matching_table(found: dict[str, dict[str, int]]) -> Table:
    table = Table(title="turns that forget directives mean, by the share of a description that has to be held")
    columns = ("aimed", "matched", "both", "directives", "without authority", "deferred", "nobody told apart")
    for heading in ("episodes", *columns):
        table.add_column(heading)
    for name, row in found.items():
        table.add_row(name, *(str(row[column]) for column in columns))
    return table


def _cell(interval: dict[str, Any]) -> str:
    if interval["value"] is None:
        return "-"
    low, value, high = (f"{interval[key]:.3f}".removeprefix("0") for key in ("low", "value", "high"))
    return f"{value} [{low}, {high}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--ranker", choices=("bm25", "fused"), default="bm25")
    parser.add_argument("--split", choices=("development", "held-out", "all"), default="all")
    options = parser.parse_args()
    ranker = Bm25Ranker if options.ranker == "bm25" else FusedRanker
    wanted = options.split.replace("-", " ")
    episodes = [e for domain in DOMAINS for e in read_episodes(options.folder, domain) if wanted in ("all", e.split)]
    found = report(arms(episodes, ranker))
    matched = matching(episodes)
    for table in [*tables(found), matching_table(matched)]:
        Console(width=150).print(table)
    if options.json:
        options.json.write_text(
            json.dumps({"ranker": options.ranker, "places": PLACES, "results": found, "matching": matched}, indent=1)
        )


if __name__ == "__main__":
    main()
