"""What an edit of a memory file says anew: the blocks (list items, headings, paragraphs) that were not there before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

# What a Markdown line may begin with, none of which is part of what it says.
_MARKER = re.compile(r"\s*(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+")


def new_text(before: str, after: str) -> str:
    """The text of the blocks of `after` that were added, changed or moved, one a line; empty where there are none.

    Whole blocks, not the changed words: what is judged has to be what will be read. A block that was moved counts as
    new, for its meaning may hang on its place.
    """
    old, new = list(_blocks(before)), list(_blocks(after))
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return "\n".join(block for tag, _, _, start, end in changes if tag != "equal" for block in new[start:end])


def _blocks(text: str) -> Iterator[str]:
    """List items, headings and paragraphs, each on one line and without its marker."""
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        starts = _MARKER.match(line)
        if block and (starts or not line.strip()):
            yield " ".join(block)
            block = []
        if line.strip():
            block.append((line[starts.end() :] if starts else line).strip())
