"""Who marks a reader's answers: a rule that looks for the reference in them, or a chat model told nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

import prompts
from admission.errors import InputError
from admission.evaluation.readers import reader_of
from admission.eviction.answering.asking import Asked, KeptModel
from admission.eviction.scoring import JudgeRequest, Mark, Unmarked
from admission.reading.disclosure import NormalisedString, NumbersAndDates
from admission.records import Usage
from admission.settings import Settings
from admission.text import word_set
from admission.verifiers.chat.answers import Reply, Unusable, cut, items_of
from admission.verifiers.chat.requests import quoted
from admission.verifiers.checks.dates import dates, spans
from admission.verifiers.checks.numbers import quantities
from admission.verifiers.checks.reading import read

TEMPLATES = ("mark_system", "mark_answer")
_IDLE = word_set("a an the on in at of by it is was were are for")
_ABSTAINS = ("i do not know", "i don't know", "i dont know", "unknown", "not known")
_TOLD = (None, datetime(1901, 1, 1))
"""When reference and answer are taken to be said: a day without a year means any year's, or else "ten years ago" is the
same in both, whatever day it is."""
_SHOWN = 80


class NormalisedJudge:
    """No model: right where the reference stands in the answer.

    Either its words stand there one after the other, in any case, spacing or punctuation, or its numbers and dates do
    in any form ("two" is "2", "7 May 2023" is "2023-05-07") together with all its other words. A day is not met by its
    month. An answer that begins by not knowing and is not right abstains.
    """

    name = "normalised"
    limits = (
        "The normalised judge looks for the words of the reference, so an answer that says the same in other words is "
        "wrong to it, and one that names the reference to deny it, or lists it among others, is right. It needs no "
        "model and always marks the same answer the same.",
    )

    def __init__(self) -> None:
        self._string = NormalisedString()
        self._numbers = {told: NumbersAndDates(told=told) for told in _TOLD}

    @property
    def identity(self) -> dict[str, object]:
        scorers = [self._string.declaration, *(numbers.declaration for numbers in self._numbers.values())]
        return {"kind": self.name, "scorers": scorers, "idle": sorted(_IDLE), "abstains": list(_ABSTAINS)}

    def marks(self, requests: Sequence[JudgeRequest]) -> list[Mark | Unmarked]:
        return [self._mark(request) for request in requests]

    def _mark(self, request: JudgeRequest) -> Mark | Unmarked:
        stands = self._string.find([request.reference], request.answer)[0]
        if stands.score is None:
            return Unmarked("the reference answer has no words")
        if stands.disclosed or any(self._same_numbers(request.reference, request.answer, told) for told in _TOLD):
            return "right"
        said = read(request.answer).text.casefold().lstrip("\"'([ ")
        return "abstained" if said.startswith(_ABSTAINS) else "wrong"

    def _same_numbers(self, reference: str, answer: str, told: datetime | None) -> bool:
        if not self._numbers[told].find([reference], answer)[0].disclosed:
            return False
        wanted, said = read(reference), read(answer)
        days = dates(wanted.text, told)
        named = [span for day in dates(said.text, told) for span in day.spans]
        if any(day.spans and not any(_within(span, day.spans) for span in named) for day in days):
            return False
        numbers = quantities(wanted, spans(days))
        taken = [*spans(days), *((number.start, number.end) for number in numbers)]
        units = {number.unit for number in numbers if number.measure is not None}
        rest = {
            word.stem
            for word in wanted.words
            if word.lower not in _IDLE and not any(start <= word.start < end for start, end in taken)
        }
        return rest - units <= said.stems


class ChatJudge:
    """The chat model called `chat:NAME`: it sees the question, the reference and the answer, and says `right`, `wrong`
    or `abstained` as JSON. Another answer is no mark.

    Answers in that form are kept in `file`; `advance` is told how many came. Raises `InputError` for another name,
    `SettingsError` for a section of the settings that is missing or cannot be set up.
    """

    def __init__(
        self, kind: str, settings: Settings, file: Path | None = None, advance: Callable[[int], None] = lambda _: None
    ) -> None:
        if kind.partition(":")[0] != "chat":
            raise InputError("--judge", f"no judge is called {kind!r}", "say normalised or chat:NAME")
        model = reader_of(kind, settings, prompts.load("mark_system").template)
        self.model = KeptModel(model, TEMPLATES, file, usable=lambda said: mark_of(said) is not None, advance=advance)
        self.name = kind

    @property
    def identity(self) -> dict[str, object]:
        return self.model.identity

    def marks(self, requests: Sequence[JudgeRequest]) -> list[Mark | Unmarked]:
        answers = self.model.answers([marking(request) for request in requests])
        return [_marked(answer) for answer in answers]


class _Verdict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    verdict: Mark


def marking(request: JudgeRequest) -> Asked:
    """What a judge is asked: three texts of others, each a JSON string on one line."""
    prompt = prompts.load("mark_answer").substitute(
        question=quoted(request.question), reference=quoted(request.reference), answer=quoted(request.answer)
    )
    return Asked(prompt, request.attempt)


def mark_of(answer: str) -> Mark | None:
    """The mark that a judge's answer gives: strict JSON with one verdict; None for anything else."""
    found = items_of(Reply(answer, Usage()), "verdicts", _Verdict)
    return found[0].verdict if not isinstance(found, Unusable) and len(found) == 1 else None


def _marked(answer: str | None) -> Mark | Unmarked:
    if answer is None:
        return Unmarked("no answer: the request failed or was cut off")
    mark = mark_of(answer)
    return Unmarked(f"no verdict in the asked form: {quoted(cut(answer, _SHOWN))}") if mark is None else mark


def _within(inner: tuple[date, date], outer: Sequence[tuple[date, date]]) -> bool:
    return any(first <= inner[0] and inner[1] <= last for first, last in outer)
