"""A file's format is known by what is in it, whatever it is called."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from admission.errors import InputError
from admission.evaluation.loaders import load_conversations

CONVERSATION = {
    "id": "c1",
    "turns": [{"id": "t1", "role": "user", "text": "I bake."}],
    "writes": [{"id": "w1", "memory": "The user bakes."}],
}


def test_conversations_in_the_format_of_the_contract_are_read_a_line_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps(CONVERSATION) + "\n\nnot JSON\n")
    conversations = load_conversations(file)
    assert next(conversations).writes[0].memory == "The user bakes."
    with pytest.raises(InputError, match=r"locomo10.json:3: line: is not valid JSON"):
        next(conversations)


def test_a_byte_order_mark_and_blank_lines_do_not_hide_a_format(tmp_path: Path) -> None:
    halumem = {"uuid": "u-1", "sessions": [{"dialogue": [{"role": "user", "content": "I bake."}]}]}
    for text, id in ((json.dumps(CONVERSATION), "c1"), (json.dumps(halumem), "u-1")):
        file = tmp_path / "data"
        file.write_bytes(b"\xef\xbb\xbf\r\n  \n" + text.encode())
        assert [conversation.id for conversation in load_conversations(file)] == [id]


def test_an_empty_file_has_no_conversation(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    assert list(load_conversations(tmp_path / "empty")) == []


def test_what_has_no_conversations_yet_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text(json.dumps({"threads": [], "items": []}))
    (tmp_path / "pretty.json").write_text(json.dumps({"threads": [], "items": []}, indent=2))
    with sqlite3.connect(tmp_path / "store.db") as opened:
        opened.execute("CREATE TABLE store (key)")
    for name, said in (
        ("dump.json", "is a store dump"),
        ("pretty.json", "is one JSON object over many lines"),
        ("store.db", "is an SQLite database"),
    ):
        with pytest.raises(InputError, match=f"{name}: file: {said}; .* make them of a store .*docs/derivation.md"):
            list(load_conversations(tmp_path / name))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"file: cannot read .*nowhere: No such file"):
        list(load_conversations(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="is no regular file"):
        list(load_conversations(tmp_path))
    (tmp_path / "latin").write_bytes(b"[\n" + "é".encode("latin-1") + b"]\n")
    with pytest.raises(InputError, match=r"latin:2: line: is not UTF-8 \(byte 1 of the line\)"):
        list(load_conversations(tmp_path / "latin"))


def test_a_pipe_is_refused_since_a_file_is_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no regular file"):
        list(load_conversations(tmp_path / "pipe"))
