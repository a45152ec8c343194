"""Who answers and who marks in `admission eval evict`, by the names that are given on the command line."""

from __future__ import annotations

from pathlib import Path

from rich.progress import Progress, TaskID

from admission.errors import InputError
from admission.eviction.answering.cost import Estimate
from admission.eviction.answering.judges import ChatJudge, NormalisedJudge
from admission.eviction.answering.model_reader import ModelReader
from admission.eviction.scoring import Containment, Judged, Scoring
from admission.settings import load_settings

ANSWERS = "answers.jsonl"
JUDGMENTS = "judgments.jsonl"
GREEDY = (
    "The reader takes the likeliest word each time, and the judge is a rule: asked again they say the same, so repeat "
    "agreement is 1 by construction."
)


class Heard:
    """Counts the answers that come, where a progress bar shows them."""

    def __init__(self) -> None:
        self._shown: tuple[Progress, TaskID] | None = None

    def show(self, progress: Progress) -> None:
        self._shown = progress, progress.add_task("answers", total=None)

    def __call__(self, came: int) -> None:
        if self._shown is not None:
            self._shown[0].advance(self._shown[1], came)


class Panel:
    """The reader (`containment`, `chat:NAME` or `local:NAME`) and the judge of its answers (`normalised`, which is
    also meant by None, or `chat:NAME`). Answers and judgments are kept in `out`.

    Raises `InputError` for other names and for a judge of containment, `SettingsError` for a section of the settings
    that is missing or cannot be set up.
    """

    def __init__(self, reader: str, judge: str | None, config: Path | None, out: Path) -> None:
        self.heard = Heard()
        self.scoring: Scoring = Containment()
        self._reader: ModelReader | None = None
        self._judge: ChatJudge | NormalisedJudge = NormalisedJudge()
        if reader == Containment.name:
            if judge is not None:
                raise InputError("--judge", "containment gives no answers to judge", "leave it out, or name a reader")
            return
        if reader.partition(":")[0] not in ("chat", "local"):
            remedy = "say containment, chat:NAME or local:NAME"
            raise InputError("--reader", f"no reader is called {reader!r}", remedy)
        settings = load_settings(config)
        by_rule = judge in (None, NormalisedJudge.name)
        if judge is not None and not by_rule:
            self._judge = ChatJudge(judge, settings, out / JUDGMENTS, self.heard)
        self._reader = ModelReader(reader, settings, out / ANSWERS, self.heard)
        greedy = () if self._reader.model.paid else (GREEDY,)
        limits = (*NormalisedJudge.limits, *greedy) if by_rule else ()
        out.mkdir(parents=True, exist_ok=True)
        self.scoring = Judged(self._reader, self._judge, limits)

    @property
    def keeps_answers(self) -> bool:
        """Is every answer kept, so that cells are made of them anew in no time?"""
        return self._reader is not None

    def estimate(self) -> Estimate | None:
        """What counts the requests of a run; None where nobody is paid."""
        if self._reader is None or not (self._reader.model.paid or isinstance(self._judge, ChatJudge)):
            return None
        return Estimate(self._reader, self._judge)
