"""Frozen MiniLM token states of texts, each distinct text encoded once; the alignment verifier stands on them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from cachetools import LRUCache

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from transformers import BertModel

MAX_TOKENS = 320
_BATCH_TOKENS = 4096
_CACHED_TEXTS = 4096


@dataclass(frozen=True, slots=True)
class TokenStates:
    """One text as the frozen encoder sees it, special tokens left out.

    `ids` (n,) vocabulary ids; `offsets` (n, 2) character spans in the text; `layers` (n, 384 * k) float16, the chosen
    hidden layers side by side; `vector` (384,) float32, the unit mean of the last layer (the sentence embedding).
    """

    ids: NDArray[np.int64]
    offsets: NDArray[np.int64]
    layers: NDArray[np.float16]
    vector: NDArray[np.float32]


class StateEncoder:
    """Encodes texts with the frozen encoder in length-bucketed batches and remembers the most recent by content.

    `layers` are hidden-state indexes (0 is the embedding layer, 6 the last). Longer texts are cut at `MAX_TOKENS`.
    """

    def __init__(self, layers: Sequence[int], cached_texts: int = _CACHED_TEXTS) -> None:
        self.layers = tuple(layers)
        self._cache: LRUCache[str, TokenStates] = LRUCache(maxsize=cached_texts)
        self._words: LRUCache[tuple[str, tuple[tuple[int, int], ...]], NDArray[np.float32]] = LRUCache(
            maxsize=cached_texts
        )
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> list[TokenStates]:
        """The states of each text, in order."""
        with self._lock:
            found = {text: self._cache[text] for text in dict.fromkeys(texts) if text in self._cache}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            fresh = dict(zip(missing, self._compute(missing), strict=True))
            found.update(fresh)
            with self._lock:
                self._cache.update(fresh)
        return [found[text] for text in texts]

    def word_vectors(self, text: str, spans: Iterable[tuple[int, int]]) -> NDArray[np.float32]:
        """(len(spans), width) unit mean of the pieces in each character span; zero beyond the encoder's limit."""
        key = (text, tuple(spans))
        with self._lock:
            known = self._words.get(key)
        if known is None:
            known = _span_means(self.encode([text])[0], np.asarray(key[1], dtype=np.int64).reshape(-1, 2))
            with self._lock:
                self._words[key] = known
        return known

    def _compute(self, texts: list[str]) -> list[TokenStates]:
        from admission.verifiers.minilm import tokenizer

        encodings = tokenizer()(texts, truncation=True, max_length=MAX_TOKENS, return_offsets_mapping=True)
        ids: list[list[int]] = encodings["input_ids"]
        order = sorted(range(len(texts)), key=lambda i: len(ids[i]))
        done: dict[int, TokenStates] = {}
        for batch in _batches(order, [len(row) for row in ids]):
            for i, (layers, vector) in zip(batch, self._forward([ids[i] for i in batch]), strict=True):
                done[i] = TokenStates(
                    ids=np.asarray(ids[i][1:-1], dtype=np.int64),
                    offsets=np.asarray(encodings["offset_mapping"][i][1:-1], dtype=np.int64).reshape(-1, 2),
                    layers=layers,
                    vector=vector,
                )
        return [done[i] for i in range(len(texts))]

    def _forward(self, rows: list[list[int]]) -> list[tuple[NDArray[np.float16], NDArray[np.float32]]]:
        import torch

        width = max(len(row) for row in rows)
        input_ids = torch.zeros(len(rows), width, dtype=torch.long)
        mask = torch.zeros(len(rows), width, dtype=torch.long)
        for i, row in enumerate(rows):
            input_ids[i, : len(row)] = torch.tensor(row)
            mask[i, : len(row)] = 1
        with torch.inference_mode():
            out: Any = _frozen_encoder()(input_ids=input_ids, attention_mask=mask, output_hidden_states=True)
            chosen = torch.cat([out.hidden_states[layer] for layer in self.layers], dim=-1).half().numpy()
            weights = mask.unsqueeze(-1).float()
            pooled = (out.last_hidden_state * weights).sum(1) / weights.sum(1)
            vectors = torch.nn.functional.normalize(pooled, dim=-1).numpy()
        return [(chosen[i, 1 : len(row) - 1].copy(), vectors[i].copy()) for i, row in enumerate(rows)]


def _span_means(state: TokenStates, spans: NDArray[np.int64]) -> NDArray[np.float32]:
    width = state.layers.shape[1]
    if not len(state.offsets) or not len(spans):
        return np.zeros((len(spans), width), dtype=np.float32)
    begins, ends = state.offsets[:, 0], state.offsets[:, 1]
    inside = ((begins[None, :] < spans[:, 1:]) & (ends[None, :] > spans[:, :1])).astype(np.float32)
    means = (inside @ state.layers.astype(np.float32)) / np.maximum(inside.sum(axis=1, keepdims=True), 1.0)
    unit: NDArray[np.float32] = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-6)
    return unit


@lru_cache(maxsize=1)
def _frozen_encoder() -> BertModel:
    """One encoder for the process: its weights never change here, so every user of token states can share it."""
    from admission.verifiers.minilm import encoder

    return encoder()


def _batches(order: list[int], lengths: list[int]) -> list[list[int]]:
    """Consecutive groups of `order` (ascending lengths) whose padded size stays within the batch's token budget."""
    batches: list[list[int]] = []
    for i in order:
        if batches and lengths[i] * (len(batches[-1]) + 1) <= _BATCH_TOKENS:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches
