"""A model that is asked each prompt once: answers are kept, so that a stopped run goes on and none is paid twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import prompts
from admission.evaluation.kept_answers import KeptAnswers
from admission.evaluation.readers import Reader as Model

BATCH = 8
"""Prompts that a chat model is asked side by side, and that are lost together where the run is stopped among them. A
local model answers one by one."""


class Asked(NamedTuple):
    """A prompt, and which asking of it this is: each has an answer of its own."""

    prompt: str
    attempt: int = 0

    @property
    def key(self) -> str:
        return self.prompt if not self.attempt else f"asked again, {self.attempt}\0{self.prompt}"


class KeptModel:
    """`model`, told a system prompt and asked by templates of `prompts`, which are called `templates`.

    Answers are kept in `file`, where there is one, under the digest of all they depend on. An answer that is not
    `usable` is not kept, nor is a failed request: both stand for this run and are asked for again by the next.
    `advance` is told how many answers came.
    """

    def __init__(
        self,
        model: Model,
        templates: tuple[str, ...],
        file: Path | None = None,
        *,
        usable: Callable[[str], bool] = lambda _: True,
        advance: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.name = model.name
        self.paid = model.paid
        self._model = model
        self._templates = templates
        self._usable = usable
        self._advance = advance
        identity = json.dumps(self.identity, sort_keys=True, default=str)
        self._kept = KeptAnswers(file, hashlib.sha256(identity.encode()).hexdigest())
        self._unusable: dict[str, str | None] = {}

    @property
    def identity(self) -> dict[str, object]:
        return {**self._model.identity, "templates": prompts.digest(self._templates)}

    def kept(self, asked: Asked) -> str | None:
        """The usable answer that is known already."""
        return self._kept.get(asked.key)

    def answers(self, asked: Sequence[Asked]) -> list[str | None]:
        """One answer each, in order; None where asking failed."""
        new = [each for each in dict.fromkeys(asked) if self.kept(each) is None and each.key not in self._unusable]
        size = BATCH if self.paid else 1
        for start in range(0, len(new), size):
            batch = new[start : start + size]
            for each, answer in zip(batch, self._model.answer([each.prompt for each in batch]), strict=True):
                if answer is not None and self._usable(answer):
                    self._kept.keep(each.key, answer)
                else:
                    self._unusable[each.key] = answer
            self._advance(len(batch))
        known = [self.kept(each) for each in asked]
        return [self._unusable.get(each.key) if had is None else had for each, had in zip(asked, known, strict=True)]
