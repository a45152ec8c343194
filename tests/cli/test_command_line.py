"""The command itself: its help, and what it does not load to print it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_writes import Run, conversation, write_file

COMMANDS = (
    "audit",
    "calibrate",
    "demo",
    "list",
    "show",
    "review",
    "readjudicate",
    "verify",
    "export",
    "eval",
    "erase",
    "trace",
)
LEDGER = ("--ledger", "sqlite:///l.db")


def test_help_names_every_command(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert all(f"  {name}" in result.stdout for name in COMMANDS)


def test_help_loads_nothing_heavy() -> None:
    heavy = {"torch", "transformers", "langgraph", "langchain_core", "scipy", "numpy", "nltk", "pydantic"}
    code = f"import sys; import admission.cli.app; print({heavy!r} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "set()"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_usage_error_is_one_line_that_names_what_is_wrong_and_where_to_look(run: Run, command: str) -> None:
    result = run(command, "--bogus")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "--bogus" in result.stderr and f"admission {command} --help" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--bogus"], "--bogus"),
        (["lst"], "'list'"),
        (["audit"], "FILE..."),
        (["audit", "w.jsonl", "--limit", "0"], "--limit"),
        (["audit", "w.jsonl", "--limit", "many"], "--limit"),
        (["calibrate", "w.jsonl"], "--max-unsupported"),
        (["show"], "ID"),
        (["show", "w1", "w2"], "w2"),
        (["review", "ID", "--edit"], "--edit"),
        (["readjudicate", "w.jsonl", "--budget", "-1"], "--budget"),
    ],
)
def test_so_is_every_other(run: Run, arguments: list[str], named: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith("admission: ") and named in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "FILE", "--out", "folder"],
        ["audit", "FILE", "--out", "file/r.jsonl"],
        ["audit", "FILE", "--html", "folder"],
        ["audit", "FILE", "--html", "missing/page.html"],
        ["audit", "FILE", "--html", "r.html", "--out", "./r.html"],
        ["audit", "FILE", "--requests-out", "file"],
        ["calibrate", "FILE", "--max-unsupported", "0.2", "--out", "missing/s.toml"],
        ["calibrate", "FILE", "--max-unsupported", "0.2", "--out", "folder"],
        ["calibrate", "FILE", "--max-unsupported", "0.2", "--decisions", "folder"],
        ["calibrate", "FILE", "--max-unsupported", "0.2", "--decisions", "file/d.jsonl"],
        ["demo", "--out", "file"],
        ["demo", "--out", "taken"],
        ["export", "--out", "missing/e.jsonl", *LEDGER],
        ["export", "--out", "folder", *LEDGER],
    ],
    ids=lambda arguments: " ".join(arguments[:1] + arguments[-2:]),
)
def test_where_the_result_cannot_be_written_nothing_is_judged(
    run: Run, recorded: Path, tmp_path: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("audit", recorded, "--json", *LEDGER)
    (tmp_path / "folder").mkdir()
    (tmp_path / "taken" / "report.html").mkdir(parents=True)
    (tmp_path / "file").write_text("")

    def judging(*_: object, **__: object) -> None:
        raise AssertionError("a gate was made")

    for module in ("admission.cli.audit_run", "admission.cli.calibrate_run", "admission.gate"):
        monkeypatch.setattr(f"{module}.AdmissionGate", judging)
    result = run(*(recorded if argument == "FILE" else argument for argument in arguments))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.exception


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "FILE"],
        ["list", *LEDGER],
        ["show", "w1", *LEDGER],
        ["review", *LEDGER],
        ["readjudicate", "FILE", *LEDGER],
        ["verify", *LEDGER],
        ["export", *LEDGER],
    ],
    ids=lambda arguments: arguments[0],
)
def test_with_json_stdout_is_one_object(run: Run, recorded: Path, arguments: list[str]) -> None:
    run("audit", recorded, "--json", *LEDGER)
    result = run(*(recorded if argument == "FILE" else argument for argument in arguments), "--json")
    assert result.exit_code == 0 and isinstance(json.loads(result.stdout), dict)


def test_a_report_has_the_fields_of_the_contract(run: Run, recorded: Path) -> None:
    for line in run("audit", recorded, *LEDGER).stdout.splitlines():
        assert_contract(json.loads(line))
    assert_contract(json.loads(run("show", "w4", "--json", *LEDGER).stdout))


def assert_contract(report: dict[str, object]) -> None:
    names = {"id", "conversation", "namespace", "memory", "status", "action", "reasons", "citations", "views"}
    assert names | {"obligations", "usage", "timing_ms", "config_digest", "input_digest"} <= report.keys()

    def has(part: object, *fields: str) -> None:
        assert isinstance(part, dict) and set(fields) <= part.keys()

    has(report["citations"], "author", "invalid", "final")
    has(report["views"], "citation_only", "expanded")
    has(report["usage"], "calls", "input_tokens", "output_tokens", "cache_hits")
    has(report["timing_ms"], *(("total",) if report["status"] == "invalid" else ("total", "evidence", "verifiers")))
    assert isinstance(report["obligations"], list)
    for obligation in report["obligations"]:
        has(obligation, "text", "type", "label", "evidence", "resolved_by", "judgments")
        assert obligation["resolved_by"] in ("agreement", "adjudication", "single", "none")
        for judgment in obligation["judgments"]:
            has(judgment, "verifier", "view", "support", "contradiction", "label")


@pytest.mark.parametrize("status", ["admitted", "repaired", "unresolved", "contradicted", "invalid"])
def test_list_takes_the_options_of_the_contract(run: Run, tmp_path: Path, status: str) -> None:
    run("audit", write_file(tmp_path / "w.jsonl", conversation()), "--json", *LEDGER)
    found = run("list", "--status", status, "--namespace", "harbour", "--since", "2020-01-01", "--json", *LEDGER)
    assert [row["status"] for row in json.loads(found.stdout)["reports"]] == [status]
