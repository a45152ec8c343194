"""Soft alignment of an obligation's words with the words of passages, on frozen contextual word vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from admission.records import Passage
from admission.text import normalise
from admission.verifiers.checks.reading import Sentence, Text, Word, name_stems, read, read_passages
from admission.verifiers.minilm import HIDDEN
from admission.verifiers.states import StateEncoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLOOR, _CEILING = 0.10, 0.80
_NEIGHBOURHOOD = 0.3
"""Matches below this say that a word lives in the same neighbourhood, not that it was said."""
_MOST_SOFT = 0.95
_VOCABULARY_START = 1996
"""In the model's vocabulary whole words stand in order of frequency from here on ("the")."""


@dataclass(frozen=True, slots=True)
class Token:
    """A content word said: in which sentence, and its place among that sentence's words."""

    word: Word
    sentence: int
    place: int


@dataclass(frozen=True)
class Alignment:
    """How well each content word of an obligation is matched in each sentence shown.

    `matches` (words, sentences) in [0, 1]: 1 for the same stem (or the speaker's name), else a rescaled cosine;
    `weights` (words,) rarity in [0, 1]; `exact` (words, sentences) marks the stem matches; `cosines` (passages,) and
    `sentence_cosines` (sentences,) of the mean embeddings with the obligation's; `passage_of` (sentences,) the passage
    each sentence is in; `tokens` the content words said, `token_matches` (words, tokens) the match with each.
    """

    statement: Text
    content: tuple[Word, ...]
    sentences: tuple[Sentence, ...]
    matches: NDArray[np.float64]
    exact: NDArray[np.bool_]
    weights: NDArray[np.float64]
    cosines: NDArray[np.float64]
    sentence_cosines: NDArray[np.float64]
    passage_of: NDArray[np.int64]
    tokens: tuple[Token, ...]
    token_matches: NDArray[np.float64]

    @cached_property
    def by_passage(self) -> NDArray[np.float64]:
        """(words, passages) the best match of each word in each passage."""
        out = np.zeros((len(self.content), len(self.cosines)))
        if len(self.passage_of):
            starts = np.flatnonzero(np.r_[True, self.passage_of[1:] != self.passage_of[:-1]])
            out[:, self.passage_of[starts]] = np.maximum.reduceat(self.matches, starts, axis=1)
        return out

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """(words,) the weights, summing to 1."""
        found: NDArray[np.float64] = self.weights / self.weights.sum()
        return found

    @cached_property
    def said(self) -> NDArray[np.float64]:
        """(words, sentences) matches with what is mere neighbourhood taken off: what checks and ranking go by."""
        return np.where(self.exact, 1.0, np.clip((self.matches - _NEIGHBOURHOOD) / (1 - _NEIGHBOURHOOD), 0.0, 1.0))

    def by_sentence(self) -> NDArray[np.float64]:
        """(sentences,) weighted share of the obligation that each sentence alone says."""
        if not self.content:
            return np.zeros(len(self.sentences))
        covered: NDArray[np.float64] = (self.said * self.weights[:, None]).sum(axis=0) / self.weights.sum()
        return covered

    def part(self, part: Text, sentence: Sentence) -> float:
        """Share of a part of the obligation that one sentence says."""
        if part.text not in self._parts:
            wanted = {word.stem for word in part.content}
            rows = [i for i, word in enumerate(self.content) if word.stem in wanted]
            share = self.weights[rows] / max(float(self.weights[rows].sum()), 1e-9)
            self._parts[part.text] = share @ self.said[rows] if rows else np.ones(len(self.sentences))
        return float(self._parts[part.text][sentence.index])

    @cached_property
    def _parts(self) -> dict[str, NDArray[np.float64]]:
        """By the text of a part, the share of it that each sentence says."""
        return {}


