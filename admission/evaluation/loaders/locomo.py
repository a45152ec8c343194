"""LoCoMo's `locomo10.json`: every observation is a write, made after the last turn of its session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import Field

from admission.errors import InputError
from admission.evaluation.loaders.foreign import FORMATS, Foreign, checked, each_once, whole_json
from admission.records import Conversation, Turn, Write

TURN_SECONDS = 30
"""LoCoMo dates sessions only; each turn is taken to be so much later than the one before."""

_SESSION = re.compile(r"session_([1-9][0-9]*)")
_OBSERVED = re.compile(r"session_([1-9][0-9]*)_observation")
_TURN_ID = re.compile(r"D:?(\d+):0*(\d+)")
_BETWEEN_IDS = re.compile(r"[,;\s]+")


class _Turn(Foreign):
    dia_id: str = Field(min_length=1)
    speaker: str
    text: str
    blip_caption: str | None = None


class _Session(Foreign):
    date_time: str
    turns: tuple[_Turn, ...]


_Observation = tuple[str, str | tuple[str, ...]]
"""A memory and the turns it cites."""


class _Sample(Foreign):
    sample_id: str = Field(min_length=1)
    conversation: dict[str, Any]
    observation: dict[str, dict[str, tuple[_Observation, ...]]] = Field(default_factory=dict)


def load_locomo(path: Path) -> Iterator[Conversation]:
    """The conversations of LoCoMo, each with its observations as writes `<sample>.s<session>.<n>`.

    A turn that shares a picture has the picture's caption behind its words. An observation that cites several turns
    ("D12:12, D12:14", or a list) cites each; what names no turn is kept as it is, so that the gate reports it. The
    subject of an observation is kept in its reference: it labels nothing, and no gate is shown it.

    Raises `InputError` naming the sample and the field. Source: Evaluating Very Long-Term Conversational Memory of LLM
    Agents, arXiv:2402.17753.
    """
    data = whole_json(path)
    if not isinstance(data, list):
        raise InputError("file", "is no list of LoCoMo's samples", FORMATS, where=str(path))
    samples = [checked(_Sample, sample, where=f"{path}: sample {n}") for n, sample in enumerate(data, start=1)]
    each_once((sample.sample_id for sample in samples), "sample_id", where=str(path))
    for sample in samples:
        yield _conversation(sample, f"{path}: sample {sample.sample_id!r}")


def _conversation(sample: _Sample, where: str) -> Conversation:
    sessions = {number: _session(sample.conversation, number, where) for number in _numbers(sample, where)}
    turns = [turn for number, session in sessions.items() for turn in _turns(number, session, where)]
    each_once((turn.id for turn in turns), "dia_id", where=where)
    return Conversation(
        id=sample.sample_id,
        namespace=("locomo", sample.sample_id),
        turns=tuple(turns),
        writes=tuple(_writes(sample, sessions, where)),
    )


def _numbers(sample: _Sample, where: str) -> list[int]:
    """The sessions that were held, in order; LoCoMo dates some that were not."""
    if odd := [
        name for name in sample.conversation if re.fullmatch(r"session_\d+", name) and not _SESSION.fullmatch(name)
    ]:
        raise InputError(f"conversation.{odd[0]}", "is no session's name", "number sessions 1, 2, ...", where=where)
    numbers = sorted(int(found[1]) for name in sample.conversation if (found := _SESSION.fullmatch(name)))
    if not numbers:
        raise InputError("conversation", "has no session_1", FORMATS, where=where)
    return numbers


def _session(conversation: Mapping[str, Any], number: int, where: str) -> _Session:
    name = f"session_{number}"
    data = {"date_time": conversation.get(f"{name}_date_time"), "turns": conversation[name]}
    return checked(_Session, data, where=f"{where}, {name}")


def _turns(number: int, session: _Session, where: str) -> Iterator[Turn]:
    try:
        start = datetime.strptime(session.date_time, "%I:%M %p on %d %B, %Y")
    except ValueError as error:
        field = f"session_{number}_date_time"
        raise InputError(field, str(error), "write it as '1:56 pm on 8 May, 2023'", where=where) from error
    for place, turn in enumerate(session.turns):
        yield Turn.model_validate(
            {
                "id": turn.dia_id,
                "role": "user",
                "speaker": turn.speaker,
                "time": (start + timedelta(seconds=TURN_SECONDS * place)).isoformat(),
                "text": f"{turn.text} [shares image: {turn.blip_caption}]" if turn.blip_caption else turn.text,
            }
        )


def _writes(sample: _Sample, sessions: Mapping[int, _Session], where: str) -> Iterator[Write]:
    for name, by_subject in sample.observation.items():
        found = _OBSERVED.fullmatch(name)
        session = sessions.get(int(found[1])) if found else None
        if found is None or session is None or not session.turns:
            raise InputError(f"observation.{name}", "is of no session with turns", FORMATS, where=where)
        observed = [(subject, *one) for subject, of_subject in by_subject.items() for one in of_subject]
        for place, (subject, memory, ids) in enumerate(observed, start=1):
            yield Write(
                id=f"{sample.sample_id}.s{found[1]}.{place:02d}",
                memory=memory,
                citations=_citations(ids),
                written_after=session.turns[-1].dia_id,
                reference={"subject": subject},
            )


def _citations(ids: str | tuple[str, ...]) -> tuple[str, ...]:
    named = (ids,) if isinstance(ids, str) else ids
    parts = [part for text in named for part in _BETWEEN_IDS.split(text) if part]
    return tuple(
        dict.fromkeys(f"D{found[1]}:{found[2]}" if (found := _TURN_ID.fullmatch(part)) else part for part in parts)
    )
