"""Conversation files are read a line at a time; every fault names the file, the line, the field and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from admission.conversations import read_conversations
from admission.errors import InputError
from admission.records import Conversation


def line(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "id": "c1",
        "namespace": ["acme", "aino"],
        "turns": [
            {
                "id": "t1",
                "role": "user",
                "speaker": "Aino",
                "time": "2026-03-01T09:30:00+02:00",
                "text": "I keep bees.",
            },
            {"id": "t2", "role": "tool", "text": "3 hives"},
        ],
        "writes": [{"id": "w1", "memory": "Aino keeps bees.", "citations": ["t1"], "written_after": "t2"}],
    }
    return {**base, **changes}


def read(path: Path, *lines: Any) -> list[Conversation]:
    written = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in lines]
    path.write_text("\n".join(written) + "\n", encoding="utf-8")
    return list(read_conversations(path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "writes.jsonl"


def test_a_conversation_is_read_as_it_was_written(path: Path) -> None:
    (conversation,) = read(path, line())
    assert conversation.namespace == ("acme", "aino")
    assert [(t.id, t.role, t.origin, t.speaker) for t in conversation.turns] == [
        ("t1", "user", "conversation", "Aino"),
        ("t2", "tool", "tool", None),
    ]
    (write,) = conversation.writes
    candidate = conversation.candidate(write)
    assert (candidate.id, candidate.citations, candidate.written_after) == ("w1", ("t1",), "t2")
    assert write.reference is None


def test_blank_lines_and_a_byte_order_mark_are_skipped(path: Path) -> None:
    path.write_bytes(
        b"\xef\xbb\xbf" + json.dumps(line()).encode() + b"\r\n\r\n  \n" + json.dumps(line(id="c2")).encode()
    )
    assert [c.id for c in read_conversations(path)] == ["c1", "c2"]


def test_fields_a_data_set_adds_are_ignored(path: Path) -> None:
    turns = [{"id": "t1", "role": "user", "text": "Hi.", "mood": "fine"}]
    writes = [{"id": "w1", "memory": "Hi.", "subject": "x", "reference": {"status": "invalid", "note": 1}}]
    (conversation,) = read(path, line(source="somewhere", language="en", turns=turns, writes=writes))
    assert conversation.writes[0].reference == {"status": "invalid", "note": 1}


def test_whole_numbers_are_taken_as_ids(path: Path) -> None:
    turns = [{"id": 1, "role": "user", "text": "Hi."}]
    writes = [{"id": 7, "memory": "Hi.", "citations": [1, "2"], "written_after": 1}]
    (conversation,) = read(path, line(id=3, turns=turns, writes=writes))
    assert (conversation.id, conversation.turns[0].id) == ("3", "1")
    assert (conversation.writes[0].citations, conversation.writes[0].written_after) == (("1", "2"), "1")


def test_what_is_optional_may_be_absent_or_null(path: Path) -> None:
    turns = [{"id": "t1", "role": "system", "speaker": None, "time": None, "origin": None, "text": ""}]
    data = line(turns=turns, writes=[{"id": "w1", "memory": "", "citations": None, "written_after": None}])
    del data["namespace"]
    (conversation,) = read(path, data)
    assert conversation.turns[0].origin == "instruction"
    assert conversation.writes[0].citations == ()
    assert conversation.namespace == ("c1",)
    (bare,) = read(path, {"id": "c1", "turns": []})
    assert bare.writes == ()


def test_a_citation_of_no_turn_is_not_an_error_here(path: Path) -> None:
    (conversation,) = read(path, line(writes=[{"id": "w1", "memory": "Hi.", "citations": ["nowhere"]}]))
    assert conversation.writes[0].citations == ("nowhere",)


def test_writes_of_two_conversations_may_share_an_id(path: Path) -> None:
    assert [c.writes[0].id for c in read(path, line(), line(id="c2"))] == ["w1", "w1"]


def turns(**changes: Any) -> dict[str, Any]:
    return line(turns=[{"id": "t2", "role": "user", "text": "Hi.", **changes}])


def writes(**changes: Any) -> dict[str, Any]:
    return line(writes=[{"id": "w1", "memory": "Hi.", **changes}])


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ("{", "line"),
        ("[]", "line"),
        ('"text"', "line"),
        ("[" * 100_000, "line"),
        (line(id=None), "id"),
        (line(id=""), "id"),
        (line(id=True), "id"),
        (line(namespace="acme"), "namespace"),
        (line(namespace=[""]), "namespace[0]"),
        (line(turns=None), "turns"),
        (line(turns={}), "turns"),
        (line(turns=["Hi."]), "turns[0]"),
        (line(turns=[{"id": "t", "role": "user", "text": "a"}] * 2, writes=[]), "turns[1].id"),
        (turns(id=" "), "turns[0].id"),
        (turns(id=["t2"]), "turns[0].id"),
        (turns(role="narrator"), "turns[0].role"),
        (turns(role=["user"]), "turns[0].role"),
        (turns(time="yesterday"), "turns[0].time"),
        (turns(time=1700000000), "turns[0].time"),
        (turns(text=None), "turns[0].text"),
        (turns(text=4), "turns[0].text"),
        (turns(speaker=4), "turns[0].speaker"),
        (turns(origin="gospel"), "turns[0].origin"),
        (line(writes={"id": "w1"}), "writes"),
        (line(writes=[None]), "writes[0]"),
        (line(writes=[{"id": "w1", "memory": "Hi."}] * 2), "writes[1].id"),
        (writes(id=None), "writes[0].id"),
        (writes(memory=None), "writes[0].memory"),
        (writes(memory=["Hi."]), "writes[0].memory"),
        (writes(citations="t1"), "writes[0].citations"),
        (writes(citations=[None]), "writes[0].citations[0]"),
        (writes(written_after="t9"), "writes[0].written_after"),
        (writes(written_after=""), "writes[0].written_after"),
        (writes(reference="admitted"), "writes[0].reference"),
    ],
)
def test_a_fault_names_file_line_and_field(path: Path, bad: Any, field: str) -> None:
    with pytest.raises(InputError) as error:
        read(path, line(id="first"), "", bad)
    assert error.value.field == field
    assert error.value.where == f"{path}:3"
    assert str(error.value).startswith(f"{path}:3: {field}: ")
    assert "\n" not in str(error.value)
    assert error.value.remedy


def test_a_conversation_id_used_twice_is_a_fault(path: Path) -> None:
    with pytest.raises(InputError, match="used twice") as error:
        read(path, line(), line())
    assert error.value.where == f"{path}:2"


def test_text_that_is_no_unicode_is_a_fault(path: Path) -> None:
    with pytest.raises(InputError) as error:
        read(path, '{"id": "c1", "turns": [{"id": "t1", "role": "user", "text": "\\ud800"}]}')
    assert error.value.where == f"{path}:1"
    (conversation,) = read(path, '{"id": "c1", "turns": [{"id": "t1", "role": "user", "text": "\\ud83d\\udc4d"}]}')
    assert conversation.turns[0].text == "👍"


def test_a_line_that_is_not_utf_8_is_a_fault(path: Path) -> None:
    path.write_bytes(json.dumps(line()).encode() + b"\n" + '{"id": "caf\u00e9"}'.encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8") as error:
        list(read_conversations(path))
    assert error.value.where == f"{path}:2"


def test_what_comes_before_a_fault_is_read(path: Path) -> None:
    path.write_text(json.dumps(line()) + "\n{\n", encoding="utf-8")
    conversations = read_conversations(path)
    assert next(conversations).id == "c1"
    with pytest.raises(InputError):
        next(conversations)


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl"):
        list(read_conversations(tmp_path / "none.jsonl"))
    with pytest.raises(InputError):
        list(read_conversations(tmp_path))
