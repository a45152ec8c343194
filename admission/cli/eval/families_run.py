"""Families decided: by judges that compute at every strictness of the sweep, by chat models at the gate's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from admission.cli.eval.reading import measuring
from admission.cli.eval.trials import TrialsRun
from admission.cli.output import warn_of_missing
from admission.deliberation import input_digest
from admission.evaluation.derivation.cases import Case, pairs
from admission.evaluation.derivation.families import SWEEP
from admission.evaluation.derivation.trials import Trial
from admission.evaluation.grid_log import GridLog
from admission.evaluation.strictness_grid import GridDecision, StrictnessGrid
from admission.gate import AdmissionGate
from admission.records import VerificationView

Kept = list[tuple[bool, ...]]


class FamiliesRun:
    """The cells of a suite before the gates of `run`, one a view. `out`: where decisions are kept between runs.

    `sweep` is the strictness at which each cell is decided. A question is put to a judge once for all of them, which
    is free where judges compute. A chat model's answers depend on what else is in its prompt, so that a sweep would
    ask it again: it decides at the gate's own strictness alone.
    """

    def __init__(self, run: TrialsRun, views: Sequence[VerificationView], own: float, out: Path | None) -> None:
        self._run = run
        self._views = tuple(views)
        self._out = out
        gates = [run.trials.gates[view] for view in views]
        swept = all(judge.exchange(()) is None for gate in gates for judge in gate.verifiers.values())
        swept &= all(gate.decomposer.exchange(()) is None for gate in gates)
        self.sweep: tuple[float, ...] = tuple(sorted({*SWEEP, own}, reverse=True)) if swept else (own,)

    def kept(self, cases: Sequence[Case]) -> dict[VerificationView, Kept]:
        """By view, whether each case was kept at each strictness of the sweep."""
        return self._at_own(cases) if len(self.sweep) == 1 else self._swept(cases)

    def _at_own(self, cases: Sequence[Case]) -> dict[VerificationView, Kept]:
        trials = [Trial(view, case.candidate, case.history) for view in self._views for case in cases]
        reports = iter(self._run.reports(trials))
        return {view: [(next(reports).status in ("admitted", "repaired"),) for _ in cases] for view in self._views}

    def _swept(self, cases: Sequence[Case]) -> dict[VerificationView, Kept]:
        stopped = f"what is in {self._out} is kept: run it again to go on" if self._out else "with --out it can go on"
        found: dict[VerificationView, Kept] = {}
        with measuring(stopped) as progress:
            task = progress.add_task("judging", total=len(self._views) * len(cases))
            for view in self._views:
                decisions = self._decided(self._run.trials.gates[view], cases, lambda: progress.advance(task))
                found[view] = [decision.kept for decision in decisions]
        return found

    def _decided(self, gate: AdmissionGate, cases: Sequence[Case], advance: Callable[[], None]) -> list[GridDecision]:
        warn_of_missing(gate)
        grid = StrictnessGrid(gate, self.sweep)
        log = None if self._out is None else GridLog(self._out / f"sweep-{grid.config_digest[:16]}.jsonl")
        known = {_key(d): d for d in log.read(grid.config_digest)} if log is not None else {}
        keys = [(case.group, case.candidate.id, input_digest(case.candidate, case.history)) for case in cases]
        for key in keys:
            if key in known:
                advance()
        missing = [case for key, case in zip(keys, cases, strict=True) if key not in known]
        for decision in grid.decide(pairs(missing)):
            if log is not None:
                log.append(decision)
            known[_key(decision)] = decision
            advance()
        return [known[key] for key in keys]


def _key(decision: GridDecision) -> tuple[str, str, str]:
    return (decision.conversation, decision.id, decision.input_digest)
