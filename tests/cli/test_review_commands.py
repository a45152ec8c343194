"""`admission review` and `admission readjudicate` on a ledger that an agent's store filled."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore
from recorded_writes import Run, write_file

sys.path.append(str(Path(__file__).parents[1] / "graph_nodes"))

from scripted_gate import DENIED, NAMESPACE, NEVER_SAID, SAID, TALK, guarded, scripted_gate, stored

from admission.ledger import Ledger, open_ledger
from admission.settings import Settings
from graph_nodes import conversation

LEDGER = ("--ledger", "sqlite:///l.db")
WHO = ("--by", "Bo", "--why", "I asked her")
TURNS = [{"id": m.id, "role": "assistant" if m.type == "ai" else "user", "text": m.content} for m in TALK]
OSLO = {"id": "m4", "role": "user", "text": "In the end Ana moved to Oslo in June."}


@pytest.fixture
def ledger(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """A ledger in which two memories of the thread t1 wait: one unresolved, one contradicted."""

    def gate(settings: Settings) -> Any:
        return scripted_gate(**settings.model_dump(exclude_unset=True))

    monkeypatch.setattr("admission.gate.AdmissionGate", gate)
    opened = open_ledger("sqlite:///l.db")
    store = guarded(ledger=opened)
    with conversation("t1", TALK):
        store.put(NAMESPACE, "oslo", {"content": NEVER_SAID})
        store.put(NAMESPACE, "parrot", {"content": DENIED})
    yield opened
    opened.close()


def printed(run: Run, *arguments: object) -> dict[str, Any]:
    result = run(*arguments, *LEDGER, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def refused(run: Run, *arguments: object) -> str:
    """The one line on stderr; nothing on stdout."""
    result = run(*arguments, *LEDGER)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    return result.stderr


def waiting(run: Run) -> dict[str, str]:
    """Report ids of the waiting memories, by memory."""
    return {memory["memory"]: memory["id"] for memory in printed(run, "review")["memories"]}


def talk(tmp_path: Path, *turns: dict[str, Any], id: str = "t1") -> Path:
    return write_file(tmp_path / f"{id}.jsonl", {"id": id, "namespace": ["n"], "turns": [*TURNS, *turns]})


def at_the_next_start(ledger: Ledger) -> dict[str, dict[str, Any]]:
    """What an agent's store holds that is started on this ledger."""
    return stored(guarded(InMemoryStore(), ledger=ledger))


@pytest.mark.usefixtures("ledger")
class TestListing:
    def test_what_waits_is_listed_with_what_is_needed_to_decide(self, run: Run) -> None:
        oslo, parrot = printed(run, "review")["memories"]
        assert (oslo["memory"], oslo["status"], oslo["key"]) == (NEVER_SAID, "unresolved", "oslo")
        assert (parrot["memory"], parrot["status"]) == (DENIED, "contradicted")
        assert "grey parrot" in {e["turn"]: e["text"] for e in parrot["evidence"]}["m3"]

    def test_as_a_table(self, run: Run) -> None:
        result = run("review", *LEDGER)
        assert "? unresolved" in result.stdout and "✗ contradicted" in result.stdout


class TestApprove:
    def test_the_store_takes_it_at_its_next_start_marked(self, run: Run, ledger: Ledger) -> None:
        id = waiting(run)[NEVER_SAID]
        outcome = printed(run, "review", id, "--approve", *WHO)
        assert (outcome["outcome"], outcome["to_be_stored"], outcome["stored"]) == ("approved", True, False)
        assert (outcome["id"], outcome["by"], outcome["why"]) == (id, "Bo", "I asked her")
        marked = {"content": NEVER_SAID, "admission": "approved_over_unresolved"}
        assert at_the_next_start(ledger) == {"oslo": marked}
        assert list(waiting(run)) == [DENIED] and ledger.verify().ok

    def test_the_beginning_of_an_id_will_do_and_a_sentence_says_what_happens(self, run: Run, ledger: Ledger) -> None:
        id = waiting(run)[NEVER_SAID]
        result = run("review", id[:8], "--approve", *WHO, *LEDGER)
        assert result.stdout == f"{id} approved by Bo; it is stored at the next start of the agent's store\n"

    def test_the_same_decision_again_is_no_error_and_changes_nothing(self, run: Run, ledger: Ledger) -> None:
        decision = ("review", waiting(run)[NEVER_SAID], "--approve", *WHO)
        printed(run, *decision)
        head = ledger.head()
        assert printed(run, *decision)["outcome"] == "approved"
        assert ledger.head() == head


