"""What `admission eval evict` runs: a data set, policies and read settings, measured with progress and kept cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import platformdirs
from rich.progress import Progress

from admission.cli.eval.evict_panel import Panel
from admission.cli.eval.reading import advancing, measuring
from admission.cli.eval.trials import agree
from admission.errors import InputError
from admission.evaluation.derivation.cost import CHARS_A_TOKEN, Cost
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
STOPPED = "what is done is kept: run it again to go on"


class EvictionRun:
    """One audit: `policies` and `rankers` by name. `scorer`: who scores importance, the embedded one without it.
    `agreed`: whether what costs money may be asked for without a question.

    The forced condition is measured with the first ranker only: there it merely chooses what is read beside the gold.
    """

    def __init__(
        self,
        data: AuditData,
        panel: Panel,
        policies: Sequence[str],
        rankers: Sequence[str],
        *,
        scorer: ChatImportance | None,
        k: int,
        cap: int,
        seed: int,
        agreed: bool,
    ) -> None:
        self._data = data
        self._panel = panel
        self._agreed = agreed
        self._policies = tuple(policies)
        self._scorer = scorer
        self._seed = seed
        self._settings = [
            ReadSetting(condition="forced", ranker=rankers[0], k=k, cap=cap),
            *(ReadSetting(condition="ranked", ranker=ranker, k=k, cap=cap) for ranker in rankers),
        ]
        embedding = {"redundancy", "importance"} if scorer is None else {"redundancy"}
        self._embeds = bool({"dense", "fusion"} & set(rankers) or embedding & set(policies))
        self._vectors = SentenceVectors(platformdirs.user_cache_path("memory-admission") / "sentence-vectors.sqlite")

    def report(self, budgets: Sequence[Budget] | None, out: Path) -> EvictionReport:
        """Measure what `out` does not have from an earlier run. `budgets`: without any, those of the method. Exits
        where the user declines to pay, or stops the run."""
        texts = [memory.text for history in self._data.histories for memory in history.memories]
        if self._scorer is not None:
            missing = self._scorer.missing(texts)
            agree(Cost(len(missing), sum(map(len, missing)) // CHARS_A_TOKEN), agreed=self._agreed)
        with measuring(STOPPED) as progress:
            bench = self._prepared(progress, texts)
            policies = self._made(bench)
            wanted = budgets or bench.default_budgets()
            estimate = None if self._agreed else self._panel.estimate()
            if estimate is not None:
                self._grid(bench, policies, wanted, estimate).run(Finished())
        if estimate is not None:
            agree(estimate.cost, agreed=False)
        grid = self._grid(bench, policies, wanted, self._panel.scoring)
        with measuring(STOPPED) as progress:
            if self._panel.keeps_answers:
                self._panel.heard.show(progress)
            cells = progress.add_task("cells", total=len(grid))
            denominator, done = grid.run(self._finished(out), partial(advancing, progress, cells))
        return reported(bench, self._panel.scoring, denominator, done, unscored=self._unscored)

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
            ("reader and judge", json.dumps(self._panel.scoring.identity, sort_keys=True, default=str)),
            ("seed", str(self._seed)),
            ("version", __version__),
        )

    @property
    def _unscored(self) -> int:
        return 0 if self._scorer is None else self._scorer.unscored

    def _prepared(self, progress: Progress, texts: Sequence[str]) -> Bench:
        """The bench, with every vector and every score made that the run needs."""
        if self._embeds:
            embedded = [*texts, *(question.text for question in self._data.questions)]
            task = progress.add_task("sentence vectors", total=len(embedded))
            self._vectors.encode(embedded, lambda done, of: progress.update(task, completed=done, total=of))
        if self._scorer is not None:
            scoring = progress.add_task("importance", total=len(self._scorer.missing(texts)))
            self._scorer.scores(texts, lambda scored: progress.advance(scoring, scored))
        counting = progress.add_task("counting tokens", total=1)
        bench = Bench(self._data, self._vectors)
        progress.advance(counting)
        return bench

    def _grid(
        self, bench: Bench, policies: Sequence[EvictionPolicy], budgets: Sequence[Budget], scoring: Scoring
    ) -> Grid:
        return Grid(bench, policies, budgets, self._settings, scoring, seed=self._seed)

    def _finished(self, out: Path) -> Finished:
        """The cells of earlier runs. None are kept where the next run may come to others: of a model, whose failed
        answers are asked for again (and the others are kept, so nothing is paid twice), or with memories unscored."""
        return Finished() if self._panel.keeps_answers or self._unscored else Finished(out / CELLS)

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
