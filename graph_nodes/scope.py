"""How a write finds its conversation: an explicit scope, else the running graph's messages, else none."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from cachetools import LRUCache
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    MessageLikeRepresentation,
    ToolMessage,
    convert_to_messages,
)
from langgraph.config import get_config

from admission.errors import InputError
from admission.history import PASSAGE_CHARS, History, Timeline
from admission.records import Namespace, Turn, digest
from graph_nodes.messages import turns_from_messages

logger = logging.getLogger(__name__)

CONVERSATIONS_KEPT = 256
RUNS_KEPT = 1024
_AFTER = "after:"


@dataclass(frozen=True, eq=False)
class _Explicit:
    """A conversation a caller named. Its identity is the run in which equal values are counted outside a graph."""

    thread: str | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class _Task:
    """The running graph task. `run` tells one execution of it from another: every retry and resume gets its own.

    `place`: where it stands in its graph, for a run that leaves no checkpoint until it ends (durability "exit"). After
    a crash such a run is begun anew with new task ids; the same place after the same words is then the same task.
    """

    thread: str | None
    id: str
    run: tuple[object, ...]
    place: str | None


@dataclass(frozen=True)
class WriteScope:
    """What is known about the place a write is made from.

    `thread` and `task` name it over every retry (None: nothing does); `run` is this execution of the task. `history`
    ends with the turn `written_after`.
    """

    thread: str | None
    task: str | None
    run: tuple[object, ...]
    history: History
    written_after: str | None


@dataclass(frozen=True)
class Asked:
    """What the user asked last. `id`: the thread's, a slash, and the message's."""

    id: str
    text: str


_EXPLICIT: ContextVar[_Explicit | None] = ContextVar("admission_conversation", default=None)


@contextmanager
def conversation(
    thread_id: str | None, messages: Sequence[Turn] | Sequence[MessageLikeRepresentation]
) -> Iterator[None]:
    """Say what the conversation before the writes of this block is: turns, or LangChain messages.

    It wins over what the running graph holds. Of messages, one whose tool calls are still running is the writer's own:
    it is no evidence and is left out. The messages are read at once; what is added later is not evidence. Follows the
    context, like `collect_reports`. Raises `InputError` for messages that cannot be read.
    """
    token = _EXPLICIT.set(_Explicit(thread_id, turns_of(messages)))
    try:
        yield
    finally:
        _EXPLICIT.reset(token)


def is_outside_graph(task: str | None) -> bool:
    """Is this the `task` of a write made outside of a graph, where only the evidence or the key names a retry?"""
    return task is None or task.startswith(_AFTER)


def before_the_write(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """The messages before the one that makes the write: the last AI message, while any of its tool calls is open."""
    answered: set[str] = set()
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
            continue
        if isinstance(message, AIMessage) and any(call["id"] not in answered for call in message.tool_calls):
            return messages[:place]
        break
    return messages


class Scopes:
    """Finds the scope of the current write. Keeps the timelines of recent threads, so that a growing conversation is
    extended and not indexed again, and counts equal values within one run of a task. Safe for threads."""

    def __init__(self, passage_chars: int = PASSAGE_CHARS) -> None:
        self._passage_chars = passage_chars
        self._lock = threading.Lock()
        self._timelines: LRUCache[str, Timeline] = LRUCache(CONVERSATIONS_KEPT)
        self._runs: LRUCache[tuple[str | None, str | None], _Run] = LRUCache(RUNS_KEPT)

    def current(self) -> WriteScope:
        """The scope of a write made in the current context, read now."""
        explicit, task = _EXPLICIT.get(), _running_task()
        thread = explicit.thread if explicit is not None else None
        if thread is None and task is not None:
            thread = task.thread
        turns = explicit.turns if explicit is not None else _graph_turns()
        history = self._history(thread, turns)
        name, run = (task.id, task.run) if task is not None else (None, ())
        if task is not None and task.place is not None:
            # Of the turns only the words: LangGraph gives a message without an id another one in every run.
            name = f"{task.place}:{digest([[turn.role, turn.text] for turn in turns])}"
        if task is None and explicit is not None:
            # Outside a graph the evidence names the retry: an equal value after the same conversation.
            name, run = f"{_AFTER}{history.digest}", (explicit,)
        return WriteScope(thread, name, run, history, turns[-1].id if turns else None)

    def occurrence(self, scope: WriteScope, namespace: Namespace, value: dict[str, Any], key: str) -> int:
        """Which of the equal values this run of the task writes into a namespace, from 0: under different keys, or
        under one that had another value in between.

        A later run of the same task counts anew, so that its first write is known for the first of the run before.
        """
        with self._lock:
            run = self._run(scope)
            name = digest([namespace, value])
            keys = run.keys.setdefault(name, [])
            if key not in keys or run.latest.get((namespace, key)) != name:
                keys.append(key)
            run.latest[namespace, key] = name
            return len(keys) - 1 - keys[::-1].index(key)

    def deleted(self, scope: WriteScope, namespace: Namespace, key: str) -> None:
        """This run of the task has deleted a key: what it writes there next is no repetition."""
        with self._lock:
            self._run(scope).latest.pop((namespace, key), None)

    def _run(self, scope: WriteScope) -> _Run:
        run = self._runs.get((scope.thread, scope.task))
        if run is None or run.identity != scope.run:
            run = self._runs[scope.thread, scope.task] = _Run(scope.run, {}, {})
        return run

    def _history(self, thread: str | None, turns: Sequence[Turn]) -> History:
        if thread is None:
            return History.of("", turns, passage_chars=self._passage_chars)
        with self._lock:
            timeline = self._timelines.get(thread)
            if timeline is None:
                timeline = self._timelines[thread] = Timeline(thread, passage_chars=self._passage_chars)
        return timeline.sync(turns)


@dataclass(frozen=True)
class _Run:
    """What one execution of a task has written: the keys of each value, and the value each key has."""

    identity: tuple[object, ...]
    keys: dict[str, list[str]]
    latest: dict[tuple[Namespace, str], str]


def turns_of(messages: Sequence[Turn] | Sequence[MessageLikeRepresentation]) -> tuple[Turn, ...]:
    """Turns as they are, or those of LangChain messages without the writer's own. Raises `InputError`."""
    turns = [message for message in messages if isinstance(message, Turn)]
    if turns and len(turns) == len(messages):
        return tuple(turns)
    if turns:
        raise InputError("messages", "mixes turns and messages", "give only turns, or only LangChain messages")
    try:
        read = convert_to_messages(messages)  # type: ignore[arg-type]
    except (ValueError, NotImplementedError, TypeError) as error:
        raise InputError("messages", f"cannot be read ({error})", "give turns, or LangChain messages") from error
    return tuple(turns_from_messages(before_the_write(read)))


