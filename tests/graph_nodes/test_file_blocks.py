"""What an edit of a memory file says anew: whole blocks, never only the changed words."""

from __future__ import annotations

import pytest

from graph_nodes.file_blocks import new_text

FILE = "# Ana\n\n- Moved to Lisbon\n  in May.\n- Likes tea.\n\nShe works\nat night.\n"


@pytest.mark.parametrize(
    ("after", "new"),
    [
        (FILE, ""),
        ("", ""),
        (FILE.replace("- Likes tea.\n", ""), ""),
        (FILE.replace("- Likes tea.\n", "- Likes tea.\n- Has a cat.\n"), "Has a cat."),
        (FILE.replace("Lisbon", "Oslo"), "Moved to Oslo in May."),
        (FILE.replace("at night", "by day"), "She works by day."),
        (FILE.replace("# Ana", "## Bob"), "Bob"),
        (FILE.replace("- Likes tea.\n", "1. Likes tea.\n"), ""),
        (FILE.replace("\n", "\r\n"), ""),
        (FILE + "\n# Bob\n- Likes tea.\n", "Bob\nLikes tea."),
    ],
)
def test_new_and_changed_blocks_are_new_text(after: str, new: str) -> None:
    assert new_text(FILE, after) == new


def test_a_block_that_was_moved_under_another_heading_is_new() -> None:
    assert new_text("# Ana\n- Likes tea.\n# Bob\n- Sings.\n", "# Ana\n# Bob\n- Sings.\n- Likes tea.\n") == "Likes tea."


def test_of_a_new_file_all_is_new() -> None:
    assert new_text("", FILE) == "Ana\nMoved to Lisbon in May.\nLikes tea.\nShe works at night."
