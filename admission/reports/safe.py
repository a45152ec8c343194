"""Text of others made safe to show: what could steer a terminal or reorder a line is spelled out."""

from __future__ import annotations

import re

# Control characters except tab and newline (ESC and the C1 introducers among them), line separators, bidirectional
# embeddings, overrides and isolates, interlinear marks, the byte order mark, invisible tag characters, lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str) -> str:
    """`text` with every character that steers rather than shows replaced by its escape (`\\x1b`, `\\u202e`)."""
    return _UNSAFE.sub(_spelled, text)


def one_line(text: str, width: int | None = None) -> str:
    """`printable(text)` on one line, cut to `width` characters with an ellipsis."""
    line = " ".join(printable(text).split())
    return line if width is None or len(line) <= width else line[: width - 1].rstrip() + "…"


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def json_safe(serialised: str) -> str:
    """Serialised JSON with the same characters as JSON escapes: it parses to the same value and prints harmlessly."""
    return _UNSAFE.sub(_json_escape, serialised)
