"""The table of docs/interception.md, from the tests: each file says which way of writing it is on, and the answer.

python tests/interception/path_table.py      # writes it anew
"""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).parent
DOC = FOLDER.parents[1] / "docs" / "interception.md"
BEGIN, END = "<!-- paths: begin (tests/interception/path_table.py) -->", "<!-- paths: end -->"

# Tests that are not on one way of writing: what happens on retries and crashes, what counts as evidence, whose place it
# is, examples.
ON_NO_PATH = frozenset(
    {
        "test_attacks_by_every_way.py",
        "test_crash.py",
        "test_evidence_before_the_write.py",
        "test_examples.py",
        "test_path_table.py",
        "test_retry_and_resume.py",
        "test_server_http.py",
        "test_unguarded.py",
        "test_writes_bounded_by_principal.py",
    }
)


def constants(file: Path) -> dict[str, str]:
    """The texts a test file gives to names at its top level."""
    assigned = (node for node in ast.parse(file.read_text()).body if isinstance(node, ast.Assign))
    return {
        target.id: node.value.value
        for node in assigned
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def path_files() -> list[Path]:
    return sorted(file for file in FOLDER.glob("test_*.py") if file.name not in ON_NO_PATH)


def table() -> str:
    rows = [(constants(file)["PATH"], constants(file)["ANSWER"], file.name) for file in path_files()]
    lines = [f"| {path} | {answer} | [{name}](../tests/interception/{name}) |" for path, answer, name in rows]
    return "\n".join(["| way of writing | answer | tests |", "|---|---|---|", *lines])


def with_table(text: str) -> str:
    """The document with the table as it has to be."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    DOC.write_text(with_table(DOC.read_text()))
