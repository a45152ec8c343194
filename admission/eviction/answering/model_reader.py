"""A chat model or a local one as the reader of the audit: it answers from what it is shown, or abstains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import prompts
from admission.evaluation.readers import reader_of
from admission.eviction.answering.asking import Asked, KeptModel
from admission.eviction.scoring import ReadMemory, ReadRequest
from admission.settings import Settings
from admission.verifiers.chat.requests import fence_of, lines_of, quoted

TEMPLATES = ("read_system", "read_question")
NOTHING = "(no memories)"


class ModelReader:
    """The model called `chat:NAME` or `local:NAME`, told to abstain where the memories do not say.

    Answers are kept in `file`; `advance` is told how many came. Raises `InputError` for another name, `SettingsError`
    for a section of the settings that is missing or cannot be set up.
    """

    def __init__(
        self, kind: str, settings: Settings, file: Path | None = None, advance: Callable[[int], None] = lambda _: None
    ) -> None:
        model = reader_of(kind, settings, prompts.load("read_system").template)
        self.model = KeptModel(model, TEMPLATES, file, advance=advance)
        self.name = kind

    @property
    def identity(self) -> dict[str, object]:
        return self.model.identity

    def answer(self, requests: Sequence[ReadRequest]) -> list[str | None]:
        return self.model.answers([reading(request) for request in requests])


def reading(request: ReadRequest) -> Asked:
    """What a reader is asked: the memories as numbered, fenced data, and the question."""
    body = "\n".join(line for number, memory in enumerate(request.context, start=1) for line in _memory(number, memory))
    asked_on = f" (asked on {_on_one_line(request.time)})" if request.time is not None else ""
    prompt = prompts.load("read_question").substitute(
        fence=fence_of(body), memories=body or NOTHING, asked_on=asked_on, question=quoted(request.question)
    )
    return Asked(prompt, request.attempt)


def _memory(number: int, memory: ReadMemory) -> list[str]:
    time = f", {_on_one_line(memory.time)}" if memory.time is not None else ""
    return [f"memory {number}{time}", *lines_of(memory.text)]


def _on_one_line(time: str) -> str:
    return " ".join(time.split())