def align(statement: Text, passages: Sequence[Passage], encoder: StateEncoder) -> Alignment:
    """Aligns one obligation with passages; each passage is encoded once, with its speaker in front (`Ana: ...`).

    The encoder's last chosen layer has to be the model's last: sentence cosines are taken there.
    """
    sentences = read_passages(passages)
    content = tuple(word for word in statement.words if word.content) or statement.words
    counts = [len(read_passages([passage])) for passage in passages]
    order = [i for i, count in enumerate(counts) for _ in range(count)]
    grouped = [[s for s, i in zip(sentences, order, strict=True) if i == p] for p in range(len(passages))]
    texts = [passage_text(passage, group) for passage, group in zip(passages, grouped, strict=True)]
    claim, *states = encoder.encode([statement.text, *(text for text, _ in texts)])
    tokens = tuple(
        Token(word, sentence.index, i)
        for sentence in sentences
        for i, word in enumerate(sentence.body.words)
        if word.content
    )
    token_matches, token_exact = _match(statement, content, grouped, texts, encoder)
    matches = np.zeros((len(content), len(sentences)))
    exact = np.zeros((len(content), len(sentences)), dtype=bool)
    of_sentence = np.array([token.sentence for token in tokens], dtype=np.int64)
    if len(tokens):
        starts_at = np.flatnonzero(np.r_[True, of_sentence[1:] != of_sentence[:-1]])
        matches[:, of_sentence[starts_at]] = np.maximum.reduceat(token_matches, starts_at, axis=1)
        exact[:, of_sentence[starts_at]] = np.logical_or.reduceat(token_exact, starts_at, axis=1)
    _count_speakers(content, sentences, matches, exact)
    spans = [
        encoder.word_vectors(text, _spans(group, starts)) for group, (text, starts) in zip(grouped, texts, strict=True)
    ]
    near = _unit(np.concatenate(spans)[:, -HIDDEN:]) @ claim.vector
    return Alignment(
        statement=statement,
        content=content,
        sentences=sentences,
        matches=matches,
        exact=exact,
        weights=np.array([rarity(word.lower) for word in content]),
        cosines=np.array([float(claim.vector @ state.vector) for state in states]),
        sentence_cosines=near.astype(np.float64),
        passage_of=np.array(order, dtype=np.int64),
        tokens=tokens,
        token_matches=token_matches,
    )


def texts_of(obligation: str, passages: Sequence[Passage]) -> list[str]:
    """Every text that `align` encodes, so that a batch of questions can be encoded together first."""
    return [read(obligation).text, *(passage_text(p, read_passages([p]))[0] for p in passages)]


def passage_text(passage: Passage, sentences: Sequence[Sentence]) -> tuple[str, list[int]]:
    """What is encoded for a passage, and where each of its sentences starts in it."""
    text = f"{normalise(passage.speaker)}:" if passage.speaker else ""
    starts = []
    for sentence in sentences:
        text += " " if text else ""
        starts.append(len(text))
        text += sentence.body.text
    return text, starts


@lru_cache(maxsize=16384)
def rarity(word: str) -> float:
    """An idf-like weight in [0.15, 1] from the word's frequency rank in the model's vocabulary; 1 beyond it."""
    from admission.verifiers.minilm import tokenizer

    ids: list[int] = tokenizer()(word.removesuffix("'s"), add_special_tokens=False)["input_ids"]
    if len(ids) != 1:
        return 1.0
    rank = max(1, ids[0] - _VOCABULARY_START + 1)
    return max(0.15, math.log(rank) / math.log(28500))


def _match(
    statement: Text,
    content: Sequence[Word],
    grouped: Sequence[Sequence[Sentence]],
    texts: Sequence[tuple[str, list[int]]],
    encoder: StateEncoder,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(words, tokens) match of each obligation word with each content word said, and whether it is a stem match."""
    left = encoder.word_vectors(statement.text, [(word.start, word.end) for word in content])
    right: list[NDArray[np.float32]] = []
    stems: list[str] = []
    for group, (text, starts) in zip(grouped, texts, strict=True):
        said = [(word, start) for s, start in zip(group, starts, strict=True) for word in s.body.content]
        right.append(encoder.word_vectors(text, [(word.start + start, word.end + start) for word, start in said]))
        stems.extend(word.stem for word, _ in said)
    if not stems:
        return np.zeros((len(content), 0)), np.zeros((len(content), 0), dtype=bool)
    cosines = left @ np.concatenate(right).T
    exact = np.array([word.stem for word in content])[:, None] == np.array(stems)[None, :]
    soft = np.clip((cosines - _FLOOR) / (_CEILING - _FLOOR), 0.0, _MOST_SOFT)
    return np.where(exact, 1.0, soft).astype(np.float64), exact


def _count_speakers(
    content: Sequence[Word], sentences: Sequence[Sentence], matches: NDArray[np.float64], exact: NDArray[np.bool_]
) -> None:
    """A speaker's name in the obligation matches whatever that speaker says."""
    for sentence in sentences:
        names = name_stems(sentence.speaker)
        for i, word in enumerate(content):
            if word.stem in names:
                matches[i, sentence.index], exact[i, sentence.index] = 1.0, True


def _spans(group: Sequence[Sentence], starts: Sequence[int]) -> list[tuple[int, int]]:
    return [(start, start + len(sentence.body.text)) for sentence, start in zip(group, starts, strict=True)]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return unit
