"""Matched families: one memory beside four conversations, with its evidence in one place or spread, there or not.

Method: DerivAudit, "matched families". A verifier that goes by how likely a memory sounds answers the four alike.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from admission.errors import InputError
from admission.evaluation.derivation.cases import Case
from admission.evaluation.loaders.foreign import text_lines
from admission.evaluation.paired import Interval, group_interval, holm, mcnemar
from admission.evaluation.reading.dataset import json_lines
from admission.evaluation.seed import SEED
from admission.evaluation.statistics import proportion
from admission.records import Record, VerificationView
from admission.reports.summary import Proportion

Cell = Literal["local_valid", "local_invalid", "distributed_valid", "distributed_invalid"]
Spread = Literal["local", "distributed"]
Part = Literal["all", "target", "language"]
CELLS: tuple[Cell, ...] = ("local_valid", "local_invalid", "distributed_valid", "distributed_invalid")
SPREADS: tuple[Spread, ...] = ("local", "distributed")
VALID: dict[Spread, Cell] = {"local": "local_valid", "distributed": "distributed_valid"}
INVALID: dict[Spread, Cell] = {"local": "local_invalid", "distributed": "distributed_invalid"}

ALL = "all families"
DEFAULT_LANGUAGE = "en"
SWEEP: tuple[float, ...] = (10.0, 8.0, 6.0, 5.0, *(step / 4 for step in range(16, -17, -1)), -5.0, -6.0, -8.0, -10.0)
"""Strictness in log-odds, the strictest first: at 10 a threshold of .5 is beyond every score, at -10 below."""
LEVELS = (0.3, 0.5, 0.7, 0.9)
"""Retention of valid cells at which detection is compared, where both kinds of family reach it."""

PUBLISHED_DETECTION: dict[VerificationView, float] = {"holistic": 0.086, "obligations": 0.114}
"""Share of invalid distributed memories that Qwen3-30B-A3B found, of 70 families (DerivAudit): other families."""


class FamilyCell(NamedTuple):
    """One cell: `case` is what is put to a gate, the rest only groups and scores it."""

    case: Case
    family: str
    target: str
    language: str
    cell: Cell


class Family(NamedTuple):
    """One family as a gate decided it. `kept`: of each cell, whether it was kept at each strictness of the sweep."""

    id: str
    target: str
    language: str
    kept: Mapping[Cell, Sequence[bool]]


class CellFigures(Record):
    """What one view accepts of each cell at the gate's own strictness, with exact 95 % intervals, in one part of the
    suite: all of it, one target (`by` target), one language.

    `gap`: detection of invalid memories (the share not accepted) where the evidence is in one place, less where it is
    spread, with a bootstrap interval over families.
    """

    view: VerificationView
    by: Part
    part: str
    accepted: dict[Cell, Proportion]
    gap: Interval


class AtRetention(Record):
    """What a view detects of the invalid memories of one spread at the strictest point of the sweep that still keeps
    the valid ones asked for. Exact 95 % intervals."""

    strictness: float
    retention: Proportion
    detection: Proportion


class EqualRetention(Record):
    """Local and distributed families at the same retention (`level`, as near as the sweep comes to it from above).

    `gap`: detection in local less in distributed ones, with a bootstrap interval over families at these two points;
    `p`: McNemar's exact test on the families of which only one invalid memory was found; `adjusted`: after Holm.
    """

    view: VerificationView
    part: str
    level: float
    found: dict[Spread, AtRetention]
    gap: Interval
    only_local: int
    only_distributed: int
    p: float
    adjusted: float | None = None


class Curve(Record):
    """Retention of valid and detection of invalid memories of one spread over the sweep, from its strictest point."""

    view: VerificationView
    part: str
    spread: Spread
    strictness: tuple[float, ...]
    retention: tuple[float, ...]
    detection: tuple[float, ...]


class FamilyFigures(Record):
    """Everything measured on a suite. `strictness`: the gate's own; `equal` and `curves` are empty without a sweep."""

    families: int
    strictness: float
    cells: tuple[CellFigures, ...]
    equal: tuple[EqualRetention, ...]
    curves: tuple[Curve, ...]


