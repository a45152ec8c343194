"""kill -9 at every step of a write: nothing lost, nothing doubled, no stored memory without its report."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from crashing_writer import WRITERS, open_store
from scripted_gate import NAMESPACE, NEVER_SAID, SAID

from admission.ledger import Entry
from admission.records import Report
from graph_nodes import AdmissionStore

SCRIPT = Path(__file__).with_name("crashing_writer.py")
MORE_THAN_THERE_ARE = 24
STEPS = ("claim", "judging", "decide", "put", "complete")
ALL_STEPS = [f"{when} {step}" for step in STEPS for when in ("before", "after")]


def crash(folder: Path, mode: str, points: Iterable[str]) -> dict[str, list[str]]:
    """What the runs of each point came to; the files they left are in `folder / point`."""
    command = [sys.executable, str(SCRIPT), str(folder), mode, *points]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {point: outcomes.split("; ") for point, outcomes in (line.split(": ") for line in output.splitlines())}


def reports_of(store: AdmissionStore, memory: str) -> list[tuple[Entry, Report]]:
    """The verdicts on a memory; the record that a write was interrupted is none."""
    found = [(entry, report) for entry, report in store.ledger.reports() if report.memory == memory]
    return [(entry, report) for entry, report in found if not report.reasons[0].startswith("interrupted:")]


def assert_sound(store: AdmissionStore, point: str) -> list[str]:
    """What is stored; nothing of it twice, all of it admitted by a report, and no write left open."""
    items = store.search(NAMESPACE)
    stored = [item.value["content"] for item in items]
    assert stored in ([], [SAID]), point
    for item in items:
        report = store.report_for(NAMESPACE, item.key)
        assert report is not None and report.action == "persist", point
    assert store.ledger.incomplete() == [], point
    assert store.ledger.verify().ok, point
    return stored


@pytest.mark.parametrize("mode", WRITERS)
def test_the_next_start_finishes_or_sets_aside_what_a_crash_left(mode: str, tmp_path: Path) -> None:
    outcomes = crash(tmp_path, mode, map(str, range(1, MORE_THAN_THERE_ARE)))
    reached = [outcome for (outcome,) in outcomes.values()]
    assert set(ALL_STEPS) < set(reached)
    assert reached[-1] == "finished"
    for point, (outcome,) in outcomes.items():
        store = open_store(tmp_path / point)
        claimed = {record.intent.value["content"] for record in store.ledger.incomplete() if record.state == "claimed"}
        decided = {record.intent.value["content"] for record in store.ledger.incomplete() if record.state == "decided"}
        stored = assert_sound(store, point)
        held = {record.intent.value["content"] for record in store.ledger.quarantine()}
        assert decided <= set(stored), point
        assert claimed <= held, point
        if outcome == "finished":
            assert stored == [SAID] and held == {NEVER_SAID}


@pytest.mark.parametrize("mode", WRITERS)
def test_the_same_write_made_again_is_one_row_and_one_verdict(mode: str, tmp_path: Path) -> None:
    outcomes = crash(tmp_path, mode, (f"{point}.none" for point in range(1, MORE_THAN_THERE_ARE)))
    for point, (_, again) in outcomes.items():
        assert again == "finished", point
        store = open_store(tmp_path / point)
        assert assert_sound(store, point) == [SAID], point
        for memory, status in ((SAID, "repaired"), (NEVER_SAID, "unresolved")):
            assert [report.status for _, report in reports_of(store, memory)] == [status], point


@pytest.mark.slow
def test_a_crash_while_another_is_made_good_is_made_good_as_well(tmp_path: Path) -> None:
    crashes = [f"{first}.{second}" for first in ("after claim", "after decide", "after put") for second in ALL_STEPS]
    outcomes = crash(tmp_path, "graph", (f"{point}.none" for point in crashes))
    assert [".".join(outcome) for outcome in outcomes.values()] == [f"{point}.finished" for point in crashes]
    for point in outcomes:
        store = open_store(tmp_path / point)
        assert assert_sound(store, point) == [SAID], point
        for memory in (SAID, NEVER_SAID):
            assert len(reports_of(store, memory)) == 1, point