class TestReject:
    def test_it_stays_in_the_ledger_and_waits_no_longer(self, run: Run, ledger: Ledger) -> None:
        assert printed(run, "review", waiting(run)[DENIED], "--reject", *WHO)["outcome"] == "rejected"
        assert list(waiting(run)) == [NEVER_SAID]
        assert len(ledger.quarantine()) == 2 and at_the_next_start(ledger) == {}

    def test_another_decision_after_it_is_refused_and_says_by_whom_it_was_made(self, run: Run, ledger: Ledger) -> None:
        id = waiting(run)[DENIED]
        printed(run, "review", id, "--reject", *WHO)
        head = ledger.head()
        said = refused(run, "review", id, "--edit", SAID, "--by", "Cy", "--why", "better")
        assert "settled before: rejected by Bo" in said and ledger.head() == head

    def test_a_person_may_overrule_it(self, run: Run, ledger: Ledger) -> None:
        id = waiting(run)[DENIED]
        printed(run, "review", id, "--reject", *WHO)
        outcome = printed(run, "review", id, "--approve", "--by", "Cy", "--why", "Bo did not know")
        assert outcome["outcome"] == "approved" and outcome["detail"].startswith("rejected by Bo at ")
        assert list(at_the_next_start(ledger)) == ["parrot"]


class TestEdit:
    def test_it_is_judged_on_the_conversation_as_it_was(self, run: Run, ledger: Ledger, tmp_path: Path) -> None:
        file = talk(tmp_path, OSLO)
        outcome = printed(run, "review", waiting(run)[DENIED], "--edit", SAID, "--conversation", file, *WHO)
        assert (outcome["outcome"], outcome["to_be_stored"]) == ("edited", True)
        report = outcome["report"]
        assert (report["memory"], report["status"], report["written_after"]) == (SAID, "repaired", "m3")
        assert at_the_next_start(ledger) == {"parrot": {"content": SAID}}

    def test_without_a_conversation_it_stays_unresolved_and_waits(self, run: Run, ledger: Ledger) -> None:
        outcome = printed(run, "review", waiting(run)[NEVER_SAID], "--edit", SAID, *WHO)
        assert (outcome["report"]["status"], outcome["to_be_stored"]) == ("unresolved", False)
        assert waiting(run)[SAID] == outcome["report"]["id"]
        assert at_the_next_start(ledger) == {}

    def test_a_file_without_its_conversation_is_refused(self, run: Run, ledger: Ledger, tmp_path: Path) -> None:
        file = talk(tmp_path, id="another")
        edit = ("review", waiting(run)[NEVER_SAID], "--edit", SAID, "--conversation", file)
        assert "no conversation 't1'" in refused(run, *edit, *WHO)
        assert len(waiting(run)) == 2


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ID",), "one verdict"),
        (("--approve",), "takes an ID"),
        (("ID", "--approve", "--reject"), "one verdict"),
        (("ID", "--approve", "--by", "Bo"), "--why"),
        (("ID", "--reject", "--by", " ", "--why", "no"), "--by"),
        (("ID", "--edit", " ", "--by", "Bo", "--why", "no"), "--edit"),
        (("nothing", "--approve", "--by", "Bo", "--why", "yes"), "no single report is named"),
        (("ID", "--approve", "--conversation", "x.jsonl", *WHO), "--conversation"),
    ],
)
def test_a_decision_that_is_not_one_is_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    id = waiting(run)[NEVER_SAID]
    assert said in refused(run, "review", *(id if argument == "ID" else argument for argument in arguments))
    assert len(waiting(run)) == 2