def question_at_hand() -> Asked | None:
    """The newest words of the user in the conversation at hand; None where there are none."""
    explicit, task = _EXPLICIT.get(), _running_task()
    newest_first: Iterator[Turn] = (
        (turn for message in reversed(_graph_messages()) for turn in _user_turns(message))
        if explicit is None
        else (turn for turn in reversed(explicit.turns) if turn.role == "user")
    )
    turn = next((turn for turn in newest_first if turn.origin == "conversation"), None)
    if turn is None:
        return None
    thread = explicit.thread if explicit is not None else None
    if thread is None and task is not None:
        thread = task.thread
    return Asked(f"{thread}/{turn.id}" if thread is not None else turn.id, turn.text)


def running_config() -> Mapping[str, Any]:
    """The config of the running node, task or tool; empty outside of a graph."""
    try:
        return get_config()
    except RuntimeError:
        return {}


def _running_task() -> _Task | None:
    config = running_config()
    found: Mapping[str, Any] = config.get("configurable", {})
    info = getattr(found.get("__pregel_runtime"), "execution_info", None)
    if info is None:
        return None
    thread = info.thread_id or found.get("thread_id")
    # LangGraph makes a new scratchpad for each execution of a task; within one loop, attempts are counted.
    run = (_Same(found.get("__pregel_scratchpad")), info.node_attempt)
    leaves_no_checkpoint = thread is not None and found.get("__pregel_durability") == "exit"
    place = _place(info.checkpoint_ns, config.get("metadata", {})) if leaves_no_checkpoint else None
    return _Task(str(thread) if thread is not None else None, info.task_id, run, place)


def _place(namespace: str, metadata: Mapping[str, Any]) -> str:
    """Graph, node and step of the running task, without the ids of its run."""
    graphs = [part.split(":")[0] for part in namespace.split("|")]
    return digest([graphs, metadata.get("langgraph_step"), repr(metadata.get("langgraph_path"))])


@dataclass(frozen=True, eq=False)
class _Same:
    """Compares by identity: two executions may have equal scratchpads."""

    thing: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


def _graph_messages() -> Sequence[MessageLikeRepresentation]:
    """The running graph's `messages` channel; nothing where it has no such channel.

    LangGraph has no public way to read the state from a store; this is the one place that uses its own reader.
    """
    read = running_config().get("configurable", {}).get("__pregel_read")
    if read is None:
        return ()
    try:
        messages = read("messages", False)
    except KeyError:
        return ()
    return messages if isinstance(messages, list | tuple) else ()


def _graph_turns() -> tuple[Turn, ...]:
    """The turns of the running graph's messages before this write."""
    try:
        return turns_of(_graph_messages())
    except InputError as error:
        # The agent goes on; without a conversation that can be read the write stays unresolved.
        # What the error says may quote the message.
        why = type(error.__cause__ or error).__name__
        logger.warning("the graph's messages cannot be read as a conversation (%s)", why)
        return ()


def _user_turns(message: object) -> Sequence[Turn]:
    """The turn that a user's message is; none for anything else."""
    return turns_from_messages([message]) if isinstance(message, HumanMessage) else ()
