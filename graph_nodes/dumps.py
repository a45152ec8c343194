"""What a store holds and what its threads said, as conversations with recorded writes that can be replayed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from admission.errors import InputError
from admission.records import Conversation, Namespace, Turn, Write
from admission.settings import WriteSettings
from admission.text import printable
from graph_nodes.messages import turns_from_messages
from graph_nodes.store import AdmissionStore
from graph_nodes.values import citation_field, memory_text

_PAGE = 500
# What langmem's memory tool answers: the key under which it has stored.
_STORED_AS = re.compile(r"\b(?:created|updated) memory ([^\s.,;]+)")


class StoredItem(NamedTuple):
    """A memory as the store has it. `written_at`: when it got its present value, ISO 8601, UTC where it has no offset;
    None where that is not known."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    written_at: str | None


class SavedThread(NamedTuple):
    """What was said in a thread, in order; `times`: by message id, when it was first there (ISO 8601), where known."""

    id: str
    messages: tuple[BaseMessage, ...]
    times: Mapping[str, str]


class StoreDump(NamedTuple):
    """Memories, and the threads that they may have been written in."""

    items: tuple[StoredItem, ...]
    threads: tuple[SavedThread, ...]


class LeftOut(NamedTuple):
    """A memory that is in no conversation, and why."""

    namespace: Namespace
    key: str
    reason: str


class Recorded(NamedTuple):
    """What a dump gives: a conversation for each thread and namespace, and the memories that are in none of them."""

    conversations: tuple[Conversation, ...]
    left_out: tuple[LeftOut, ...]


class ThreadReading:
    """Reads one thread from its checkpoints, the newest first: every message as it was when it was first there.

    So messages that were trimmed, summed up or edited later are what a write before that could see. Messages without
    ids cannot be followed from checkpoint to checkpoint: then the newest checkpoint counts, without times.
    """

    def __init__(self, thread_id: str) -> None:
        self.thread_id = thread_id
        self._newest: Sequence[BaseMessage] | None = None
        self._first: dict[str, tuple[tuple[int, int], BaseMessage, str | None]] = {}
        self._taken = 0
        self._has_ids = True

    def take(self, time: str | None, messages: Sequence[BaseMessage]) -> None:
        """The next older checkpoint: when it was made, and the messages in it."""
        self._newest = messages if self._newest is None else self._newest
        for place, message in enumerate(messages):
            if message.id:
                self._first[message.id] = ((-self._taken, place), message, time)
            else:
                self._has_ids = False
        self._taken += 1

    def saved(self) -> SavedThread:
        """The thread as it was read."""
        if not self._has_ids:
            return SavedThread(self.thread_id, tuple(self._newest or ()), {})
        ordered = sorted(self._first.values(), key=lambda found: found[0])
        times = {str(message.id): time for _, message, time in ordered if time is not None}
        return SavedThread(self.thread_id, tuple(message for _, message, _ in ordered), times)


def dump_of(store: BaseStore, checkpointer: BaseCheckpointSaver[Any]) -> StoreDump:
    """All memories of a store, and all threads of a checkpointer by their `messages`.

    For trusted code: of an `AdmissionStore`, what its inner store holds, whatever its read gate would show.
    Of a thread that was forked the branch that ends with the newest checkpoint counts; what subgraphs keep to
    themselves does not. Nothing is written, and no time to live is refreshed.
    """
    beneath = store.inner if isinstance(store, AdmissionStore) else store
    return StoreDump(tuple(_items(beneath)), tuple(_threads(checkpointer)))


def recorded(
    dump: StoreDump,
    writes: WriteSettings,
    *,
    thread: str | None = None,
    threads: Mapping[Namespace, str] | None = None,
) -> Recorded:
    """The memories of a dump as writes recorded in its threads.

    A memory's text and citations are read as the gate reads a value. It was written in the thread that its value or its
    value's `metadata` names as `thread_id`; else in the one where langmem's tool says that it stored it; else in that
    of its namespace, or of the longest namespace above it, in `threads`; else in `thread`. What has no thread is left
    out. It was written after the last turn before the call of langmem's tool, where there is one; else after the last
    turn that is not younger than its present value (a time without a fraction stands for all of its second); else,
    where times are missing, after the last turn.

    Raises `InputError` for a `thread` that the dump has not, and where no memory can be matched.
    """
    known = {saved.id: _Thread(saved) for saved in dump.threads}
    by_namespace = dict(threads or {})
    for named in (*by_namespace.values(), *((thread,) if thread is not None else ())):
        if named not in known:
            raise InputError("thread", f"{named!r} is no thread of this dump", "name one of its threads")
    found: dict[tuple[str, Namespace], list[tuple[int, Write]]] = defaultdict(list)
    left_out: list[LeftOut] = []
    for item in dump.items:
        place = _place(item, known, by_namespace, thread)
        text = printable(memory_text(item.value, writes))
        if isinstance(place, str) or not text.strip():
            left_out.append(LeftOut(item.namespace, item.key, place if isinstance(place, str) else "it says nothing"))
            continue
        own, position = place
        write = Write(
            id=printable(item.key),
            memory=text,
            citations=tuple(map(printable, item.value[field])) if (field := citation_field(item.value, writes)) else (),
            written_after=own.turns[position].id,
        )
        found[own.id, item.namespace].append((position, write))
    if not found:
        why = f": {left_out[0].reason}" if left_out else ""
        raise InputError("items", f"none of {len(dump.items)} memories has a thread{why}", "say which thread it was")
    return Recorded(tuple(_conversations(known, found)), tuple(left_out))


