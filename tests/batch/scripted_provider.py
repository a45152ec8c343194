"""A provider's batch API played by a script: request lines in, output lines out, in both formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from scripted_chat import Answer, Script, prompt_of

from admission.batch.provider_lines import RequestRefused

Line = dict[str, Any]
KINDS: dict[str, Callable[[str], BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
TOKENS = (100, 10)  # as ScriptedChat counts them


def requests_in(*files: Path) -> list[Line]:
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


def messages_in(line: Line) -> list[BaseMessage]:
    """The prompt of a request line, as a model would hear it."""
    body = line.get("body") or line["params"]
    system = [SystemMessage(body["system"])] if "system" in body else []
    return [*system, *(KINDS[message["role"]](message["content"]) for message in body["messages"])]


def model_in(line: Line) -> str:
    return str((line.get("body") or line["params"])["model"])


def output_lines(requests: Iterable[Line], scripts: dict[str, Script]) -> list[Line]:
    """What the provider writes for these requests, each answered by the script of its model."""
    return [output_line(line, scripts[model_in(line)](prompt_of(messages_in(line)))) for line in requests]


def output_line(request: Line, answer: Answer) -> Line:
    made = _anthropic(answer) if "params" in request else _openai(answer)
    return {"custom_id": request["custom_id"], **made}


def _openai(answer: Answer) -> Line:
    if isinstance(answer, RequestRefused):
        kind, _, words = str(answer).partition(": ")
        body = {"error": {"type": kind, "message": words, "code": None}}
        return {"id": "b", "response": {"status_code": answer.status_code, "body": body}, "error": None}
    message: Line = {"role": "assistant", "content": None, "refusal": None}
    if isinstance(answer, AIMessage):
        message["refusal"] = answer.additional_kwargs["refusal"]
    else:
        message["content"] = answer if isinstance(answer, str) else json.dumps(answer)
    usage = dict(zip(("prompt_tokens", "completion_tokens"), TOKENS, strict=True))
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    return {"id": "b", "response": {"status_code": 200, "request_id": "r", "body": body}, "error": None}


def _anthropic(answer: Answer) -> Line:
    if isinstance(answer, RequestRefused):
        kind, _, words = str(answer).partition(": ")
        return {"result": {"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": words}}}}
    usage = dict(zip(("input_tokens", "output_tokens"), TOKENS, strict=True))
    message: Line = {"role": "assistant", "stop_reason": "end_turn", "usage": usage}
    if isinstance(answer, AIMessage):
        message["content"] = [{"type": "text", "text": answer.additional_kwargs["refusal"]}]
        message["stop_reason"] = "refusal"
    elif isinstance(answer, str):
        message["content"] = [{"type": "text", "text": answer}]
    else:
        message["content"] = [{"type": "tool_use", "id": "u", "name": "verdicts", "input": answer}]
    return {"result": {"type": "succeeded", "message": message}}


def write_lines(path: Path, lines: Iterable[Line]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
