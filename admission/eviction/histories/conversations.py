"""Conversation files with questions read for the eviction audit: a memory is a turn, or a recorded write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, ValidationError

from admission.conversations import read_conversations
from admission.errors import InputError
from admission.eviction.records import AuditData, History, LabelledQuestion, Memory
from admission.records import Conversation, Record, TurnIds, Write

MemoriesAre = Literal["turns", "writes"]
MEMORIES_ARE: tuple[MemoriesAre, ...] = get_args(MemoriesAre)
SEE = "see docs/eviction.md, 'Your own conversations'"


class _Question(Record, coerce_numbers_to_str=True):
    """One of a conversation's `questions`: `evidence` are the turns that its answer needs, `memories` the writes. Where
    it is not `answerable`, the right answer is to abstain. Ids may be whole numbers."""

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str | None = None
    evidence: TurnIds = ()
    memories: TurnIds = ()
    type: str = ""
    time: str | None = None
    answerable: bool = True


class _Line(Record, extra="ignore"):
    """What the audit reads of a line beside its conversation."""

    questions: tuple[_Question, ...] = ()


def load_contract(file: Path, memories: MemoriesAre = "turns") -> AuditData:
    """The conversations that have questions. Raises `InputError` naming file, line and field.

    With `writes`, the memories are the recorded writes in the order in which they were made, and a question needs the
    `memories` it names or, without any, the newest write that cites each turn of its evidence; one of which a turn is
    cited by none has no evidence, for it was never written down.
    """
    histories: list[History] = []
    questions: list[LabelledQuestion] = []
    without = 0
    for where, conversation, asked in _lines(file):
        if not asked:
            without += 1
            continue
        histories.append(_history(conversation, memories, where))
        for place, question in enumerate(asked):
            gold = _gold(conversation, question, memories, f"questions.{place}", where)
            questions.append(_labelled(conversation, question, gold))
    if not questions:
        raise InputError("questions", "no conversation has any", f"add questions to its line; {SEE}", where=str(file))
    about = (
        f"{file.name}: {len(histories)} conversations with {len(questions)} questions, "
        f"{sum(len(history.memories) for history in histories)} {memories} as memories. {without} conversations have "
        "no question: left out."
    )
    return AuditData(file.name, tuple(histories), tuple(questions), about)


def is_line(value: Mapping[str, Any]) -> bool:
    """Has an object the field by which a conversation is known?"""
    return isinstance(value.get("turns"), list)


def _lines(file: Path) -> Iterator[tuple[str, Conversation, tuple[_Question, ...]]]:
    """Each conversation with its questions and `file:line`; `read_conversations` finds the faults of the rest."""
    conversations = read_conversations(file)
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            conversation, where = next(conversations), f"{file}:{number}"
            asked = _questions(line, where)
            ids = [question.id for question in asked]
            for place, id in enumerate(ids):
                if id in ids[:place]:
                    problem = f"{id!r} is used twice in this conversation"
                    raise InputError(f"questions.{place}.id", problem, "give each its own id", where=where)
            yield where, conversation, asked


def _questions(line: str, where: str) -> tuple[_Question, ...]:
    try:
        return _Line.model_validate_json(line).questions
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputError(".".join(map(str, first["loc"])), first["msg"], SEE, where=where) from error


def _history(conversation: Conversation, memories: MemoriesAre, where: str) -> History:
    if memories == "turns":
        made = [
            Memory(id=_id(conversation, turn.id), text=f"{turn.speaker or turn.role}: {turn.text}", time=turn.time)
            for turn in conversation.turns
        ]
    else:
        times = {turn.id: turn.time for turn in conversation.turns}
        last = next(reversed(times), "")
        made = [
            Memory(id=_id(conversation, write.id), text=write.memory, time=times.get(write.written_after or last))
            for write in _in_order(conversation)
        ]
    if not made:
        problem = f"conversation {conversation.id!r} has questions and none"
        raise InputError(memories, problem, "give it some, or take its questions out", where=where)
    return History(id=conversation.id, memories=tuple(made))


def _gold(
    conversation: Conversation, question: _Question, memories: MemoriesAre, field: str, where: str
) -> tuple[str, ...]:
    """The ids of the memories that the answer needs; none where the data do not say, or a turn was not written down."""
    for name, given, known in (
        ("evidence", question.evidence, {turn.id for turn in conversation.turns}),
        ("memories", question.memories, {write.id for write in conversation.writes}),
    ):
        for place, id in enumerate(given):
            if id not in known:
                problem = f"{id!r} is no {'turn' if name == 'evidence' else 'write'} of the conversation"
                raise InputError(f"{field}.{name}.{place}", problem, "name one by its id", where=where)
    needed = question.evidence
    if memories == "writes":
        needed = question.memories or _writes_of(question.evidence, conversation)
    return tuple(dict.fromkeys(_id(conversation, id) for id in needed))


def _writes_of(turns: Sequence[str], conversation: Conversation) -> tuple[str, ...]:
    """The newest write that cites each of the turns; none where one of them has no such write."""
    newest = {turn: write.id for write in _in_order(conversation) for turn in write.citations}
    return tuple(newest[turn] for turn in turns) if newest.keys() >= set(turns) else ()


def _in_order(conversation: Conversation) -> list[Write]:
    """The writes, the first made first."""
    places = {turn.id: place for place, turn in enumerate(conversation.turns)}
    return sorted(conversation.writes, key=lambda write: places.get(write.written_after or "", len(places)))


def _labelled(conversation: Conversation, question: _Question, gold: tuple[str, ...]) -> LabelledQuestion:
    return LabelledQuestion(
        id=_id(conversation, question.id),
        history=conversation.id,
        text=question.question,
        gold=gold,
        answer=question.answer,
        kind=question.type,
        time=question.time,
        answerable=question.answerable,
    )


def _id(conversation: Conversation, id: str) -> str:
    return f"{conversation.id}/{id}"