class _Thread:
    """A thread as turns, and where in it memories were written."""

    def __init__(self, saved: SavedThread) -> None:
        self.id = saved.id
        self._messages = saved.messages
        self.turns: tuple[Turn, ...] = tuple(turns_from_messages(saved.messages, times=saved.times))
        self._moments = [None if turn.when is None else utc(turn.when) for turn in self.turns]
        self._stored = _stored_here(saved.messages)

    def stored(self, key: str) -> bool:
        """Does langmem's tool say here that it stored under this key?"""
        return key in self._stored

    def position(self, item: StoredItem) -> int | None:
        """The last turn before the memory was written, by its place; None where there is none."""
        if item.key in self._stored:
            return self._last(turns_from_messages(self._messages[: self._stored[item.key]]))
        if item.written_at is None or not any(self._moments):
            return self._last(self.turns)
        written = datetime.fromisoformat(item.written_at)
        until = utc(written) + timedelta(seconds=0 if written.microsecond else 0.999999)
        return max(
            (n for n, moment in enumerate(self._moments) if moment is not None and moment <= until), default=None
        )

    def _last(self, turns: Sequence[Turn]) -> int | None:
        return len(turns) - 1 if turns else None


def _place(
    item: StoredItem, known: Mapping[str, _Thread], by_namespace: Mapping[Namespace, str], default: str | None
) -> tuple[_Thread, int] | str:
    """The thread of a memory and the turn it was written after, or why it has none."""
    named = _named_thread(item.value)
    if named is None:
        telling = [thread.id for thread in known.values() if thread.stored(item.key)]
        named = telling[0] if len(telling) == 1 else _of_namespace(item.namespace, by_namespace) or default
    if named is None:
        return "nothing says in which thread it was written"
    if named not in known:
        return f"its thread {named!r} is not in the dump"
    position = known[named].position(item)
    if position is None:
        return f"its thread {named!r} has no turn before it was written"
    return known[named], position


def _named_thread(value: Mapping[str, Any]) -> str | None:
    metadata = value.get("metadata")
    for fields in (value, metadata if isinstance(metadata, Mapping) else {}):
        named = fields.get("thread_id")
        if isinstance(named, str | int) and not isinstance(named, bool) and str(named):
            return str(named)
    return None


def _of_namespace(namespace: Namespace, threads: Mapping[Namespace, str]) -> str | None:
    above = (namespace[:length] for length in range(len(namespace), 0, -1))
    return next((threads[prefix] for prefix in above if prefix in threads), None)


def _stored_here(messages: Sequence[BaseMessage]) -> dict[str, int]:
    """By key, the place of the message that last called langmem's tool to store it."""
    callers = {
        call["id"]: place
        for place, message in enumerate(messages)
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    return {
        key: callers[message.tool_call_id]
        for message in messages
        if isinstance(message, ToolMessage) and message.tool_call_id in callers
        for key in _STORED_AS.findall(str(message.text))
    }


def _conversations(
    known: Mapping[str, _Thread], found: Mapping[tuple[str, Namespace], list[tuple[int, Write]]]
) -> Iterator[Conversation]:
    """One for each thread and namespace. It is called as the thread, and as both where a thread has several."""
    for thread_id, thread in known.items():
        namespaces = sorted(namespace for owner, namespace in found if owner == thread_id)
        joined = ["/".join(namespace) for namespace in namespaces]
        for place, namespace in enumerate(namespaces):
            again = joined[:place].count(joined[place])  # ("a/b",) and ("a", "b") read the same
            name = f"{thread_id} [{joined[place]}]" + (f" {again + 1}" if again else "")
            writes = sorted(found[thread_id, namespace], key=lambda write: (write[0], write[1].id))
            yield Conversation(
                id=thread_id if len(namespaces) == 1 else name,
                namespace=namespace,
                turns=thread.turns,
                writes=tuple(write for _, write in writes),
            )


def _items(store: BaseStore) -> Iterator[StoredItem]:
    seen = 0
    while page := store.search((), limit=_PAGE, offset=seen, refresh_ttl=False):
        for item in page:
            yield StoredItem(tuple(item.namespace), item.key, dict(item.value), item.updated_at.isoformat())
        seen += len(page)


def _threads(checkpointer: BaseCheckpointSaver[Any]) -> Iterator[SavedThread]:
    readings: dict[str, ThreadReading] = {}
    next_older: dict[str, str | None] = {}
    for found in checkpointer.list(None):
        place = found.config["configurable"]
        thread_id, checkpoint_id = str(place["thread_id"]), place["checkpoint_id"]
        if place.get("checkpoint_ns") or next_older.get(thread_id, checkpoint_id) != checkpoint_id:
            continue
        parent = found.parent_config
        next_older[thread_id] = parent["configurable"]["checkpoint_id"] if parent is not None else None
        messages = found.checkpoint["channel_values"].get("messages")
        if isinstance(messages, list | tuple) and all(isinstance(message, BaseMessage) for message in messages):
            readings.setdefault(thread_id, ThreadReading(thread_id)).take(found.checkpoint["ts"], messages)
    yield from (readings[thread_id].saved() for thread_id in sorted(readings))


def utc(moment: datetime) -> datetime:
    """A moment without an offset is one of UTC, as SQLite's are."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
