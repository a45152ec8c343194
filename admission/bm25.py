"""BM25 over a corpus that only grows: postings instead of a rebuild, and scores for any prefix of it."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

K1 = 1.5
B = 0.75
EPSILON = 0.25

_INT = np.dtype(np.intc)


class Bm25Index:
    """Okapi BM25 with the idf floor of `rank_bm25.BM25Okapi` (Trotman et al., "Improvements to BM25 and Language Models
    Examined", 2014), whose `get_scores` on the first `upto` documents it equals.

    Documents are numbered from 0 in the order they were added and never change, so a document frequency in a prefix is
    a binary search in a posting list. Adding costs O(terms of the document); a search costs numpy work over the
    postings of the query's terms. Not safe for threads that add and search at once: `history.Timeline` holds a lock.
    """

    def __init__(self) -> None:
        self._term_ids: dict[str, int] = {}
        self._positions: list[array[int]] = []
        self._counts: list[array[int]] = []
        self._lengths = array("i")
        self._length_sums = array("q", [0])
        # Term ids of every document's distinct terms, one document after the other: a prefix of it gives all document
        # frequencies of a prefix of the corpus in one pass.
        self._occurrences = array("i")
        self._occurrence_ends = array("q", [0])
        self._terms_by_frequency: dict[int, int] = {}
        self._average_idfs: LRUCache[int, float] = LRUCache(maxsize=1024)

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, terms: Iterable[str]) -> int:
        """Append one document, given as its terms (repeats count), and return its position."""
        position = len(self._lengths)
        counts = Counter(terms)
        histogram = self._terms_by_frequency
        for term, count in counts.items():
            term_id = self._term_ids.setdefault(term, len(self._positions))
            if term_id == len(self._positions):
                self._positions.append(array("i"))
                self._counts.append(array("i"))
            frequency = len(self._positions[term_id])
            self._positions[term_id].append(position)
            self._counts[term_id].append(count)
            self._occurrences.append(term_id)
            histogram[frequency + 1] = histogram.get(frequency + 1, 0) + 1
            if frequency:
                histogram[frequency] -= 1
                if not histogram[frequency]:
                    del histogram[frequency]
        self._lengths.append(counts.total())
        self._length_sums.append(self._length_sums[-1] + counts.total())
        self._occurrence_ends.append(len(self._occurrences))
        return position

    def scores(self, query: Iterable[str], upto: int) -> NDArray[np.float64]:
        """Scores of the first `upto` documents, shape (upto,). A term given twice counts twice, as in rank_bm25."""
        upto = min(upto, len(self))
        scores = np.zeros(upto)
        if not self._length_sums[upto]:
            return scores
        lengths = np.frombuffer(self._lengths, dtype=_INT, count=upto)
        norms = K1 * (1 - B) + K1 * B * upto / self._length_sums[upto] * lengths
        for term, times in Counter(query).items():
            positions, counts = self._postings(term, upto)
            if not positions.size:
                continue
            idf = _idf(upto, positions.size)
            if idf < 0:
                idf = EPSILON * self._average_idf(upto)
            scores[positions] += times * idf * (K1 + 1) * counts / (counts + norms[positions])
        return scores

    def search(self, query: Iterable[str], upto: int, k: int) -> list[tuple[int, float]]:
        """The best `k` of the first `upto` documents that score above zero, as (position, score).

        The best come first; of equal scores the later document does.
        """
        return top(self.scores(query, upto), k)

    def holders(self, terms: Iterable[str], upto: int, share: float) -> NDArray[np.intp]:
        """Positions below `upto` of the documents that hold at least `share` of the distinct `terms`, in order."""
        wanted = set(terms)
        held = np.zeros(min(upto, len(self)), dtype=_INT)
        for term in wanted:
            held[self._postings(term, held.size)[0]] += 1
        return np.flatnonzero(held >= max(1.0, share * len(wanted)))

    def _postings(self, term: str, upto: int) -> tuple[NDArray[np.intc], NDArray[np.intc]]:
        """Positions below `upto` of the documents with the term, and how often each has it."""
        term_id = self._term_ids.get(term)
        if term_id is None:
            return np.empty(0, dtype=_INT), np.empty(0, dtype=_INT)
        positions = self._positions[term_id]
        frequency = len(positions) if positions[-1] < upto else bisect_left(positions, upto)
        if not frequency:
            return np.empty(0, dtype=_INT), np.empty(0, dtype=_INT)
        return (
            np.frombuffer(positions, dtype=_INT, count=frequency),
            np.frombuffer(self._counts[term_id], dtype=_INT, count=frequency),
        )

    def _average_idf(self, upto: int) -> float:
        """Mean idf over the vocabulary of the first `upto` documents. It depends on document frequencies alone, so the
        whole corpus is answered from a histogram of them and an older prefix by counting once."""
        known = self._average_idfs.get(upto)
        if known is not None:
            return known
        if upto == len(self):
            frequencies = np.fromiter(self._terms_by_frequency.keys(), dtype=np.float64)
            numbers = np.fromiter(self._terms_by_frequency.values(), dtype=np.float64)
        else:
            seen = np.frombuffer(self._occurrences, dtype=_INT, count=self._occurrence_ends[upto])
            histogram = np.bincount(np.bincount(seen))
            histogram[0] = 0
            frequencies = np.flatnonzero(histogram).astype(np.float64)
            numbers = histogram[histogram > 0].astype(np.float64)
        idfs = np.log(upto - frequencies + 0.5) - np.log(frequencies + 0.5)
        average = float(idfs @ numbers / numbers.sum())
        self._average_idfs[upto] = average
        return average


def top(scores: NDArray[np.float64], k: int, since: int = 0) -> list[tuple[int, float]]:
    """The best `k` positions from `since` on that score above zero, as `Bm25Index.search` gives them."""
    found = np.flatnonzero(scores[since:] > 0) + since
    if k <= 0 or not found.size:
        return []
    values = scores[found]
    if found.size > k:
        # Everything as good as the k-th best is kept: which of equals stay is decided by position, not by chance.
        good = values >= np.partition(values, found.size - k)[found.size - k]
        found, values = found[good], values[good]
    order = np.lexsort((-found, -values))[:k]
    return [(int(found[i]), float(values[i])) for i in order]


def _idf(documents: int, frequency: int) -> float:
    return math.log(documents - frequency + 0.5) - math.log(frequency + 0.5)
