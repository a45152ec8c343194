"""A verifier over any langchain-core chat model: it opens the exchange and drives it, synchronously or not."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from langchain_core.language_models import BaseChatModel

import prompts
from admission.errors import SettingsError
from admission.model_settings import ChatOptions
from admission.records import OBLIGATION_TYPES, Judgment, Question, Thresholds, Usage, VerificationView
from admission.verifiers.chat.answers import SCHEMA, Measure
from admission.verifiers.chat.calls import Caller
from admission.verifiers.chat.exchange import Exchange, Seat, exchange
from admission.verifiers.protocol import Verifier

_SECRETS = ("key", "secret", "password", "token", "headers", "credentials", "authorization")  # last words of names
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")
_NAMED = ("ls_temperature", "ls_max_tokens")  # parameters that langchain reads off any model


class ChatVerifier(Verifier):
    """Asks a chat model for its verdicts, by the prompts of `prompts` (docs/prompts.md).

    `name` stands in reports. `params` are what the model was set up with, for the identity; what the model itself says
    of its name and temperature is in it anyway. Raises `SettingsError` where `options.output` names a method of
    structured output that the model does not have.
    """

    names_evidence = OBLIGATION_TYPES

    def __init__(
        self,
        model: BaseChatModel,
        name: str,
        *,
        options: ChatOptions | None = None,
        thresholds: Thresholds | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.options = options or ChatOptions()
        self.thresholds = thresholds or Thresholds()
        self._described = _described(model, params or {})
        self._model = model
        self._caller = Caller(_runnable(model, self.options.output, SCHEMA), self.options)
        self._role = "verifier"
        self._view: VerificationView = "obligations"

    @property
    def identity(self) -> dict[str, object]:
        asked = {"asking", "output", "check_quotes", "max_calls_per_write", "max_tokens_per_write"}
        return {
            "kind": "chat",
            **self._described,
            "options": self.options.model_dump(mode="json", include=asked),
            "prompts": prompts.digest(),
            "thresholds": self.thresholds.model_dump(),
        }

    def seated(self, role: str, view: VerificationView) -> ChatVerifier:
        """The same verifier, asking as this role is asked with this view; all its seats share one caller."""
        seat = copy.copy(self)
        seat._role, seat._view = role, view
        return seat

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        return self._caller.carry(self.exchange(questions))

    async def ajudge(self, questions: Sequence[Question]) -> list[Judgment]:
        return await self._caller.acarry(self.exchange(questions))

    def exchange(self, questions: Sequence[Question]) -> Exchange:
        return exchange(questions, Seat(self.name, self._role, self._view, self.options, self._judged))

    def caller_for(self, schema: Mapping[str, Any]) -> Caller:
        """What sends this model requests with answers of another schema, within the same bounds."""
        return self._caller.answering(_runnable(self._model, self.options.output, schema))

    def usage(self, questions: Sequence[Question], judgments: Sequence[Judgment]) -> Usage:
        """Requests sent and tokens counted for these judgments: what the calls that made them have put on them."""
        return reduce(add, (judgment.cost for judgment in judgments if judgment.cost is not None), Usage())

    def _judged(self, question: Question, measure: Measure) -> Judgment:
        return self._judgment(question, *measure)


def _runnable(model: BaseChatModel, output: str, schema: Mapping[str, Any]) -> Any:
    """The model, or its structured output with the raw message, so that tokens are counted and answers read by us.

    It never streams: a callback of the user's run must not make the judge's words come token by token.
    """
    quiet = model.model_copy(update={"disable_streaming": True})
    if output == "text":
        return quiet
    method = {} if output == "auto" else {"method": output}
    try:
        return quiet.with_structured_output(dict(schema), include_raw=True, **method)
    except (NotImplementedError, ValueError, TypeError) as error:
        if output == "auto":
            return quiet
        raise SettingsError("output", f"the model has no {output} ({error})", 'use "auto" or "text"') from error


def _described(model: BaseChatModel, params: Mapping[str, Any]) -> dict[str, object]:
    """What the model says of itself: provider and name as `model`, and its parameters but for what may be secret."""
    said = model._get_ls_params()
    own = {name.removeprefix("ls_"): value for name, value in said.items() if name in _NAMED and value is not None}
    given = _shown(params)
    name = f"{said.get('ls_provider', model._llm_type)}:{said.get('ls_model_name', 'unnamed')}"
    return {"model": name, "params": {**own, **given}}


def _shown(value: Any) -> Any:
    """`value` without entries that are called like secrets, at any depth, and addresses without their credentials."""
    if isinstance(value, Mapping):
        return {name: _shown(inner) for name, inner in value.items() if not _secret(str(name))}
    if isinstance(value, list | tuple):
        return [_shown(inner) for inner in value]
    return _CREDENTIALS.sub("", value) if isinstance(value, str) else value


def _secret(name: str) -> bool:
    return re.split(r"[_-]", name.lower())[-1] in _SECRETS
