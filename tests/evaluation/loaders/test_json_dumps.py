"""A store and its threads written down as JSON, from whatever store and checkpointer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import HumanMessage, messages_to_dict

from admission.errors import InputError
from admission.settings import WriteSettings
from graph_nodes.dump_files import read_dump
from graph_nodes.dumps import StoreDump, recorded

ITEM = {
    "namespace": ["memories", "ana"],
    "key": "k1",
    "value": {"content": "Ana rows.", "thread_id": "7"},
    "created_at": "2026-05-01T12:00:00+00:00",
    "updated_at": "2026-05-01T12:05:00+00:00",
    "score": None,
}
ROWS = {"role": "user", "id": "m0", "content": "I row."}
SEWS = {"role": "user", "id": "m1", "content": "I sew."}


def read(tmp_path: Path, threads: list[Any], items: list[Any] | None = None) -> StoreDump:
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"items": [ITEM] if items is None else items, "threads": threads}, indent=1))
    return read_dump(file)


def checkpoint(ts: str | None, *messages: Any) -> dict[str, Any]:
    return {"ts": ts, "channel_values": {"messages": list(messages), "todo": 1}}


def test_items_stand_as_the_store_gives_them(tmp_path: Path) -> None:
    (item,) = read(tmp_path, []).items
    assert (item.namespace, item.key, item.value["content"]) == (("memories", "ana"), "k1", "Ana rows.")


def test_a_memory_got_its_present_value_when_it_was_last_updated(tmp_path: Path) -> None:
    assert read(tmp_path, []).items[0].written_at == "2026-05-01T12:05:00+00:00"
    never_updated = {**ITEM, "updated_at": None}
    assert read(tmp_path, [], [never_updated]).items[0].written_at == "2026-05-01T12:00:00+00:00"


@pytest.mark.parametrize(
    "message",
    [
        ROWS,
        {"type": "human", "id": "m0", "content": [{"type": "text", "text": "I row."}]},
        HumanMessage("I row.", id="m0").model_dump(),
        messages_to_dict([HumanMessage("I row.", id="m0")])[0],
        dumpd(HumanMessage("I row.", id="m0")),
    ],
)
def test_messages_have_any_form_that_langchain_reads(tmp_path: Path, message: Any) -> None:
    dump = read(tmp_path, [{"thread_id": 7, "messages": [message]}])
    (turn,) = recorded(dump, WriteSettings()).conversations[0].turns
    assert (turn.id, turn.role, turn.text) == ("m0", "user", "I row.")


def test_times_are_those_of_the_first_checkpoint_with_a_message_in_whatever_order_they_stand(tmp_path: Path) -> None:
    first, then = checkpoint("2026-05-01T11:00:00", ROWS), checkpoint("2026-05-01T13:30:00+02:00", ROWS, SEWS)
    for checkpoints in ([first, then], [then, first]):
        (thread,) = read(tmp_path, [{"thread_id": "7", "checkpoints": checkpoints}]).threads
        assert thread.times == {"m0": "2026-05-01T11:00:00", "m1": "2026-05-01T13:30:00+02:00"}


def test_checkpoints_without_times_stand_with_the_oldest_first(tmp_path: Path) -> None:
    edited = {**ROWS, "content": "I have never rowed."}
    checkpoints = [checkpoint(None, ROWS), checkpoint(None, edited, SEWS)]
    (thread,) = read(tmp_path, [{"thread_id": "7", "checkpoints": checkpoints}]).threads
    assert ([message.text for message in thread.messages], thread.times) == (["I row.", "I sew."], {})


@pytest.mark.parametrize(
    ("threads", "items", "said"),
    [
        ([{"thread_id": "7"}], None, "threads.0: Value error, give either messages or checkpoints"),
        ([{"thread_id": "7", "messages": [{"text": "x"}]}], None, "threads.0.messages: messages: hold what is no"),
        ([{"thread_id": "7", "messages": [7]}], None, "threads.0.messages: messages: hold what is no message"),
        ([{"thread_id": "7", "checkpoints": [{"ts": "noon"}]}], None, "threads.0.checkpoints.0.ts: Value error"),
        ([{"messages": []}], None, "threads.0.thread_id: Field required"),
        ([{"thread_id": "7", "messages": []}, {"thread_id": 7, "messages": []}], None, "threads: '7' is used twice"),
        ([], [{**ITEM, "value": "Ana rows."}], "items.0.value: Input should be a valid dictionary"),
        ([], [{**ITEM, "namespace": []}], "items.0.namespace: "),
        ([], [ITEM, ITEM], "items: ('memories', 'ana', 'k1') is used twice"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, threads: list[Any], items: list[Any] | None, said: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, threads, items)
    assert said in str(error.value)
    assert "dump.json" in str(error.value)


def test_a_file_without_both_parts_is_no_dump(tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text('{"items": []}')
    with pytest.raises(InputError, match=r"dump.json: threads: Field required"):
        read_dump(tmp_path / "dump.json")
