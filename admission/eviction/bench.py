"""A data set made ready for the audit: sizes, rankings and eviction orders, each made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from admission.evaluation.reading.rankers import FUSION, Ranked, Scores, bm25_scores, dense_scores
from admission.eviction.policies import EvictionPolicy, Kept, Order, kept_within
from admission.eviction.records import AuditData, History, LabelledQuestion
from admission.eviction.redundancy import Encoder
from admission.eviction.restore import Subject
from admission.eviction.tokens import Sizes, TokenCount, minilm_tokens
from admission.records import Record

RANKERS = ("bm25", "dense", FUSION)
DEFAULT_BUDGETS = (80_000, 30_000, 8_000)
DEFAULT_SHARES = (0.80, 0.30, 0.08)


class Budget(Record):
    """How many tokens a history may keep: so many, or a share of all that it has."""

    tokens: int | None = None
    share: float | None = None

    @property
    def label(self) -> str:
        if self.share is not None:
            return f"{100 * self.share:g} %"
        return f"{self.tokens:,}"

    def of(self, total: int) -> int:
        return int(self.share * total) if self.share is not None else int(self.tokens or 0)


class Bench:
    """The answerable questions of a data set that have evidence; `count` measures budgets, `encoder` makes vectors."""

    def __init__(self, data: AuditData, encoder: Encoder, count: TokenCount = minilm_tokens) -> None:
        self.data = data
        self._encoder = encoder
        self.sizes: Mapping[str, Sizes] = {
            history.id: np.asarray(count([memory.text for memory in history.memories]), dtype=np.int64)
            for history in data.histories
        }
        self.questions = tuple(question for question in data.questions if question.answerable and question.gold)
        self._orders: dict[tuple[EvictionPolicy, str], Order] = {}
        self.digest = data.digest
        self._histories = {history.id: history for history in data.histories}

    def default_budgets(self) -> tuple[Budget, ...]:
        """80k, 30k and 8k tokens or, where 80k would evict nothing from some history, 80, 30 and 8 % of each."""
        if all(sizes.sum() > DEFAULT_BUDGETS[0] for sizes in self.sizes.values()):
            return tuple(Budget(tokens=tokens) for tokens in DEFAULT_BUDGETS)
        return tuple(Budget(share=share) for share in DEFAULT_SHARES)

    def kept(self, policy: EvictionPolicy, budget: Budget) -> dict[str, Kept]:
        """What each history keeps, by its id."""
        return {
            history: kept_within(self._order(policy, history), sizes, budget.of(int(sizes.sum())))
            for history, sizes in self.sizes.items()
        }

    def subjects(self, ranker: str) -> list[Subject]:
        """The questions, each with the ranking of all memories of its history. The frequencies of BM25 are those of the
        whole history: what is evicted changes what is searched, never how a memory scores."""
        made: dict[str, Subject] = {}
        for history in self.data.histories:
            asked = [question for question in self.questions if question.history == history.id]
            if asked:
                made.update(zip([q.id for q in asked], self._ranked(history, asked, ranker), strict=True))
        return [made[question.id] for question in self.questions]

    def _ranked(self, history: History, asked: Sequence[LabelledQuestion], ranker: str) -> list[Subject]:
        texts, queries = [memory.text for memory in history.memories], [question.text for question in asked]
        scores: dict[str, Scores] = {}
        if ranker in ("bm25", FUSION):
            scores["bm25"] = bm25_scores(texts, queries)
        if ranker in ("dense", FUSION):
            vectors = self._encoder.encode([*texts, *queries])
            scores["dense"] = dense_scores(vectors[: len(texts)], vectors[len(texts) :])
        places = {memory.id: place for place, memory in enumerate(history.memories)}
        return [
            Subject(
                question=question,
                memories=history.memories,
                sizes=self.sizes[history.id],
                gold=tuple(sorted({places[id] for id in question.gold})),
                ranked=Ranked({name: found(number) for name, found in scores.items()}).order(ranker),
            )
            for number, question in enumerate(asked)
        ]

    def _order(self, policy: EvictionPolicy, history: str) -> Order:
        if (policy, history) not in self._orders:
            self._orders[policy, history] = policy.order(self._histories[history].memories)
        return self._orders[policy, history]
