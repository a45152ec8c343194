"""Rankers: BM25 on word tokens, dense vectors, and their reciprocal-rank fusion, over any part of a collection."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Order = NDArray[np.intp]
Mask = NDArray[np.bool_]
Scores = Callable[[int], NDArray[np.floating]]
"""Question (its place) to the scores of all memories (memories,); higher is better."""

K1 = 1.5
B = 0.75
FUSION = "fusion"
RRF_K = 60
_WORD = re.compile(r"\w+")


def word_tokens(text: str) -> list[str]:
    """The lower-cased runs of letters, digits and underscores of `text`, in order."""
    return _WORD.findall(text.lower())


def bm25_scores(memories: Sequence[str], questions: Sequence[str]) -> Scores:
    """BM25 with the idf ln(1 + (N - n + .5) / (n + .5)), which is never negative, k1 1.5 and b .75.

    The frequencies are those of the whole collection, whatever part of it is ranked: routes differ in what they
    search, never in how a memory scores. A term given twice in a question counts twice. Source: Robertson and Zaragoza,
    The Probabilistic Relevance Framework, 2009; the idf as in Apache Lucene.
    """
    from scipy.sparse import csr_matrix

    vocabulary: dict[str, int] = {}
    documents = [word_tokens(text) for text in memories]
    counts = _counts([[vocabulary.setdefault(t, len(vocabulary)) for t in d] for d in documents], len(vocabulary))
    asked = _counts(
        [[vocabulary[t] for t in word_tokens(text) if t in vocabulary] for text in questions], len(vocabulary)
    )
    n = counts.shape[0]
    holding = np.bincount(counts.indices, minlength=len(vocabulary))
    idf = np.log1p((n - holding + 0.5) / (holding + 0.5))
    lengths = np.array([len(d) for d in documents], dtype=np.float64)
    rows = np.repeat(np.arange(n), np.diff(counts.indptr))
    norms = K1 * (1 - B + B * lengths / max(1.0, lengths.mean()))
    weights = idf[counts.indices] * counts.data * (K1 + 1) / (counts.data + norms[rows])
    by_term = csr_matrix((weights, counts.indices, counts.indptr), shape=counts.shape).T.tocsr()

    def scores(question: int) -> NDArray[np.floating]:
        found: NDArray[np.float64] = (asked[question] @ by_term).toarray().ravel()
        return found

    return scores


def dense_scores(memories: NDArray[np.float32], questions: NDArray[np.float32]) -> Scores:
    """Cosines of unit vectors: (memories, width) against (questions, width)."""
    return lambda question: memories @ questions[question]


class Ranked:
    """One question's orders of all memories, from which the order of any part follows.

    `scores` by ranker (memories,); equal scores keep the order of the collection. `fusion` stands for all of them.
    """

    def __init__(self, scores: Mapping[str, NDArray[np.floating]]) -> None:
        self._orders: dict[str, Order] = {name: np.argsort(-found, kind="stable") for name, found in scores.items()}
        self._size = len(next(iter(scores.values())))

    def order(self, ranker: str, among: Mask | None = None, *others: Order) -> Order:
        """The memories of `among` (all, without it), best first; fused with `others`, orders of all memories."""
        names = list(self._orders) if ranker == FUSION else [ranker]
        orders = [self._orders[name] for name in names] + list(others)
        if among is not None:
            orders = [order[among[order]] for order in orders]
        return orders[0] if len(orders) == 1 else fused(orders, self._size)

    def scored(self, ranker: str, memories: int) -> int:
        """Similarity computations for that many memories."""
        return memories * (len(self._orders) if ranker == FUSION else 1)


def fused(orders: Sequence[Order], size: int) -> Order:
    """Reciprocal-rank fusion with k = 60 of orders of the same items, numbered below `size`.

    Of equal sums the one that the first order has first comes first. Source: Cormack, Clarke and Buettcher, SIGIR 2009.
    """
    sums = np.zeros(size)
    for order in orders:
        sums[order] += 1.0 / (RRF_K + 1 + np.arange(order.size))
    first = orders[0]
    return first[np.argsort(-sums[first], kind="stable")]


def _counts(documents: list[list[int]], terms: int) -> csr_matrix:
    """How often each document has each term (documents, terms)."""
    from scipy.sparse import csr_matrix

    indptr = np.concatenate([[0], np.cumsum([len(d) for d in documents])])
    indices = np.fromiter((t for d in documents for t in d), dtype=np.int64, count=int(indptr[-1]))
    made = csr_matrix((np.ones(indices.size), indices, indptr), shape=(len(documents), terms))
    made.sum_duplicates()
    return made
