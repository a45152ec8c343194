"""A chat model as batch files name it: which format, which model, which of its parameters, and the id of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from admission.errors import InputError
from admission.model_settings import ANTHROPIC_MAX_TOKENS, ModelSettings, Output
from admission.records import digest
from admission.verifiers.chat.requests import Messages

BatchFormat = Literal["openai", "anthropic"]

# What each API takes in a request's body. Other parameters set up a client (a key, an address, retries): none of them
# has business in a file that is sent to somebody.
BODY_PARAMS: dict[BatchFormat, frozenset[str]] = {
    "openai": frozenset(
        {"temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop", "presence_penalty",
         "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "reasoning_effort", "verbosity"}
    ),
    "anthropic": frozenset({"temperature", "top_p", "top_k", "max_tokens", "stop_sequences", "thinking"}),
}  # fmt: skip
ID_DIGITS = 32


@dataclass(frozen=True)
class Addressee:
    """A chat model that requests are written for: `named` as the settings name it, `model` as its provider does.

    `params` go into each body; `left_out` are the names of those that do not.
    """

    named: str
    model: str
    format: BatchFormat
    output: Output
    params: Mapping[str, Any]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, section: ModelSettings, format: BatchFormat | None = None) -> Addressee:
        """The model of a section `[models.NAME]`, in its provider's own format unless another is given."""
        provider, model = section.provider_and_name
        chosen = format or ("anthropic" if provider == "anthropic" else "openai")
        params = {name: value for name, value in section.params.items() if name in BODY_PARAMS[chosen]}
        if chosen == "anthropic":
            params.setdefault("max_tokens", ANTHROPIC_MAX_TOKENS)
        left_out = tuple(sorted(set(section.params) - set(params)))
        return cls(f"{provider}:{model}", model, chosen, section.output, params, left_out)


@dataclass(frozen=True)
class Letter:
    """One request as it goes into a file: to whom, under which id, what it says, and the schema of its answer."""

    custom_id: str
    to: Addressee
    messages: Messages
    schema: Mapping[str, Any]


def custom_id(to: Addressee, role: str, messages: Messages, asked_for: tuple[str, ...], nth: int) -> str:
    """The address of a request by its content: the same question for the same write has the same id in every run.

    `asked_for` names the write. `nth` tells requests of one write apart that say the same. Letters, digits, `_` and
    `-` only, 64 characters at most, as both providers want it.
    """
    content = [to.named, to.output, to.params, role, messages, asked_for, nth]
    return f"{role}-{digest(content)[:ID_DIGITS]}"


def check_format(value: str | None) -> BatchFormat | None:
    """`value` as a format. Raises `InputError` naming those there are."""
    formats: tuple[BatchFormat, ...] = get_args(BatchFormat)
    found = next((name for name in formats if name == value), None)
    if value is not None and found is None:
        raise InputError("--batch-format", f"is no format: {value!r}", f"use {' or '.join(formats)}")
    return found
