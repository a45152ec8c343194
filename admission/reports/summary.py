"""What a run came to: counts by status and action, cost, and (from evaluation/, where references exist) the metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from admission.records import STATUSES, Record, Report, Usage


class Proportion(Record):
    """`value` of `n` cases with the bounds of its 95 % interval; all but `n` are None where there was no case."""

    value: float | None
    n: int
    low: float | None
    high: float | None


class Summary(Record):
    """Counts over all reports of a run. `metrics` is None where the input holds no references."""

    reports: int
    counts: dict[str, int]
    actions: dict[str, int]
    usage: Usage
    config_digest: str | None = None
    metrics: dict[str, Proportion] | None = None


class Tally:
    """Counts reports one by one, so that a run need not hold them."""

    def __init__(self) -> None:
        self._statuses: Counter[str] = Counter()
        self._actions: Counter[str] = Counter()
        self._usage = Usage()
        self._config: str | None = None

    def add(self, report: Report) -> None:
        self._statuses[report.status] += 1
        self._actions[report.action] += 1
        self._usage += report.usage
        self._config = report.config_digest

    def summary(self, metrics: dict[str, Proportion] | None = None) -> Summary:
        """Every status is listed, those that did not occur with 0."""
        return Summary(
            reports=self._statuses.total(),
            counts={status: self._statuses[status] for status in STATUSES},
            actions=dict(sorted(self._actions.items())),
            usage=self._usage,
            config_digest=self._config,
            metrics=metrics,
        )


def summarise(reports: Iterable[Report]) -> Summary:
    """The summary of reports already at hand."""
    tally = Tally()
    for report in reports:
        tally.add(report)
    return tally.summary()
