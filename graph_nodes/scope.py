"""How a write finds its conversation: an explicit scope, else the running graph's messages, else none."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from cachetools import LRUCache
from langchain_core.messages import AIMessage, BaseMessage, MessageLikeRepresentation, ToolMessage, convert_to_messages
from langgraph.config import get_config

from admission.errors import InputError
from admission.history import PASSAGE_CHARS, History, Timeline
from admission.records import Namespace, Turn, digest
from graph_nodes.messages import turns_from_messages

logger = logging.getLogger(__name__)

CONVERSATIONS_KEPT = 256
RUNS_KEPT = 1024


@dataclass(frozen=True, eq=False)
class _Explicit:
    """A conversation a caller named. Its identity is the run in which equal values are counted outside a graph."""

    thread: str | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class _Task:
    """The running graph task. `run` tells one execution of it from another: every retry and resume gets its own."""

    thread: str | None
    id: str
    run: tuple[object, ...]


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
    token = _EXPLICIT.set(_Explicit(thread_id, _turns(messages)))
    try:
        yield
    finally:
        _EXPLICIT.reset(token)


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
        if task is None and explicit is not None:
            # Outside a graph the evidence names the retry: an equal value after the same conversation.
            name, run = f"after:{history.digest}", (explicit,)
        return WriteScope(thread, name, run, history, turns[-1].id if turns else None)

    def occurrence(self, scope: WriteScope, namespace: Namespace, value: dict[str, Any], key: str) -> int:
        """Which of the equal values this run of the task writes into a namespace under different keys, from 0.

        A later run of the same task counts anew, so that its first write is known for the first of the run before.
        """
        with self._lock:
            run = self._runs.get((scope.thread, scope.task))
            if run is None or run.identity != scope.run:
                run = self._runs[scope.thread, scope.task] = _Run(scope.run, {})
            keys = run.keys.setdefault(digest([namespace, value]), [])
            if key not in keys:
                keys.append(key)
            return keys.index(key)

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
    identity: tuple[object, ...]
    keys: dict[str, list[str]]


def _turns(messages: Sequence[Turn] | Sequence[MessageLikeRepresentation]) -> tuple[Turn, ...]:
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


def _configurable() -> dict[str, Any]:
    """What LangGraph keeps for the running node, task or tool; empty outside of a graph."""
    try:
        return get_config().get("configurable", {})
    except RuntimeError:
        return {}


def _running_task() -> _Task | None:
    found = _configurable()
    info = getattr(found.get("__pregel_runtime"), "execution_info", None)
    if info is None:
        return None
    thread = info.thread_id or found.get("thread_id")
    # LangGraph makes a new scratchpad for each execution of a task; within one loop, attempts are counted.
    run = (_Same(found.get("__pregel_scratchpad")), info.node_attempt)
    return _Task(str(thread) if thread is not None else None, info.task_id, run)


@dataclass(frozen=True, eq=False)
class _Same:
    """Compares by identity: two executions may have equal scratchpads."""

    thing: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


def _graph_turns() -> tuple[Turn, ...]:
    """The turns of the running graph's `messages` channel before this write; none where it has no such channel.

    LangGraph has no public way to read the state from a store; this is the one place that uses its own reader.
    """
    read = _configurable().get("__pregel_read")
    if read is None:
        return ()
    try:
        messages = read("messages", False)
    except KeyError:
        return ()
    if not isinstance(messages, list | tuple):
        return ()
    try:
        return _turns(messages)
    except InputError as error:
        # The agent goes on; without a conversation that can be read the write stays unresolved.
        logger.warning("the graph's messages cannot be read as a conversation: %s", error)
        return ()
