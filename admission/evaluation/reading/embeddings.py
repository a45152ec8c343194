"""Sentence vectors of the embedded MiniLM, each kept on disk under the digest of its text so that it is made once."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from admission.verifiers import minilm

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedTokenizerBase

Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]
"""Told how many texts are done, and of how many."""

MAX_TOKENS = 256
"""Where the model's card cuts a text (sentence_bert_config.json)."""
IDENTITY = f"all-MiniLM-L6-v2 {minilm.WEIGHTS_SHA256[:16]}, {MAX_TOKENS} tokens, mean, l2, fp32"
"""What the numbers depend on beside the text."""
BATCH = 16
_LENGTH_STEP = 8
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


class SentenceVectors:
    """Texts to unit vectors: mean of the last hidden state over the tokens, then L2 norm, as the model's card says.

    `file` is an SQLite file of vectors already made, by digest of the text and of what made it; every batch is kept
    when it is done, so a run that was stopped goes on. Without one, nothing is kept. The model is loaded when the first
    text needs it. Raises `WeightsError` then if it is missing.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._model: tuple[PreTrainedTokenizerBase, nn.Module] | None = None

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """(texts, 384) unit vectors. Equal texts are encoded once."""
        tell = progress or (lambda done, of: None)
        digests = [self._digest(text) for text in texts]
        wanted = dict(zip(digests, texts, strict=True))
        with closing(self._connection()) as kept:
            found = _known(kept, wanted)
            tell(len(found), len(wanted))
            # Texts of a length share a batch: little padding. The longest come first: the rest only gets faster.
            missing = sorted((d for d in wanted if d not in found), key=lambda d: (-len(wanted[d]), d))
            for start in range(0, len(missing), BATCH):
                batch = missing[start : start + BATCH]
                for digest, vector in zip(batch, self._vectors([wanted[d] for d in batch]), strict=True):
                    found[digest] = vector
                with kept:
                    kept.executemany(
                        "INSERT OR REPLACE INTO vectors VALUES (?, ?)", [(d, found[d].tobytes()) for d in batch]
                    )
                tell(len(found), len(wanted))
        return np.stack([found[d] for d in digests]) if digests else np.empty((0, minilm.HIDDEN), np.float32)

    def _digest(self, text: str) -> bytes:
        return hashlib.sha256(f"{IDENTITY}\0{text}".encode("utf-8", "surrogatepass")).digest()

    def _connection(self) -> sqlite3.Connection:
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
        made = sqlite3.connect(self._file or ":memory:")
        made.execute(_SCHEMA)
        return made

    def _vectors(self, texts: list[str]) -> Vectors:
        import torch

        # fp32: with matrices this narrow, bf16 was no faster where the processor has it.
        if self._model is None:
            self._model = minilm.tokenizer(), minilm.encoder()
        tokenizer, encoder = self._model
        batch = tokenizer(
            texts,
            truncation=True,
            max_length=MAX_TOKENS,
            padding=True,
            pad_to_multiple_of=_LENGTH_STEP,
            return_tensors="pt",
        )
        with torch.inference_mode():
            states = encoder(**batch).last_hidden_state
            mask = batch["attention_mask"][:, :, None].float()
            means = (states * mask).sum(1) / mask.sum(1)
            made: Vectors = torch.nn.functional.normalize(means, dim=1).numpy()
        return made


def _known(kept: sqlite3.Connection, wanted: dict[bytes, str]) -> dict[bytes, Vectors]:
    """The vectors of the wanted digests that are kept."""
    rows = (kept.execute("SELECT digest, vector FROM vectors WHERE digest = ?", (digest,)) for digest in wanted)
    return {row[0]: np.frombuffer(row[1], np.float32) for found in rows for row in found}
