"""What a run with models would cost: the requests that are still to be sent, found without sending any."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import prompts
from admission.evaluation.derivation.cost import CHARS_A_TOKEN, Cost
from admission.eviction.answering.judges import ChatJudge, NormalisedJudge, mark_of, marking
from admission.eviction.answering.model_reader import ModelReader, reading
from admission.eviction.scoring import Containment, Failed, JudgeRequest, Mark, Trial, Unmarked, request_of


class Estimate:
    """Stands in for the reader and the judge: it counts what those of them that are paid for would be sent.

    Answers and marks that are known already cost nothing and count as they are. What the others will be, and so which
    trials follow, nobody knows: they are taken to be right exactly where all gold evidence is read, and to be answers
    that the judge has not seen. About as many as there will be, seldom fewer.
    """

    name = "estimate"
    limits: tuple[str, ...] = ()
    failures: tuple[Failed, ...] = ()
    identity: dict[str, object] = {"kind": "estimate"}  # noqa: RUF012 - a constant

    def __init__(self, reader: ModelReader, judge: ChatJudge | NormalisedJudge) -> None:
        self._reader = reader.model
        self._judge = judge
        self._chars: dict[str, int] = {}

    @property
    def cost(self) -> Cost:
        return Cost(len(self._chars), sum(self._chars.values()) // CHARS_A_TOKEN)

    def marks(self, trials: Sequence[Trial]) -> list[Mark | None]:
        guesses = Containment().marks(trials)
        return [self._known(trial) or guess for trial, guess in zip(trials, guesses, strict=True)]

    def _known(self, trial: Trial) -> Mark | None:
        """The mark that is known already; None, and what has to be asked counted, where it is not."""
        reference = trial.question.answer
        if reference is None:
            return None
        asked = reading(request_of(trial))
        answer = self._reader.kept(asked)
        to_mark = JudgeRequest(trial.question.text, reference, answer or "", trial.attempt)
        if answer is None:
            if self._reader.paid:
                self._count("read_system", asked.key, asked.prompt)
            if isinstance(self._judge, ChatJudge):
                self._count("mark_system", asked.key, marking(to_mark).prompt)
            return None
        if isinstance(self._judge, NormalisedJudge):
            (mark,) = self._judge.marks([to_mark])
            return None if isinstance(mark, Unmarked) else mark
        to_ask = marking(to_mark)
        said = self._judge.model.kept(to_ask)
        if said is None:
            self._count("mark_system", to_ask.key, to_ask.prompt)
            return None
        return mark_of(said)

    def _count(self, system: str, key: str, prompt: str) -> None:
        """Count a request once, however often it is met."""
        told = hashlib.sha256(f"{system}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()
        self._chars[told] = len(prompt) + len(prompts.load(system).template)
