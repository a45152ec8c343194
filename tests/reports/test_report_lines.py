"""Report lines by the contract, and the log of reports that survives being killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import finding, report

from admission.errors import InputError
from admission.records import Report
from admission.reports.jsonl import ReportLog, parse_report, read_reports, report_line, to_json
from admission.reports.safe import one_line, printable

CONTRACT = {
    "id", "conversation", "namespace", "memory", "status", "action", "reasons", "citations", "views", "obligations",
    "usage", "timing_ms", "config_digest", "input_digest",
}  # fmt: skip


def test_a_line_has_every_field_of_the_contract(repaired: Report) -> None:
    line = json.loads(report_line(repaired))
    assert set(line) >= CONTRACT
    assert set(line["citations"]) == {"author", "invalid", "final"}
    assert set(line["views"]) == {"citation_only", "expanded"}
    assert set(line["obligations"][0]) >= {"text", "type", "label", "evidence", "resolved_by", "judgments"}
    assert set(line["obligations"][0]["judgments"][0]) >= {"verifier", "view", "support", "contradiction", "label"}
    assert set(line["usage"]) == {"calls", "input_tokens", "output_tokens", "cache_hits"}


def test_a_line_reads_back_as_the_same_report_and_the_same_line(repaired: Report) -> None:
    line = report_line(repaired)
    assert parse_report(line, where="x:1") == repaired
    assert report_line(parse_report(line, where="x:1")) == line


def test_a_line_is_one_line_and_harmless_on_a_terminal_and_means_the_same() -> None:
    memory = "a\nb\x1b[31m\x9bc\u2028d\u202ee\U000e0041 naïve 猫"
    line = report_line(report("invalid", "drop", memory=memory))
    assert not {"\n", "\x1b", "\x9b", "\u2028", "\u202e", "\U000e0041"} & set(line)
    assert "naïve 猫" in line
    assert json.loads(line)["memory"] == memory


def ids(path: Path) -> list[str]:
    return [found.id for found in read_reports(path)]


def append(path: Path, *names: str) -> None:
    with ReportLog(path) as log:
        for name in names:
            log.append(report("invalid", "drop", id=name))


def test_reports_are_appended_after_those_already_there(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "r.jsonl"
    append(path, "w1", "w2")
    append(path, "w3")
    assert ids(path) == ["w1", "w2", "w3"]


def test_a_report_is_in_the_file_as_soon_as_it_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ReportLog(path) as log:
        log.append(report("invalid", "drop", id="w1"))
        assert ids(path) == ["w1"]


@pytest.mark.parametrize("kept", [1, 2, 7, 200, -1])
def test_a_last_line_cut_short_anywhere_is_dropped_and_written_anew(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "r.jsonl"
    append(path, "w1", "w2")
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second.rstrip(b"\n")[:kept])
    assert ids(path) == ["w1"]
    append(path, "w2")
    assert path.read_bytes() == first + second


def test_a_last_line_that_only_lacks_its_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append(path, "w1", "w2")
    whole = path.read_bytes()
    path.write_bytes(whole.rstrip(b"\n"))
    append(path, "w3")
    assert ids(path) == ["w1", "w2", "w3"]


def test_a_lone_first_line_cut_short_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append(path, "w1")
    path.write_bytes(path.read_bytes()[:50])
    append(path, "w1")
    assert ids(path) == ["w1"]


@pytest.mark.parametrize("foreign", ['{"id": "c1", "turns": []}\n', '{"id": "c1", "turns": []}', "notes\n", "notes"])
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path, foreign: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(foreign)
    with pytest.raises(InputError, match=r"r\.jsonl:1: report"):
        append(path, "w1")
    assert path.read_text() == foreign


def test_a_bad_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append(path, "w1", "w2")
    first, second = path.read_text().splitlines(keepends=True)
    path.write_text(first + second.replace('"drop"', '"burn"') + first)
    with pytest.raises(InputError, match=r"r\.jsonl:2: report: action"):
        ids(path)


def test_a_finding_keeps_its_order_of_judgments(repaired: Report) -> None:
    line = json.loads(report_line(report("repaired", "persist", finding("supported"))))
    assert [j["verifier"] for j in line["obligations"][0]["judgments"]] == ["entailment", "alignment"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_means_the_same_after_a_trip_through_json(text: str) -> None:
    line = to_json({"memory": text})
    assert json.loads(line) == {"memory": text}
    assert printable(line) == line


@given(st.text())
def test_text_made_printable_has_nothing_left_to_spell_out(text: str) -> None:
    assert printable(printable(text)) == printable(text)
    assert "\n" not in one_line(text) and "\x1b" not in one_line(text)


def test_a_file_that_another_log_is_appending_to_is_left_to_it(tmp_path: Path, repaired: Report) -> None:
    with ReportLog(tmp_path / "reports.jsonl") as first, ReportLog(tmp_path / "reports.jsonl") as second:
        first.append(repaired)
        with pytest.raises(InputError, match="another run"):
            second.append(repaired)
    assert list(read_reports(tmp_path / "reports.jsonl")) == [repaired]


def test_reports_of_another_run_since_the_file_was_read_are_not_written_over(tmp_path: Path, repaired: Report) -> None:
    with ReportLog(tmp_path / "reports.jsonl") as log:
        assert list(log.existing()) == []
        with ReportLog(tmp_path / "reports.jsonl") as other:
            other.append(repaired)
        with pytest.raises(InputError, match="meanwhile"):
            log.append(repaired)
    assert list(read_reports(tmp_path / "reports.jsonl")) == [repaired]
