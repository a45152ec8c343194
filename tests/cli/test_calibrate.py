"""`admission calibrate`: the setting it writes, what it promises for it, and when it promises nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_writes import Run, write_file
from scripted_cli import scripted_gate

from admission.cli import audit_run, calibrate_run
from admission.errors import VerifierError
from admission.evaluation.calibration import GRID
from admission.gate import AdmissionGate
from admission.records import Question
from admission.settings import Settings, load_settings
from admission.verifiers.scripted import ScriptedVerifier

# Each memory's last word is how sure every judge is of it: in hundredths, whatever the passages say.
CONVERSATIONS = 14


def sure(question: Question) -> tuple[float, float]:
    return int(question.obligation.text.rstrip(".").split()[-1]) / 100, 0.0


def sure_gate(settings: Settings) -> AdmissionGate:
    return AdmissionGate(
        settings, **{n: ScriptedVerifier(n, sure) for n in ("verifier_a", "verifier_b", "adjudicator")}
    )


def conversation(number: int, writes: list[dict[str, Any]]) -> dict[str, Any]:
    turn = {"id": "t1", "role": "user", "speaker": "Ines", "text": "The boat and the pier, counted."}
    return {"id": f"c{number}", "turns": [turn], "writes": writes}


def write(id: str, hundredths: int, status: str | None) -> dict[str, Any]:
    reference = {} if status is None else {"reference": {"status": status}}
    return {"id": id, "memory": f"The boat weighs {hundredths}.", "citations": ["t1"], **reference}


@pytest.fixture(autouse=True)
def _judges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate_run, "AdmissionGate", sure_gate)


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Fourteen conversations, each with a valid write judged at .9, an unsupported one at .2, and two to leave out.

    In three of them the unsupported write is judged at .8.
    """
    return write_file(
        tmp_path / "labelled.jsonl",
        *(
            conversation(
                number,
                [
                    write("valid", 90, ("admitted", "repaired", "admitted_or_repaired")[number % 3]),
                    write("unsupported", 80 if number < 3 else 20, ("unresolved", "contradicted")[number % 2]),
                    write("claimless", 50, "invalid"),
                    write("unlabelled", 50, None),
                ],
            )
            for number in range(CONVERSATIONS)
        ),
    )


def test_the_setting_it_prints_is_the_most_lenient_that_keeps_the_bound(run: Run, labelled: Path) -> None:
    """None of 14 shows .20; three of 14 do not. .8 is let in up to strictness log(4) = 1.39: 1.5 keeps it out."""
    result = run("calibrate", labelled, "--max-unsupported", "0.2")
    assert result.exit_code == 0
    assert result.stdout.endswith("[verification]\nstrictness = 1.5\n")
    assert "at most 0.2" in result.stdout and "14 of them unsupported, from 14 conversations" in result.stdout
    assert "← chosen" in result.stderr and "14/14 = 1.000" in result.stderr
    assert "independently" in result.stderr


def test_what_the_gate_admits_with_the_setting_is_what_was_said(
    run: Run, labelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_run, "AdmissionGate", sure_gate)
    assert run("calibrate", labelled, "--max-unsupported", "0.5", "--out", "strict.toml").stdout == ""
    assert load_settings(tmp_path / "strict.toml").verification.strictness == -1.375
    found = json.loads(run("calibrate", labelled, "--max-unsupported", "0.5", "--json").stdout)
    (point,) = [point for point in found["grid"] if point["strictness"] == found["strictness"]]
    metrics = json.loads(run("audit", labelled, "--config", "strict.toml", "--json").stdout)["metrics"]
    assert metrics["unsupported_admission"]["value"] == point["unsupported_admitted"] / 14 == 3 / 14
    assert metrics["valid_retention"]["value"] == point["valid_kept"] / 14 == 1


