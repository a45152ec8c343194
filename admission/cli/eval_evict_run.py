"""What `admission eval evict` runs: a data set, policies and read settings, measured with progress and kept cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import platformdirs
import typer

from admission.cli.eval_reading import advancing, measuring
from admission.errors import InputError
from admission.evaluation.reading.embeddings import IDENTITY, SentenceVectors
from admission.eviction.bench import Bench, Budget
from admission.eviction.grid import Finished, Grid
from admission.eviction.importance import EmbeddedImportance, Importance
from admission.eviction.importance_chat import ChatImportance
from admission.eviction.policies import Adversarial, EvictionPolicy, Fifo, RandomOrder
from admission.eviction.records import AuditData
from admission.eviction.redundancy import RedundancyAware
from admission.eviction.report import EvictionReport, reported
from admission.eviction.restore import ReadSetting
from admission.eviction.scoring import Scoring
from admission.settings import load_settings
from admission.version import __version__

CELLS = "cells.jsonl"
SCORES = "importance.jsonl"
DECLINED = 1
CHARS_A_TOKEN = 4
"""A rough count, for the question before a paid run."""


class EvictionRun:
    """One audit: `policies` and `rankers` by name. `scorer`: who scores importance, the embedded one without it.

    The forced condition is measured with the first ranker only: there it merely chooses what is read beside the gold.
    """

    def __init__(
        self,
        data: AuditData,
        scoring: Scoring,
        policies: Sequence[str],
        rankers: Sequence[str],
        *,
        scorer: ChatImportance | None,
        k: int,
        cap: int,
        seed: int,
    ) -> None:
        self._data = data
        self._scoring = scoring
        self._policies = tuple(policies)
        self._scorer = scorer
        self._seed = seed
        self._settings = [
            ReadSetting(condition="forced", ranker=rankers[0], k=k, cap=cap),
            *(ReadSetting(condition="ranked", ranker=ranker, k=k, cap=cap) for ranker in rankers),
        ]
        self._embeds = bool({"dense", "fusion"} & set(rankers) or {"redundancy", "importance"} & set(policies))
        self._vectors = SentenceVectors(platformdirs.user_cache_path("memory-admission") / "sentence-vectors.sqlite")

    def report(self, budgets: Sequence[Budget] | None, out: Path) -> EvictionReport:
        """Measure what `out` does not have from an earlier run. `budgets`: without any, those of the method."""
        with measuring() as progress:
            if self._embeds:
                texts = [memory.text for history in self._data.histories for memory in history.memories]
                texts += [question.text for question in self._data.questions]
                task = progress.add_task("sentence vectors", total=len(texts))
                self._vectors.encode(texts, lambda done, of: progress.update(task, completed=done, total=of))
            counting = progress.add_task("counting tokens", total=1)
            bench = Bench(self._data, self._vectors)
            progress.advance(counting)
            grid = Grid(
                bench,
                self._made(bench),
                budgets or bench.default_budgets(),
                self._settings,
                self._scoring,
                seed=self._seed,
            )
            cells = progress.add_task("cells", total=len(grid))
            denominator, done = grid.run(Finished(out / CELLS), partial(advancing, progress, cells))
        return reported(bench, self._scoring, denominator, done)

    def configuration(self) -> tuple[tuple[str, str], ...]:
        """What the figures depend on beside the data, for people and for the JSON."""
        reads = (f"{s.condition}, {s.ranker}, top {s.k}, cap {s.cap} tokens" for s in self._settings)
        return (
            ("data", self._data.about),
            ("data digest", self._data.digest),
            ("read settings", "; ".join(reads)),
            ("budgets counted in", "word pieces of all-MiniLM-L6-v2"),
            ("sentence vectors", IDENTITY if self._embeds else "none"),
            ("importance", "embedded" if self._scorer is None else str(self._scorer.identity["model"])),
            ("seed", str(self._seed)),
            ("version", __version__),
        )

    def _made(self, bench: Bench) -> list[EvictionPolicy]:
        gold = {id for question in bench.questions for id in question.gold}
        made: dict[str, EvictionPolicy] = {
            "fifo": Fifo(),
            "random": RandomOrder(self._seed),
            "redundancy": RedundancyAware(self._vectors),
            "importance": Importance(self._scorer or EmbeddedImportance(self._vectors)),
            "adversarial": Adversarial(gold, self._seed),
        }
        return [made[name] for name in self._policies]


def chat_scorer(name: str, config: Path | None, out: Path) -> ChatImportance | None:
    """The chat model that `--importance` names; None for the embedded scorer. Its scores are kept beside the report."""
    family, _, section = name.partition(":")
    if name == "embedded":
        return None
    if family != "chat":
        raise InputError("--importance", f"no scorer is called {name!r}", "say embedded, or chat:NAME")
    out.mkdir(parents=True, exist_ok=True)
    return ChatImportance(section, load_settings(config), out / SCORES)


def agree(name: str, scorer: ChatImportance, data: AuditData) -> None:
    """Ask before money is spent; no answer is no."""
    missing = scorer.missing([memory.text for history in data.histories for memory in history.memories])
    if not missing:
        return
    tokens = sum(map(len, missing)) // CHARS_A_TOKEN
    try:
        agreed = typer.confirm(f"{name}: {len(missing)} requests, about {tokens} tokens of memories. Go on?", err=True)
    except typer.Abort:
        agreed = False
    if not agreed:
        typer.echo("admission: nothing was asked; --yes agrees beforehand", err=True)
        raise typer.Exit(DECLINED)
