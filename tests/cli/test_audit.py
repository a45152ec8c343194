"""`admission audit`: reports by the contract, resumable, stoppable, the same twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from recorded_writes import EXPECTED, Run, conversation, write_file

from admission.cli import audit_run
from admission.gate import AdmissionGate
from admission.reports.jsonl import read_reports
from admission.verifiers.unavailable import UnavailableVerifier

PROGRAM = [sys.executable, str(Path(__file__).with_name("scripted_cli.py"))]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def untimed(path: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name != "timing_ms"} for line in lines(path)]


def test_every_write_gets_one_report_in_input_order(run: Run, recorded: Path, tmp_path: Path) -> None:
    result = run("audit", recorded, "--out", "r.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    found = lines(tmp_path / "r.jsonl")
    assert [line["id"] for line in found] == ["w1", "w2", "w3", "w4", "w5"]
    assert [line["status"] for line in found] == EXPECTED
    assert found[1]["citations"] == {"author": ["t1"], "invalid": [], "final": ["t2"]}
    assert found[0]["namespace"] == ["harbour", "c1"]


def test_each_report_is_on_disk_before_the_next_is_written(
    run: Run, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(len(lines(tmp_path / "r.jsonl"))))
    assert run("audit", recorded, "--out", "r.jsonl").exit_code == 0
    assert synced[:5] == [1, 2, 3, 4, 5]


def test_without_out_reports_go_to_stdout_and_nothing_else_does(run: Run, recorded: Path) -> None:
    result = run("audit", recorded)
    assert [json.loads(line)["status"] for line in result.stdout.splitlines()] == EXPECTED
    assert "valid retention" in result.stderr


def test_json_prints_one_object_with_counts_and_metrics(run: Run, recorded: Path) -> None:
    result = run("audit", recorded, "--out", "r.jsonl", "--json")
    summary = json.loads(result.stdout)
    assert summary["reports"] == 5
    assert summary["counts"] == dict.fromkeys(EXPECTED, 1)
    assert (summary["new"], summary["already_reported"], summary["remaining"]) == (5, 0, 0)
    metrics = summary["metrics"]
    assert (metrics["valid_retention"]["value"], metrics["valid_retention"]["n"]) == (1.0, 2)
    assert metrics["repaired_retention"]["n"] == 1
    assert (metrics["unsupported_admission"]["value"], metrics["unsupported_admission"]["n"]) == (0.0, 2)
    assert (metrics["status_accuracy"]["value"], metrics["status_accuracy"]["n"]) == (0.75, 4)
    assert metrics["obligation_label_agreement"] == {"value": None, "n": 0, "low": None, "high": None}
    assert all(0 <= m["low"] <= m["value"] <= m["high"] <= 1 for m in metrics.values() if m["n"])


def test_without_references_there_are_no_metrics(run: Run, tmp_path: Path) -> None:
    file = write_file(tmp_path / "w.jsonl", conversation(writes=[{"id": "w1", "memory": "Ines owns a horse."}]))
    result = run("audit", file, "--json")
    assert "metrics" not in json.loads(result.stdout)
    assert "give --out to keep the reports" in result.stderr
    assert "--out" not in run("audit", file, "--json", "--out", "kept.jsonl").stderr


def test_the_same_file_twice_is_the_same_but_for_times(run: Run, recorded: Path, tmp_path: Path) -> None:
    run("audit", recorded, "--out", "a.jsonl")
    run("audit", recorded, "--out", "b.jsonl")
    assert untimed(tmp_path / "a.jsonl") == untimed(tmp_path / "b.jsonl")
    assert [list(line) for line in lines(tmp_path / "a.jsonl")] == [list(line) for line in lines(tmp_path / "b.jsonl")]


def test_what_is_reported_is_not_judged_again_but_counts(run: Run, recorded: Path, tmp_path: Path) -> None:
    run("audit", recorded, "--out", "r.jsonl", "--limit", "2")
    first = (tmp_path / "r.jsonl").read_bytes()
    assert len(lines(tmp_path / "r.jsonl")) == 2
    summary = json.loads(run("audit", recorded, "--out", "r.jsonl", "--json").stdout)
    assert (summary["new"], summary["already_reported"], summary["reports"]) == (3, 2, 5)
    assert (tmp_path / "r.jsonl").read_bytes().startswith(first)
    assert [line["status"] for line in lines(tmp_path / "r.jsonl")] == EXPECTED


def test_a_report_cut_short_by_a_kill_is_made_anew(run: Run, recorded: Path, tmp_path: Path) -> None:
    run("audit", recorded, "--out", "whole.jsonl")
    whole = (tmp_path / "whole.jsonl").read_bytes()
    (tmp_path / "r.jsonl").write_bytes(whole[: len(whole) - 300])
    assert run("audit", recorded, "--out", "r.jsonl").exit_code == 0
    assert untimed(tmp_path / "r.jsonl") == untimed(tmp_path / "whole.jsonl")


def test_several_files_are_one_input(run: Run, tmp_path: Path) -> None:
    one = write_file(tmp_path / "1.jsonl", conversation("c1"), conversation("c2"))
    two = write_file(tmp_path / "2.jsonl", conversation("c3"))
    run("audit", one, two, "--out", "r.jsonl")
    assert [line["conversation"] for line in lines(tmp_path / "r.jsonl")] == ["c1"] * 5 + ["c2"] * 5 + ["c3"] * 5


def test_reports_of_another_configuration_are_not_mixed_in(run: Run, recorded: Path, tmp_path: Path) -> None:
    run("audit", recorded, "--out", "r.jsonl", "--limit", "1")
    before = (tmp_path / "r.jsonl").read_bytes()
    result = run("audit", recorded, "--out", "r.jsonl", "--setting", "citation_only")
    assert result.exit_code == 2
    assert "another configuration" in result.stderr and "give another --out" in result.stderr
    assert (tmp_path / "r.jsonl").read_bytes() == before


def test_a_report_on_another_write_of_the_same_name_is_not_taken_for_it(run: Run, tmp_path: Path) -> None:
    run("audit", write_file(tmp_path / "a.jsonl", conversation()), "--out", "r.jsonl")
    changed = conversation(writes=[{"id": "w1", "memory": "Ines owns a horse."}])
    result = run("audit", write_file(tmp_path / "a.jsonl", changed), "--out", "r.jsonl")
    assert result.exit_code == 2
    assert "another write named 'w1'" in result.stderr


def test_the_citation_setting_looks_no_further(run: Run, recorded: Path, tmp_path: Path) -> None:
    run("audit", recorded, "--out", "r.jsonl", "--setting", "citation_only")
    found = lines(tmp_path / "r.jsonl")
    assert found[1]["status"] == "unresolved"
    assert all(line["views"]["expanded"] == [] for line in found)


def test_only_turns_up_to_the_write_are_looked_at(run: Run, tmp_path: Path) -> None:
    early = {"id": "w1", "memory": "Ines keeps a boat in Lisse.", "citations": ["t2"], "written_after": "t1"}
    run("audit", write_file(tmp_path / "w.jsonl", conversation(writes=[early])), "--out", "r.jsonl")
    (found,) = lines(tmp_path / "r.jsonl")
    assert found["status"] == "unresolved"
    assert found["citations"] == {"author": ["t2"], "invalid": ["t2"], "final": []}


def test_a_page_shows_the_whole_run_in_input_order(run: Run, recorded: Path, tmp_path: Path) -> None:
    run("audit", recorded, "--out", "r.jsonl", "--limit", "3")
    run("audit", recorded, "--out", "r.jsonl", "--html", "page.html")
    source = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [source.index(f'status-{status}"') for status in EXPECTED] == sorted(
        source.index(f'status-{status}"') for status in EXPECTED
    )


def test_reports_are_recorded_in_a_ledger_once(run: Run, recorded: Path) -> None:
    for _ in range(2):
        run("audit", recorded, "--ledger", "sqlite:///l.db")
    found = json.loads(run("list", "--ledger", "sqlite:///l.db", "--json").stdout)["reports"]
    assert [row["status"] for row in found] == EXPECTED


def test_a_verifier_that_cannot_be_loaded_is_told_and_nothing_is_admitted(
    run: Run, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = UnavailableVerifier("entailment", OSError("no weights"))
    monkeypatch.setattr(
        audit_run,
        "AdmissionGate",
        lambda settings: AdmissionGate(settings, verifier_a=broken, verifier_b=broken, adjudicator=broken),
    )
    result = run("audit", recorded, "--json")
    assert "no verifier entailment: no weights" in result.stderr
    assert json.loads(result.stdout)["counts"] == {**dict.fromkeys(EXPECTED, 0), "unresolved": 4, "invalid": 1}


BAD_LINES = [
    ("not json", "line: is not valid JSON"),
    ('{"id": "c1", "namespace": ["a"]}', "turns"),
    ('{"id": "c1", "namespace": ["a"], "turns": [{"id": "t1", "role": "boss", "text": ""}]}', "turns[0].role"),
]


@pytest.mark.parametrize(("line", "problem"), BAD_LINES)
def test_bad_input_is_one_line_with_its_place(run: Run, tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "writes.jsonl").write_text(line)
    result = run("audit", "writes.jsonl", "--out", "r.jsonl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "writes.jsonl:1" in result.stderr and problem in result.stderr
    assert not (tmp_path / "r.jsonl").exists()


def test_a_fault_far_down_is_found_before_anything_is_judged(run: Run, recorded: Path, tmp_path: Path) -> None:
    with recorded.open("a") as file:
        file.write("{}\n")
    assert run("audit", recorded, "--out", "r.jsonl").exit_code == 2
    assert not (tmp_path / "r.jsonl").exists()


def test_one_write_twice_is_an_error_that_names_both_places(run: Run, recorded: Path, tmp_path: Path) -> None:
    again = write_file(tmp_path / "again.jsonl", conversation("other"), conversation("c1"))
    result = run("audit", recorded, again)
    assert result.exit_code == 2
    assert "again.jsonl:2: writes.id" in result.stderr and "already at" in result.stderr
    assert "writes.jsonl:1" in result.stderr


def test_the_same_write_id_in_two_conversations_is_two_writes(run: Run, tmp_path: Path) -> None:
    file = write_file(tmp_path / "w.jsonl", conversation("c1"), conversation("c2"))
    assert json.loads(run("audit", file, "--json").stdout)["reports"] == 10


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ({"status": "fine"}, "reference.status"),
        ({"status": "admitted", "obligations": [{"text": "x", "label": "yes"}]}, "reference.obligations.0.label"),
    ],
)
def test_a_reference_that_cannot_be_scored_is_an_error(
    run: Run, tmp_path: Path, reference: dict[str, Any], problem: str
) -> None:
    write = {"id": "w1", "memory": "Ines owns a horse.", "reference": reference}
    result = run("audit", write_file(tmp_path / "w.jsonl", conversation(writes=[write])))
    assert result.exit_code == 2
    assert problem in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit"],
        ["audit", "missing.jsonl"],
        ["audit", "writes.jsonl", "--setting", "everything"],
        ["audit", "writes.jsonl", "--view", "sideways"],
        ["audit", "writes.jsonl", "--config", "missing.toml"],
        ["audit", "writes.jsonl", "--limit", "0"],
        ["audit", "writes.jsonl", "--ledger", "mongodb://x"],
        ["nonsense"],
    ],
)
def test_wrong_usage_ends_with_status_2_and_no_traceback(run: Run, recorded: Path, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr and result.stderr.strip()


def test_a_file_of_something_else_is_never_written_to(run: Run, recorded: Path) -> None:
    before = recorded.read_bytes()
    assert run("audit", recorded, "--out", recorded).exit_code == 2
    assert recorded.read_bytes() == before


def many(path: Path, count: int) -> Path:
    return write_file(path, *(conversation(f"c{n}") for n in range(count)))


def interrupt_when(path: Path, reports: int, process: subprocess.Popen[str]) -> None:
    """Send SIGINT as soon as the file holds so many reports."""
    while process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= reports:
            process.send_signal(signal.SIGINT)
            return
        time.sleep(0.02)
    raise AssertionError("the audit ended before it could be interrupted")


def test_an_interrupted_audit_keeps_what_is_done_and_goes_on_from_there(tmp_path: Path) -> None:
    recorded = many(tmp_path / "writes.jsonl", 40)
    subprocess.run([*PROGRAM, "audit", str(recorded), "--out", str(tmp_path / "whole.jsonl")], check=True)
    out = tmp_path / "r.jsonl"
    command = [*PROGRAM, "audit", str(recorded), "--out", str(out)]
    slow = os.environ | {"SCRIPTED_PAUSE": "0.2"}
    with subprocess.Popen(command, env=slow, stderr=subprocess.PIPE, text=True) as process:
        interrupt_when(out, 32, process)
        _, said = process.communicate()
    assert process.returncode == 130
    assert "run it again to go on" in said and "Traceback" not in said
    done = out.read_bytes()
    assert done.endswith(b"\n") and 32 <= done.count(b"\n") < 200
    subprocess.run(command, check=True)
    assert out.read_bytes().startswith(done)
    assert untimed(out) == untimed(tmp_path / "whole.jsonl")


def test_a_killed_audit_goes_on_from_its_last_whole_report(tmp_path: Path) -> None:
    recorded = many(tmp_path / "writes.jsonl", 40)
    out = tmp_path / "r.jsonl"
    command = [*PROGRAM, "audit", str(recorded), "--out", str(out)]
    with subprocess.Popen(command, env=os.environ | {"SCRIPTED_PAUSE": "0.2"}, stderr=subprocess.PIPE) as process:
        while not (out.exists() and out.read_bytes().count(b"\n") >= 32):
            time.sleep(0.02)
        process.kill()
    subprocess.run(command, check=True)
    keys = [(report.conversation, report.id) for report in read_reports(out)]
    assert keys == [(f"c{n}", f"w{w}") for n in range(40) for w in range(1, 6)]


def test_a_pipe_is_refused_because_the_input_is_read_twice(run: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    result = run("audit", pipe)
    assert result.exit_code == 2
    assert "no regular file" in result.stderr
