"""Matched families: reads their sources, holds them to the rules, writes the suite as one JSONL file.

    python -m benchmarks.family_suite                      write examples/families/families.jsonl from all sources
    python -m benchmarks.family_suite --check [FILE ...]   only validate these sources (all, if none is named)

A family is one memory beside four conversations that differ in as few words as possible: the evidence is in one place
(local) or spread over sessions (distributed), and it is there (valid) or its decisive link is not (invalid). The rules
and the format of a source are in examples/families/README.md.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from rich.console import Console
from rich.table import Table

from admission.errors import InputError
from benchmarks.family_sources import TURN_ID, Family, Language, SourceCell, Target, read_family

FOLDER = Path(__file__).parent.parent / "examples" / "families"
CELLS: dict[str, str] = {
    "lv": "local_valid",
    "li": "local_invalid",
    "dv": "distributed_valid",
    "di": "distributed_invalid",
}
STATUSES = {"supported": "admitted_or_repaired", "insufficient": "unresolved", "contradicted": "contradicted"}
TURNS = range(10, 13)
SESSIONS = range(2, 4)
SPREAD = 5
# A Korean word, as spaces divide it, holds its particles and endings: the same talk has about two thirds as many.
WORDS = {"ko": range(120, 251)}
MEMORY_WORDS = {"ko": range(5, 23)}
ANY_WORDS, ANY_MEMORY_WORDS = range(180, 251), range(9, 23)


def check_family(family: Family) -> None:
    """Hold one family to the rules of the suite. Raises `InputError` at the first line that breaks one."""
    if Path(family.file).stem != family.id:
        family.fail(family.line, "id", f"is {family.id!r}", "name the file after the family")
    if not re.fullmatch(r"fam\d{3}", family.id):
        family.fail(family.line, "id", f"is {family.id!r}", "use fam and three digits")
    words, allowed = len(family.memory.split()), MEMORY_WORDS.get(family.language, ANY_MEMORY_WORDS)
    if words not in allowed:
        family.fail(family.memory_line, "memory", f"has {words} words", f"use {allowed[0]} to {allowed[-1]}")
    targets = [obligation.target for obligation in family.obligations]
    if targets.count(True) != 1 or not targets[-1]:
        line = family.obligations[-1].line if targets else family.line
        family.fail(line, "obligations", f"have {targets.count(True)} targets", "mark only the last one with o!")
    _check_turns(family)
    if sorted(cell.cell for cell in family.cells) != sorted(CELLS):
        line = family.cells[-1].line if family.cells else family.line
        names = ", ".join(cell.cell for cell in family.cells) or "none"
        family.fail(line, "cells", f"are {names}", f"give each of {', '.join(CELLS)} one line")
    for cell in family.cells:
        _check_labels(family, cell)
        _check_place(family, cell)
    _check_texts(family)


def _check_turns(family: Family) -> None:
    """Ids count up from S1:1, times go forward, turns and sessions are as many as they should be."""
    if len(family.turns) not in TURNS:
        family.fail(family.line, "turns", f"are {len(family.turns)}", f"write {TURNS[0]} to {TURNS[-1]}")
    session, number, before = 0, 0, None
    for turn in family.turns:
        if turn.id not in (f"S{session}:{number + 1}", f"S{session + 1}:1"):
            family.fail(turn.line, "turn", f"{turn.id} is out of order", "count sessions and turns up from S1:1")
        session, number = (int(part) for part in TURN_ID.fullmatch(turn.id).groups())  # type: ignore[union-attr]
        time = datetime.fromisoformat(turn.time)
        if before is not None and time <= before:
            family.fail(turn.line, "time", f"{turn.time} is not after the turn before", "let times go forward")
        before = time
        for cell in CELLS:
            if not turn.in_cell(cell):
                family.fail(turn.line, "text", f"is empty in {cell}", "give every cell words in every turn")
    if session not in SESSIONS:
        family.fail(family.line, "sessions", f"are {session}", f"write {SESSIONS[0]} to {SESSIONS[-1]}")


def _check_labels(family: Family, cell: SourceCell) -> None:
    """One label an obligation; only the target may fail, and it does in every invalid cell; the status follows."""
    if len(cell.labels) != len(family.obligations):
        problem = f"has {len(cell.labels)} labels for {len(family.obligations)} obligations"
        family.fail(cell.line, "labels", problem, "give one an obligation, in their order")
    if any(label.label != "supported" for label in cell.labels[:-1]):
        family.fail(cell.line, "labels", "fail what is not the target", "let all but the target be supported")
    target = cell.labels[-1].label
    if (target == "supported") != cell.cell.endswith("v"):
        family.fail(cell.line, "target", f"is {target} in {CELLS[cell.cell]}", "support it in valid cells only")
    expected = {"supported": "admitted_or_repaired", "insufficient": "unresolved", "contradicted": "contradicted"}[
        target
    ]
    if cell.status != expected:
        family.fail(cell.line, "status", f"is {cell.status!r} with a target {target}", f"write {expected}")


def _check_place(family: Family, cell: SourceCell) -> None:
    """Turns named exist before the write; a local cell cites all its evidence, a distributed one's spans sessions."""
    order = [turn.id for turn in family.turns]
    evidence = [id for label in cell.labels for id in label.evidence]
    if cell.written_after not in order:
        family.fail(cell.line, "after", f"names no turn: {cell.written_after}", "name the turn before the write")
    for field, ids in {"cites": cell.citations, "evidence": evidence}.items():
        for id in ids:
            if id not in order[: order.index(cell.written_after) + 1]:
                family.fail(cell.line, field, f"{id} is no turn before the write", "name turns of this family")
    if cell.cell in ("lv", "li") and not set(evidence) <= set(cell.citations):
        family.fail(cell.line, "evidence", "is not what a local cell cites", "take it from the citations")
    if cell.cell == "dv" and len({id.split(":")[0] for id in evidence}) < 2:
        family.fail(cell.line, "evidence", "is of one session in a distributed cell", "spread it over sessions")