def test_an_audited_memory_is_no_write_to_decide_on(run: Run, recorded: Path) -> None:
    run("audit", recorded, *LEDGER)
    said = refused(run, "review", "w3", "--approve", *WHO)
    assert "judged by an audit" in said and "`admission show w3`" in said


def test_a_ledger_of_audits_says_why_nothing_waits_in_it(run: Run, recorded: Path) -> None:
    run("audit", recorded, *LEDGER)
    for command in (["review"], ["readjudicate", recorded]):
        result = run(*command, "--json", *LEDGER)
        assert (result.exit_code, "5 reports here are those of audits" in result.stderr) == (0, True)
        assert not any(json.loads(result.stdout).values())


class TestReadjudicate:
    def test_what_the_conversation_now_supports_waits_for_a_person(
        self, run: Run, ledger: Ledger, tmp_path: Path
    ) -> None:
        former = waiting(run)[NEVER_SAID]
        found = printed(run, "readjudicate", talk(tmp_path, OSLO))
        (judged,) = found["judged"]
        assert (judged["former"], judged["report"]["action"]) == (former, "review")
        assert found["left"] == found["unanswered"] == [] and found["calls"] > 0
        assert waiting(run)[NEVER_SAID] == judged["report"]["id"]
        assert at_the_next_start(ledger) == {} and ledger.verify().ok

    def test_or_is_stored_where_that_is_asked_for(self, run: Run, ledger: Ledger, tmp_path: Path) -> None:
        printed(run, "readjudicate", talk(tmp_path, OSLO), "--readmit", "store")
        assert at_the_next_start(ledger) == {"oslo": {"content": NEVER_SAID}}

    def test_a_dry_run_says_what_is_due_and_changes_nothing(self, run: Run, ledger: Ledger, tmp_path: Path) -> None:
        head = ledger.head()
        (due,) = printed(run, "readjudicate", talk(tmp_path, OSLO), "--dry-run")["due"]
        assert (due["memory"], due["conversation"], due["since"]) == (NEVER_SAID, "t1", ["m4"])
        assert ledger.head() == head

    @pytest.mark.parametrize("bound", [("--budget", "0"), ("--calls", "0")])
    def test_beyond_the_budget_it_is_left(
        self, run: Run, ledger: Ledger, tmp_path: Path, bound: tuple[str, str]
    ) -> None:
        found = printed(run, "readjudicate", talk(tmp_path, OSLO), *bound)
        assert (found["judged"], found["left"]) == ([], [waiting(run)[NEVER_SAID]])

    def test_where_nothing_was_said_since_nothing_is_done(self, run: Run, ledger: Ledger, tmp_path: Path) -> None:
        head = ledger.head()
        result = run("readjudicate", talk(tmp_path), *LEDGER)
        assert (result.exit_code, result.stderr) == (0, "admission: 0 judged again, 0 without an answer, 0 left\n")
        assert ledger.head() == head

    @pytest.mark.usefixtures("ledger")
    def test_wrong_input_is_refused(self, run: Run, tmp_path: Path) -> None:
        file = talk(tmp_path, OSLO)
        assert "--readmit" in refused(run, "readjudicate", file, "--readmit", "silently")
        assert "'t1'" in refused(run, "readjudicate", file, file)


@pytest.mark.parametrize("command", [["review"], ["readjudicate", "x.jsonl"]])
def test_a_ledger_that_is_not_there_is_not_begun(run: Run, tmp_path: Path, command: list[str]) -> None:
    assert "no ledger" in refused(run, *command)
    assert not (tmp_path / "l.db").exists()
