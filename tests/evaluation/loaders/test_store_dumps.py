"""Stores and their threads: which thread a memory was written in, what was said before it, and what is left out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from admission.conversations import read_conversations
from admission.errors import InputError
from admission.gate import AdmissionGate
from admission.ledger import open_ledger
from admission.settings import WriteSettings, load_settings
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes import AdmissionStore
from graph_nodes.dump_files import read_sqlite
from graph_nodes.dumps import LeftOut, Recorded, SavedThread, StoredItem, StoreDump, dump_of, recorded

ANA = ("memories", "ana")
WRITES = WriteSettings()


def item(
    key: str, value: dict[str, Any], written_at: str | None = None, namespace: tuple[str, ...] = ANA
) -> StoredItem:
    return StoredItem(namespace, key, value, written_at)


def thread(id: str, *said: str, times: bool = False) -> SavedThread:
    """A thread in which the user said this, a minute apart from noon."""
    messages = tuple(HumanMessage(text, id=f"m{n}") for n, text in enumerate(said))
    return SavedThread(id, messages, {f"m{n}": f"2026-05-01T12:0{n}:00+00:00" for n in range(len(said)) if times})


def writes(found: Recorded) -> list[tuple[str, str, str | None]]:
    return [(c.id, write.id, write.written_after) for c in found.conversations for write in c.writes]


def test_a_memory_is_read_as_the_gate_reads_a_value() -> None:
    value = {"content": {"content": "Ana keeps bees."}, "kind": "Memory", "sources": ["m0", "m9"], "thread_id": "t1"}
    found = recorded(StoreDump((item("k", value),), (thread("t1", "I keep bees."),)), WRITES)
    (conversation,) = found.conversations
    assert (conversation.id, conversation.namespace) == ("t1", ANA)
    assert [(turn.id, turn.role, turn.text) for turn in conversation.turns] == [("m0", "user", "I keep bees.")]
    (write,) = conversation.writes
    assert (write.id, write.memory, write.citations) == ("k", "Ana keeps bees.", ("m0", "m9"))
    assert write.reference is None


def test_the_text_is_in_the_fields_that_the_settings_name() -> None:
    dump = StoreDump((item("k", {"note": "Ana rows.", "thread_id": "t1"}),), (thread("t1", "I row."),))
    named = recorded(dump, WriteSettings(text_fields=("note",)))
    assert named.conversations[0].writes[0].memory == "Ana rows."


@pytest.mark.parametrize(
    "value", [{"content": "x", "thread_id": "t2"}, {"content": "x", "metadata": {"thread_id": "t2"}}]
)
def test_a_value_that_names_its_thread_is_believed_before_the_caller(value: dict[str, Any]) -> None:
    dump = StoreDump((item("k", value),), (thread("t1", "a"), thread("t2", "b")))
    assert writes(recorded(dump, WRITES, thread="t1", threads={ANA: "t1"})) == [("t2", "k", "m0")]


def test_the_caller_says_the_thread_of_a_namespace_and_of_all_others() -> None:
    items = (
        item("a", {"content": "x"}),
        item("b", {"content": "x"}, namespace=("memories", "bo", "work")),
        item("c", {"content": "x"}, namespace=("notes",)),
    )
    dump = StoreDump(items, (thread("t1", "a"), thread("t2", "b"), thread("t3", "c")))
    found = recorded(dump, WRITES, thread="t3", threads={("memories",): "t1", ("memories", "bo"): "t2"})
    assert writes(found) == [("t1", "a", "m0"), ("t2", "b", "m0"), ("t3", "c", "m0")]


def test_a_thread_with_several_namespaces_is_a_conversation_for_each() -> None:
    items = (item("a", {"content": "x"}), item("b", {"content": "y"}, namespace=("memories", "bo")))
    found = recorded(StoreDump(items, (thread("t1", "a"),)), WRITES, thread="t1")
    assert [(c.id, c.namespace) for c in found.conversations] == [
        ("t1 [memories/ana]", ANA),
        ("t1 [memories/bo]", ("memories", "bo")),
    ]


def test_what_langmems_tool_stored_was_written_before_its_call() -> None:
    call = {"name": "manage_memory", "args": {"content": "Ana rows."}, "id": "c1"}
    messages = (
        HumanMessage("I row.", id="m0"),
        AIMessage("", id="m1", tool_calls=[call]),
        ToolMessage("created memory 6f1c-77", id="m2", tool_call_id="c1"),
        AIMessage("Noted.", id="m3"),
        HumanMessage("Sculls, mostly.", id="m4"),
    )
    other = thread("t1", "created memory 6f1c-77")
    dump = StoreDump((item("6f1c-77", {"content": "Ana rows."}),), (other, SavedThread("t2", messages, {})))
    assert writes(recorded(dump, WRITES, thread="t1")) == [("t2", "6f1c-77", "m0")]


@pytest.mark.parametrize(
    ("written_at", "after"),
    [
        ("2026-05-01T12:01:30+00:00", "m1"),
        ("2026-05-01T12:01:30", "m1"),
        ("2026-05-01T14:01:30+02:00", "m1"),
        ("2026-05-01T12:02:00+00:00", "m2"),
        ("2026-05-01T12:01:59.500000+00:00", "m1"),
        (None, "m2"),
    ],
)
def test_a_memory_was_written_after_the_last_turn_that_is_not_younger(written_at: str | None, after: str) -> None:
    dump = StoreDump((item("k", {"content": "x"}, written_at),), (thread("t1", "a", "b", "c", times=True),))
    assert writes(recorded(dump, WRITES, thread="t1")) == [("t1", "k", after)]


def test_a_time_to_the_second_stands_for_all_of_its_second() -> None:
    """SQLite's store keeps no fractions: a turn of the same second was there before the write."""
    said = SavedThread("t1", (HumanMessage("I row.", id="m0"),), {"m0": "2026-05-01T12:00:00.700000+00:00"})
    dump = StoreDump((item("k", {"content": "x"}, "2026-05-01T12:00:00"),), (said,))
    assert writes(recorded(dump, WRITES, thread="t1")) == [("t1", "k", "m0")]


