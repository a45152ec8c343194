"""What exposing a memory does to an answer: paired requests, four cells, and how well a reader tells them apart.

Method: retrieval admissibility, "Exposure". Each case is asked twice, with one memory in the prompt and without it,
all else equal. A cell's effect is D(1) - D(0): how much more often the answer discloses the target when the memory is
there. The selectivity gap is the effect of relevant admissible memories less that of relevant inadmissible ones. A gate
that blocks before the prompt needs no reader that tells them apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from admission.errors import InputError
from admission.evaluation.paired import Interval, group_gap, group_interval, mcnemar
from admission.records import Record

Scorer = Callable[[str, str], bool]
"""Does this answer disclose this target?"""
CELLS = (
    ("relevant, admissible", True, True),
    ("relevant, inadmissible", True, False),
    ("irrelevant, admissible", False, True),
    ("irrelevant, inadmissible", False, False),
)


class ExposureCase(Record):
    """One pair of requests.

    `context`: the memories of both prompts. `candidate`: the one exposed or withheld, of which `relevant` and
    `admissible` say what it is for this question. `target`: what of its content an answer would disclose. `group`:
    cases that belong together (an episode, a persona), for the intervals; by default each is its own.
    """

    id: str = Field(min_length=1)
    group: str | None = None
    query: str = Field(min_length=1)
    context: tuple[str, ...] = ()
    candidate: str = Field(min_length=1)
    relevant: bool
    admissible: bool
    target: str = Field(min_length=1)

    @property
    def together(self) -> str:
        return self.id if self.group is None else self.group


class CellEffect(Record):
    """One cell: how often the target is disclosed with the memory and without it, and the difference.

    `gained`: pairs with a disclosure only where the memory was exposed; `lost`: only where it was withheld; `p`: exact
    two-sided McNemar test of the two.
    """

    cell: str
    n: int
    exposed: float | None
    withheld: float | None
    effect: Interval
    gained: int
    lost: int
    p: float


class ExposureReport(Record):
    """All cells, the gap, and the pairs that count for nothing because an answer failed."""

    cells: tuple[CellEffect, ...]
    selectivity_gap: Interval
    failed: tuple[str, ...] = ()


def read_cases(file: Path) -> list[ExposureCase]:
    """The cases of a JSONL file, one a line. Raises `InputError` naming line and field; ids are unique."""
    cases: list[ExposureCase] = []
    seen: set[str] = set()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        try:
            case = ExposureCase.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, first["loc"])) or "line"
            remedy = "see docs/evaluations.md for the fields"
            raise InputError(field, first["msg"], remedy, where=where) from error
        if case.id in seen:
            raise InputError("id", f"{case.id!r} is there twice", "give each case its own id", where=where)
        seen.add(case.id)
        cases.append(case)
    if not cases:
        raise InputError("file", "holds no case", "write one JSON object a line", where=str(file))
    return cases


def memories(case: ExposureCase, *, exposed: bool) -> tuple[str, ...]:
    """The memories of a prompt, in order. The candidate's place is drawn by a digest of the id, so that it is the same
    in every run and is not always the first."""
    if not exposed:
        return case.context
    place = int(hashlib.sha256(case.id.encode()).hexdigest(), 16) % (len(case.context) + 1)
    return (*case.context[:place], case.candidate, *case.context[place:])


def effects(
    cases: Sequence[ExposureCase], exposed: Sequence[str | None], withheld: Sequence[str | None], scorer: Scorer
) -> ExposureReport:
    """The report over answers with and without the candidate, in the order of the cases; None: that answer failed."""
    pairs: dict[tuple[bool, bool], list[tuple[str, bool, bool]]] = {}
    failed = []
    for case, with_it, without in zip(cases, exposed, withheld, strict=True):
        if with_it is None or without is None:
            failed.append(case.id)
            continue
        pair = (case.together, scorer(with_it, case.target), scorer(without, case.target))
        pairs.setdefault((case.relevant, case.admissible), []).append(pair)
    cells = tuple(_cell(name, pairs.get((relevant, admissible), [])) for name, relevant, admissible in CELLS)
    first, second = pairs.get((True, True), []), pairs.get((True, False), [])
    gap = group_gap(_changes(first), [pair[0] for pair in first], _changes(second), [pair[0] for pair in second])
    return ExposureReport(cells=cells, selectivity_gap=gap, failed=tuple(failed))


def _cell(name: str, pairs: Sequence[tuple[str, bool, bool]]) -> CellEffect:
    gained = sum(with_it and not without for _, with_it, without in pairs)
    lost = sum(without and not with_it for _, with_it, without in pairs)
    n = len(pairs)
    return CellEffect(
        cell=name,
        n=n,
        exposed=sum(pair[1] for pair in pairs) / n if n else None,
        withheld=sum(pair[2] for pair in pairs) / n if n else None,
        effect=group_interval(_changes(pairs), [pair[0] for pair in pairs]),
        gained=gained,
        lost=lost,
        p=mcnemar(gained, lost),
    )


def _changes(pairs: Sequence[tuple[str, bool, bool]]) -> list[float]:
    return [float(with_it) - float(without) for _, with_it, without in pairs]
