"""`eval corruption`: metadata corrupted at growing rates, and the rate at which the namespace route first loses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from admission.evaluation.paired import Interval, group_interval
from admission.evaluation.reading.axis_table import AXES, NO, Axis, stated_axes
from admission.evaluation.reading.channels import NOWHERE, RATES, SEEDS, Channel, Seen, channels
from admission.evaluation.reading.matched_recall import TAU, score
from admission.evaluation.reading.questions import Questions, Reader
from admission.metadata import RecordMetadata
from admission.reading.gate import ReadGate
from admission.reading_settings import ReadingSettings
from admission.records import Record

Baseline = Literal["clean", "namespace", "global"]
BASELINES: tuple[Baseline, ...] = ("clean", "namespace", "global")
"""What a corrupted run is held against: the same gate on clean metadata, the clean namespace without policy and
lifecycle, no boundary at all."""
_MARGIN = 1e-12


class CorruptedFigures(Record):
    """The gated namespace route under one channel at one rate: means over questions, each the mean over the draws.
    `worse_than`: its loss minus that of each baseline; above 0 is worse."""

    rate: float
    recall: Interval
    reach: Interval
    loss: Interval
    scope_violations: Interval
    worse_than: dict[Baseline, Interval]


class ChannelFigures(Record):
    """One channel at all rates. `applies`: is there any metadata it would change?

    `first_worse`: by baseline the lowest rate tried at which the loss is larger, None where none is; `clearly_worse`:
    at which the 95 % interval of the difference is above 0. Points of the grid, not thresholds.
    """

    channel: str
    about: str
    applies: bool
    figures: tuple[CorruptedFigures, ...]
    first_worse: dict[Baseline, float | None]
    clearly_worse: dict[Baseline, float | None]


class CorruptionCurves(Record):
    """All channels, and the baselines' recall, reach and loss."""

    data: str
    data_digest: str
    questions: int
    groups: int
    ranker: str
    k: int
    tau: float
    draws: int
    stated: tuple[Axis, ...]
    baselines: dict[Baseline, dict[str, Interval]]
    channels: tuple[ChannelFigures, ...]


_FIGURES = ("recall", "reach", "loss", "scope_violations")
_Scored = NDArray[np.float64]
"""(4,): a question's recall, reach, loss and share of other namespaces' places (NaN where nothing was found)."""


class _View:
    """What the system's gate lets through, given what it sees. Channels of metadata share one table of versions: that
    of the clean metadata first, then one of each channel that writes."""

    def __init__(self, questions: Questions, settings: ReadingSettings, tried: Sequence[Channel]) -> None:
        self.questions = questions
        self.gate = ReadGate(settings)
        self.distinct = questions.classes.distinct
        self._writes = [channel.write for channel in tried]

    def metadata(self, version: int, place: int, namespace: int) -> RecordMetadata:
        """Metadata number `place` in the version (0 is clean, n that of channel n - 1), in the namespace seen."""
        found = self.distinct[place]
        write = self._writes[version - 1] if version else None
        if write is not None:
            found = write(found)
        label = None if namespace == NOWHERE else self.questions.namespaces[namespace]
        return found if found.namespace == label else found.model_copy(update={"namespace": label})


class _QuestionView:
    """One question's gate decisions, each made once."""

    def __init__(self, view: _View, reader: Reader) -> None:
        self._view = view
        self._reader = reader
        self._exposed: dict[int, bool] = {}
        self._in_scope = np.append(view.questions.in_scope(reader.question.context), False)

    def among(self, seen: Seen, version: int) -> NDArray[np.bool_]:
        """(memories,): searched, because a namespace seen is the principal's, and let through by the gate."""
        as_own = self._in_scope[seen.namespace]
        mask: NDArray[np.bool_] = as_own | self._in_scope[seen.also]
        places = np.flatnonzero(mask)
        label = np.where(as_own[places], seen.namespace[places], seen.also[places])
        classes = self._view.questions.classes.of[places]
        versions = np.where(seen.altered[places], version, 0)
        keys = (versions * len(self._view.distinct) + classes) * (len(self._view.questions.namespaces) + 1) + label + 1
        distinct, which = np.unique(keys, return_inverse=True)
        mask[places] = np.array([self._exposes(int(key)) for key in distinct], dtype=bool)[which]
        return mask

    def _exposes(self, key: int) -> bool:
        if key not in self._exposed:
            rest, label = divmod(key, len(self._view.questions.namespaces) + 1)
            version, place = divmod(rest, len(self._view.distinct))
            gate = self._view.gate
            metadata = self._view.metadata(version, place, label - 1)
            self._exposed[key] = gate.exposes(gate.read(metadata, self._reader.question.context))
        return self._exposed[key]


