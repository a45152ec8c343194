"""`admission convert`: a store and its threads as a conversation file, and what is said of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_writes import Run

from admission.conversations import read_conversations


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Two memories of Ana, one of which names its thread, and one of Bo."""
    items: list[dict[str, Any]] = [
        {"namespace": ["memories", "ana"], "key": "a", "value": {"content": "Ana rows.", "thread_id": "t1"}},
        {"namespace": ["memories", "ana"], "key": "b", "value": {"content": "Ana sews."}},
        {"namespace": ["memories", "bo"], "key": "c", "value": {"content": "Bo bakes."}},
    ]
    threads = [
        {"thread_id": id, "messages": [{"role": "user", "id": f"{id}-1", "content": said}]}
        for id, said in (("t1", "I row."), ("t2", "I bake."))
    ]
    (tmp_path / "dump.json").write_text(json.dumps({"items": items, "threads": threads}))
    return tmp_path / "dump.json"


def writes(file: Path) -> list[tuple[str, str, str | None]]:
    return [(c.id, write.id, write.written_after) for c in read_conversations(file) for write in c.writes]


def test_memories_of_known_threads_are_written_and_the_others_named(run: Run, dump: Path, tmp_path: Path) -> None:
    result = run("convert", dump, "--out", tmp_path / "c.jsonl", "--json")
    assert result.exit_code == 0, result.stderr
    assert writes(tmp_path / "c.jsonl") == [("t1", "a", "t1-1")]
    why = "nothing says in which thread it was written"
    assert json.loads(result.stdout)["left_out"] == [
        {"namespace": ["memories", "ana"], "key": "b", "reason": why},
        {"namespace": ["memories", "bo"], "key": "c", "reason": why},
    ]
    assert f"left out memories/bo c: {why}" in result.stderr


def test_threads_are_named_for_namespaces_and_for_all_others(run: Run, dump: Path, tmp_path: Path) -> None:
    (tmp_path / "threads.json").write_text('{"memories/bo": "t2"}')
    named = ("--threads", tmp_path / "threads.json", "--thread", "t1")
    assert run("convert", dump, "--out", tmp_path / "c.jsonl", *named).exit_code == 0
    assert writes(tmp_path / "c.jsonl") == [("t1", "a", "t1-1"), ("t1", "b", "t1-1"), ("t2", "c", "t2-1")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--thread", "t9"), "thread: 't9' is no thread of this dump"),
        (("--threads", "list.json"), "--threads: list.json does not name a thread for each namespace"),
        (("dump.json", "dump.json"), "FILE: 3 files are given"),
        (("dump.json",), "items: dump.json cannot be read"),
    ],
)
def test_what_is_wrong_is_one_line(
    run: Run, dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[]")
    result = run("convert", dump.name, *arguments, "--out", "c.jsonl")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert said in result.stderr
    assert not Path("c.jsonl").exists()


def test_what_is_read_is_never_written_over(run: Run, dump: Path, tmp_path: Path) -> None:
    before = dump.read_bytes()
    result = run("convert", dump, "--out", dump)
    assert result.exit_code == 2 and "--out" in result.stderr and "would be written over" in result.stderr
    assert dump.read_bytes() == before
