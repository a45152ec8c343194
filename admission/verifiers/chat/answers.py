"""A model's answer to verdicts, one for each id asked, or what is wrong with it; and what a verdict is worth."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from admission.records import FailureCode, Question, Usage
from admission.text import normalise, printable
from admission.verifiers.chat.logprobs import Token, expected

M = TypeVar("M", bound=BaseModel)

NOTE_CHARS = 300
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)
_ELLIPSIS = re.compile(r"\s*\[?(?:\.{3,}|…)\]?\s*")


class Verdict(BaseModel):
    """What the model says of one statement. Fields it adds are ignored; what it leaves out or mistypes is an error."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, json_schema_extra={"additionalProperties": False}
    )

    id: str = Field(description="the statement's id, as given")
    supported: float = Field(ge=0, le=1, allow_inf_nan=False, description="0 to 1: the turns support it")
    contradicted: float = Field(ge=0, le=1, allow_inf_nan=False, description="0 to 1: the turns contradict it")
    turns: list[str] = Field(description="ids of the turns relied on, as given; empty if none")
    quote: str = Field(description="the words relied on, as they stand in the turns; empty if none")


def schema_of(kind: type[BaseModel], name: str, description: str) -> dict[str, Any]:
    """The schema of an answer that is one list, called `name`, of items as `kind` has them.

    One for all calls: providers put it before the prompt, where ids of a call would spoil the shared prefix. Bounds are
    left to `items_of`: not every provider's structured output takes them.
    """
    item = kind.model_json_schema()
    item.pop("description", None)
    for field in item["properties"].values():
        for bound in ("minimum", "maximum", "title"):
            field.pop(bound, None)
    return {
        "title": name,
        "description": description,
        "type": "object",
        "properties": {name: {"type": "array", "items": item}},
        "required": [name],
        "additionalProperties": False,
    }


SCHEMA = schema_of(Verdict, "verdicts", "One verdict for each statement.")


class Reply(NamedTuple):
    """What came back for a request: the answer as text or as the arguments of a tool call, and what it cost.

    `tokens` are those of an answer in text, where the model gave their log probabilities.
    """

    answer: str | Mapping[str, Any]
    usage: Usage
    refusal: str | None = None
    cut_off: bool = False
    tokens: tuple[Token, ...] = ()

    @property
    def text(self) -> str:
        return self.answer if isinstance(self.answer, str) else json.dumps(dict(self.answer), ensure_ascii=False)


class Failure(NamedTuple):
    """A request that got no answer, and what the attempts cost."""

    code: FailureCode
    detail: str
    usage: Usage


class Unusable(NamedTuple):
    """An answer that is not one verdict for each id asked: how the call fails unless it is repaired, and why."""

    code: FailureCode
    problems: tuple[str, ...]


class Measure(NamedTuple):
    """What a verdict is worth on the passages shown: the numbers that count, where it stands, a note for a person."""

    support: float
    contradiction: float
    evidence: tuple[str, ...]
    note: str


def read(reply: Reply, ids: Sequence[str]) -> dict[str, Verdict] | Unusable:
    """The verdicts by id, exactly one for each of `ids`; or what is wrong. Nothing is made of part of an answer.

    Where the reply has log probabilities, the numbers are their expectations (`logprobs.expected`).
    """
    found = items_of(reply, "verdicts", Verdict)
    if isinstance(found, Unusable):
        return found
    counts = Counter(verdict.id for verdict in found)
    missing = [f"{_named(id)} has no verdict" for id in ids if id not in counts]
    wrong = [f"{_named(id)} has {count} verdicts" for id, count in counts.items() if count > 1]
    wrong += [f"{_named(id)} was not asked" for id in counts if id not in ids]
    if missing or wrong:
        return Unusable("malformed_answer" if wrong else "missing_answer", (*missing, *wrong))
    return {verdict.id: verdict for verdict in _weighed(found, reply)}


