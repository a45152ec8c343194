"""Store dumps read from files: JSON, and the SQLite files of LangGraph's store and checkpointer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from urllib.parse import quote

from langchain_core.messages import BaseMessage, convert_to_messages
from pydantic import BeforeValidator, Field, model_validator

from admission.errors import InputError
from admission.evaluation.loaders.foreign import Foreign, checked, each_once, whole_json
from admission.records import Namespace
from graph_nodes.dumps import SavedThread, StoredItem, StoreDump, ThreadReading, dump_of, utc


def _moment(value: object) -> object:
    if isinstance(value, str):
        datetime.fromisoformat(value)
    return value


_Time = Annotated[str | None, BeforeValidator(_moment)]
_Id = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value), Field(min_length=1)]


class _Item(Foreign):
    namespace: Annotated[Namespace, Field(min_length=1)]
    key: _Id
    value: dict[str, Any]
    created_at: _Time = None
    updated_at: _Time = None


class _Channels(Foreign):
    messages: tuple[Any, ...] = ()


class _Checkpoint(Foreign):
    ts: _Time = None
    channel_values: _Channels


class _Thread(Foreign):
    thread_id: _Id
    messages: tuple[Any, ...] | None = None
    checkpoints: tuple[_Checkpoint, ...] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> _Thread:
        if (self.messages is None) == (self.checkpoints is None):
            raise ValueError("give either messages or checkpoints")
        return self


class _Dump(Foreign):
    items: tuple[_Item, ...]
    threads: tuple[_Thread, ...]


def read_dump(path: Path) -> StoreDump:
    """A dump as JSON (docs/derivation.md): `{"items": [...], "threads": [...]}`.

    Checkpoints are put in the order of their `ts` where all have one; else they are taken as they stand, the oldest
    first. Messages may have any form that LangChain reads. Raises `InputError` naming the field.
    """
    dump = checked(_Dump, whole_json(path), where=str(path))
    each_once(((*item.namespace, item.key) for item in dump.items), "items", where=str(path))
    each_once((thread.thread_id for thread in dump.threads), "threads", where=str(path))
    items = (StoredItem(i.namespace, i.key, i.value, i.updated_at or i.created_at) for i in dump.items)
    threads = (_saved(thread, f"{path}: threads.{place}") for place, thread in enumerate(dump.threads))
    return StoreDump(tuple(items), tuple(threads))


def read_sqlite(store: Path, checkpoints: Path) -> StoreDump:
    """What the files of a `SqliteStore` and a `SqliteSaver` hold; they may be one file.

    The files are copied first and never written to. Only read files you trust: LangGraph restores the Python objects
    that a checkpoint names. Raises `InputError` for a file that is none of these.
    """
    try:
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.store.sqlite import SqliteStore
    except ImportError as error:
        needed = "pip install 'memory-admission[sqlite]'"
        raise InputError("store", "SQLite files need langgraph-checkpoint-sqlite", needed) from error
    with TemporaryDirectory() as folder:
        copied_store, copied_checkpoints = Path(folder, "store"), Path(folder, "checkpoints")
        _copy(store, copied_store, "store", "items")
        _copy(checkpoints, copied_checkpoints, "checkpoints", "threads")
        with _open(copied_store) as items, _open(copied_checkpoints) as threads:
            return dump_of(SqliteStore(items), SqliteSaver(threads))


def _saved(thread: _Thread, where: str) -> SavedThread:
    reading = ThreadReading(thread.thread_id)
    if thread.messages is not None:
        reading.take(None, _messages(thread.messages, f"{where}.messages"))
    for checkpoint in reversed(_oldest_first(thread.checkpoints or ())):
        reading.take(checkpoint.ts, _messages(checkpoint.channel_values.messages, f"{where}.checkpoints"))
    return reading.saved()


def _oldest_first(checkpoints: Sequence[_Checkpoint]) -> list[_Checkpoint]:
    dated = [(utc(datetime.fromisoformat(one.ts)), one) for one in checkpoints if one.ts is not None]
    if len(dated) < len(checkpoints):
        return list(checkpoints)
    return [one for _, one in sorted(dated, key=lambda found: found[0])]


def _messages(data: Sequence[Any], where: str) -> list[BaseMessage]:
    # `messages_to_dict` puts the fields under `data`, which LangChain's own reading of dicts does not know.
    flat = [{**one["data"], "type": one["type"]} if _is_wrapped(one) else one for one in data]
    try:
        return convert_to_messages(flat)
    except (ValueError, NotImplementedError, TypeError, KeyError) as error:
        problem = f"hold what is no message ({error})"
        raise InputError("messages", problem, "give messages as LangChain writes them", where=where) from error


def _is_wrapped(message: object) -> bool:
    return isinstance(message, dict) and set(message) == {"type", "data"} and isinstance(message["data"], dict)


@contextmanager
def _open(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file, check_same_thread=False, isolation_level=None)) as connection:
        yield connection


def _copy(source: Path, target: Path, table: str, field: str) -> None:
    """A copy of an SQLite file as it is now, if it has the table."""
    remedy = "give the file of LangGraph's SqliteStore, and that of its SqliteSaver"
    if not source.is_file():
        raise InputError(field, f"there is no file {source}", remedy)
    try:
        with closing(sqlite3.connect(f"file:{quote(str(source))}?mode=ro", uri=True)) as opened, _open(target) as copy:
            opened.backup(copy)
            tables = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.Error as error:
        raise InputError(field, f"{source} cannot be read ({error})", remedy) from error
    if (table,) not in tables:
        raise InputError(field, f"{source} has no table {table!r}", remedy)
