"""A conversation file of five writes, one for each status, and the command line with verifiers that match words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from recorded_writes import Run, conversation, write_file
from scripted_cli import scripted_gate
from typer.testing import CliRunner, Result

from admission.cli import audit_run
from admission.cli.app import app
from admission.cli.eval import trials as eval_trials

# scripted_chat, scripted_provider
sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("verifiers/chat", "batch")]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return write_file(tmp_path / "writes.jsonl", conversation())


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run `admission` with these arguments in an empty folder; stdout and stderr are kept apart."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit_run, "AdmissionGate", scripted_gate)
    monkeypatch.setattr(eval_trials, "AdmissionGate", scripted_gate)

    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke
