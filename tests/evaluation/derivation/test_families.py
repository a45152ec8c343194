"""Matched families: an oracle tells the cells apart, a fool the wrong way; the paradox shows at equal retention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from family_worlds import FOOL, ORACLE, as_the_turn_says, family
from replayed_worlds import gate

from admission.errors import InputError
from admission.evaluation.derivation.cases import Case, pairs
from admission.evaluation.derivation.families import (
    ALL,
    CELLS,
    Cell,
    CellFigures,
    FamilyCell,
    FamilyFigures,
    decided,
    family_cells,
    family_figures,
)
from admission.evaluation.strictness_grid import StrictnessGrid

SWEEP = (4.0, 2.0, 0.25, 0.0, -1.0, -4.0)


def suite(supports: Mapping[Cell, float], families: int = 4) -> list[Case]:
    return [case for n in range(families) for case in family(f"f{n}", supports)]


def measured(cells: Sequence[FamilyCell], sweep: tuple[float, ...] = SWEEP) -> FamilyFigures:
    decisions = StrictnessGrid(gate(as_the_turn_says), sweep).decide(pairs([cell.case for cell in cells]))
    return family_figures({"holistic": decided(cells, [one.kept for one in decisions])}, sweep, 0.0)


def accepted(figures: FamilyFigures, part: str = ALL) -> tuple[float | None, ...]:
    found = _part(figures, part)
    return tuple(found.accepted[cell].value for cell in CELLS)


def _part(figures: FamilyFigures, part: str) -> CellFigures:
    return next(one for one in figures.cells if one.part == part)


def test_an_oracle_accepts_the_valid_cells_and_nothing_else() -> None:
    figures = measured(family_cells(suite(ORACLE), {}))
    assert accepted(figures) == (1.0, 0.0, 1.0, 0.0)
    assert _part(figures, ALL).gap.value == 0.0
    for same in figures.equal:
        assert [same.found[spread].detection.value for spread in ("local", "distributed")] == [1.0, 1.0]
        assert (same.gap.value, same.p) == (0.0, 1.0)


def test_a_fool_accepts_the_invalid_cells_and_nothing_else() -> None:
    figures = measured(family_cells(suite(FOOL), {}))
    assert accepted(figures) == (0.0, 1.0, 0.0, 1.0)
    assert figures.equal == (), "at no strictness are valid memories kept"


def test_the_paradox_shows_where_both_kinds_keep_as_much() -> None:
    """Local: .9 against .1. Distributed: the invalid memory looks better than the valid one."""
    numbers: dict[Cell, float] = {
        "local_valid": 0.9,
        "local_invalid": 0.1,
        "distributed_valid": 0.6,
        "distributed_invalid": 0.9,
    }
    same = next(one for one in measured(family_cells(suite(numbers), {})).equal if one.level == 0.9)
    local, distributed = same.found["local"], same.found["distributed"]
    assert (local.strictness, local.retention.value, local.detection.value) == (2.0, 1.0, 1.0)
    assert (distributed.strictness, distributed.retention.value, distributed.detection.value) == (0.25, 1.0, 0.0)
    assert (same.gap.value, same.gap.low, same.gap.high) == (1.0, 1.0, 1.0)
    assert (same.only_local, same.only_distributed) == (4, 0)
    assert same.p == pytest.approx(2 * 0.5**4)
    assert same.adjusted is not None and same.adjusted > same.p


def test_a_curve_has_both_shares_at_every_strictness() -> None:
    numbers: dict[Cell, float] = {**ORACLE, "local_valid": 0.7, "local_invalid": 0.4}
    local, _ = measured(family_cells(suite(numbers), {})).curves
    assert local.strictness == SWEEP
    assert local.retention == (0.0, 0.0, 1.0, 1.0, 1.0, 1.0)
    assert local.detection == (1.0, 1.0, 1.0, 1.0, 0.0, 0.0)


def test_targets_and_languages_are_counted_apart_and_the_largest_language_is_compared_alone() -> None:
    cases = [*suite(ORACLE, 3), *family("g1", FOOL, target="time")]
    spoken = {case.group: "ko" for case in cases if case.candidate.id.startswith("g1")}
    figures = measured(family_cells(cases, spoken))
    assert accepted(figures, "time") == accepted(figures, "ko") == (0.0, 1.0, 0.0, 1.0)
    assert accepted(figures, "cause") == accepted(figures, "en") == (1.0, 0.0, 1.0, 0.0)
    assert accepted(figures) == (0.75, 0.25, 0.75, 0.25)
    assert {curve.part for curve in figures.curves} == {ALL, "in en"}


def test_a_single_strictness_compares_nothing_at_equal_retention() -> None:
    figures = measured(family_cells(suite(ORACLE), {}), (0.0,))
    assert accepted(figures) == (1.0, 0.0, 1.0, 0.0)
    assert (figures.equal, figures.curves) == ((), ())


def test_families_are_drawn_whole() -> None:
    given = suite(ORACLE, 6)
    cells = family_cells(given, {}, sample=2, seed=3)
    assert len(cells) == 8 and len({cell.family for cell in cells}) == 2
    assert cells == family_cells(given, {}, sample=2, seed=3)


def test_a_family_that_lacks_a_cell_is_refused() -> None:
    with pytest.raises(InputError, match=r"reference\.cell.*f0"):
        family_cells(family("f0", ORACLE, cells=("local_valid", "local_invalid", "distributed_valid")), {})


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("cell", "local", "reference.cell"),
        ("cell", "local_invalid", "reference.status"),
        ("family", None, "reference.family"),
        ("target", 7, "reference.target"),
    ],
)
def test_a_reference_that_does_not_fit_is_refused_by_its_field(field: str, value: object, named: str) -> None:
    first, *rest = family("f0", ORACLE)
    with pytest.raises(InputError) as refused:
        family_cells([first._replace(reference={**first.reference, field: value}), *rest], {})
    assert refused.value.field == named
