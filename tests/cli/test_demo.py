"""`admission demo`: a LangGraph agent on the shipped conversation; every status occurs and the files tell it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore
from recorded_writes import EXPECTED, Run

from admission import gate
from admission.cli.demo import shipped_conversation
from admission.cli.demo_agent import NAMESPACE, build_agent, converse
from admission.gate import AdmissionGate
from admission.ledger import SqliteLedger
from admission.records import Question
from admission.reports.jsonl import read_reports
from admission.settings import Settings
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes.store import AdmissionStore


def who_knows(question: Question) -> tuple[float, float]:
    """Fake verdicts on the demo's obligations: which turn says it, which one says the opposite."""
    said = {"studio": "t1", "Lotte": "t1", "ordered": "t5", "delivered": "t7"}
    text, shown = question.obligation.text, set(question.turn_ids)
    if "landlord" in text or "because" in text:
        return 0.02, 0.02
    if "cups" in text:
        return 0.02, 0.97 if "t3" in shown else 0.02
    return (0.97 if any(word in text and turn in shown for word, turn in said.items()) else 0.02), 0.02


def knowing_gate(settings: Settings) -> AdmissionGate:
    judges = {name: ScriptedVerifier(name, who_knows) for name in ("verifier_a", "verifier_b", "adjudicator")}
    return AdmissionGate(settings, **judges)


@pytest.fixture
def without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "AdmissionGate", knowing_gate)


@pytest.mark.usefixtures("without_models")
def test_the_demo_shows_every_status_and_where_the_files_are(run: Run, tmp_path: Path) -> None:
    result = run("demo", "--out", "shown")
    assert result.exit_code == 0, result.stderr
    for status in EXPECTED:
        assert status in result.stdout
    assert "Kept, with its source corrected:" in result.stdout
    for name in ("ledger.db", "reports.jsonl", "report.html"):
        assert name in result.stdout and (tmp_path / "shown" / name).is_file()
    assert sorted(report.status for report in read_reports(tmp_path / "shown" / "reports.jsonl")) == sorted(EXPECTED)


@pytest.mark.usefixtures("without_models")
def test_the_ledger_of_the_demo_holds_what_the_demo_showed(run: Run) -> None:
    shown = json.loads(run("demo", "--json").stdout)
    ledger = ("--ledger", f"sqlite:///{shown['files']['ledger']}")
    listed = json.loads(run("list", "--json", *ledger).stdout)["reports"]
    assert [row["id"] for row in listed] == [report["id"] for report in shown["reports"]]
    assert run("verify", *ledger).exit_code == 0
    assert shown["reports"][0]["memory"] in run("show", shown["reports"][0]["id"], *ledger).stdout


@pytest.mark.usefixtures("without_models")
def test_the_demo_can_be_run_again_in_the_same_folder(run: Run, tmp_path: Path) -> None:
    for _ in range(2):
        assert run("demo", "--out", "d").exit_code == 0
    assert len(list(read_reports(tmp_path / "d" / "reports.jsonl"))) == 5


def test_only_supported_memories_reach_the_store_and_the_agent_is_told() -> None:
    recorded, inner = shipped_conversation(), InMemoryStore()
    store = AdmissionStore(inner, gate=knowing_gate(Settings()), ledger=SqliteLedger())
    reports = {report.status: report for report in converse(recorded, store)}
    stored = {item.value["content"]: item.value["citations"] for item in inner.search(NAMESPACE)}
    assert stored == {
        reports["admitted"].memory: list(reports["admitted"].citations.author),
        reports["repaired"].memory: list(reports["repaired"].citations.final),
    }
    assert reports["repaired"].citations.author != reports["repaired"].citations.final


def test_the_agent_says_what_was_recorded_and_hears_what_became_of_its_memories() -> None:
    recorded = shipped_conversation()
    agent = build_agent(recorded, AdmissionStore(InMemoryStore(), gate=knowing_gate(Settings()), ledger=SqliteLedger()))
    thread = {"configurable": {"thread_id": "one"}}
    for turn in recorded.turns:
        if turn.role == "user":
            agent.invoke({"messages": [HumanMessage(id=turn.id, content=turn.text)]}, thread)
    messages = agent.get_state(thread).values["messages"]
    assert [m.content for m in messages if m.content and m.type != "tool"] == [turn.text for turn in recorded.turns]
    told = {message.tool_call_id: message.content for message in messages if message.type == "tool"}
    assert told == {"w1": "saved", "w2": "held back", "w3": "held back", "w4": "saved", "w5": "held back"}


@pytest.mark.usefixtures("without_models")
def test_two_runs_of_the_demo_look_at_the_same_turns(run: Run) -> None:
    first, second = (json.loads(run("demo", "--json", "--out", name).stdout)["reports"] for name in ("a", "b"))
    assert [report["views"] for report in first] == [report["views"] for report in second]


@pytest.mark.slow
def test_with_the_embedded_verifiers_each_memory_ends_as_it_should(run: Run) -> None:
    result = run("demo", "--json")
    assert result.exit_code == 0, result.stderr
    found = {report["memory"]: report["status"] for report in json.loads(result.stdout)["reports"]}
    assert found == dict(zip(found, ["admitted", "contradicted", "unresolved", "repaired", "invalid"], strict=True))
