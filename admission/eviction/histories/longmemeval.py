"""LongMemEval read for the eviction audit: a memory is a turn, and every question has a history of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator, model_validator

from admission.errors import InputError
from admission.evaluation.loaders.foreign import Foreign
from admission.eviction.histories.json_items import array_items
from admission.eviction.records import AuditData, History, LabelledQuestion, Memory

SEE = "see docs/eviction.md for the files"
_ABSTENTION = "_abs"
_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d)(?: \(\w+\))? (\d\d):(\d\d)")


class _Turn(Foreign):
    role: str = Field(min_length=1)
    content: str
    has_answer: bool | None = None


class _Item(Foreign):
    """One question as it is published, times as ISO 8601."""

    question_id: str = Field(min_length=1)
    question_type: str
    question: str
    answer: str | int | float
    question_date: str
    haystack_session_ids: tuple[str, ...]
    haystack_dates: tuple[str, ...]
    haystack_sessions: tuple[tuple[_Turn, ...], ...]
    answer_session_ids: tuple[str, ...] = ()

    @field_validator("question_date")
    @classmethod
    def _time(cls, value: str) -> str:
        return _iso(value)

    @field_validator("haystack_dates")
    @classmethod
    def _times(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(_iso, value))

    @model_validator(mode="after")
    def _each_session_has_an_id_and_a_date(self) -> _Item:
        counts = [len(part) for part in (self.haystack_session_ids, self.haystack_dates, self.haystack_sessions)]
        if len(set(counts)) > 1:
            raise ValueError("has {} session ids, {} dates and {} sessions".format(*counts))
        if not any(self.haystack_sessions):
            raise ValueError("has no turn in its haystack")
        return self


def load_longmemeval(file: Path) -> AuditData:
    """All questions, each with its haystack as a history, oldest session first. Raises `InputError`.

    Gold are the turns that are marked to have the answer or, where none is, all turns of the answer sessions; without
    any the question has no evidence. Questions whose id ends in `_abs` ask for what was never said: not answerable.
    The file is read a question at a time and a text that several haystacks share is kept once, but all histories are
    in memory in the end. Source: LongMemEval, arXiv:2410.10813.
    """
    texts: dict[str, str] = {}
    histories: list[History] = []
    questions: list[LabelledQuestion] = []
    gold_from: Counter[str] = Counter()
    for where, value in array_items(file):
        item = _item(value, where)
        sessions = sorted(range(len(item.haystack_sessions)), key=lambda place: item.haystack_dates[place])
        memories = tuple(memory for place in sessions for memory in _memories(item, place, texts))
        gold, kind = _gold(item)
        gold_from[kind] += 1
        histories.append(History(id=item.question_id, memories=memories))
        questions.append(
            LabelledQuestion(
                id=item.question_id,
                history=item.question_id,
                text=item.question,
                gold=gold,
                answer=str(item.answer),
                kind=item.question_type,
                time=item.question_date,
                answerable=not item.question_id.endswith(_ABSTENTION),
            )
        )
    if not questions:
        raise InputError("file", "has no question", SEE, where=file.name)
    about = (
        f"LongMemEval: {len(questions)} questions, a history each, "
        f"{sum(len(history.memories) for history in histories)} turns as memories. Evidence: marked turns for "
        f"{gold_from['turns']}, whole sessions for {gold_from['sessions']}, none for {gold_from['none']}."
    )
    return AuditData("LongMemEval", tuple(histories), tuple(questions), about)


def is_item(value: dict[str, Any]) -> bool:
    """Has an object the fields by which LongMemEval is known?"""
    return {"question_id", "haystack_sessions"} <= value.keys()


def _item(value: dict[str, Any], where: str) -> _Item:
    try:
        return _Item.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "item"
        raise InputError(field, first["msg"].removeprefix("Value error, "), SEE, where=where) from error


def _memories(item: _Item, place: int, texts: dict[str, str]) -> Iterator[Memory]:
    for number, turn in enumerate(item.haystack_sessions[place]):
        text = f"{turn.role}: {turn.content}"
        yield Memory(id=_id(item, place, number), text=texts.setdefault(text, text), time=item.haystack_dates[place])


def _gold(item: _Item) -> tuple[tuple[str, ...], str]:
    """The ids of the memories that the answer needs, and what told so."""
    turns = [
        (place, number, bool(turn.has_answer))
        for place, session in enumerate(item.haystack_sessions)
        for number, turn in enumerate(session)
    ]
    marked = tuple(_id(item, place, number) for place, number, has_answer in turns if has_answer)
    if marked:
        return marked, "turns"
    sessions = {place for place, id in enumerate(item.haystack_session_ids) if id in item.answer_session_ids}
    whole = tuple(_id(item, place, number) for place, number, _ in turns if place in sessions)
    return whole, "sessions" if whole else "none"


def _id(item: _Item, place: int, number: int) -> str:
    # By place: nothing says that a haystack has a session once.
    return f"{item.question_id}/{place + 1}:{number + 1}"


def _iso(text: str) -> str:
    found = _DATE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no date such as 2023/05/30 (Tue) 23:40")
    return "{}-{}-{}T{}:{}:00".format(*found.groups())
