"""`admission eval views`: recorded writes in, six views out, those that ask the same named; resumable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_families import families
from recorded_writes import Run, write_file

ALIKE = ("predicate_argument_qa", "compact_relation", "composition_graph")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_file(tmp_path / "families.jsonl", *families("fam1", "fam2"))


def values(view: dict[str, Any]) -> dict[str, float]:
    return {metric: rate["value"] for metric, rate in view["rates"].items()}


def test_six_views_with_both_sides_and_the_ones_that_ask_the_same_named(run: Run, suite: Path) -> None:
    result = run("eval", "views", suite, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert len(found["views"]) == 6
    for one in found["views"]:
        assert set(values(one).values()) == {1.0}
        assert one["same_as"] == ("obligations" if one["view"] in ALIKE else None)
    assert {one["view"] for one in found["comparisons"]} == {"holistic", "atomic_claims"}


def test_the_table_has_the_published_figures_beside_and_calls_them_what_they_are(run: Run, suite: Path) -> None:
    shown = run("eval", "views", suite).stderr
    assert "Qwen3-30B-A3B, published: other models on other samples" in shown
    assert "0.165" in shown and "0.949" in shown


def test_the_report_is_the_same_bytes_on_a_rerun_which_judges_nothing(
    run: Run, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert run("eval", "views", suite, "--out", out).exit_code == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    assert {"report.html", "report.json", "views.png", "reports.jsonl"} <= set(first)
    assert len(first["reports.jsonl"].splitlines()) == 3 * 8, "three kinds of question, not six"
    assert "These judges are asked the very same in predicate_argument_qa" in first["report.html"].decode()
    with monkeypatch.context() as patch:
        patch.setattr("admission.gate.AdmissionGate.decide_many", lambda *_, **__: pytest.fail("judged again"))
        assert run("eval", "views", suite, "--out", out).exit_code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first


def test_writes_of_which_nothing_is_known_make_a_report_without_a_plot(run: Run, suite: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in suite.read_text().splitlines()]
    for row in rows:
        del row["writes"][0]["reference"]
    file = write_file(tmp_path / "plain.jsonl", *rows)
    assert run("eval", "views", file, "--out", tmp_path / "out").exit_code == 0
    assert not (tmp_path / "out" / "views.png").exists()


def test_a_label_that_is_none_is_refused_before_anything_is_judged(run: Run, suite: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in suite.read_text().splitlines()]
    rows[0]["writes"][0]["reference"]["obligations"][0]["label"] = "true"
    result = run("eval", "views", write_file(tmp_path / "wrong.jsonl", *rows))
    assert result.exit_code == 2 and "reference.obligations.0.label" in result.stderr
