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
from admission.verifiers.states import StateEncoder, TokenStates

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLOOR, _CEILING = 0.10, 0.80
_NEIGHBOURHOOD = 0.3
"""Matches below this say that a word lives in the same neighbourhood, not that it was said."""
_MOST_SOFT = 0.95
_VOCABULARY_START = 1996
"""In the model's vocabulary whole words stand in order of frequency from here on ("the")."""


@dataclass(frozen=True)
class Alignment:
    """How well each content word of an obligation is matched in each sentence shown.

    `matches` (words, sentences) in [0, 1]: 1 for the same stem (or the speaker's name), else a rescaled cosine;
    `weights` (words,) rarity in [0, 1]; `exact` (words, sentences) marks the stem matches; `cosines` (passages,) and
    `sentence_cosines` (sentences,) of the mean embeddings with the obligation's; `passage_of` (sentences,) the passage
    each sentence is in.
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

    def coverage(self, columns: NDArray[np.int64] | slice = slice(None)) -> float:
        """Weighted mean over words of the best match in the chosen sentences; 0 when none is chosen."""
        chosen = self.matches[:, columns]
        if chosen.shape[1] == 0 or not self.content:
            return 0.0
        return float((chosen.max(axis=1) * self.weights).sum() / self.weights.sum())

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
        wanted = {word.stem for word in part.words if word.content}
        rows = [i for i, word in enumerate(self.content) if word.stem in wanted]
        if not rows:
            return 1.0
        return float((self.said[rows, sentence.index] * self.weights[rows]).sum() / self.weights[rows].sum())


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
    left = _word_vectors(content, claim, 0)
    matches = np.zeros((len(content), len(sentences)))
    exact = np.zeros((len(content), len(sentences)), dtype=bool)
    near = np.zeros(len(sentences))
    for group, (_, starts), state in zip(grouped, texts, states, strict=True):
        for sentence, start in zip(group, starts, strict=True):
            matches[:, sentence.index], exact[:, sentence.index] = _match(content, left, sentence, state, start)
            near[sentence.index] = claim.vector @ _span_vector(state, start, start + len(sentence.body.text))
    return Alignment(
        statement=statement,
        content=content,
        sentences=sentences,
        matches=matches,
        exact=exact,
        weights=np.array([rarity(word.lower) for word in content]),
        cosines=np.array([float(claim.vector @ state.vector) for state in states]),
        sentence_cosines=near,
        passage_of=np.array(order, dtype=np.int64),
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
    content: Sequence[Word], left: NDArray[np.float32], sentence: Sentence, state: TokenStates, start: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(words,) best match of each obligation word in the sentence, and whether it is a stem match."""
    stems = sentence.body.stems | name_stems(sentence.speaker)
    exact = np.array([word.stem in stems for word in content], dtype=bool)
    said = [word for word in sentence.body.words if word.content]
    soft = np.zeros(len(content))
    if said:
        cosines = left @ _word_vectors(said, state, start).T
        soft = np.clip((cosines.max(axis=1) - _FLOOR) / (_CEILING - _FLOOR), 0.0, _MOST_SOFT)
    return np.where(exact, 1.0, soft), exact


def _span_vector(state: TokenStates, start: int, end: int) -> NDArray[np.float32]:
    """Unit mean of the last layer over the tokens of a span; zero for a span beyond the encoder's limit."""
    if not len(state.offsets):
        return np.zeros(HIDDEN, dtype=np.float32)
    inside = (state.offsets[:, 0] >= start) & (state.offsets[:, 1] <= end)
    if not inside.any():
        return np.zeros(HIDDEN, dtype=np.float32)
    mean = state.layers[inside, -HIDDEN:].astype(np.float32).mean(axis=0)
    unit: NDArray[np.float32] = mean / max(float(np.linalg.norm(mean)), 1e-6)
    return unit


def _word_vectors(chosen: Sequence[Word], state: TokenStates, start: int) -> NDArray[np.float32]:
    """(words, width) unit mean of each word's pieces; zero for a word beyond the encoder's limit."""
    vectors = np.zeros((len(chosen), state.layers.shape[1]), dtype=np.float32)
    if not len(state.offsets):
        return vectors
    begins, ends = state.offsets[:, 0], state.offsets[:, 1]
    for i, word in enumerate(chosen):
        pieces = (begins < word.end + start) & (ends > word.start + start)
        if pieces.any():
            mean = state.layers[pieces].astype(np.float32).mean(axis=0)
            vectors[i] = mean / max(float(np.linalg.norm(mean)), 1e-6)
    return vectors