def test_what_makes_no_write_is_left_out_with_the_reason() -> None:
    items = (
        item("kept", {"content": "x", "thread_id": "t1"}, "2026-05-01T12:00:00"),
        item("early", {"content": "x", "thread_id": "t1"}, "2026-05-01T11:00:00"),
        item("gone", {"content": "x", "thread_id": "t9"}),
        item("silent", {"content": " "}, namespace=("notes",)),
        item("unknown", {"content": "x"}),
    )
    found = recorded(StoreDump(items, (thread("t1", "a", times=True),)), WRITES, threads={("notes",): "t1"})
    assert writes(found) == [("t1", "kept", "m0")]
    assert found.left_out == (
        LeftOut(ANA, "early", "its thread 't1' has no turn before it was written"),
        LeftOut(ANA, "gone", "its thread 't9' is not in the dump"),
        LeftOut(("notes",), "silent", "it says nothing"),
        LeftOut(ANA, "unknown", "nothing says in which thread it was written"),
    )


def test_a_dump_of_which_nothing_has_a_thread_is_an_error() -> None:
    dump = StoreDump((item("k", {"content": "x"}),), (thread("t1", "a"),))
    with pytest.raises(InputError, match="items: none of 1 memories has a thread: nothing says in which"):
        recorded(dump, WRITES)
    with pytest.raises(InputError, match="thread: 't9' is no thread of this dump"):
        recorded(dump, WRITES, thread="t9")
    with pytest.raises(InputError, match="thread: 't9' is no thread of this dump"):
        recorded(dump, WRITES, threads={ANA: "t9"})


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def agent(checkpointer: Any, store: Any) -> Any:
    """Remembers what it is told; once the user has said three things it forgets the first."""

    def remember(state: State) -> State:
        told = state["messages"][-1]
        get_store().put(ANA, str(told.id), {"content": f"Ana said: {told.text}", "thread_id": "t1"})
        forgotten = [RemoveMessage(id="m0")] if told.id == "m2" else []
        return {"messages": [AIMessage("Noted.", id=f"{told.id}-answer"), *forgotten]}

    graph = StateGraph(State).add_node("remember", remember).add_edge(START, "remember")
    return graph.compile(checkpointer=checkpointer, store=store)


def talk(running: Any) -> None:
    for n, text in enumerate(("I row.", "I bake.", "I sew.")):
        running.invoke({"messages": [HumanMessage(text, id=f"m{n}")]}, {"configurable": {"thread_id": "t1"}})


def test_a_store_and_a_checkpointer_give_what_each_write_could_see() -> None:
    saver, store = InMemorySaver(), InMemoryStore()
    talk(agent(saver, store))
    (conversation,) = recorded(dump_of(store, saver), WRITES).conversations
    assert [turn.id for turn in conversation.turns] == ["m0", "m0-answer", "m1", "m1-answer", "m2", "m2-answer"]
    assert [(write.memory, write.written_after) for write in conversation.writes] == [
        ("Ana said: I row.", "m0"),
        ("Ana said: I bake.", "m1"),
        ("Ana said: I sew.", "m2"),
    ]