def measured(question: Question, verdict: Verdict, check_quotes: bool) -> Measure:
    """What the verdict is worth: nothing if it stands on no passage shown, or on words that are in none."""
    shown = set(question.turn_ids)
    evidence = tuple(id for id in dict.fromkeys(verdict.turns) if id in shown)
    said = f"{', '.join(evidence)}: {json.dumps(verdict.quote, ensure_ascii=False)}" if verdict.quote.strip() else ""
    if not verdict.supported and not verdict.contradicted:
        return Measure(0.0, 0.0, evidence, cut(said) if evidence else "")
    if not evidence:
        named = (
            f"names only turns that were not shown ({', '.join(verdict.turns)})" if verdict.turns else "names no turn"
        )
        return Measure(0.0, 0.0, (), cut(f"does not count: {named}"))
    if check_quotes and not _stands(verdict.quote, question, evidence):
        why = (
            f"the words quoted stand in none of these turns; {said}"
            if said
            else f"quotes nothing of {', '.join(evidence)}"
        )
        return Measure(0.0, 0.0, (), cut(f"does not count: {why}"))
    return Measure(verdict.supported, verdict.contradicted, evidence, cut(said or ", ".join(evidence)))


def cut(text: str, chars: int = NOTE_CHARS) -> str:
    """Text of others on one line, without what steers rather than shows, cut to `chars` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in printable(text)).split())
    return line if len(line) <= chars else line[: chars - 1].rstrip() + "…"


def items_of(reply: Reply, name: str, kind: type[M]) -> list[M] | Unusable:
    """The items of the one list, called `name`, that the answer has to be, each as `kind` has it; or what is wrong."""
    if reply.cut_off:
        return Unusable("malformed_answer", ("it was cut off before its end",))
    if isinstance(reply.answer, str) and not reply.answer.strip():
        return Unusable("missing_answer", ("it was empty",))
    try:
        return _items(reply.answer, name, kind)
    except _WrongAnswer as error:
        return Unusable("malformed_answer", (str(error),))


class _WrongAnswer(ValueError):
    """What is wrong with an answer, in words that the model is told."""


def _items(answer: str | Mapping[str, Any], name: str, kind: type[M]) -> list[M]:
    value = _parsed(answer) if isinstance(answer, str) else answer
    listed = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(listed, list):
        raise _WrongAnswer(f'it is not an object with a list of "{name}"')
    found = []
    for number, item in enumerate(listed, start=1):
        try:
            found.append(kind.model_validate(item))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            called = f"{kind.__name__.lower()} {number}{', ' + where if where else ''}"
            raise _WrongAnswer(cut(f"{called}: {first['msg']}")) from error
    return found


def _weighed(verdicts: Sequence[Verdict], reply: Reply) -> Sequence[Verdict]:
    """The verdicts by the tokens of the reply. One that was said to be 0 both ways stays so: it names no evidence."""
    answer = expected(_unfenced(reply.answer), reply.tokens) if isinstance(reply.answer, str) and reply.tokens else None
    if answer is None:
        return verdicts
    numbers = [{name: item[name] for name in ("supported", "contradicted")} for item in answer["verdicts"]]
    return [
        verdict.model_copy(update=weighed) if verdict.supported or verdict.contradicted else verdict
        for verdict, weighed in zip(verdicts, numbers, strict=True)
    ]


def _parsed(text: str) -> Any:
    """Strict JSON, with or without one code fence around it; a name that comes twice in an object is an error."""
    try:
        return json.loads(_unfenced(text), object_pairs_hook=_no_name_twice)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _WrongAnswer(f"it is not JSON ({cut(str(error), 100)})") from error


def _unfenced(text: str) -> str:
    text = text.strip()
    fenced = _FENCED.fullmatch(text)
    return fenced.group(1) if fenced else text


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _WrongAnswer("a name comes twice in one object")
    return value


def _named(id: str) -> str:
    return json.dumps(cut(id, 40), ensure_ascii=False)


def _stands(quote: str, question: Question, evidence: Sequence[str]) -> bool:
    """Whether every piece of the quote stands in one of the named turns; case, punctuation and spaces aside."""
    texts = [_plain(passage.text) for passage in question.passages if passage.turn_id in evidence]
    pieces = [plain for piece in _ELLIPSIS.split(quote) if (plain := _plain(piece))]
    return bool(pieces) and all(any(piece in text for text in texts) for piece in pieces)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", normalise(text).casefold()))