def group_of(case: Case) -> str:
    """What is drawn together in the statistics: the family where the reference names one, else the conversation."""
    return str(case.reference.get("family", case.group))


def languages(files: Iterable[Path]) -> dict[str, str]:
    """By the id of each conversation, the `language` its line names; `en` where it names none."""
    rows = (row for file in files for _, row in json_lines(file, text_lines(file)))
    return {str(row.get("id")): str(row.get("language", DEFAULT_LANGUAGE)) for row in rows}


def family_cells(
    cases: Sequence[Case], spoken: Mapping[str, str], sample: int | None = None, seed: int = SEED
) -> list[FamilyCell]:
    """The cells of the families, in their order; of `sample` families, drawn whole. `spoken` is as from `languages`.

    Raises `InputError` for a reference that names no family, target or cell, a label that is not what the cell says,
    and a family that has not each cell once.
    """
    cells = [_cell(case, spoken) for case in cases]
    held: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        held[cell.family].append(cell.cell)
    for family, own in held.items():
        if sorted(own) != sorted(CELLS):
            problem = f"of {family!r} are {', '.join(own)}"
            raise InputError("reference.cell", problem, f"give a family each of {', '.join(CELLS)} once", where=family)
    if sample is None or sample >= len(held):
        return cells
    drawn = set(random.Random(seed).sample(list(held), sample))
    return [cell for cell in cells if cell.family in drawn]


def _cell(case: Case, spoken: Mapping[str, str]) -> FamilyCell:
    where = f"{case.group}, {case.candidate.id}"
    reference: Mapping[str, Any] = case.reference
    for field in ("family", "target", "cell"):
        if not isinstance(reference.get(field), str):
            remedy = "give families as examples/families/README.md has them"
            raise InputError(f"reference.{field}", "is missing or no text", remedy, where=where)
    cell = next((known for known in CELLS if known == reference["cell"]), None)
    if cell is None:
        raise InputError(
            "reference.cell", f"{reference['cell']!r} is no cell", f"use one of {', '.join(CELLS)}", where=where
        )
    if case.valid is not (cell in VALID.values()):
        problem = f"is {reference.get('status')!r} in {cell}"
        raise InputError("reference.status", problem, "let valid cells be supported, and no others", where=where)
    language = spoken.get(case.group, DEFAULT_LANGUAGE)
    return FamilyCell(case, reference["family"], reference["target"], language, cell)


def decided(cells: Sequence[FamilyCell], kept: Sequence[Sequence[bool]]) -> list[Family]:
    """The families with what was kept of each cell: `kept` has, for each cell, one value a strictness."""
    found: dict[str, dict[Cell, Sequence[bool]]] = defaultdict(dict)
    named = {cell.family: cell for cell in cells}
    for cell, own in zip(cells, kept, strict=True):
        found[cell.family][cell.cell] = own
    return [Family(id, one.target, one.language, found[id]) for id, one in named.items()]


def family_figures(
    by_view: Mapping[VerificationView, Sequence[Family]], sweep: Sequence[float], own: float
) -> FamilyFigures:
    """The figures of a suite in each view. `sweep` has the strictness of each value kept; `own`, one of them, is the
    gate's. A sweep of one point compares nothing at equal retention."""
    place = list(sweep).index(own)
    cells = [
        _cells(view, by, part, own_ones, place)
        for view, families in by_view.items()
        for by, part, own_ones in _parts(families)
    ]
    swept = _swept(by_view) if len(sweep) > 1 else {}
    curves = [curve for (view, part), own_ones in swept.items() for curve in _curves(view, part, own_ones, sweep)]
    equal = [
        one
        for (view, part), own_ones in swept.items()
        for level in LEVELS
        if (one := _equal(view, part, own_ones, sweep, level)) is not None
    ]
    adjusted = holm([one.p for one in equal])
    return FamilyFigures(
        families=len(next(iter(by_view.values()))),
        strictness=own,
        cells=tuple(cells),
        equal=tuple(one.model_copy(update={"adjusted": p}) for one, p in zip(equal, adjusted, strict=True)),
        curves=tuple(curves),
    )


