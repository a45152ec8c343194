"""A server on the loopback that speaks OpenAI's chat completions and answers by a script; what it was sent is kept."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

from langchain_core.messages import convert_to_messages
from scripted_chat import Prompt, prompt_of

MODEL = "served-1"
KEY = "k-4f9a-not-for-anyone"
TOKENS = (100, 10)


class Completion(NamedTuple):
    """A whole answer in words (`answer` as JSON where it is one), and how it ended."""

    answer: str | dict[str, Any]
    finish: str = "stop"
    refusal: str | None = None
    logprobs: dict[str, Any] | None = None


class Refused(NamedTuple):
    """An answer with an HTTP status and an error of the API."""

    status: int
    message: str
    code: str | None = None
    headers: Mapping[str, str] = {}


class Hanging(NamedTuple):
    """No answer for as long as the server runs."""


class Raw(NamedTuple):
    """These bytes as the whole body."""

    body: bytes


Served = str | dict[str, Any] | Completion | Refused | Hanging | Raw
Serving = Callable[[Prompt], Served]


class Received(NamedTuple):
    """One request: its body, the words of its Authorization header, and the prompt it holds."""

    body: dict[str, Any]
    authorization: str
    prompt: Prompt


class ScriptedOpenAI:
    """Serves `script` on an ephemeral port of the loopback while its context lasts. It knows one model, `MODEL`."""

    def __init__(self, script: Serving) -> None:
        self.script = script
        self.received: list[Received] = []
        self.closing = threading.Event()
        self._server = _Quiet(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> ScriptedOpenAI:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, authorization: str, body: dict[str, Any]) -> Served:
        prompt = prompt_of(convert_to_messages(body["messages"]))
        self.received.append(Received(body, authorization, prompt))
        if path != "/v1/chat/completions":
            return Refused(404, f"there is no {path}")
        if body["model"] != MODEL:
            return Refused(404, f"The model `{body['model']}` does not exist", "model_not_found")
        return self.script(prompt)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of clients that hang up when their time is over."""


def _handler(server: ScriptedOpenAI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served = server.answer(self.path, self.headers.get("Authorization", ""), body)
            if isinstance(served, Hanging):
                server.closing.wait()
                self.close_connection = True
            elif isinstance(served, Refused):
                error = {"message": served.message, "type": "error", "param": None, "code": served.code}
                self._send(served.status, json.dumps({"error": error}).encode(), served.headers)
            elif isinstance(served, Raw):
                self._send(200, served.body)
            else:
                self._send(200, json.dumps(_completed(served, body)).encode())

        def _send(self, status: int, content: bytes, headers: Mapping[str, str] = {}) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing: what was sent is in `received`."""

    return Handler


def _completed(served: str | dict[str, Any] | Completion, body: Mapping[str, Any]) -> dict[str, Any]:
    """The completion as the API gives it: by a tool where the request has one, else in words."""
    made = served if isinstance(served, Completion) else Completion(served)
    words = made.answer if isinstance(made.answer, str) else json.dumps(made.answer)
    message: dict[str, Any] = {"role": "assistant", "content": words, "refusal": made.refusal}
    finish = made.finish
    if body.get("tools") and made.refusal is None:
        call = {"name": body["tools"][0]["function"]["name"], "arguments": words}
        message |= {"content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": call}]}
        finish = "tool_calls" if finish == "stop" else finish
    taken, written = TOKENS
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": made.logprobs}],
        "usage": {"prompt_tokens": taken, "completion_tokens": written, "total_tokens": taken + written},
    }


def logprobs_of(words: str, doubts: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """The `logprobs` of a choice that says `words`, sure of each token but those in `doubts`: token to probabilities.

    Tokens are up to three digits, or a run of letters, of spaces or of marks.
    """
    return {
        "content": [
            _alternative(token, chances[token])
            | {"top_logprobs": [_alternative(other, chance) for other, chance in chances.items()]}
            for token in re.findall(r"\d{1,3}|[^\W\d]+|\s+|[^\w\s]+", words)
            for chances in [doubts.get(token, {token: 1.0})]
        ],
        "refusal": None,
    }


def _alternative(token: str, chance: float) -> dict[str, Any]:
    return {"token": token, "logprob": math.log(chance), "bytes": list(token.encode())}
