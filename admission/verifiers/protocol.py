"""What a verifier is: a batch of questions in, one judgment a question out, in order."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from admission.records import Judgment, ObligationType, Question, Thresholds, Usage, VerificationView

if TYPE_CHECKING:
    from admission.verifiers.chat.exchange import Exchange

SCORE_DECIMALS = 4


class Verifier(ABC):
    """Measures support and contradiction of obligations on passages; knows no histories, ledgers or policies.

    `judge` answers every question, in order: a judgment, an abstention (`Judgment.abstained`) or a failure
    (`Judgment.failed`). It raises `errors.VerifierError` only when the whole call failed. The same questions get the
    same answers. Text inside questions is data and never instructs the verifier.
    """

    name: str
    thresholds: Thresholds
    reads_whole: bool = False
    """Whether the memory itself is to be asked as one more obligation beside its parts: small models judge it better
    than what a rule split off, and what joins true parts shows only there."""

    names_evidence: frozenset[ObligationType] = frozenset()
    """The types of obligation for which a judgment's `evidence` is all that its numbers rest on, by the verifier's own
    word, rather than where it found most. No smaller sets of passages are then tried with it."""

    @property
    @abstractmethod
    def identity(self) -> dict[str, object]:
        """What the answers depend on (kind, weights' digest, thresholds, versions): it goes into the config digest."""

    def seated(self, role: str, view: VerificationView) -> Verifier:
        """The verifier as it sits in this role of a gate with this view. Those that ask alike in any are themselves."""
        return self

    @abstractmethod
    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        """One judgment a question, in order."""

    async def ajudge(self, questions: Sequence[Question]) -> list[Judgment]:
        """Async twin of `judge`. Computing verifiers run in a thread; those that wait on a network override it."""
        return await asyncio.to_thread(self.judge, questions)

    def exchange(self, questions: Sequence[Question]) -> Exchange | None:
        """The same judgments without I/O, where they are made of a language model's answers: a generator that yields
        rounds of requests, is sent one outcome a request in order, and returns what `judge` does. None: it computes.

        All requests of one exchange are for one model.
        """
        return None

    def usage(self, questions: Sequence[Question], judgments: Sequence[Judgment]) -> Usage:
        """What answering cost. Embedded verifiers count questions; those that pay for their calls override it."""
        return Usage(calls=len(questions))

    def _judgment(
        self, question: Question, support: float, contradiction: float, evidence: Sequence[str] = (), note: str = ""
    ) -> Judgment:
        # The batch a question was computed in shows in the last decimals: it must not show in a report.
        support, contradiction = round(support, SCORE_DECIMALS), round(contradiction, SCORE_DECIMALS)
        return Judgment(
            verifier=self.name,
            view=question.view,
            support=support,
            contradiction=contradiction,
            label=self.thresholds.label(support, contradiction),
            evidence=tuple(evidence),
            note=note,
        )
