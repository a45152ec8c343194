"""One line of a provider's output file to what came of the request: a reply, a failure, or no answer yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from langchain_core.messages import AIMessage
from pydantic import BaseModel, Field, ValidationError

from admission.records import FailureCode, Usage
from admission.text import printable
from admission.verifiers.chat.answers import Failure
from admission.verifiers.chat.calls import failure_of, passes, reply_of
from admission.verifiers.chat.exchange import Outcome

ONE_CALL = Usage(calls=1)
# What a server would answer, for the names that Anthropic gives its errors.
# Source: https://platform.claude.com/docs/en/api/errors.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
# Of requests that the provider did not come to. OpenAI's codes, Anthropic's types of result.
_NOT_REACHED: dict[str, tuple[FailureCode, str]] = {
    "batch_expired": ("timeout", "the batch expired before this request was answered"),
    "expired": ("timeout", "the batch expired before this request was answered"),
    "batch_cancelled": ("missing_answer", "the batch was cancelled before this request was answered"),
    "canceled": ("missing_answer", "the batch was cancelled before this request was answered"),
}


class Found(NamedTuple):
    """What a line says of a request. `passing`: the same request may be answered if it is sent again."""

    outcome: Outcome
    passing: bool = False


class RequestRefused(Exception):
    """The provider's error for one request, with the HTTP status that says what kind it is."""

    def __init__(self, words: str, status_code: int) -> None:
        self.status_code = status_code
        super().__init__(words)


class _Read(BaseModel):
    """Part of a line; what we have no use for is ignored."""


class _ProviderError(_Read):
    code: str | int | None = None
    type: str | None = None
    message: str | None = None

    def __str__(self) -> str:
        return ": ".join(str(part) for part in (self.code or self.type, self.message) if part) or "no reason given"


class _OpenAIMessage(_Read):
    content: str | list[str | dict[Any, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


class _Choice(_Read):
    message: _OpenAIMessage
    finish_reason: str | None = None
    logprobs: dict[str, Any] | None = None


class _OpenAIUsage(_Read):
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)


class _Completion(_Read):
    choices: list[_Choice] = Field(min_length=1)
    usage: _OpenAIUsage | None = None


class _OpenAIResponse(_Read):
    status_code: int = 200
    body: Any = None


class _OpenAILine(_Read):
    response: _OpenAIResponse | None = None
    error: _ProviderError | None = None


class _AnthropicUsage(_Read):
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Block(_Read, extra="allow"):
    type: str


class _ToolUse(_Read):
    id: str | None = None
    name: str
    input: dict[str, Any]


class _AnthropicMessage(_Read):
    content: list[_Block]
    stop_reason: str | None = None
    usage: _AnthropicUsage | None = None


class _AnthropicResult(_Read):
    type: Literal["succeeded", "errored", "canceled", "expired"]
    message: Any = None
    error: Any = None


class _AnthropicLine(_Read):
    result: _AnthropicResult


def found_in(line: Mapping[str, Any]) -> Found:
    """What the line says of its request. A line that is not what its provider writes is a malformed answer."""
    try:
        return _anthropic(_AnthropicLine.model_validate(line)) if "result" in line else _openai(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        return Found(Failure("malformed_answer", printable(f"the provider's line: {problem}"), ONE_CALL))


def _openai(data: Mapping[str, Any]) -> Found:
    line = _OpenAILine.model_validate(data)
    if line.error is not None:
        return _unanswered(str(line.error.code), str(line.error), 500)
    response = line.response or _OpenAIResponse(status_code=500)
    if response.status_code != 200:
        said = response.body.get("error") if isinstance(response.body, Mapping) else None
        error = _ProviderError.model_validate(said if isinstance(said, Mapping) else {})
        return _unanswered(str(error.code), str(error), response.status_code)
    completion = _Completion.model_validate(response.body)
    choice, usage = completion.choices[0], completion.usage
    message = AIMessage(
        choice.message.content or "",
        additional_kwargs={"tool_calls": choice.message.tool_calls, "refusal": choice.message.refusal},
        response_metadata={"finish_reason": choice.finish_reason, "logprobs": choice.logprobs},
        usage_metadata=_tokens(usage.prompt_tokens, usage.completion_tokens) if usage is not None else None,
    )
    return Found(reply_of(message, 1))


def _anthropic(line: _AnthropicLine) -> Found:
    result = line.result
    if result.type == "errored":
        said = result.error
        while isinstance(said, Mapping) and isinstance(said.get("error"), Mapping):  # {"type": "error", "error": ...}
            said = said["error"]
        error = _ProviderError.model_validate(said if isinstance(said, Mapping) else {})
        return _unanswered(str(error.type), str(error), 500)
    if result.type != "succeeded":
        return _unanswered(result.type, result.type, 500)
    answer = _AnthropicMessage.model_validate(result.message)
    usage = answer.usage
    message = AIMessage(
        [block.model_dump() for block in answer.content],
        tool_calls=[_called(block) for block in answer.content if block.type == "tool_use"],
        response_metadata={"stop_reason": answer.stop_reason},
        usage_metadata=_tokens(_taken(usage), usage.output_tokens) if usage is not None else None,
    )
    return Found(reply_of(message, 1))


def _called(block: _Block) -> dict[str, Any]:
    use = _ToolUse.model_validate(block.model_dump())
    return {"name": use.name, "args": use.input, "id": use.id}


def _taken(usage: _AnthropicUsage) -> int:
    """All input tokens: Anthropic counts what it wrote to its prompt cache or read from there apart."""
    return usage.input_tokens + (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)


def _tokens(taken: int, made: int) -> dict[str, int]:
    return {"input_tokens": taken, "output_tokens": made, "total_tokens": taken + made}


def _unanswered(code: str, words: str, status: int) -> Found:
    """A request that got no answer; by its code or status, whether one may still come."""
    if code in _NOT_REACHED:
        failure, why = _NOT_REACHED[code]
        return Found(Failure(failure, why, ONE_CALL), passing=True)
    error = RequestRefused(words, _STATUS.get(code, status))
    return Found(failure_of(error, 1), passing=passes(error))
