"""Trials: writes decided by gates, each report kept in a file under what it depends on, so that none is made twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from admission.deliberation import input_digest
from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Candidate, Report
from admission.reports.jsonl import ReportLog

BATCH = 32
"""Writes decided together."""

Decide = Callable[..., Iterator[Report]]
"""As `AdmissionGate.decide_many`: reports on those writes that could be decided, in their order."""


class Trial(NamedTuple):
    """One write put to the gate of one setting, which is known by its name."""

    setting: str
    candidate: Candidate
    history: History


class Trials:
    """The trials of one evaluation. `gates`: by the name of the setting; `file`: where reports are kept between runs.

    A report is known by the digests of its configuration and its input, so a trial that several evaluations or settings
    have in common is decided once. One in which a judge failed is decided again in the next run. Raises `InputError`
    for a `file` that holds anything but reports.
    """

    def __init__(self, gates: Mapping[str, AdmissionGate], file: Path | None = None) -> None:
        self.gates = dict(gates)
        self._file = file
        self._known: dict[tuple[str, str], Report] = {}
        if file is not None and file.exists():
            self._known = {_key(report): report for report in ReportLog(file).existing() if not _failed(report)}

    def report(self, trial: Trial) -> Report | None:
        """The report on a trial, if it was decided. Its ids are those of the trial."""
        found = self._known.get(self._key(trial))
        candidate = trial.candidate
        if found is None or (found.id, found.conversation) == (candidate.id, candidate.conversation):
            return found
        return found.model_copy(update={"id": candidate.id, "conversation": candidate.conversation})

    def missing(self, trials: Iterable[Trial]) -> list[Trial]:
        """Those of the trials that were not decided, one of each kind, in order."""
        open_ones: dict[tuple[str, str], Trial] = {}
        for trial in trials:
            key = self._key(trial)
            if key not in self._known:
                open_ones.setdefault(key, trial)
        return list(open_ones.values())

    def run(
        self,
        trials: Sequence[Trial],
        advance: Callable[[], None] = lambda: None,
        driver: Callable[[AdmissionGate], Decide] = lambda gate: gate.decide_many,
    ) -> None:
        """Decide what is missing, setting by setting. `driver` says how a gate decides; `advance` is told of each
        report. What is decided is kept when this is stopped."""
        missing = self.missing(trials)
        with ReportLog(self._file) if self._file is not None else _Nowhere() as log:
            if missing:
                log.begin()  # before anything is judged and paid for
            for setting in dict.fromkeys(trial.setting for trial in missing):
                writes = [(trial.candidate, trial.history) for trial in missing if trial.setting == setting]
                for report in driver(self.gates[setting])(writes, batch=BATCH):
                    log.append(report)
                    log.sync()
                    self._known[_key(report)] = report
                    advance()

    def _key(self, trial: Trial) -> tuple[str, str]:
        return (self.gates[trial.setting].config_digest, input_digest(trial.candidate, trial.history))


class _Nowhere:
    """A log of reports that keeps none."""

    def __enter__(self) -> _Nowhere:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def begin(self) -> None:
        pass

    def append(self, report: Report) -> None:
        pass

    def sync(self) -> None:
        pass


def _key(report: Report) -> tuple[str, str]:
    return (report.config_digest, report.input_digest)


def _failed(report: Report) -> bool:
    return any(judgment.outcome == "failed" for finding in report.obligations for judgment in finding.judgments)
