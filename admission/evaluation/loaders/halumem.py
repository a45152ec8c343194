"""HaluMem's JSONL, one user a line: memory points are writes made after their session, and cite nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from admission.errors import InputError
from admission.evaluation.loaders.foreign import FORMATS, Foreign, checked, text_lines
from admission.evaluation.reading.dataset import json_lines
from admission.records import Conversation, Role, Turn, Write

INTERFERENCE = "interference"
"""The `memory_source` of what the assistant was made to say though it is not so, and the user does not take up."""

_NAME = re.compile(r"\bName:\s*([^;\n]*[^;\s])")


def _iso(value: object) -> object:
    """HaluMem's "Dec 15, 2025, 06:11:23" as ISO 8601."""
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value).isoformat()
    except ValueError:
        return datetime.strptime(value, "%b %d, %Y, %H:%M:%S").isoformat()


class _Message(Foreign):
    role: Role
    content: str
    timestamp: Annotated[str | None, BeforeValidator(_iso)] = None


class _Point(Foreign):
    memory_content: str = Field(min_length=1)
    # Only for people and tables: kept as they are, whatever they are.
    index: Any = None
    memory_source: Any = None
    memory_type: Any = None
    is_update: Any = None
    original_memories: Any = None
    importance: Any = None
    timestamp: Any = None


class _Session(Foreign):
    dialogue: tuple[_Message, ...]
    memory_points: tuple[_Point, ...] = ()


class _User(Foreign):
    uuid: str = Field(min_length=1)
    persona_info: str = ""
    sessions: tuple[_Session, ...]


def load_halumem(path: Path) -> Iterator[Conversation]:
    """The users of HaluMem, a line at a time: all their sessions as one conversation.

    Turns are `S<session>:<n>` and writes `<uuid>.s<session>.<n>`, from 1; the user speaks under the name that
    `persona_info` gives. What HaluMem says of a memory point (its source, type, what it updates) is kept in the
    reference. HaluMem names no turns that a point rests on, so nothing is cited. An interference point is made to be
    wrong, said by the assistant alone: its reference status is `unresolved`. The others have none, for that they are
    meant to be right does not say that the dialogue bears them out.

    Raises `InputError` naming line and field. Source: HaluMem: Evaluating Hallucinations in Memory Systems of Agents,
    arXiv:2511.03506.
    """
    seen: set[str] = set()
    for where, data in json_lines(path, text_lines(path)):
        user = checked(_User, data, where=where)
        if user.uuid in seen:
            raise InputError(
                "uuid", f"{user.uuid!r} is used twice in this file", "give each user one line", where=where
            )
        seen.add(user.uuid)
        yield _conversation(user, where)


def _conversation(user: _User, where: str) -> Conversation:
    named = _NAME.search(user.persona_info)
    name = named[1].strip() if named else None
    turns: list[Turn] = []
    writes: list[Write] = []
    for number, session in enumerate(user.sessions, start=1):
        for place, message in enumerate(session.dialogue, start=1):
            turns.append(_turn(f"S{number}:{place}", message, name))
        for place, point in enumerate(session.memory_points, start=1):
            if not turns:
                field = f"sessions.{number - 1}.dialogue"
                raise InputError(field, "has no turn, but memory points", FORMATS, where=where)
            writes.append(_write(f"{user.uuid}.s{number}.{place:02d}", point, turns[-1].id))
    return Conversation(id=user.uuid, namespace=("halumem", user.uuid), turns=tuple(turns), writes=tuple(writes))


def _turn(turn_id: str, message: _Message, user_name: str | None) -> Turn:
    return Turn.model_validate(
        {
            "id": turn_id,
            "role": message.role,
            "speaker": user_name if message.role == "user" else None,
            "time": message.timestamp,
            "text": message.content,
        }
    )


def _write(write_id: str, point: _Point, written_after: str) -> Write:
    reference = point.model_dump(exclude={"memory_content"}, exclude_none=True)
    if point.memory_source == INTERFERENCE:
        reference["status"] = "unresolved"
    return Write(id=write_id, memory=point.memory_content, written_after=written_after, reference=reference)