def test_json_has_the_choice_the_promise_the_grid_and_the_curves(run: Run, labelled: Path) -> None:
    found = json.loads(run("calibrate", labelled, "--max-unsupported", "0.2", "--confidence", "0.95", "--json").stdout)
    assert (found["strictness"], found["confidence"], found["at_least"]) == (1.5, 0.95, 14)
    assert found["guarantee"].startswith("With probability at least 0.95")
    assert "independently" in found["assumption"]
    assert found["writes"] == {
        "valid": 14,
        "unsupported": 14,
        "conversations_with_unsupported": 14,
        "skipped": {"invalid": 14, "none": 14},
    }
    assert [point["strictness"] for point in found["grid"]] == list(GRID)
    at = {point["strictness"]: point for point in found["risk_coverage"]}
    assert at[8.0] == {
        "strictness": 8.0, "coverage": 0.0, "risk": None, "retention": 0.0, "unsupported_admission": 0.0,
    }  # fmt: skip
    assert (at[0.0]["coverage"], at[0.0]["risk"], at[0.0]["unsupported_admission"]) == (17 / 28, 3 / 17, 3 / 14)
    assert found["wanting"] == {"strictness": 1.375, "rate": 3 / 14, "writes_needed": None}
    # Of 28 writes, 14 at .9 all valid, 11 at .2 and 3 at .8 all unsupported.
    error = (14 * 0.1 + 11 * 0.2 + 3 * 0.8) / 28
    assert found["judges"]["verifier_a"]["equal_width"] == pytest.approx(error)
    assert found["judges"]["verifier_a"]["n"] == 28
    assert found["toml"].endswith("strictness = 1.5\n")


def test_too_few_labelled_writes_are_refused_before_anything_is_judged(
    run: Run, labelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate_run, "AdmissionGate", None)
    result = run("calibrate", labelled, "--max-unsupported", "0.1", "--out", "strict.toml")
    assert result.exit_code == 1
    assert "refused: 14 labelled unsupported writes" in result.stderr and "at least 22 are needed" in result.stderr
    assert result.stdout == "" and not (tmp_path / "strict.toml").exists()


def test_a_bound_that_no_strictness_keeps_is_refused(run: Run, tmp_path: Path) -> None:
    certain = [conversation(n, [write("w", 100, "unresolved")]) for n in range(12)]
    file = write_file(tmp_path / "certain.jsonl", *certain)
    result = run("calibrate", file, "--max-unsupported", "0.2", "--out", "strict.toml")
    assert result.exit_code == 1
    assert "12 of 12 unsupported writes are admitted" in result.stderr
    assert not (tmp_path / "strict.toml").exists()
    found = json.loads(run("calibrate", file, "--max-unsupported", "0.2", "--json").stdout)
    assert found["strictness"] is None and found["toml"] == found["guarantee"] == ""
    assert "12 of 12" in found["refused"] and len(found["grid"]) == len(GRID)


