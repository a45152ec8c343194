"""What `admission eval read` and `eval corruption` share: the data set, the gate's settings, the rankers' scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from admission.cli.output import console
from admission.errors import InputError
from admission.evaluation.reading.dataset import ReadingData, load
from admission.evaluation.reading.embeddings import IDENTITY, SentenceVectors
from admission.evaluation.reading.questions import Questions
from admission.evaluation.reading.rankers import FUSION, Scores, bm25_scores, dense_scores
from admission.reading_settings import ReadingSettings
from admission.settings import load_settings
from admission.version import __version__

if TYPE_CHECKING:
    from rich.progress import TaskID

RANKERS = ("bm25", "dense", FUSION)
INTERRUPTED = 130
# Data sets seldom state policy or lifecycle: a gate that hides what is open would hide all of such a one.
_DEFAULT = ReadingSettings(expose_unresolved=True, intent="rules")


class ReadingRun:
    """One data set with its rankers' scores. Raises `InputError` or `SettingsError` for bad ones.

    The gate is that of the settings' `[reading]`; without one, it exposes what is unresolved and reads intents by rule.
    """

    def __init__(self, folder: Path, rankers: Sequence[str], config: Path | None) -> None:
        self.data: ReadingData = load(folder)
        self.rankers = tuple(rankers)
        declared = load_settings(config).reading
        self.settings = declared or _DEFAULT
        self._declared = declared is not None
        self._vectors = SentenceVectors(platformdirs.user_cache_path("memory-admission") / "sentence-vectors.sqlite")

    def questions(self, progress: Progress) -> Questions:
        """The questions with their scores; vectors that no earlier run made are made now."""
        texts = [memory.text for memory in self.data.memories]
        asked = [question.context.query for question in self.data.questions]
        scores: dict[str, Scores] = {}
        if {"bm25", FUSION} & set(self.rankers):
            scores["bm25"] = bm25_scores(texts, asked)
        if {"dense", FUSION} & set(self.rankers):
            task = progress.add_task("sentence vectors", total=len(texts) + len(asked))

            def tell(done: int, of: int) -> None:
                progress.update(task, completed=done, total=of)

            vectors = self._vectors.encode([*texts, *asked], tell)
            scores["dense"] = dense_scores(vectors[: len(texts)], vectors[len(texts) :])
        return Questions(self.data, scores, self.settings)

    def configuration(self) -> tuple[tuple[str, str], ...]:
        """What the figures depend on beside the data, for people and for the JSON."""
        gate = json.dumps(self.settings.model_dump(mode="json"), sort_keys=True)
        shown = [
            ("data", self.data.about),
            ("data digest", self.data.digest),
            ("rankers", ", ".join(self.rankers)),
            ("read gate", gate if self._declared else f"{gate} (default of this command)"),
            ("read gate digest", sha256(gate.encode()).hexdigest()),
            ("version", __version__),
        ]
        if {"dense", FUSION} & set(self.rankers):
            shown.insert(3, ("sentence vectors", IDENTITY))
        return tuple(shown)


def chosen_rankers(text: str) -> tuple[str, ...]:
    """`--rankers` as names. Raises `InputError` for one that does not exist."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in names if name not in RANKERS]
    if unknown or not names:
        raise InputError(
            "--rankers", f"{', '.join(unknown) or 'nothing'} is no ranker", f"choose from {', '.join(RANKERS)}"
        )
    return names


def check_folder(out: Path) -> None:
    """Raises `InputError` where no report can be written: before the work whose result it is to hold."""
    if out.exists() and not out.is_dir():
        raise InputError("--out", f"{out} is a file", "give a folder; it is made if it is not there")


KEPT = "sentence vectors made so far are kept: run it again to go on"


@contextmanager
def measuring(kept: str = KEPT) -> Iterator[Progress]:
    """A progress bar on a terminal. Stopped by the keyboard, the command says what is `kept` and exits with 130."""
    err = console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    try:
        with Progress(*columns, console=err, disable=not err.is_terminal) as progress:
            yield progress
    except KeyboardInterrupt:
        typer.echo(f"admission: stopped; {kept}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def advancing(progress: Progress, task: TaskID) -> None:
    """One question more."""
    progress.advance(task)
