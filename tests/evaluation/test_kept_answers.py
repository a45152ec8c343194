"""Answers kept between runs: by reader and prompt, and none lost where a run was stopped in the middle of a line."""

from __future__ import annotations

from pathlib import Path

from admission.evaluation.kept_answers import KeptAnswers


def test_an_answer_is_found_by_the_reader_that_gave_it_and_by_no_other(tmp_path: Path) -> None:
    KeptAnswers(tmp_path / "answers.jsonl", "one").keep("Who rows?", "Ana.")
    assert KeptAnswers(tmp_path / "answers.jsonl", "one").get("Who rows?") == "Ana."
    assert KeptAnswers(tmp_path / "answers.jsonl", "another").get("Who rows?") is None


def test_a_line_cut_short_is_asked_for_again_and_the_next_answer_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    KeptAnswers(file, "one").keep("Who rows?", "Ana.")
    KeptAnswers(file, "one").keep("Who sews?", "Bo.")
    file.write_bytes(file.read_bytes()[:-9])
    stopped = KeptAnswers(file, "one")
    assert stopped.get("Who sews?") is None
    stopped.keep("Who bakes?", "Cleo.")
    again = KeptAnswers(file, "one")
    assert (again.get("Who rows?"), again.get("Who bakes?")) == ("Ana.", "Cleo.")


def test_without_a_file_answers_last_as_long_as_the_run() -> None:
    kept = KeptAnswers(None, "one")
    kept.keep("Who rows?", "Ana.")
    assert kept.get("Who rows?") == "Ana."
