"""Log probabilities of an answer's tokens: what the model might have said in place of each of its numbers."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

LEAST_READ = 0.5
"""Share of what the model might have said that has to be readable as a number for its expectation to be used."""

_ROUNDING = 1e-3
_OPEN = 0.5  # the middle of what a number that is only begun ("0", "0.") may still become
_NUMBERS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)', re.DOTALL)
_PLAIN = re.compile(rb"(?:0|[1-9]\d*)(?:\.\d+)?")


class Token(NamedTuple):
    """One token of an answer, and the probabilities known of what could stand in its place, its own among them."""

    said: bytes
    chances: Mapping[bytes, float]


class _Alternative(BaseModel):
    token: str
    raw: list[Annotated[int, Field(ge=0, le=255)]] | None = Field(default=None, alias="bytes")
    logprob: float = Field(le=_ROUNDING)

    @property
    def text(self) -> bytes:
        return bytes(self.raw) if self.raw is not None else self.token.encode("utf-8", "surrogatepass")

    @property
    def probability(self) -> float:
        return min(1.0, math.exp(self.logprob))


class _Place(_Alternative):
    top_logprobs: list[_Alternative] | None = None


class _Logprobs(BaseModel):
    content: list[_Place]


def tokens_of(logprobs: object) -> tuple[Token, ...]:
    """The tokens in the `logprobs` of a choice of OpenAI's chat completions, direct or from a batch file.

    None at all where it is nothing of the kind or its numbers are no probabilities.
    """
    try:
        places = _Logprobs.model_validate(logprobs).content
    except ValidationError:
        return ()
    tokens = tuple(
        Token(place.text, {each.text: each.probability for each in (*(place.top_logprobs or ()), place)})
        for place in places
    )
    return tokens if all(sum(token.chances.values()) <= 1 + _ROUNDING for token in tokens) else ()


def expected(text: str, tokens: Sequence[Token]) -> Any | None:
    """The value of the JSON `text` with each number replaced by its expectation over what the model might have said.

    A number stays as it was said where the alternatives known of it do not tell. None where the tokens are not those of
    `text`. Source: Liu et al., G-Eval, 2023 (a score weighted by the probabilities of its tokens).
    """
    data = text.encode("utf-8", "surrogatepass")
    at = b"".join(token.said for token in tokens).rfind(data)  # the last: a model may have thought aloud before it
    if at < 0:
        return None
    starts = [*accumulate((len(token.said) for token in tokens), initial=-at)]
    places = (match.span(1) for match in _NUMBERS.finditer(data) if match.group(1))

    def number(said: str) -> float:
        start, end = next(places)  # the parser calls in the order of the text
        first, last = bisect_right(starts, start) - 1, bisect_left(starts, end)
        return _expectation(said.encode(), start, tokens[first:last], starts[first:last])

    return json.loads(text, parse_float=number, parse_int=number)


def _expectation(said: bytes, start: int, tokens: Sequence[Token], starts: Sequence[int]) -> float:
    """The mean of what `said`, whose first character is at `start`, might have been, by where its tokens part from it.

    Each alternative to a token is taken as the end of a number that begins as `said` does up to there.
    """
    value = float(said)
    if not _PLAIN.fullmatch(said):
        return value
    reached, read, mean = 1.0, 0.0, 0.0
    for token, begins in zip(tokens, starts, strict=True):
        lead, before = token.said[: max(0, start - begins)], said[: max(0, begins - start)]
        for other, chance in token.chances.items():
            if other == token.said or not other.startswith(lead):
                continue
            meant = _read(before + other[len(lead) :])
            if meant is not None:
                read += reached * chance
                mean += reached * chance * meant
        reached *= token.chances[token.said]
    read += reached
    mean += reached * value
    return mean / read if read >= LEAST_READ else value


def _read(begun: bytes) -> float | None:
    """The number from 0 to 1 that stands at the beginning of `begun`, or None."""
    if begun in (b"0", b"0."):
        return _OPEN
    match = _PLAIN.match(begun)
    value = float(match.group()) if match else None
    return value if value is not None and value <= 1 else None
