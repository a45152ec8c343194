"""Fake chat models that read and judge, found by the sections of settings that name them."""

from __future__ import annotations

import json
import re
from typing import Any

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from pydantic import Field

from admission.settings import Settings

SETTINGS = Settings(
    models={name: {"model": f"openai:{name}", "max_concurrency": 1, "retries": 0} for name in ("reader", "judge")}  # type: ignore[misc]
)


class FakeChat(FakeListChatModel):
    """Keeps what it was asked, each prompt as the words of its two messages."""

    responses: list[str] = Field(default=["-"])
    asked: list[str] = Field(default_factory=list)

    def _call(self, messages: Any, *_args: Any, **_more: Any) -> str:
        self.asked.append("\n".join(str(message.content) for message in messages))
        return self.reply(str(messages[-1].content))

    def reply(self, prompt: str) -> str:
        raise NotImplementedError


class FakeReadingChat(FakeChat):
    """Answers with the words of every memory that it is shown."""

    def reply(self, prompt: str) -> str:
        return " ".join(re.findall(r"^\| (.*)$", prompt, re.M)) or "I do not know."


class FakeJudgingChat(FakeChat):
    """Finds an answer right that holds the reference, and an abstention in "I do not know"."""

    def reply(self, prompt: str) -> str:
        said = {name: json.loads(text) for name, text in re.findall(r"^(Reference|Answer): (.*)$", prompt, re.M)}
        right = said["Reference"] in said["Answer"]
        mark = "right" if right else "abstained" if said["Answer"] == "I do not know." else "wrong"
        return json.dumps({"verdicts": [{"verdict": mark}]})
