"""The postings index answers as rank_bm25 does, for the whole corpus and for every prefix of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from admission.bm25 import Bm25Index

# Few letters make terms that are in more than half of the documents (the floor) and many ties.
term = st.sampled_from("abcdefgh")
documents = st.lists(st.lists(term, max_size=8), min_size=1, max_size=30)
query = st.lists(st.sampled_from("abcdefghz"), max_size=6)


def indexed(corpus: list[list[str]]) -> Bm25Index:
    index = Bm25Index()
    for document in corpus:
        index.add(document)
    return index


def reference(corpus: list[list[str]], terms: list[str]) -> np.ndarray:
    return np.asarray(BM25Okapi(corpus).get_scores(terms), dtype=float)


@given(documents, query, st.data())
@settings(max_examples=300, deadline=None)
def test_scores_equal_rank_bm25_on_every_prefix(corpus: list[list[str]], terms: list[str], data: st.DataObject) -> None:
    index = indexed(corpus)
    upto = data.draw(st.integers(1, len(corpus)))
    if not any(corpus[:upto]):
        assert not index.scores(terms, upto).any()
        return
    np.testing.assert_allclose(index.scores(terms, upto), reference(corpus[:upto], terms), rtol=0, atol=1e-9)


@given(documents, query)
@settings(max_examples=100, deadline=None)
def test_scores_of_the_growing_corpus_equal_a_rebuild_at_every_step(corpus: list[list[str]], terms: list[str]) -> None:
    index = Bm25Index()
    for n, document in enumerate(corpus, start=1):
        index.add(document)
        if any(corpus[:n]):
            np.testing.assert_allclose(index.scores(terms, n), reference(corpus[:n], terms), rtol=0, atol=1e-9)


@given(documents, query, st.integers(0, 35), st.integers(0, 12))
@settings(max_examples=200, deadline=None)
def test_search_is_the_sorted_head_of_the_scores_with_later_documents_first(
    corpus: list[list[str]], terms: list[str], upto: int, k: int
) -> None:
    index = indexed(corpus)
    scores = index.scores(terms, upto)
    expected = sorted(((p, s) for p, s in enumerate(scores) if s > 0), key=lambda hit: (-hit[1], -hit[0]))[:k]
    assert index.search(terms, upto, k) == expected


@given(documents, documents, query)
@settings(max_examples=100, deadline=None)
def test_what_is_added_later_does_not_change_an_earlier_prefix(
    corpus: list[list[str]], more: list[list[str]], terms: list[str]
) -> None:
    index = indexed(corpus)
    before = index.search(terms, len(corpus), 10)
    for document in more:
        index.add(document)
    after = index.search(terms, len(corpus), 10)
    assert [position for position, _ in after] == [position for position, _ in before]
    assert [score for _, score in after] == pytest.approx([score for _, score in before], abs=1e-9)


def test_a_rare_word_outranks_a_common_one() -> None:
    index = indexed([["tea", "milk"], ["tea", "sugar"], ["coffee", "cup"], ["lamp", "desk"], ["rope", "boat"]])
    assert [position for position, _ in index.search(["coffee", "tea"], 5, 3)] == [2, 1, 0]


def test_equal_scores_put_the_later_document_first() -> None:
    index = indexed([["tea"], ["rope"], ["tea"], ["boat"], ["lamp"]])
    assert [position for position, _ in index.search(["tea"], 5, 1)] == [2]


def test_nothing_is_found_in_nothing() -> None:
    index = Bm25Index()
    assert index.search(["tea"], 0, 5) == []
    index.add([])
    assert index.search(["tea"], 1, 5) == []
    assert index.search(["tea"], 1, 0) == []
    assert len(index) == 1


def test_holders_are_the_documents_with_most_of_the_terms() -> None:
    index = indexed([["tea", "milk", "cup"], ["tea", "rope"], ["milk", "cup"], ["tea", "milk", "cup"]])
    assert index.holders(["tea", "milk", "cup"], 4, 1.0).tolist() == [0, 3]
    assert index.holders(["tea", "milk", "cup"], 3, 0.6).tolist() == [0, 2]
    assert index.holders(["unknown"], 4, 1.0).tolist() == []
