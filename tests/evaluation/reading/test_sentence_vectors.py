"""Sentence vectors: unit length, near for what means the same, made once, and kept when a run is stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from admission.evaluation.reading.embeddings import SentenceVectors


@pytest.fixture(scope="module")
def vectors() -> SentenceVectors:
    return SentenceVectors()


def test_vectors_have_unit_length_and_are_near_for_like_meanings(vectors: SentenceVectors) -> None:
    cat, kitten, tax = vectors.encode(["A cat sleeps.", "A kitten is asleep.", "The tax return is due in May."])
    assert np.linalg.norm(cat) == pytest.approx(1.0, abs=1e-5)
    assert cat @ kitten > cat @ tax + 0.3


def test_a_text_has_nearly_the_same_vector_in_any_company(vectors: SentenceVectors) -> None:
    alone = vectors.encode(["A cat sleeps."])[0]
    crowd = vectors.encode(["A cat sleeps.", "long " * 200])[0]
    assert alone @ crowd == pytest.approx(1.0, abs=1e-3)


def test_equal_texts_are_encoded_once_and_none_gives_none(vectors: SentenceVectors) -> None:
    told: list[tuple[int, int]] = []
    found = vectors.encode(["same", "same"], lambda done, of: told.append((done, of)))
    assert (found[0] == found[1]).all()
    assert told == [(0, 1), (1, 1)]
    assert vectors.encode([]).shape == (0, 384)


def test_what_was_made_before_a_stop_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("admission.evaluation.reading.embeddings.BATCH", 1)
    file = tmp_path / "deep" / "vectors.sqlite"

    def stop(done: int, of: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SentenceVectors(file).encode(["first text", "2nd text"], stop)
    told: list[tuple[int, int]] = []
    again = SentenceVectors(file).encode(["first text", "2nd text"], lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]
    assert (SentenceVectors(file).encode(["first text", "2nd text"]) == again).all()
