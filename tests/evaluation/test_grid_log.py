"""The file of decisions: what is in it, what a kill leaves, what it refuses to write to."""

from __future__ import annotations

from pathlib import Path

import pytest

from admission.errors import InputError
from admission.evaluation.grid_log import GridLog
from admission.evaluation.strictness_grid import GridDecision


def decision(id: str, config: str = "c") -> GridDecision:
    return GridDecision(
        id=id, conversation="k", kept=(True, False), supports={"a": 0.5}, config_digest=config, input_digest="i"
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log = GridLog(tmp_path / "decisions.jsonl")
    for id in ("w1", "w2"):
        log.append(decision(id))
    return log.path


def test_what_was_appended_is_read_in_order(path: Path) -> None:
    assert list(GridLog(path).read("c")) == [decision("w1"), decision("w2")]


def test_reading_a_file_that_is_not_there_finds_nothing(tmp_path: Path) -> None:
    assert list(GridLog(tmp_path / "none.jsonl").read("c")) == []


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_cut_short_by_a_kill_is_dropped_and_written_over(path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:-cut])
    log = GridLog(path)
    assert list(log.read("c")) == [decision("w1")]
    log.append(decision("w3"))
    assert list(GridLog(path).read("c")) == [decision("w1"), decision("w3")]


def test_decisions_of_another_configuration_are_not_mixed_in(path: Path) -> None:
    with pytest.raises(InputError, match="another configuration"):
        list(GridLog(path).read("d"))


@pytest.mark.parametrize("content", ['{"id": "c1", "turns": []}', '{"id": "c1", "turns": []}\n', "notes", "notes\n"])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(content)
    with pytest.raises(InputError, match="no decision"):
        list(GridLog(other).read("c"))
    assert other.read_text() == content


def test_decisions_of_another_run_since_the_file_was_read_are_not_written_over(path: Path) -> None:
    log, other = GridLog(path), GridLog(path)
    for each in (log, other):
        assert len(list(each.read("c"))) == 2
    other.append(decision("w3"))
    with pytest.raises(InputError, match="another run"):
        log.append(decision("w4"))
    assert [found.id for found in GridLog(path).read("c")] == ["w1", "w2", "w3"]
