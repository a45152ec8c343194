"""The objects of a file that is one JSON array, one at a time: of a file of gigabytes, one object is in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TextIO

from admission.errors import InputError

CHUNK = 1 << 20
_SPACE = " \t\r\n"
_LONGEST = len("-Infinity") + 3
"""Of what can be cut off and is no string: literals, numbers, escapes."""
REMEDY = "give a JSON array of objects"


def array_items(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object of the array, with `file:line` of its beginning. Raises `InputError` where it is none, or no JSON."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            yield from _Array(file.name, text).items()
    except OSError as error:
        raise InputError("file", f"cannot read {file}: {error.strerror}", "give a readable file") from error
    except UnicodeDecodeError as error:
        raise InputError("file", f"is not UTF-8 ({error.reason})", "save it as UTF-8", where=file.name) from error


class _Array:
    """What was read of the text and not yet taken is `_buffer` from `_at` on; `_line` is that of `_at`, from 1."""

    def __init__(self, name: str, text: TextIO) -> None:
        self._name = name
        self._text = text
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._decoder = json.JSONDecoder()

    def items(self) -> Iterator[tuple[str, dict[str, Any]]]:
        self._take("[")
        if self._next() == "]":
            return
        while True:
            where, value = f"{self._name}:{self._skip()}", self._value()
            if not isinstance(value, dict):
                raise InputError("item", "is no JSON object", REMEDY, where=where)
            yield where, value
            if self._next() != ",":
                break
            self._take(",")
        self._take("]")
        if self._next():
            self._fail("goes on behind the array", self._line)

    def _value(self) -> Any:
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                line = self._line + self._buffer.count("\n", self._at, error.pos)
                if not self._may_be_cut_off(error) or not self._more():
                    self._fail(f"is not JSON ({error.msg})", line)
                continue
            except RecursionError:
                self._fail("is nested too deeply", self._line)
            self._line += self._buffer.count("\n", self._at, end)
            self._at = end
            return value

    def _may_be_cut_off(self, error: json.JSONDecodeError) -> bool:
        """Is it no fault, but where what was read so far ends? A string's error is named at its beginning."""
        return error.pos + _LONGEST > len(self._buffer) or error.msg.startswith("Unterminated string")

    def _take(self, mark: str) -> None:
        found = self._next()
        if found != mark:
            self._fail(f"has {found!r} where {mark!r} should be" if found else f"ends before {mark!r}", self._line)
        self._at += 1

    def _next(self) -> str:
        """The next character that is no white space; empty at the end."""
        self._skip()
        return self._buffer[self._at : self._at + 1]

    def _skip(self) -> int:
        """Past white space; the line of what follows."""
        while True:
            while self._at < len(self._buffer) and self._buffer[self._at] in _SPACE:
                self._line += self._buffer[self._at] == "\n"
                self._at += 1
            if self._at < len(self._buffer) or not self._more():
                return self._line

    def _more(self) -> bool:
        """Read as much again as is there, so that a long value is tried a few times only. False: the text has ended."""
        self._buffer, self._at = self._buffer[self._at :], 0
        read = self._text.read(max(CHUNK, len(self._buffer)))
        self._buffer += read
        return bool(read)

    def _fail(self, problem: str, line: int) -> NoReturn:
        raise InputError("file", problem, REMEDY, where=f"{self._name}:{line}")
