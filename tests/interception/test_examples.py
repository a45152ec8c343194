"""The examples run: with scripted judges the made-up memory stays out, and on the defaults everything has a report."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from langgraph.store.memory import InMemoryStore

from admission.gate import AdmissionGate
from admission.ledger import open_ledger
from admission.records import Question
from admission.settings import load_settings
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes import AdmissionStore

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(file.stem for file in EXAMPLES.glob("*.py"))
pytest.importorskip("langmem")
pytest.importorskip("langchain.agents")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic looks the module up for the classes it defines
    spec.loader.exec_module(module)
    return module


def nothing_made_up(question: Question) -> tuple[float, float]:
    made_up = {"job", "friend"}
    return (0.0, 0.0) if made_up & set(question.obligation.text.rstrip(".").split()) else (1.0, 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_made_up_is_not_stored(name: str) -> None:
    example = load(name)
    first, second, third = (ScriptedVerifier(judge, nothing_made_up) for judge in ("first", "second", "third"))
    gate = AdmissionGate(load_settings(), verifier_a=first, verifier_b=second, adjudicator=third)
    store = AdmissionStore(InMemoryStore(), gate=gate, ledger=open_ledger("sqlite://"))
    example.main(store)
    assert [item.value["content"] for item in store.search(())] == [example.SAID]
    assert [record.intent.value["content"] for record in store.ledger.quarantine()] == [example.MADE_UP]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_on_the_defaults_it_runs_as_it_is(name: str, tmp_path: Path) -> None:
    example = load(name)
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert example.SAID in run.stdout and example.MADE_UP in run.stdout
    ledger = open_ledger(f"sqlite:///{tmp_path / 'admission.db'}")
    assert {report.memory for _, report in ledger.reports()} == {example.SAID, example.MADE_UP}
    assert ledger.verify().ok
    ledger.close()
