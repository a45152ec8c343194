"""The gate at every strictness of a grid, each question put to its judge once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from admission.errors import SettingsError
from admission.evaluation.calibration import GRID
from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Candidate, Judgment, Question, Record, Report, Usage, digest
from admission.settings import Settings
from admission.verifiers.protocol import Verifier

KEPT = frozenset({"admitted", "repaired"})


class GridDecision(Record):
    """Whether the gate kept one write (admitted or repaired) at each strictness, in the order of the grid.

    `supports`: of a memory of one obligation, for which a label of the memory is one of the obligation, the last
    support each judge measured when the gate ran at the strictness nearest 0; else empty. `config_digest` covers grid,
    settings and judges; `input_digest` is that of the reports.
    """

    id: str
    conversation: str
    kept: tuple[bool, ...]
    supports: dict[str, float]
    config_digest: str
    input_digest: str


class Remembered(Verifier):
    """Answers as another verifier does and asks it each question once, until told to forget.

    Labels are the gate's own work (from the numbers, by its strictness), so one answer serves every strictness. What a
    language model says of a statement may depend on the others in its prompt, and whether it is asked at all on what
    the write has cost: its answers serve the same questions of a write together, at the same cost so far.
    """

    def __init__(self, inner: Verifier) -> None:
        self.name = inner.name
        self.thresholds = inner.thresholds
        self.reads_whole = inner.reads_whole
        self.names_evidence = inner.names_evidence
        self._inner = inner
        self._together = inner.exchange(()) is not None
        self._known: dict[object, Sequence[Judgment]] = {}

    @property
    def identity(self) -> dict[str, object]:
        return self._inner.identity

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        groups = self._groups(questions)
        new = {key: numbers for key, numbers in groups if key not in self._known}
        asked = [number for numbers in new.values() for number in numbers]
        if asked:
            answers = self._inner.judge([questions[number] for number in asked])
            fresh = dict(zip(asked, answers, strict=True))
            self._known.update({key: [fresh[number] for number in numbers] for key, numbers in new.items()})
        answered = {n: j for key, numbers in groups for n, j in zip(numbers, self._known[key], strict=True)}
        return [answered[number] for number in range(len(questions))]

    def usage(self, questions: Sequence[Question], judgments: Sequence[Judgment]) -> Usage:
        return self._inner.usage(questions, judgments)

    def _groups(self, questions: Sequence[Question]) -> list[tuple[object, list[int]]]:
        """The questions (by number) that are remembered together, each group with what it is remembered by."""
        groups: dict[object, list[int]] = {}
        for number, question in enumerate(questions):
            groups.setdefault(question.account if self._together else number, []).append(number)
        return [(self._key([questions[n] for n in numbers]), numbers) for numbers in groups.values()]

    def _key(self, group: Sequence[Question]) -> object:
        account = group[0].account if self._together else None
        spent = account.spent if account is not None else None
        return spent, tuple(question.model_copy(update={"account": None}) for question in group)

    def forget(self) -> None:
        self._known.clear()


class StrictnessGrid:
    """One gate's settings and judges, deliberating anew at each strictness. The gate's own strictness is set aside."""

    def __init__(self, gate: AdmissionGate, grid: Sequence[float] = GRID) -> None:
        self._judges = {role: Remembered(verifier) for role, verifier in gate.verifiers.items()}
        self._gates = [self._at(gate.settings, strictness) for strictness in grid]
        self._plain = int(np.argmin(np.abs(grid)))
        whole = [judge.reads_whole for judge in self._judges.values()]
        self.config_digest = digest([whole, *(each.config_digest for each in self._gates)])

    def decide(self, writes: Iterable[tuple[Candidate, History]], *, batch: int = 32) -> Iterator[GridDecision]:
        """One decision a write, in order; answers are remembered for `batch` writes at a time.

        Raises `SettingsError` at the first write on which a judge (or the gate) failed: what a failure keeps out says
        nothing about how often the gate lets something in.
        """
        source = iter(writes)
        while pairs := list(islice(source, batch)):
            by_strictness = [list(gate.decide_many(pairs, batch=batch)) for gate in self._gates]
            for judge in self._judges.values():
                judge.forget()
            yield from (self._decision(reports) for reports in zip(*by_strictness, strict=True))

    def _decision(self, reports: Sequence[Report]) -> GridDecision:
        for report in reports:
            _check_judged(report)
        plain = reports[self._plain]
        (alone,) = plain.obligations if len(plain.obligations) == 1 else (None,)
        judged = [j for j in alone.judgments if j.outcome == "judged" and j.check is None] if alone is not None else []
        return GridDecision(
            id=plain.id,
            conversation=plain.conversation,
            kept=tuple(report.status in KEPT for report in reports),
            supports={judgment.verifier: judgment.support for judgment in judged},
            config_digest=self.config_digest,
            input_digest=plain.input_digest,
        )

    def _at(self, settings: Settings, strictness: float) -> AdmissionGate:
        verification = settings.verification.model_copy(update={"strictness": strictness})
        return AdmissionGate(
            settings.model_copy(update={"verification": verification}),
            verifier_a=self._judges.get("verifier_a"),
            verifier_b=self._judges.get("verifier_b"),
            adjudicator=self._judges.get("adjudicator"),
        )


def _check_judged(report: Report) -> None:
    failed = [f"{j.verifier}: {j.reason}" for f in report.obligations for j in f.judgments if j.outcome == "failed"]
    failed += [reason for reason in report.reasons if reason.startswith("internal_error")]
    if failed:
        problem = f"judging write {report.id!r} failed ({failed[0]})"
        raise SettingsError("verification", problem, "calibrate with judges that answer every question in time")
