"""`admission eval interventions`: decisions before and after the history was changed, with flips; resumable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recorded_families import families
from recorded_writes import Run, write_file


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_file(tmp_path / "families.jsonl", *families("fam1", "fam2"))


def test_judges_that_match_words_let_go_of_every_valid_memory_without_its_evidence(run: Run, suite: Path) -> None:
    result = run("eval", "interventions", suite, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["writes"] == {"evidence_removed": 4, "premise_replaced": 4}
    rows = {(one["intervention"], one["view"], one["part"]): one for one in found["figures"]}
    for view in ("holistic", "obligations"):
        removed = rows["evidence_removed", view, "all"]
        assert [removed[name]["value"] for name in ("before", "after", "flipped")] == [1.0, 0.0, 1.0]
        assert rows["premise_replaced", view, "all"]["before"]["value"] == 0.0
        assert rows["evidence_removed", view, "distributed_valid"]["before"]["n"] == 2


def test_the_table_has_the_published_ranges_beside_and_calls_them_what_they_are(run: Run, suite: Path) -> None:
    shown = run("eval", "interventions", suite).stderr
    assert "published: other models on other samples" in shown
    assert "0.88 to 1.00" in shown and "0.65 to 0.88" in shown


def test_the_report_is_the_same_bytes_on_a_rerun_which_judges_nothing(
    run: Run, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert run("eval", "interventions", suite, "--view", "holistic", "--out", out).exit_code == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    assert {"report.html", "report.json", "interventions.png", "reports.jsonl"} <= set(first)
    with monkeypatch.context() as patch:
        patch.setattr("admission.gate.AdmissionGate.decide_many", lambda *_, **__: pytest.fail("judged again"))
        assert run("eval", "interventions", suite, "--view", "holistic", "--out", out).exit_code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first


def test_writes_without_references_are_counted_and_nothing_is_judged(run: Run, suite: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in suite.read_text().splitlines()]
    for row in rows:
        del row["writes"][0]["reference"]
    file = write_file(tmp_path / "plain.jsonl", *rows)
    found = json.loads(run("eval", "interventions", file, "--json").stdout)
    assert (found["unlabelled"], found["figures"]) == (8, [])
