"""The sources of matched families: the records of one family and the reader of its text file.

The format is described in examples/families/README.md. Reading finds what is malformed; whether a family keeps the
rules of the suite is for `benchmarks.family_suite`.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

from admission.errors import InputError
from admission.records import ObligationType, Record

Cell = Literal["lv", "li", "dv", "di"]
FamilyLabel = Literal["supported", "insufficient", "contradicted"]
Language = Literal["en", "de", "es", "fr", "ko"]
Target = Literal[
    "cause",
    "purpose",
    "condition",
    "order",
    "time",
    "modality",
    "attribution",
    "negation",
    "comparison_degree_scope",
]

TURN_ID = re.compile(r"S(\d+):(\d+)")
_ONLY_IN = re.compile(r"\{([^{}:]*):([^{}]*)\}")


class SourceObligation(Record):
    """One claim of the memory; the target is what the four cells differ in."""

    line: int
    type: ObligationType
    text: str
    target: bool


class SourceTurn(Record):
    """One turn, its text still with the parts that only some cells have."""

    line: int
    id: str
    time: str
    speaker: str
    text: str

    def in_cell(self, cell: str) -> str:
        """The text as `cell` has it, spaces run together."""

        def part(found: re.Match[str]) -> str:
            return found[2] if cell in [name.strip() for name in found[1].split(",")] else ""

        return " ".join(_ONLY_IN.sub(part, self.text).split())


class SourceLabel(Record):
    """What one obligation is in one cell, and the turns that show it."""

    label: FamilyLabel
    evidence: tuple[str, ...]


class SourceCell(Record):
    """The labels of one cell, in the order of the obligations."""

    line: int
    cell: Cell
    citations: tuple[str, ...]
    written_after: str
    status: str
    labels: tuple[SourceLabel, ...]


class Family(Record):
    """One source file as it was read; `file` and the lines of its parts name a fault."""

    file: str
    line: int
    id: str
    target: Target
    language: Language
    memory: str
    memory_line: int
    obligations: tuple[SourceObligation, ...]
    turns: tuple[SourceTurn, ...]
    cells: tuple[SourceCell, ...]

    def fail(self, line: int, field: str, problem: str, remedy: str) -> NoReturn:
        raise InputError(field, problem, remedy, where=f"{self.file}:{line}")

    def words(self, cell: str) -> int:
        return sum(len(turn.in_cell(cell).split()) for turn in self.turns)


class _Reader:
    """Reads the lines of one source; every fault names file and line."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.line = 1

    def fail(self, field: str, problem: str, remedy: str) -> NoReturn:
        raise InputError(field, problem, remedy, where=f"{self.file}:{self.line}")

    def fields(self, field: str, text: str, form: str) -> list[str]:
        """`text` at its bars, as many fields as `form` has; a bar in the last field belongs to it."""
        count = form.count("|") + 1
        parts = [part.strip() for part in text.split("|", count - 1)]
        if len(parts) != count or not all(parts):
            self.fail(field, f"has {sum(map(bool, parts))} of {count} fields", f"write {form}")
        return parts

    def one_of(self, field: str, value: str, kind: Any) -> Any:
        if value not in get_args(kind):
            self.fail(field, f"is {value!r}", f"use one of {', '.join(get_args(kind))}")
        return value

    def once(self, field: str, head: dict[str, Any], given: str) -> None:
        if given in head:
            self.fail(field, "is given twice", "keep one family a file")

    def after_word(self, word: str, text: str) -> str:
        first, _, rest = text.partition(" ")
        if first != word or not rest.strip():
            self.fail(word, f"is missing in {text!r}", f"write {word!r} and the turn")
        return rest.strip()

    def obligation(self, text: str) -> SourceObligation:
        mark, _, rest = text.partition(" ")
        kind, claim = self.fields("obligation", rest, "o TYPE | TEXT")
        kind = self.one_of("obligation type", kind, ObligationType)
        return SourceObligation(line=self.line, type=kind, text=claim, target=mark == "o!")

    def turn(self, text: str) -> SourceTurn:
        id, time, speaker, said = self.fields("turn", text, "S1:1 | TIME | SPEAKER | TEXT")
        try:
            datetime.fromisoformat(time)
        except ValueError:
            self.fail("time", f"is not a time: {time!r}", "write ISO 8601, as 2025-03-05T19:20:00")
        for names, _ in _ONLY_IN.findall(said):
            for name in names.split(","):
                self.one_of("cell of a part", name.strip(), Cell)
        if set(_ONLY_IN.sub("", said)) & {"{", "}"}:
            self.fail("text", "has a brace that belongs to no part", "write {lv,li: words of these cells only}")
        return SourceTurn(line=self.line, id=id, time=time, speaker=speaker, text=said)

    def cell(self, text: str) -> SourceCell:
        form = "% CELL | cites TURNS | after TURN | STATUS | LABEL TURNS ; ..."
        name, cites, after, status, labels = self.fields("labels", text[1:], form)
        return SourceCell(
            line=self.line,
            cell=self.one_of("cell", name, Cell),
            citations=_ids(self.after_word("cites", cites)),
            written_after=self.after_word("after", after),
            status=status,
            labels=tuple(self.label(part.strip()) for part in labels.split(";")),
        )

    def label(self, text: str) -> SourceLabel:
        label, _, evidence = text.partition(" ")
        label = self.one_of("label", label, FamilyLabel)
        if not evidence.strip():
            self.fail("evidence", f"is missing after {label!r}", "name the turns, as S1:1,S2:1")
        return SourceLabel(label=label, evidence=_ids(evidence))


def _ids(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def read_family(path: Path) -> Family:
    """The family of one source file, parsed but not yet held to the rules. Raises `InputError` at file and line."""
    reader = _Reader(str(path))
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reader.fail("file", f"cannot be read ({error})", "give a source in UTF-8")
    head: dict[str, Any] = {}
    obligations, turns, cells = [], [], []
    for reader.line, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if line.startswith("@"):
            id, target, language = reader.fields("head", line[1:], "@ ID | TARGET | LANGUAGE")
            target = reader.one_of("target", target, Target)
            language = reader.one_of("language", language, Language)
            reader.once("head", head, "id")
            head |= {"line": reader.line, "id": id, "target": target, "language": language}
        elif line.startswith("memory:"):
            reader.once("memory", head, "memory")
            head |= {"memory": line.removeprefix("memory:").strip(), "memory_line": reader.line}
        elif line.startswith(("o ", "o! ")):
            obligations.append(reader.obligation(line))
        elif TURN_ID.match(line):
            turns.append(reader.turn(line))
        elif line.startswith("%"):
            cells.append(reader.cell(line))
        elif line:
            reader.fail("line", f"begins no part of a source: {line[:30]!r}", "begin with @, memory:, o, o!, S1:1 or %")
    for field, given in {"head": "id", "memory": "memory"}.items():
        if given not in head:
            reader.fail(field, "is missing", "write it as its own line")
    return Family(file=str(path), **head, obligations=tuple(obligations), turns=tuple(turns), cells=tuple(cells))
