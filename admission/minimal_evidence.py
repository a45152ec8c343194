"""The smallest set of passages that supports an obligation: which sets are put to whom, and what the answers leave."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from admission.evidence import support_subsets
from admission.records import Judgment, Passage, Question, TurnIds, View

# How many smaller sets of passages are tried for one supported obligation.
SUBSETS_TRIED = 6


class Search:
    """The search for the minimal evidence of one supported obligation: put its `trials`, let it `hear` the answers.

    `asked` is the question on which the support was found, `ranked` the turns it was found on, the strongest first.
    `judges` are asked again, on smaller sets; a set holds if all of them find support in it. What the others named of
    their own accord, `relied_on`, is part of every set. Where there are no `judges`, what was named is the evidence.
    """

    def __init__(self, asked: Question, ranked: TurnIds, judges: Sequence[str], relied_on: Collection[str]) -> None:
        self.evidence = ranked
        """The smallest set that holds, once the answers are heard; `ranked` where none does."""
        self.found_on = set(ranked)
        """Every turn that is in `ranked` or in a set that holds."""
        self._judges = tuple(judges)
        self._sets = _smaller(asked, ranked, relied_on) if judges else []

    def trials(self) -> list[tuple[str, Question]]:
        """The questions, each with the role of the judge it goes to."""
        return [(judge, question) for question in self._sets for judge in self._judges]

    def hear(self, answers: Sequence[Judgment]) -> None:
        """One judgment a trial, in order."""
        supported = iter([answer.label == "supported" for answer in answers])
        holding = [q.turn_ids for q in self._sets if all([next(supported) for _ in self._judges])]
        self.evidence = min(holding, key=len, default=self.evidence)
        self.found_on.update(turn for turns in holding for turn in turns)


def _smaller(asked: Question, ranked: TurnIds, relied_on: Collection[str]) -> list[Question]:
    """The question on sets of passages smaller than it was asked on, each with `relied_on` in it."""
    shown = View(name=asked.view, passages=asked.passages)
    tried: dict[tuple[Passage, ...], None] = {}
    for subset in support_subsets(shown, ranked, SUBSETS_TRIED):
        turns = {passage.turn_id for passage in subset} | set(relied_on)
        tried[tuple(p for p in asked.passages if p.turn_id in turns)] = None
    smaller = [passages for passages in tried if len(passages) < len(asked.passages)]
    return [asked.model_copy(update={"passages": passages}) for passages in smaller]