def _parts(families: Sequence[Family]) -> list[tuple[Part, str, list[Family]]]:
    """All of the suite, then each target and, where there are several, each language."""
    found: list[tuple[Part, str, list[Family]]] = [("all", ALL, list(families))]
    for target in sorted({family.target for family in families}):
        found.append(("target", target, [family for family in families if family.target == target]))
    spoken = sorted({family.language for family in families})
    for language in spoken if len(spoken) > 1 else ():
        found.append(("language", language, [family for family in families if family.language == language]))
    return found


def _swept(
    by_view: Mapping[VerificationView, Sequence[Family]],
) -> dict[tuple[VerificationView, str], Sequence[Family]]:
    """What is compared at equal retention: all families, and those of the language that most are in. Judges may not
    read the others, and what they cannot read they neither keep nor detect."""
    found: dict[tuple[VerificationView, str], Sequence[Family]] = {}
    for view, families in by_view.items():
        found[view, ALL] = families
        spoken = [family.language for family in families]
        most = max(sorted(set(spoken)), key=spoken.count)
        if len(set(spoken)) > 1:
            found[view, f"in {most}"] = [family for family in families if family.language == most]
    return found


def _cells(
    view: VerificationView,
    by: Part,
    part: str,
    families: Sequence[Family],
    place: int,
) -> CellFigures:
    kept = {cell: [family.kept[cell][place] for family in families] for cell in CELLS}
    return CellFigures(
        view=view,
        by=by,
        part=part,
        accepted={cell: proportion(sum(own), len(own)) for cell, own in kept.items()},
        gap=_gap(families, [not k for k in kept["local_invalid"]], [not k for k in kept["distributed_invalid"]]),
    )


def _gap(families: Sequence[Family], local: Sequence[bool], distributed: Sequence[bool]) -> Interval:
    differences = [float(one) - float(two) for one, two in zip(local, distributed, strict=True)]
    return group_interval(differences, [family.id for family in families])


def _kept(families: Sequence[Family], cell: Cell) -> npt.NDArray[np.bool_]:
    """(families, strictness)"""
    return np.array([family.kept[cell] for family in families], dtype=bool)


def _curves(view: VerificationView, part: str, families: Sequence[Family], sweep: Sequence[float]) -> tuple[Curve, ...]:
    return tuple(
        Curve(
            view=view,
            part=part,
            spread=spread,
            strictness=tuple(sweep),
            retention=tuple(_kept(families, VALID[spread]).mean(axis=0).tolist()),
            detection=tuple((~_kept(families, INVALID[spread])).mean(axis=0).tolist()),
        )
        for spread in SPREADS
    )


def _equal(
    view: VerificationView, part: str, families: Sequence[Family], sweep: Sequence[float], level: float
) -> EqualRetention | None:
    """The comparison at one level; None where one of the two kinds of family never keeps so much."""
    n = len(families)
    found: dict[Spread, AtRetention] = {}
    detected: dict[Spread, list[bool]] = {}
    for spread in SPREADS:
        retained = _kept(families, VALID[spread]).sum(axis=0)
        enough = np.flatnonzero(retained >= level * n)
        if not enough.size:
            return None
        place = int(enough[0])
        detected[spread] = (~_kept(families, INVALID[spread])[:, place]).tolist()
        found[spread] = AtRetention(
            strictness=sweep[place],
            retention=proportion(int(retained[place]), n),
            detection=proportion(sum(detected[spread]), n),
        )
    both = list(zip(detected["local"], detected["distributed"], strict=True))
    only_local, only_distributed = both.count((True, False)), both.count((False, True))
    return EqualRetention(
        view=view,
        part=part,
        level=level,
        found=found,
        gap=_gap(families, detected["local"], detected["distributed"]),
        only_local=only_local,
        only_distributed=only_distributed,
        p=mcnemar(only_local, only_distributed),
    )