def test_a_guarded_store_gives_what_it_has_stored() -> None:
    judges = {
        name: ScriptedVerifier(name, lambda _: (1.0, 0.0)) for name in ("verifier_a", "verifier_b", "adjudicator")
    }
    guard = AdmissionStore(
        InMemoryStore(), gate=AdmissionGate(load_settings(), **judges), ledger=open_ledger("sqlite://")
    )
    saver = InMemorySaver()
    talk(agent(saver, guard))
    found = recorded(dump_of(guard, saver), guard.settings.writes)
    assert [write.written_after for write in found.conversations[0].writes] == ["m0", "m1", "m2"]


def test_of_a_forked_thread_the_newest_branch_counts() -> None:
    saver, store = InMemorySaver(), InMemoryStore()
    running = agent(saver, store)
    talk(running)
    config = {"configurable": {"thread_id": "t1"}}
    after_one = next(
        state for state in running.get_state_history(config) if len(state.values["messages"]) == 2 and not state.next
    )
    running.invoke({"messages": [HumanMessage("I knit.", id="m9")]}, after_one.config)
    (saved,) = dump_of(store, saver).threads
    assert [message.id for message in saved.messages] == ["m0", "m0-answer", "m9", "m9-answer"]


def test_messages_without_ids_are_those_of_the_newest_checkpoint_without_times() -> None:
    class Plain(TypedDict):
        messages: list[AnyMessage]

    saver = InMemorySaver()
    graph = StateGraph(Plain).add_node("wait", lambda state: state).add_edge(START, "wait").compile(checkpointer=saver)
    for said in (["I row."], ["I bake.", "I sew."]):
        graph.invoke({"messages": [HumanMessage(text) for text in said]}, {"configurable": {"thread_id": "t1"}})
    (saved,) = dump_of(InMemoryStore(), saver).threads
    assert ([message.text for message in saved.messages], saved.times) == (["I bake.", "I sew."], {})


@pytest.fixture
def files(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """The files of a store and of a checkpointer, as a running agent has them open."""
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite")
    stores = pytest.importorskip("langgraph.store.sqlite")
    store, checkpoints = tmp_path / "store.db", tmp_path / "checkpoints.db"
    with (
        closing(sqlite3.connect(store, check_same_thread=False, isolation_level=None)) as items,
        closing(sqlite3.connect(checkpoints, check_same_thread=False)) as threads,
    ):
        opened = stores.SqliteStore(items)
        opened.setup()
        talk(agent(sqlite.SqliteSaver(threads), opened))
        yield store, checkpoints


def test_sqlite_files_are_read_while_they_are_in_use_and_not_written_to(files: tuple[Path, Path]) -> None:
    before = [file.read_bytes() for file in files]
    (conversation,) = recorded(read_sqlite(*files), WRITES).conversations
    assert [file.read_bytes() for file in files] == before
    assert [turn.id for turn in conversation.turns] == ["m0", "m0-answer", "m1", "m1-answer", "m2", "m2-answer"]
    assert sorted(write.memory for write in conversation.writes) == [
        "Ana said: I bake.",
        "Ana said: I row.",
        "Ana said: I sew.",
    ]


def test_what_a_dump_gives_can_be_written_as_a_conversation_file(files: tuple[Path, Path], tmp_path: Path) -> None:
    (conversation,) = recorded(read_sqlite(*files), WRITES).conversations
    written = tmp_path / "conversations.jsonl"
    written.write_text(conversation.model_dump_json(exclude_none=True) + "\n")
    assert list(read_conversations(written)) == [conversation]


def test_a_file_that_is_no_store_is_named(files: tuple[Path, Path], tmp_path: Path) -> None:
    store, checkpoints = files
    with pytest.raises(InputError, match=r"items: .*checkpoints\.db has no table 'store'; give the file of"):
        read_sqlite(checkpoints, checkpoints)
    with pytest.raises(InputError, match=r"threads: .*store\.db has no table 'checkpoints'"):
        read_sqlite(store, store)
    with pytest.raises(InputError, match=r"items: there is no file .*nowhere"):
        read_sqlite(tmp_path / "nowhere", checkpoints)
    (tmp_path / "text").write_text("not a database, but long enough to be looked at as one" * 20)
    with pytest.raises(InputError, match=r"items: .*text cannot be read .file is not a database"):
        read_sqlite(tmp_path / "text", checkpoints)