def _check_texts(family: Family) -> None:
    """The four conversations differ, are long enough, and are of nearly the same length."""
    lengths = {cell: family.words(cell) for cell in CELLS}
    allowed = WORDS.get(family.language, ANY_WORDS)
    shown = ", ".join(f"{cell} {words}" for cell, words in lengths.items())
    if not all(words in allowed for words in lengths.values()):
        family.fail(family.line, "words", f"are {shown}", f"use {allowed[0]} to {allowed[-1]} a cell")
    if max(lengths.values()) - min(lengths.values()) > SPREAD:
        family.fail(family.line, "words", f"are {shown}", f"keep the cells within {SPREAD} words of each other")
    texts: dict[tuple[str, ...], str] = {}
    for cell in CELLS:
        same = texts.setdefault(tuple(turn.in_cell(cell) for turn in family.turns), cell)
        if same != cell:
            family.fail(family.line, "cells", f"{same} and {cell} are the same text", "let each differ from the others")


def cell_rows(family: Family) -> list[dict[str, Any]]:
    """The four conversations of a family, each as one line of a conversation file with its one labelled write."""
    return [_row(family, next(c for c in family.cells if c.cell == cell)) for cell in CELLS]


def _row(family: Family, cell: SourceCell) -> dict[str, Any]:
    id = f"{family.id}.{CELLS[cell.cell]}"
    obligations = [
        {
            "text": obligation.text,
            "type": obligation.type,
            "label": label.label,
            "evidence": list(label.evidence),
            "target": obligation.target,
        }
        for obligation, label in zip(family.obligations, cell.labels, strict=True)
    ]
    turns = [
        {
            "id": turn.id,
            "role": "assistant" if turn.speaker == "Assistant" else "user",
            "speaker": turn.speaker,
            "time": turn.time,
            "text": turn.in_cell(cell.cell),
        }
        for turn in family.turns
    ]
    reference = {
        "status": cell.status,
        "family": family.id,
        "target": family.target,
        "cell": CELLS[cell.cell],
        "history": cell.labels[-1].label,
        "obligations": obligations,
    }
    write = {
        "id": id,
        "memory": family.memory,
        "citations": list(cell.citations),
        "written_after": cell.written_after,
        "reference": reference,
    }
    return {"id": id, "namespace": ["families", id], "language": family.language, "turns": turns, "writes": [write]}


def suite_text(families: Iterable[Family]) -> str:
    """The suite as JSONL, families in the order of their ids, four lines each."""
    ordered = sorted(families, key=lambda family: family.id)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for family in ordered for row in cell_rows(family))


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 when all sources are right, 2 with one line a fault when any is not; nothing is written then."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="*", type=Path, metavar="FILE", help="only validate, and print a table")
    given = parser.parse_args(arguments)
    families, faults = [], 0
    for path in given.check or sorted((FOLDER / "source").glob("*.txt")):
        try:
            family = read_family(path)
            check_family(family)
            families.append(family)
        except InputError as error:
            faults += 1
            print(error, file=sys.stderr)
    if given.check is not None:
        _print_table(families)
    elif not faults:
        (FOLDER / "families.jsonl").write_text(suite_text(families), encoding="utf-8")
    return 2 if faults else 0


def _print_table(families: Sequence[Family]) -> None:
    languages, targets = get_args(Language), get_args(Target)
    counts = Counter((family.target, family.language) for family in families)
    table = Table("target", *languages, "all", title=f"{len(families)} families")
    for target in targets:
        row = [counts[target, language] for language in languages]
        table.add_row(target, *map(str, row), str(sum(row)))
    table.add_row(
        "all", *(str(sum(counts[t, language] for t in targets)) for language in languages), str(len(families))
    )
    console = Console()
    console.print(table)
    invalid = Counter(c.labels[-1].label for family in families for c in family.cells if c.cell.endswith("i"))
    console.print(f"invalid cells: {invalid['insufficient']} insufficient, {invalid['contradicted']} contradicted")


if __name__ == "__main__":
    sys.exit(main())
