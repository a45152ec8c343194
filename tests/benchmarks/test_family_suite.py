"""Matched families: what a source may look like, which rules hold, and that the shipped suite is what they give."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from admission.conversations import read_conversations
from admission.errors import InputError
from benchmarks.family_sources import Family, read_family
from benchmarks.family_suite import FOLDER, cell_rows, check_family, main, suite_text

FILLER = " ".join(["word"] * 18)
SOURCE = f"""\
@ fam900 | negation | en
memory: Petra did not take the ferry on her way home from Bergen.
o fact | Petra went home from Bergen.
o! qualification | She did not take the ferry.

S1:1 | 2025-06-01T09:00:00 | Petra | {{lv,li: Where is my hat?}}{{dv,di: I'm in Bergen until Friday.}} {FILLER}
S1:2 | 2025-06-01T09:01:00 | Assistant | Noted: a | b. {FILLER}
S1:3 | 2025-06-01T09:02:00 | Petra | {FILLER}
S1:4 | 2025-06-01T09:03:00 | Assistant | {FILLER}
S2:1 | 2025-06-07T18:00:00 | Petra | {{lv: I came home from Bergen, without the ferry.}}{{li: I came home from Bergen, \
maybe by ferry.}}{{dv: Home from there, without the ferry.}}{{di: Home from there, by ferry.}} {FILLER}
S2:2 | 2025-06-07T18:01:00 | Assistant | {FILLER}
S2:3 | 2025-06-07T18:02:00 | Petra | {FILLER}
S2:4 | 2025-06-07T18:03:00 | Assistant | {FILLER}
S2:5 | 2025-06-07T18:04:00 | Petra | {FILLER}
S2:6 | 2025-06-07T18:05:00 | Assistant | {FILLER}
% lv | cites S2:1 | after S2:6 | admitted_or_repaired | supported S2:1 ; supported S2:1
% li | cites S2:1 | after S2:6 | unresolved | supported S2:1 ; insufficient S2:1
% dv | cites S2:1 | after S2:6 | admitted_or_repaired | supported S1:1,S2:1 ; supported S1:1,S2:1
% di | cites S2:1 | after S2:6 | contradicted | supported S1:1,S2:1 ; contradicted S1:1,S2:1
"""


def written(folder: Path, old: str = "", new: str = "") -> Path:
    """The example source in a file, with the first `old` replaced by `new`."""
    assert old in SOURCE
    path = folder / "fam900.txt"
    path.write_text(SOURCE.replace(old, new, 1), encoding="utf-8")
    return path


def checked(path: Path) -> Family:
    family = read_family(path)
    check_family(family)
    return family


def test_a_part_in_braces_belongs_to_its_cells_only(tmp_path: Path) -> None:
    rows = cell_rows(checked(written(tmp_path)))
    assert [row["turns"][0]["text"].removesuffix(f" {FILLER}") for row in rows] == [
        "Where is my hat?",
        "Where is my hat?",
        "I'm in Bergen until Friday.",
        "I'm in Bergen until Friday.",
    ]
    assert rows[0]["turns"][1]["text"].startswith("Noted: a | b.")


def test_a_row_is_a_conversation_with_one_labelled_write(tmp_path: Path) -> None:
    row = cell_rows(checked(written(tmp_path)))[3]
    assert row["id"] == "fam900.distributed_invalid"
    assert row["namespace"] == ["families", "fam900.distributed_invalid"]
    assert row["language"] == "en"
    assert [turn["role"] for turn in row["turns"]] == ["user", "assistant"] * 5
    (write,) = row["writes"]
    assert write["memory"] == "Petra did not take the ferry on her way home from Bergen."
    assert (write["citations"], write["written_after"]) == (["S2:1"], "S2:6")
    assert write["reference"] == {
        "status": "contradicted",
        "family": "fam900",
        "target": "negation",
        "cell": "distributed_invalid",
        "history": "contradicted",
        "obligations": [
            {
                "text": "Petra went home from Bergen.",
                "type": "fact",
                "label": "supported",
                "evidence": ["S1:1", "S2:1"],
                "target": False,
            },
            {
                "text": "She did not take the ferry.",
                "type": "qualification",
                "label": "contradicted",
                "evidence": ["S1:1", "S2:1"],
                "target": True,
            },
        ],
    }


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("| negation |", "| mood |", 1, "target: is 'mood'"),
        ("@ fam900 | negation | en", "@ fam900 | negation", 1, "head: has 2 of 3 fields"),
        ("o fact |", "o claim |", 3, "obligation type: is 'claim'"),
        ("2025-06-01T09:01:00", "June 1st", 7, "time: is not a time"),
        ("{lv,li: Where", "{lv,xx: Where", 6, "cell of a part: is 'xx'"),
        ("Where is my hat?}", "Where is my hat?", 6, "text: has a brace"),
        ("S1:3 |", "S one |", 8, "line: begins no part"),
        ("% li | cites S2:1", "% li | S2:1", 17, "cites: is missing"),
        ("insufficient S2:1", "doubtful S2:1", 17, "label: is 'doubtful'"),
        ("insufficient S2:1", "insufficient", 17, "evidence: is missing"),
        ("o fact | Petra", "memory: Again.\no fact | Petra", 3, "memory: is given twice"),
        ("memory: Petra did not take the ferry on her way home from Bergen.\n", "", 18, "memory: is missing"),
    ],
)
def test_what_is_malformed_is_named_by_file_and_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    path = written(tmp_path, old, new)
    with pytest.raises(InputError) as error:
        read_family(path)
    assert str(error.value).startswith(f"{path}:{line}: {says}")


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("@ fam900", "@ fam901", 1, "id: is 'fam901'"),
        (" on her way home from Bergen.", ".", 2, "memory: has 6 words"),
        ("o! qual", "o qual", 4, "obligations: have 0 targets"),
        ("o fact", "o! fact", 4, "obligations: have 2 targets"),
        ("% li", "% lv", 19, "cells: are lv, lv, dv, di"),
        ("S2:2 |", "S2:3 |", 11, "turn: S2:3 is out of order"),
        ("2025-06-07T18:00:00", "2025-05-07T18:00:00", 10, "time: 2025-05-07T18:00:00 is not after the turn before"),
        (
            "li: I came home from Bergen, maybe",
            "li: I came home from Bergen, at last, to my own, maybe",
            1,
            "words: are lv",
        ),
        (f"a | b. {FILLER}", "a | b.", 1, "words: are lv"),
        ("di: Home from there, by ferry.", "di: Home from there, without the ferry.", 1, "cells: dv and di"),
        ("S2:1 ; insufficient S2:1", "S2:1", 17, "labels: has 1 labels for 2 obligations"),
        (
            "supported S2:1 ; insufficient",
            "insufficient S2:1 ; insufficient",
            17,
            "labels: fail what is not",
        ),
        ("insufficient S2:1", "supported S2:1", 17, "target: is supported in local_invalid"),
        ("unresolved | supported", "contradicted | supported", 17, "status: is 'contradicted' with a target insuff"),
        ("lv | cites S2:1", "lv | cites S3:1", 16, "cites: S3:1 is no turn before the write"),
        ("after S2:6", "after S1:4", 16, "cites: S2:1 is no turn before the write"),
        ("supported S1:1,S2:1", "supported S1:1,S4:1", 18, "evidence: S4:1 is no turn before the write"),
        ("insufficient S2:1", "insufficient S1:1", 17, "evidence: is not what a local cell cites"),
        ("supported S1:1,S2:1 ; supported S1:1,S2:1", "supported S2:1 ; supported S2:1", 18, "evidence: is of one"),
    ],
)
def test_a_family_that_breaks_a_rule_is_named_by_file_and_line(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    path = written(tmp_path, old, new)
    with pytest.raises(InputError) as error:
        checked(path)
    assert str(error.value).startswith(f"{path}:{line}: {says}")


def test_checking_prints_a_table_by_target_and_language_and_fails_on_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check", str(written(tmp_path))]) == 0
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if "negation" in line)
    assert row.replace("│", " ").split() == ["negation", "1", "0", "0", "0", "0", "1"]
    assert "1 insufficient, 1 contradicted" in shown
    broken = written(tmp_path, "| en", "| eo")
    assert main(["--check", str(broken)]) == 2
    assert f"{broken}:1: language: is 'eo'" in capsys.readouterr().err


def test_the_shipped_suite_is_what_the_sources_give() -> None:
    families = [checked(path) for path in sorted((FOLDER / "source").glob("*.txt"))]
    assert (FOLDER / "families.jsonl").read_text(encoding="utf-8") == suite_text(families)


def test_the_shipped_suite_reads_as_conversations_and_mostly_lacks_evidence_where_it_is_invalid() -> None:
    conversations = list(read_conversations(FOLDER / "families.jsonl"))
    references = [write.reference or {} for conversation in conversations for write in conversation.writes]
    assert Counter(Counter(reference["family"] for reference in references).values()).keys() == {4}
    invalid = Counter(reference["history"] for reference in references if reference["cell"].endswith("invalid"))
    assert invalid["insufficient"] >= invalid["contradicted"] > 0
    rows = [json.loads(line) for line in (FOLDER / "families.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == [conversation.id for conversation in conversations]
