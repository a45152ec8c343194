"""What the evaluations of the derivation audit share: the price asked for, progress, a run that can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from admission.cli.eval.reading import INTERRUPTED, measuring
from admission.cli.output import check_output_folder, warn_of_missing
from admission.deliberation import input_digest
from admission.errors import InputError
from admission.evaluation.derivation.cost import Cost, estimate
from admission.evaluation.derivation.trials import Decide, Trial, Trials
from admission.gate import AdmissionGate
from admission.records import Report, VerificationView, digest
from admission.settings import Settings
from admission.version import __version__

if TYPE_CHECKING:
    from admission.cli.audit_batch import BatchFiles

REPORTS = "reports.jsonl"
DEFAULT_VIEWS: tuple[VerificationView, ...] = ("holistic", "obligations")
DECLINED = 1


class TrialsRun:
    """The trials of one command. `settings`: by the name of each setting; `out`: the folder of the evaluation.

    Raises `InputError` for an `out` that cannot be written.
    """

    def __init__(
        self,
        settings: Mapping[str, Settings],
        out: Path | None,
        *,
        yes: bool = False,
        requests_out: Path | None = None,
        responses_in: Path | None = None,
    ) -> None:
        check_output_folder("--out", out)
        check_output_folder("--requests-out", requests_out)
        self.settings = dict(settings)
        self._out = out
        self._yes = yes
        self._batch = _batch(requests_out, responses_in)
        by_file = self._batch is not None
        gates = {name: AdmissionGate(own, by_file=by_file) for name, own in self.settings.items()}
        self.trials = Trials(gates, None if out is None else out / REPORTS)

    def reports(self, trials: Sequence[Trial]) -> list[Report]:
        """One report a trial, in order. Asks before a paid run; exits where the user declines, stops the run, or where
        answers by file are still to come."""
        missing = self.trials.missing(trials)
        if missing:
            for gate in self.trials.gates.values():
                warn_of_missing(gate)
            if self._batch is None:
                agree(self._cost(missing), agreed=self._yes)
            self._run(trials, len(missing))
        found = [self.trials.report(trial) for trial in trials]
        waiting = sum(report is None for report in found)
        if waiting:
            self._leave(waiting)
        return [report for report in found if report is not None]

    def configuration(self) -> dict[str, str]:
        """What the figures depend on beside the data: each setting's digest, as its reports carry it."""
        gates = self.trials.gates.items()
        return {f"configuration of {name}": gate.config_digest for name, gate in gates} | {"version": __version__}

    def _cost(self, missing: Sequence[Trial]) -> Cost:
        total = Cost()
        for name, settings in self.settings.items():
            total = total.plus(estimate(settings, (trial for trial in missing if trial.setting == name)))
        return total

    def _run(self, trials: Sequence[Trial], missing: int) -> None:
        with measuring(self._stopped()) as progress, ExitStack() as stack:
            requests = stack.enter_context(self._batch) if self._batch is not None else None
            task = progress.add_task("judging", total=missing)
            self.trials.run(trials, lambda: progress.advance(task), self._driver())
            if requests is not None:
                requests.finish()

    def _driver(self) -> Callable[[AdmissionGate], Decide]:
        batch = self._batch
        return (lambda gate: gate.decide_many) if batch is None else (lambda gate: batch.driver(gate).decide_many)

    def _stopped(self) -> str:
        return f"what is in {self._out} is kept: run it again to go on" if self._out else "with --out it can be resumed"

    def _leave(self, waiting: int) -> None:
        """End a run whose figures wait for answers."""
        step = self._batch.next_step(waiting) if self._batch is not None else None
        typer.echo(f"admission: {step or f'{waiting} writes have no report'}", err=True)
        raise typer.Exit(0 if step else INTERRUPTED)


def agree(cost: Cost, *, agreed: bool) -> None:
    """Ask before money is spent; no answer is no. Exits with 1 where the user declines."""
    if not cost.requests or agreed:
        return
    question = f"about {cost.requests} requests with {cost.input_tokens} input tokens to chat models. Go on?"
    try:
        said = typer.confirm(question, default=False, err=True)
    except typer.Abort:
        said = False
    if not said:
        typer.echo("admission: nothing was asked; --yes agrees beforehand", err=True)
        raise typer.Exit(DECLINED)


def chosen_views(given: Sequence[str] | None) -> tuple[VerificationView, ...]:
    """`--view` as views, each once. Raises `InputError` for one that does not exist."""
    if not given:
        return DEFAULT_VIEWS
    known: tuple[VerificationView, ...] = get_args(VerificationView)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError("--view", f"{unknown[0]!r} is no verification view", f"use one of {', '.join(known)}")
    return tuple(view for name in dict.fromkeys(given) for view in known if view == name)


def data_digest(trials: Sequence[Trial]) -> str:
    """Digest of what was put to the gates: memories, citations and histories, without what they are scored by."""
    return digest(sorted({input_digest(trial.candidate, trial.history) for trial in trials}))


def varied(settings: Settings, **sections: Mapping[str, Any]) -> Settings:
    """The settings with some fields of some sections changed: `varied(s, evidence={"setting": "citation_only"})`."""
    changed = {name: getattr(settings, name).model_copy(update=dict(fields)) for name, fields in sections.items()}
    return settings.model_copy(update=changed)


def _batch(requests_out: Path | None, responses_in: Path | None) -> BatchFiles | None:
    if requests_out is None and responses_in is None:
        return None
    from admission.cli.audit_batch import BatchFiles

    return BatchFiles(requests_out, responses_in, None, final=False)
