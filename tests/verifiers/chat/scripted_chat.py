"""Chat models played by a script, the memories they judge, and a reading of the prompts they are sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field

from admission.gate import AdmissionGate
from admission.history import History
from admission.model_settings import ChatOptions
from admission.records import Candidate, Obligation, ObligationType, Passage, Question, Report, Turn
from admission.settings import Settings
from admission.verifiers.chat import ChatVerifier
from admission.verifiers.scripted import ScriptedVerifier


class Prompt(NamedTuple):
    """What a request says: system part, user part, turns shown (id to words), statements asked (id to line).

    Of a request to split a memory, the memory stands in `turns` under "".
    """

    system: str
    user: str
    turns: dict[str, str]
    statements: dict[str, str]
    repairs: bool


Answer = str | dict[str, Any] | AIMessage | Exception
Script = Callable[[Prompt], Answer]


def prompt_of(messages: Sequence[BaseMessage]) -> Prompt:
    user = str(messages[1].content)
    fence = user.splitlines()[0]
    _, evidence, question = user.split(fence)
    turns: dict[str, str] = {}
    current = ""
    for line in evidence.strip("\n").splitlines():
        if line.startswith("| "):
            turns[current] = turns.get(current, "") + line[2:] + "\n"
        else:
            current = json.JSONDecoder().raw_decode(line.removeprefix("turn "))[0]
            turns.setdefault(current, "")
    statements = {m.group(1): m.group(2) for m in re.finditer(r'id "([^"]+)"\]?[^"\n]*("(?:[^"\\]|\\.)*")', question)}
    return Prompt(str(messages[0].content), user, turns, statements, len(messages) > 2)


class ScriptedChat(BaseChatModel):
    """Answers each request with what the script returns, or raises it. It has no structured output."""

    model: str = "scripted"
    script: Any
    heard: list[list[BaseMessage]] = Field(default_factory=list)
    tokens: tuple[int, int] | None = (100, 10)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def prompts(self) -> list[Prompt]:
        return [prompt_of(messages) for messages in self.heard]

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.heard.append(messages)
        answer = self.script(prompt_of(messages))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, dict):
            answer = self._with(answer)
        message = answer if isinstance(answer, AIMessage) else AIMessage(answer)
        if self.tokens is not None:
            taken, made = self.tokens
            counts: Any = {"input_tokens": taken, "output_tokens": made, "total_tokens": taken + made}
            message = message.model_copy(update={"usage_metadata": counts})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _with(self, answer: dict[str, Any]) -> AIMessage:
        return AIMessage(json.dumps(answer))


class ToolChat(ScriptedChat):
    """The same with structured output: it answers by the tool it is given."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, Any]:
        return self.bind(tools=tools)

    def _with(self, answer: dict[str, Any]) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": "verdicts", "args": answer, "id": "call-1"}])


def verdict(id: str, supported: float = 0.9, turns: Sequence[str] = (), quote: str = "", **more: Any) -> dict[str, Any]:
    return {"id": id, "supported": supported, "contradicted": 0.0, "turns": list(turns), "quote": quote} | more


def honest(prompt: Prompt) -> dict[str, Any]:
    """Supports a statement where a turn has its last word, quotes that word, and says where."""
    found = []
    for id, statement in prompt.statements.items():
        word = re.findall(r"\w+", statement)[-1]
        turns = [turn for turn, text in prompt.turns.items() if word in text]
        found.append(verdict(id, 0.9 if turns else 0.0, turns[:1], word if turns else ""))
    return {"verdicts": found}


THINGS = ("car", "bicycle", "boat", "lamp", "table", "guitar", "camera", "kettle")
TURNS = [
    Turn(
        id="t1",
        role="user",
        speaker="Ana",
        time="2026-03-01T10:00:00",
        text=" ".join(f"I sold the {thing}." for thing in THINGS),
        origin="conversation",
    ),
    Turn(id="t2", role="assistant", speaker="Helper", text="That is a lot of things.", origin="conversation"),
    Turn(id="t3", role="user", speaker="Ana", text="The weather is dreadful today.", origin="conversation"),
]


def memory(count: int = 1) -> str:
    """A memory of so many facts, each of which t1 supports."""
    return " ".join(f"Ana sold the {thing}." for thing in THINGS[:count])


def candidate(text: str, *citations: str, id: str = "w1") -> Candidate:
    return Candidate(id=id, conversation="c", namespace=("n",), memory=text, citations=citations)


def yes(question: Question) -> tuple[float, float]:
    return 1.0, 0.0


def gate(
    a: BaseChatModel, b: BaseChatModel | None = None, c: BaseChatModel | None = None, *, view: str = "obligations",
    **options: Any,
) -> AdmissionGate:  # fmt: skip
    """A gate with the model as verifier A; verifier B agrees with everything unless a model is given."""
    how = ChatOptions(**options)
    return AdmissionGate(
        Settings(verification={"adjudicator": None, "view": view}),  # type: ignore[arg-type]
        verifier_a=ChatVerifier(a, "judge-a", options=how),
        verifier_b=ChatVerifier(b, "judge-b", options=how) if b is not None else ScriptedVerifier("yes", yes),
        adjudicator=ChatVerifier(c, "judge-c", options=how) if c is not None else None,
    )


def decide(judging: AdmissionGate, text: str | None = None, *citations: str, turns: Sequence[Turn] = TURNS) -> Report:
    return judging.decide(candidate(text or memory(), *(citations or ("t1",))), History.of("c", turns))


def passage(id: str, text: str, position: int = 0, **more: Any) -> Passage:
    fields = {"turn_id": id, "role": "user", "speaker": "Ana", "origin": "conversation"} | more
    return Passage(id=id, position=position, text=text, **fields)


def question(text: str, *passages: Passage, id: str = "o1", type: ObligationType = "fact") -> Question:
    obligation = Obligation(id=id, text=text, type=type)
    return Question(obligation=obligation, memory="memory", view="citation_only", passages=passages)
