"""`admission list`, `show`, `verify` and `export` on a ledger that an audit filled."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from recorded_writes import EXPECTED, Run, conversation, write_file

from admission.ledger import open_ledger

LEDGER = ("--ledger", "sqlite:///l.db")


@pytest.fixture
def ledger(run: Run, recorded: Path, tmp_path: Path) -> Path:
    """Five reports in namespace harbour/c1 and five in harbour/c2."""
    other = write_file(tmp_path / "other.jsonl", conversation("c2"))
    assert run("audit", recorded, other, "--json", *LEDGER).exit_code == 0
    return tmp_path / "l.db"


def listed(run: Run, *arguments: str) -> list[tuple[str, str]]:
    result = run("list", "--json", *LEDGER, *arguments)
    assert result.exit_code == 0, result.stderr
    return [(row["conversation"], row["status"]) for row in json.loads(result.stdout)["reports"]]


@pytest.mark.usefixtures("ledger")
class TestList:
    def test_every_report_oldest_first(self, run: Run) -> None:
        assert listed(run) == [(c, status) for c in ("c1", "c2") for status in EXPECTED]

    def test_by_status(self, run: Run) -> None:
        assert listed(run, "--status", "repaired") == [("c1", "repaired"), ("c2", "repaired")]

    def test_by_namespace_prefix(self, run: Run) -> None:
        assert {c for c, _ in listed(run, "--namespace", "harbour/c2")} == {"c2"}
        assert len(listed(run, "--namespace", "harbour")) == 10
        assert listed(run, "--namespace", "harb") == []

    def test_by_time(self, run: Run) -> None:
        assert len(listed(run, "--since", "2020-01-01")) == 10
        assert listed(run, "--since", "2999-01-01T00:00") == []

    def test_as_a_table(self, run: Run) -> None:
        result = run("list", *LEDGER)
        assert "✎ repaired" in result.stdout and "Held back" in result.stdout

    @pytest.mark.parametrize("wrong", [("--status", "fine"), ("--since", "yesterday")])
    def test_wrong_filters_say_what_is_right(self, run: Run, wrong: tuple[str, str]) -> None:
        result = run("list", *LEDGER, *wrong)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
        assert wrong[0] in result.stderr and wrong[1] in result.stderr


@pytest.mark.usefixtures("ledger")
class TestShow:
    def test_one_report_in_full(self, run: Run) -> None:
        result = run("show", "w4", "--conversation", "c1", *LEDGER)
        assert "✗ contradicted → quarantine" in result.stdout and "Untrue: Ines sold the boat." in result.stdout

    def test_as_json_with_its_place_in_the_ledger(self, run: Run) -> None:
        found = json.loads(run("show", "w4", "--conversation", "c2", "--json", *LEDGER).stdout)
        assert (found["id"], found["status"], found["entry"]["kind"]) == ("w4", "contradicted", "report")
        assert found["conversation"] == "c2"
        assert "body" not in found["entry"]

    def test_an_id_of_two_conversations_is_not_guessed_at(self, run: Run) -> None:
        result = run("show", "w4", *LEDGER)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert "2 conversations: 'c1', 'c2'" in result.stderr and "--conversation" in result.stderr

    def test_a_conversation_without_that_id_is_bad_input(self, run: Run) -> None:
        result = run("show", "w4", "--conversation", "c3", *LEDGER)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
        assert "no report in 'c3', but in 'c1', 'c2'" in result.stderr

    def test_an_id_of_one_conversation_needs_no_more_however_often_it_was_judged(
        self, run: Run, tmp_path: Path
    ) -> None:
        file = write_file(tmp_path / "once.jsonl", conversation("c3", writes=[{"id": "x1", "memory": "Ines is 7."}]))
        run("audit", file, "--json", *LEDGER)
        run("audit", file, "--json", "--setting", "citation_only", *LEDGER)
        assert run("show", "x1", *LEDGER).exit_code == 0

    def test_an_unknown_id_is_bad_input(self, run: Run) -> None:
        result = run("show", "nothing", *LEDGER)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "admission list" in result.stderr


class TestVerify:
    def test_a_whole_ledger_is_ok(self, run: Run, ledger: Path) -> None:
        result = run("verify", *LEDGER)
        assert result.exit_code == 0
        assert result.stdout.startswith("ok: 10 records, head ")

    def test_the_first_bad_record_is_named_with_status_1(self, run: Run, ledger: Path) -> None:
        with sqlite3.connect(ledger) as db:
            (body,) = db.execute("SELECT body FROM entries WHERE seq = 3").fetchone()
            for trigger in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                db.execute(f"DROP TRIGGER {trigger[0]}")
            db.execute("UPDATE entries SET body = ? WHERE seq = 3", (body.replace("unresolved", "admitted"),))
        result = run("verify", "--json", *LEDGER)
        assert result.exit_code == 1
        found = json.loads(result.stdout)
        assert (found["ok"], found["first_bad"]) == (False, 3)
        assert "record 3: " in result.stderr

    def test_a_head_kept_elsewhere_shows_a_ledger_rolled_back(self, run: Run, ledger: Path, tmp_path: Path) -> None:
        kept = tmp_path / "head.json"
        kept.write_text(run("verify", "--json", *LEDGER).stdout)
        assert run("verify", "--head", kept, *LEDGER).exit_code == 0
        ledger.unlink()
        run("audit", write_file(tmp_path / "other.jsonl", conversation("c2")), *LEDGER)
        assert run("verify", *LEDGER).exit_code == 0
        assert run("verify", "--head", kept, *LEDGER).exit_code == 1

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"seq": 1}'])
    def test_a_file_without_a_head_is_bad_input(self, run: Run, ledger: Path, tmp_path: Path, content: str) -> None:
        (tmp_path / "head.json").write_text(content)
        result = run("verify", "--head", "head.json", *LEDGER)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


@pytest.mark.usefixtures("ledger")
class TestExport:
    def test_every_entry_on_a_line(self, run: Run) -> None:
        entries = [json.loads(line) for line in run("export", *LEDGER).stdout.splitlines()]
        assert [entry["seq"] for entry in entries] == list(range(1, 11))
        assert entries[3]["body"]["status"] == "contradicted"

    def test_to_a_file(self, run: Run, tmp_path: Path) -> None:
        printed = run("export", *LEDGER).stdout
        result = run("export", "--out", "e.jsonl", *LEDGER)
        assert (result.exit_code, result.stdout) == (0, "")
        assert (tmp_path / "e.jsonl").read_text(encoding="utf-8") == printed

    def test_as_one_object(self, run: Run) -> None:
        entries = [json.loads(line) for line in run("export", *LEDGER).stdout.splitlines()]
        result = run("export", "--json", *LEDGER)
        assert json.loads(result.stdout) == {"entries": entries} and result.stderr == ""

    def test_to_a_file_with_an_object_that_says_so(self, run: Run) -> None:
        result = run("export", "--json", "--out", "e.jsonl", *LEDGER)
        assert json.loads(result.stdout) == {"out": "e.jsonl", "written": 10}


@pytest.mark.parametrize("command", [["list"], ["show", "w1"], ["verify"], ["export"]])
def test_reading_a_ledger_that_is_not_there_does_not_begin_one(run: Run, tmp_path: Path, command: list[str]) -> None:
    result = run(*command, *LEDGER)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert not (tmp_path / "l.db").exists()


def test_trace_without_a_question_lists_those_that_have_one(run: Run, tmp_path: Path) -> None:
    with closing(open_ledger(f"sqlite:///{tmp_path / 'l.db'}")) as ledger:
        for question in ("t/q2", "t/q1", "t/q2"):
            ledger.record_read(question, {"event": "read"}, namespace=("memories", "ana"))
    shown = run("trace", *LEDGER)
    assert shown.exit_code == 0 and shown.stdout.index("t/q2") < shown.stdout.index("t/q1")
    questions = json.loads(run("trace", "--json", *LEDGER).stdout)["questions"]
    assert [(one["id"], one["namespace"]) for one in questions] == [
        ("t/q2", ["memories", "ana"]),
        ("t/q1", ["memories", "ana"]),
    ]


def test_the_ledger_of_the_settings_is_the_default(run: Run, recorded: Path, tmp_path: Path) -> None:
    run("audit", recorded, *LEDGER)
    (tmp_path / "mine.toml").write_text('[ledger]\nurl = "sqlite:///l.db"\n')
    assert run("verify", "--config", "mine.toml").stdout.startswith("ok: 5 records")
