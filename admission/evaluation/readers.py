"""Who answers in the exposure measurement: a chat model, a local model, or the scripted reader that needs none."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from admission.errors import InputError, SettingsError
from admission.settings import Settings
from admission.text import content_terms

if TYPE_CHECKING:
    from admission.verifiers.local.loading import LocalModel

SCRIPTED = "scripted"
INSTRUCTION = (
    "You answer a question with the help of memories. Use only memories that help to answer. Answer in one or two "
    "sentences. If the memories do not say, say that you do not know."
)
_NONE = "(no memories)"
_MEMORY = re.compile(r"^- (.+)$", re.M)
_QUESTION = re.compile(r"^Question: (.+)\Z", re.M | re.S)


class Reader(Protocol):
    """Answers prompts. `paid`: does asking cost money? `identity`: what its answers depend on."""

    name: str
    paid: bool

    @property
    def identity(self) -> dict[str, object]: ...

    def answer(self, prompts: Sequence[str]) -> list[str | None]:
        """One answer a prompt, in order; None where asking failed."""
        ...


def prompt_of(query: str, memories: Sequence[str]) -> str:
    """What a reader is asked; the same words whether a memory is among them or not."""
    listed = "\n".join(f"- {' '.join(memory.split())}" for memory in memories) or _NONE
    return f"Memories:\n{listed}\n\nQuestion: {query}"


def reader_of(kind: str, settings: Settings) -> Reader:
    """The reader called `scripted`, `chat:NAME` or `local:NAME` (sections of the settings). Raises `InputError` for any
    other name, `SettingsError` for a section that is missing or cannot be set up."""
    if kind == SCRIPTED:
        return ScriptedReader()
    family, _, name = kind.partition(":")
    if family == "chat":
        if name not in settings.models:
            raise SettingsError(f"models.{name}", "there is no such section", "write it, or name another reader")
        return ChatReader(kind, name, settings)
    if family == "local":
        if name not in settings.local:
            raise SettingsError(f"local.{name}", "there is no such section", "write it, or name another reader")
        from admission.verifiers.local.loading import load

        return LocalReader(kind, load(settings.local[name]))
    raise InputError("--reader", f"no reader is called {kind!r}", "say scripted, chat:NAME or local:NAME")


class ScriptedReader:
    """No model: it answers with every memory of its prompt that shares a content word with the question.

    It knows relevance and nothing of admissibility, so its selectivity gap is that of a reader that discloses whatever
    it is shown: what a gate that lets everything through exposes.
    """

    name = SCRIPTED
    paid = False

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": SCRIPTED, "rule": "memories that share a content word with the question"}

    def answer(self, prompts: Sequence[str]) -> list[str | None]:
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: str) -> str:
        asked = _QUESTION.search(prompt)
        wanted = set(content_terms(asked[1])) if asked else set()
        said = [memory for memory in _MEMORY.findall(prompt) if wanted & set(content_terms(memory))]
        return " ".join(said) or "I do not know."


class ChatReader:
    """A langchain chat model of `[models.NAME]`, asked with that section's bounds, time-outs and retries."""

    paid = True

    def __init__(self, kind: str, section: str, settings: Settings) -> None:
        from admission.model_settings import ChatOptions
        from admission.verifiers.chat.building import chat_model
        from admission.verifiers.chat.calls import Caller

        self.name = kind
        self._model = settings.models[section]
        options = ChatOptions(**self._model.model_dump(include=set(ChatOptions.model_fields)))
        self._attempts = 1 + options.retries
        self._caller = Caller(chat_model(f"models.{section}", self._model), options)

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": "chat", "model": self._model.model, "params": self._model.params, "prompt": _digest()}

    def answer(self, prompts: Sequence[str]) -> list[str | None]:
        from admission.verifiers.chat.answers import Reply
        from admission.verifiers.chat.exchange import Request
        from admission.verifiers.chat.requests import Message

        asked = [
            Request((Message("system", INSTRUCTION), Message("user", prompt)), "reader", None, self._attempts)
            for prompt in prompts
        ]
        outcomes = self._caller.send(asked)
        # What a model declines with is an answer: a refusal that repeats the content discloses it.
        return [(one.refusal or one.text) if isinstance(one, Reply) and not one.cut_off else None for one in outcomes]


class LocalReader:
    """A causal model of this process (`[local.NAME]`), greedy, at most `MOST` new tokens."""

    paid = False
    MOST = 80

    def __init__(self, kind: str, local: LocalModel) -> None:
        self.name = kind
        self._local = local

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": "local", **self._local.identity, "most_tokens": self.MOST, "prompt": _digest()}

    def answer(self, prompts: Sequence[str]) -> list[str | None]:
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: str) -> str | None:
        import torch

        tokenizer: Any = self._local.tokenizer
        model: Any = self._local.model
        said = [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": prompt}]
        text = tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        inputs = tokenizer(text, return_tensors="pt", add_special_tokens=False).to(model.device)
        length = inputs["input_ids"].shape[1]
        if self._local.reach is not None and length + self.MOST > self._local.reach:
            return None
        with self._local.lock, torch.inference_mode():
            out = model.generate(
                **inputs, max_new_tokens=self.MOST, do_sample=False, pad_token_id=tokenizer.eos_token_id
            )
        answer: str = tokenizer.decode(out[0, length:], skip_special_tokens=True)
        return answer.strip()


def identity_digest(reader: Reader) -> str:
    """SHA-256 of what a reader's answers depend on."""
    return hashlib.sha256(json.dumps(reader.identity, sort_keys=True, default=str).encode()).hexdigest()


def _digest() -> str:
    return hashlib.sha256(f"{INSTRUCTION}\0{prompt_of('q', ['m'])}".encode()).hexdigest()
