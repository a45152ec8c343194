"""Recorded writes and their edited twins as the benchmarks that rank or calibrate read them."""

from __future__ import annotations

from pathlib import Path

from admission.evaluation.derivation.cases import pairs, read_cases
from admission.evaluation.derivation.twins import read_twins
from admission.history import History
from admission.records import Candidate
from admission.settings import Settings


def labelled_writes(
    writes: Path, twins: Path | None, settings: Settings
) -> tuple[list[tuple[Candidate, History]], dict[str, str]]:
    """The writes that have a reference, then the twins, and by id what each is: `valid`, `reference unresolved`,
    `twin negation`."""
    cases = read_cases([writes], passage_chars=settings.evidence.passage_chars)
    kinds: dict[str, str] = {}
    for case in cases:
        if case.valid is not None:
            kinds[case.candidate.id] = "valid" if case.valid else f"reference {case.reference['status']}"
    edited = [] if twins is None else read_twins(twins, cases)
    kinds |= {case.candidate.id: f"twin {case.reference['edit']}" for case in edited}
    return pairs(case for case in (*cases, *edited) if case.candidate.id in kinds), kinds
