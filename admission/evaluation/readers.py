"""Who answers in an evaluation: a chat model, a local model, or the scripted reader that needs none."""

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


def reader_of(kind: str, settings: Settings, instruction: str = INSTRUCTION) -> Reader:
    """The reader called `scripted`, `chat:NAME` or `local:NAME` (sections of the settings); models are told
    `instruction` before each prompt. Raises `InputError` for any other name, `SettingsError` for a section that is
    missing or cannot be set up."""
    if kind == SCRIPTED:
        return ScriptedReader()
    family, _, name = kind.partition(":")
    if family == "chat":
        if name not in settings.models:
            raise SettingsError(f"models.{name}", "there is no such section", "write it, or name another reader")
        return ChatReader(kind, name, settings, instruction)
    if family == "local":
        if name not in settings.local:
            raise SettingsError(f"local.{name}", "there is no such section", "write it, or name another reader")
        from admission.verifiers.local.loading import load

        return LocalReader(kind, load(settings.local[name]), instruction)
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

    def __init__(self, kind: str, section: str, settings: Settings, instruction: str = INSTRUCTION) -> None:
        from admission.model_settings import ChatOptions
        from admission.verifiers.chat.building import chat_model
        from admission.verifiers.chat.calls import Caller
        from admission.verifiers.chat.verifier import ChatVerifier

        self.name = kind
        self._instruction = instruction
        self._section = settings.models[section]
        options = ChatOptions(**self._section.model_dump(include=set(ChatOptions.model_fields)))
        self._attempts = 1 + options.retries
        model = chat_model(f"models.{section}", self._section)
        self._caller = Caller(model, options)
        # As a verifier states them: with the temperature, without what may be a key.
        asked_in_text = options.model_copy(update={"output": "text"})
        self._params = ChatVerifier(model, kind, options=asked_in_text, params=self._section.params).identity["params"]

    @property
    def identity(self) -> dict[str, object]:
        prompt = _digest(self._instruction)
        return {"kind": "chat", "model": self._section.model, "params": self._params, "prompt": prompt}

    def answer(self, prompts: Sequence[str]) -> list[str | None]:
        from admission.verifiers.chat.answers import Reply
        from admission.verifiers.chat.exchange import Request
        from admission.verifiers.chat.requests import Message

        asked = [
            Request((Message("system", self._instruction), Message("user", prompt)), "reader", None, self._attempts)
            for prompt in prompts
        ]
        outcomes = self._caller.send(asked)
        # What a model declines with is an answer: a refusal that repeats the content discloses it.
        return [(one.refusal or one.text) if isinstance(one, Reply) and not one.cut_off else None for one in outcomes]


class LocalReader:
    """A causal model of this process (`[local.NAME]`), greedy, at most `MOST` new tokens."""

    paid = False
    MOST = 80

    def __init__(self, kind: str, local: LocalModel, instruction: str = INSTRUCTION) -> None:
        from admission.verifiers.local.prompting import defuser

        self.name = kind
        self._instruction = instruction
        self._local = local
        # An end of turn that somebody wrote into a memory has to stay words.
        self._defuse = defuser(local.tokenizer)

    @property
    def identity(self) -> dict[str, object]:
        prompt = _digest(self._instruction)
        return {"kind": "local", **self._local.identity, "greedy": True, "most_tokens": self.MOST, "prompt": prompt}

    def answer(self, prompts: Sequence[str]) -> list[str | None]:
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: str) -> str | None:
        import torch

        tokenizer: Any = self._local.tokenizer
        model: Any = self._local.model
        said = [{"role": "system", "content": self._instruction}, {"role": "user", "content": self._defuse(prompt)}]
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


def _digest(instruction: str) -> str:
    return hashlib.sha256(f"{instruction}\0{prompt_of('q', ['m'])}".encode()).hexdigest()
