"""Whatever breaks: nothing lost, nothing doubled, nothing stored without a report, no write left open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_cases import IN_PROCESS, Fault
from fault_processes import OF_PROCESSES
from fault_world import Tally, World, repeated
from ledger_places import SqlitePlace

ALL = [(fault, kind) for fault in (*IN_PROCESS, *OF_PROCESSES) for kind in fault.ledgers]
ON_SERVER = {"postgres": [pytest.mark.server]}


def cases(pairs: list[tuple[Fault, str]]) -> list[Any]:
    return [pytest.param(f, kind, id=f"{f.name}, {kind}", marks=ON_SERVER.get(kind, [])) for f, kind in pairs]


@pytest.fixture
def world(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    place = request.getfixturevalue("postgres_place") if kind == "postgres" else SqlitePlace(tmp_path)
    made = World(tmp_path, place.url)
    yield made
    made.close()


def assert_clean(tally: Tally, runs: int) -> None:
    assert tally.runs == runs
    assert tally.clean, tally


@pytest.mark.parametrize(("fault", "kind"), cases(ALL))
def test_a_fault_leaves_every_write_once_and_with_its_report(fault: Fault, kind: str, world: World) -> None:
    assert_clean(repeated(world, fault.run, 2), 2)


@pytest.mark.long
@pytest.mark.parametrize(("fault", "kind"), cases(ALL))
def test_a_fault_a_hundred_times(fault: Fault, kind: str, world: World) -> None:
    assert_clean(repeated(world, fault.run, 100), 100)


def test_the_documentation_has_every_fault_a_hundred_times_and_clean() -> None:
    lines = (Path(__file__).parents[2] / "docs" / "faults.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    documented = {(row[0], row[2]): (int(row[3]), row[-4:]) for row in rows if row[3].isdigit()}
    assert documented.keys() == {(fault.name, kind) for fault, kind in ALL}
    assert all(runs >= 100 and counts == ["0"] * 4 for runs, counts in documented.values())