def corrupt(
    questions: Questions,
    settings: ReadingSettings,
    ranker: str,
    *,
    k: int = 20,
    tau: float = TAU,
    rates: Sequence[float] = RATES,
    draws: int = SEEDS,
    advance: Callable[[], None] = lambda: None,
) -> CorruptionCurves:
    """Every channel at every rate, `draws` times each. The system sees corrupted metadata and exposes what its gate
    (`settings`) lets through; violations are counted with the metadata as the data have them, on the axes they state.
    `advance` is called a question."""
    stated = stated_axes(questions.data, questions.reference.settings)
    columns = [AXES.index(axis) for axis in stated]
    purposes = {question.context.purpose for question in questions.data.questions}
    tried = channels(tuple(sorted(purpose for purpose in purposes if purpose is not None)))
    view = _View(questions, settings, tried)
    applying = [_applies(channel, view) for channel in tried]
    seen = {
        (number, rate, draw): channel.seen(questions, rate, draw)
        for number, channel in enumerate(tried)
        for rate in rates
        for draw in range(draws)
        if applying[number] and rate
    }
    untouched = tried[0].seen(questions, 0.0, 0)
    scored: dict[tuple[int, float], list[_Scored]] = {(n, rate): [] for n, rate, _ in seen}
    base: dict[Baseline, list[_Scored]] = {name: [] for name in BASELINES}
    for reader in questions:
        found = _QuestionView(view, reader)
        order = reader.asked.ranked.order
        base["global"].append(_score(reader, order(ranker)[:k], columns, tau))
        base["namespace"].append(_score(reader, order(ranker, reader.asked.own)[:k], columns, tau))
        base["clean"].append(_score(reader, order(ranker, found.among(untouched, 0))[:k], columns, tau))
        for number, rate in scored:
            drawn = [found.among(seen[number, rate, draw], number + 1) for draw in range(draws)]
            each = [_score(reader, order(ranker, mask)[:k], columns, tau) for mask in drawn]
            scored[number, rate].append(_mean(each))
        advance()
    groups = [question.group for question in questions.data.questions]
    baselines = {name: np.array(rows) for name, rows in base.items()}
    made = []
    for number, channel in enumerate(tried):
        rows = {rate: np.array(scored.get((number, rate), base["clean"])) for rate in rates}
        made.append(_channel(channel, applying[number], rows, baselines, groups))
    return CorruptionCurves(
        data=questions.data.name, data_digest=questions.data.digest, questions=len(questions),
        groups=len(set(groups)), ranker=ranker, k=k, tau=tau, draws=draws, stated=stated,
        baselines={name: _intervals(rows, groups) for name, rows in baselines.items()}, channels=tuple(made),
    )  # fmt: skip


def _applies(channel: Channel, view: _View) -> bool:
    if channel.write is None:
        return len(view.questions.namespaces) > 1 or view.questions.namespaces[0] is not None
    return any(channel.write(found) != found for found in view.distinct)


def _score(reader: Reader, ranking: NDArray[np.intp], columns: list[int], tau: float) -> _Scored:
    values = reader.axes.values(ranking)
    prefix = score(ranking.tolist(), reader.required, values[:, columns], tau)
    foreign = float((values[:, 0] == NO).mean()) if ranking.size else float("nan")
    return np.array([prefix.recall, float(prefix.reached), prefix.loss, foreign])


def _mean(each: Sequence[_Scored]) -> _Scored:
    """The mean over draws; of what was found in none of them there is no share."""
    stacked = np.array(each)
    found = ~np.isnan(stacked)
    sums = np.where(found, stacked, 0.0).sum(axis=0)
    return np.where(found.any(axis=0), sums / np.maximum(found.sum(axis=0), 1), np.nan)


def _intervals(rows: NDArray[np.float64], groups: Sequence[str]) -> dict[str, Interval]:
    made = {}
    for column, name in enumerate(_FIGURES):
        there = ~np.isnan(rows[:, column])
        made[name] = group_interval(rows[there, column], [g for g, yes in zip(groups, there, strict=True) if yes])
    return made


def _channel(
    channel: Channel,
    applies: bool,
    rows: dict[float, NDArray[np.float64]],
    baselines: dict[Baseline, NDArray[np.float64]],
    groups: Sequence[str],
) -> ChannelFigures:
    loss = _FIGURES.index("loss")
    figures = tuple(
        CorruptedFigures(
            rate=rate,
            **_intervals(found, groups),
            worse_than={
                name: group_interval(found[:, loss] - theirs[:, loss], groups) for name, theirs in baselines.items()
            },
        )
        for rate, found in rows.items()
    )

    def first(end: Literal["value", "low"]) -> dict[Baseline, float | None]:
        return {
            name: next((f.rate for f in figures if f.rate and (getattr(f.worse_than[name], end) or 0) > _MARGIN), None)
            for name in BASELINES
        }

    return ChannelFigures(
        channel=channel.name,
        about=channel.about,
        applies=applies,
        figures=figures,
        first_worse=first("value"),
        clearly_worse=first("low"),
    )
