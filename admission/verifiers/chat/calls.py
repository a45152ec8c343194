"""Sends requests to a langchain chat model, sync and async: concurrency and rate bounds, time-outs, retries."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from langchain_core.messages import AIMessage
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ContextThreadPoolExecutor
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from admission.records import FailureCode, Usage
from admission.verifiers.chat.answers import Failure, Reply
from admission.verifiers.chat.exchange import Outcome, Request, Rounds, T
from admission.verifiers.chat.logprobs import tokens_of
from admission.verifiers.waiting import within

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

    from admission.model_settings import ChatOptions

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 20.0
TAGS = ("nostream", "admission")
"""`nostream` keeps what the judge says out of the message stream of the graph that the gate runs in."""

_PASSING_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# Names that clients (openai, anthropic, google, httpx, requests, botocore) give these conditions where no status does.
_LIMITED = frozenset(
    {"ModelRateLimitError", "RateLimitError", "ResourceExhausted", "TooManyRequests", "ThrottlingException"}
)
_SLOW = frozenset(
    {"ModelTimeoutError", "TimeoutError", "TimeoutException", "APITimeoutError", "Timeout", "DeadlineExceeded"}
)
_CUT_OFF = frozenset(
    {"ModelConnectionError", "ConnectionError", "APIConnectionError", "TransportError", "ServiceUnavailable"}
)
_ENDED_EARLY = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_WITHHELD = frozenset({"refusal", "content_filter", "safety", "prohibited_content"})
_ENDED_LOOP = "Event loop is closed"
"""What a client that keeps connections says of one whose event loop has ended; the next attempt opens its own."""
_DECLINED = frozenset({"ModelRefusalError", "ContentFilterFinishReasonError"})
_KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")


class Caller:
    """Sends what an exchange asks for. One caller stands for one model: all roles that use it share its bounds."""

    def __init__(self, runnable: Runnable[Any, Any], options: ChatOptions) -> None:
        self._runnable = runnable
        self._options = options
        self._room = threading.BoundedSemaphore(options.max_concurrency)
        self._rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        self._pace: InMemoryRateLimiter | None = None
        if options.requests_per_second is not None:
            self._pace = InMemoryRateLimiter(requests_per_second=options.requests_per_second)

    def answering(self, runnable: Runnable[Any, Any]) -> Caller:
        """The same bounds for the same model set up for another kind of answer."""
        other = copy.copy(self)
        other._runnable = runnable
        return other

    def carry(self, rounds: Rounds[T]) -> T:
        """What `rounds` returns once all it asks for was sent."""
        requests, result = _step(rounds, None)
        while requests is not None:
            requests, result = _step(rounds, self.send(requests))
        return cast(T, result)

    async def acarry(self, rounds: Rounds[T]) -> T:
        """Async twin of `carry`. What is made of answers is made in a thread: on some texts it takes seconds."""
        requests, result = await asyncio.to_thread(_step, rounds, None)
        while requests is not None:
            requests, result = await asyncio.to_thread(_step, rounds, await self.asend(requests))
        return cast(T, result)

    def send(self, requests: Sequence[Request]) -> list[Outcome]:
        """One outcome a request, in order, those of a round side by side."""
        if len(requests) == 1:
            return [self._send(requests[0])]
        with ContextThreadPoolExecutor(max_workers=min(len(requests), self._options.max_concurrency)) as pool:
            return list(pool.map(self._send, requests))

    async def asend(self, requests: Sequence[Request]) -> list[Outcome]:
        """Async twin of `send`."""
        return list(await asyncio.gather(*(self._asend(request) for request in requests)))

    def _send(self, request: Request) -> Outcome:
        tried = 0

        def attempt() -> object:
            nonlocal tried
            with self._room:
                if self._pace is not None:
                    self._pace.acquire()
                tried += 1
                messages, config = list(request.messages), _config(request)
                return within(self._options.timeout_s, lambda: self._runnable.invoke(messages, config))

        try:
            return reply_of(Retrying(**_retrying(request))(attempt), tried)
        except Exception as error:  # noqa: BLE001 - whatever a client raises is a typed failure, never a crash
            return failure_of(error, tried)

    async def _asend(self, request: Request) -> Outcome:
        tried = 0
        room = self._rooms.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._options.max_concurrency))

        async def attempt() -> object:
            nonlocal tried
            async with room:
                if self._pace is not None:
                    await self._pace.aacquire()
                tried += 1
                asked = self._runnable.ainvoke(list(request.messages), _config(request))
                return await asyncio.wait_for(asked, self._options.timeout_s)

        try:
            return reply_of(await AsyncRetrying(**_retrying(request))(attempt), tried)
        except Exception as error:  # noqa: BLE001 - as in `_send`
            return failure_of(error, tried)


def _step(rounds: Rounds[T], outcomes: Sequence[Outcome] | None) -> tuple[list[Request] | None, T | None]:
    """The requests that `rounds` asks for next, or None and what it returns."""
    try:
        return (next(rounds) if outcomes is None else rounds.send(outcomes)), None
    except StopIteration as stop:
        return None, stop.value


def reply_of(answered: object, calls: int) -> Outcome:
    """What a model or its structured output (`include_raw`) returned. The answer is read by us, from what was said.

    The parsers of structured output mend half a JSON; here a broken answer stays broken.
    """
    parsed, error = None, None
    if isinstance(answered, Mapping) and "raw" in answered:
        parsed, error, answered = answered.get("parsed"), answered.get("parsing_error"), answered["raw"]
    if not isinstance(answered, AIMessage):
        return Failure(
            "model_error", f"the model returned {type(answered).__name__}, not a message", Usage(calls=calls)
        )
    counted = answered.usage_metadata
    usage = Usage(calls=calls)
    if counted is not None:
        usage += Usage(input_tokens=counted["input_tokens"], output_tokens=counted["output_tokens"])
    metadata = answered.response_metadata
    ended = str(metadata.get("finish_reason") or metadata.get("stop_reason") or "").lower()
    tokens = tokens_of(metadata.get("logprobs"))
    return Reply(_said(answered, parsed), usage, _refusal(answered, error, ended), ended in _ENDED_EARLY, tokens)


def failure_of(error: Exception, calls: int) -> Failure:
    """The typed failure for what a client raised; its own words are kept, for they say what to correct, but no key."""
    code: FailureCode = "model_error"
    if _is_a(error, _DECLINED):
        code = "refused"
    elif _status(error) == 429 or _is_a(error, _LIMITED):
        code = "rate_limited"
    elif _is_a(error, _SLOW):
        code = "timeout"
    elif _is_a(error, {"LengthFinishReasonError"}):  # what openai's client makes of an answer cut off at its length
        code = "malformed_answer"
    attempts = f" (after {calls} attempts)" if calls > 1 else ""
    words = str(error) or "no answer within the time allowed" if code == "timeout" else str(error)
    return Failure(code, f"{type(error).__name__}{attempts}: {_without_key(words, error)}", _usage(error, calls))


def passes(error: BaseException) -> bool:
    """Whether the same request may succeed later: rate limits, time-outs, lost connections, failures of the server."""
    declared = getattr(error, "is_retryable", None)
    if isinstance(declared, bool):
        return declared
    ended = isinstance(error, RuntimeError) and str(error) == _ENDED_LOOP
    return ended or _status(error) in _PASSING_STATUS or _is_a(error, _LIMITED | _SLOW | _CUT_OFF)


def _retrying(request: Request) -> dict[str, Any]:
    return {
        "retry": retry_if_exception(passes),
        "stop": stop_after_attempt(request.attempts),
        "wait": _wait,
        "reraise": True,
    }


def _wait(state: RetryCallState) -> float:
    """Seconds before the next attempt: those the server names, else growing at random."""
    error = state.outcome.exception() if state.outcome is not None else None
    headers = getattr(getattr(error, "response", None), "headers", None)
    named = headers.get("retry-after") if isinstance(headers, Mapping) else None
    try:
        return max(0.0, min(float(named), LONGEST_WAIT_S)) if named is not None else _growing()(state)
    except ValueError:
        return _growing()(state)


def _growing() -> Callable[[RetryCallState], float]:
    return wait_random_exponential(multiplier=FIRST_WAIT_S, max=LONGEST_WAIT_S)


def _config(request: Request) -> RunnableConfig:
    config = RunnableConfig(run_name=f"admission:{request.role}", tags=list(TAGS))
    if request.candidate is not None:
        config["metadata"] = {"admission_candidate": request.candidate}
    return config


def _said(message: AIMessage, parsed: object) -> str | dict[str, Any]:
    """The arguments of the one tool call, or the text; what a parser made of it only where neither is there."""
    calls = message.tool_calls
    if len(calls) == 1 and not message.invalid_tool_calls:
        return dict(calls[0]["args"])
    broken = [str(call["args"] or "") for call in message.invalid_tool_calls]
    text = str(message.text) or "\n".join([*(str(call["args"]) for call in calls), *broken])
    return dict(parsed) if not text and isinstance(parsed, Mapping) else text


def _refusal(message: AIMessage, error: object, ended: str) -> str | None:
    """What the model declined with, where it did so in a way its provider reports."""
    if isinstance(error, Exception) and _is_a(error, _DECLINED):
        return str(error)
    blocks = message.content if isinstance(message.content, list) else []
    said = message.additional_kwargs.get("refusal") or next(
        (b.get("refusal") for b in blocks if isinstance(b, dict) and b.get("type") == "refusal"), None
    )
    if said or ended in _WITHHELD:
        return str(said or message.text or ended)
    return None


def _usage(error: Exception, calls: int) -> Usage:
    """What the attempts cost: openai's client raises for an answer that was cut off or withheld, and it is paid for."""
    counted = getattr(getattr(error, "completion", None), "usage", None)
    taken, made = (getattr(counted, name, None) or 0 for name in ("prompt_tokens", "completion_tokens"))
    return Usage(calls=calls, input_tokens=taken, output_tokens=made)


def _without_key(words: str, error: Exception) -> str:
    """The words without the key that the request was sent with: servers repeat it when they refuse it."""
    headers = getattr(getattr(error, "request", None), "headers", None)
    if isinstance(headers, Mapping):
        for name in _KEY_HEADERS:
            key = str(headers.get(name) or "").removeprefix("Bearer ").strip()
            words = words.replace(key, "(key)") if key else words
    return words


def _is_a(error: BaseException, names: frozenset[str] | set[str]) -> bool:
    return any(kind.__name__ in names for kind in type(error).__mro__)


def _status(error: BaseException) -> object:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int):
                return value
    return None
