"""Every way of writing has its row in docs/interception.md, and the table there is the one the tests give."""

from __future__ import annotations

import pytest
from path_table import DOC, constants, path_files, table, with_table


@pytest.mark.parametrize("name", [file.name for file in path_files()])
def test_each_file_says_which_way_of_writing_it_is_on_and_the_answer(name: str) -> None:
    said = constants(next(file for file in path_files() if file.name == name))
    assert said.get("PATH") and said.get("ANSWER")
    assert "|" not in said["PATH"] + said["ANSWER"]


def test_the_table_in_the_documentation_is_current() -> None:
    text = DOC.read_text()
    assert with_table(text) == text, "run: python tests/interception/path_table.py"


def test_no_way_of_writing_has_two_rows() -> None:
    paths = [row.split(" | ")[0] for row in table().splitlines()]
    assert len(set(paths)) == len(paths)