def test_a_run_goes_on_from_the_decisions_it_kept(
    run: Run, labelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run("calibrate", labelled, "--max-unsupported", "0.2", "--decisions", "d.jsonl", "--json").stdout
    kept = (tmp_path / "d.jsonl").read_bytes().splitlines(keepends=True)
    assert len(kept) == 28
    (tmp_path / "d.jsonl").write_bytes(b"".join(kept[:20]) + kept[20][:50])
    asked: list[str] = []

    def listening(settings: Settings) -> AdmissionGate:
        def script(question: Question) -> tuple[float, float]:
            asked.append(question.memory)
            return sure(question)

        judges = {name: ScriptedVerifier(name, script) for name in ("verifier_a", "verifier_b", "adjudicator")}
        return AdmissionGate(settings, **judges)

    monkeypatch.setattr(calibrate_run, "AdmissionGate", listening)
    assert run("calibrate", labelled, "--max-unsupported", "0.2", "--decisions", "d.jsonl", "--json").stdout == whole
    assert (tmp_path / "d.jsonl").read_bytes().splitlines(keepends=True) == kept
    assert asked
    asked.clear()
    run("calibrate", labelled, "--max-unsupported", "0.3", "--decisions", "d.jsonl")
    assert asked == []


def test_a_write_that_changed_is_judged_anew(run: Run, tmp_path: Path) -> None:
    def calibrated(hundredths: int) -> int:
        writes = [conversation(n, [write("w", hundredths, "unresolved")]) for n in range(5)]
        file = write_file(tmp_path / "w.jsonl", *writes)
        found = json.loads(
            run("calibrate", file, "--max-unsupported", "0.4", "--decisions", "d.jsonl", "--json").stdout
        )
        return int(found["grid"][GRID.index(0.0)]["unsupported_admitted"])

    assert (calibrated(20), calibrated(80), calibrated(20)) == (0, 5, 0)


def test_decisions_of_another_configuration_are_refused(run: Run, labelled: Path, tmp_path: Path) -> None:
    run("calibrate", labelled, "--max-unsupported", "0.2", "--decisions", "d.jsonl")
    (tmp_path / "other.toml").write_text("[evidence]\nretrieved = 3\n")
    result = run("calibrate", labelled, "--max-unsupported", "0.2", "--decisions", "d.jsonl", "--config", "other.toml")
    assert result.exit_code == 2
    assert "another configuration" in result.stderr


def test_a_stopped_run_says_how_to_go_on(run: Run, labelled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(self: object, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("admission.evaluation.strictness_grid.StrictnessGrid.decide", stopped)
    for arguments, again in (([], "with --decisions"), (["--decisions", "d.jsonl"], "run it again")):
        result = run("calibrate", labelled, "--max-unsupported", "0.2", *arguments)
        assert result.exit_code == 130
        assert "28 writes to go" in result.stderr and again in result.stderr


def test_judges_that_fail_are_not_taken_for_strict_ones(
    run: Run, labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(question: Question) -> tuple[float, float]:
        raise VerifierError("unavailable", "no weights")

    failing = ScriptedVerifier("a", fails)
    monkeypatch.setattr(
        calibrate_run,
        "AdmissionGate",
        lambda settings: AdmissionGate(settings, verifier_a=failing, verifier_b=failing, adjudicator=failing),
    )
    result = run("calibrate", labelled, "--max-unsupported", "0.2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no weights" in result.stderr


def test_a_setting_is_only_written_over_one_of_its_own(run: Run, labelled: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert run("calibrate", labelled, "--max-unsupported", "0.2", "--out", "strict.toml").exit_code == 0
    (tmp_path / "mine.toml").write_text("[evidence]\nretrieved = 3\n")
    result = run("calibrate", labelled, "--max-unsupported", "0.2", "--out", "mine.toml")
    assert result.exit_code == 2
    assert "not a file this command wrote" in result.stderr
    assert (tmp_path / "mine.toml").read_text() == "[evidence]\nretrieved = 3\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--max-unsupported", "0"], "--max-unsupported: 0 cannot be promised"),
        (["--max-unsupported", "0.2", "--confidence", "1"], "--confidence: 1 cannot be promised"),
        (["--max-unsupported", "0.2", "--out", "nowhere/strict.toml"], "--out: there is no folder"),
        (["--max-unsupported", "0.2", "--config", "missing.toml"], "config: no file"),
        (["--max-unsupported", "0.2", "--decisions", "labelled.jsonl"], "labelled.jsonl:1: --decisions"),
    ],
)
def test_wrong_usage_is_one_line_with_status_2(run: Run, labelled: Path, arguments: list[str], problem: str) -> None:
    before = labelled.read_bytes()
    result = run("calibrate", labelled, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert problem in result.stderr and result.stderr.count("\n") == 1
    assert labelled.read_bytes() == before


def test_a_reference_that_cannot_be_read_is_named_with_its_line(run: Run, tmp_path: Path) -> None:
    file = write_file(
        tmp_path / "w.jsonl", conversation(1, [write("w", 10, "admitted")]), conversation(2, [write("w", 10, "fine")])
    )
    file.write_text(file.read_text().replace("\n", "\n\n", 1))
    result = run("calibrate", file, "--max-unsupported", "0.1")
    assert result.exit_code == 2
    assert "w.jsonl:3, w: reference.status" in result.stderr


def test_verifiers_that_match_words_can_be_calibrated_too(
    run: Run, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate_run, "AdmissionGate", scripted_gate)
    result = run("calibrate", recorded, "--max-unsupported", "0.5", "--confidence", "0.7")
    assert result.exit_code == 0
    assert "2/2 = 1.000" in result.stderr
