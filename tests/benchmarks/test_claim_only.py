"""The claims-alone baseline: a trace of the writing shows, and where there is none it tells nothing."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sklearn", reason="measuring needs scikit-learn (extra dev)")

from training.claim_only import claim_only
from training.verifier_data import dialogue_purpose


def chats(true: str, false: str) -> list[dict[str, Any]]:
    """Chats of a true memory and its twin each, twelve to learn from and three held out."""
    wanted = {"train": 12, "calibration": 0, "test": 3}
    rows = []
    for number in range(400):
        id = f"chat-{number}"
        if wanted[dialogue_purpose(id)]:
            wanted[dialogue_purpose(id)] -= 1
            claims = [{"text": true, "label": "supported"}, {"text": false, "label": "insufficient"}]
            rows.append({"id": id, "turns": [], "claims": claims})
    return rows


def test_a_word_that_gives_the_label_away_is_found() -> None:
    found = claim_only({"exchanges": chats("Ana moved to Porto.", "Ana perhaps moved to Porto.")})["exchanges"]
    assert (found["trained_on"], found["tested_on"], found["supported"]) == (24, 6, 0.5)
    for features in ("words", "meaning"):
        assert found[features]["auc"] == 1.0
        assert found[features]["twin_scored_lower"] == 1.0


def test_claims_that_do_not_differ_tell_nothing() -> None:
    found = claim_only({"exchanges": chats("Ana moved to Porto.", "Ana moved to Porto.")})["exchanges"]
    for features in ("words", "meaning"):
        assert found[features]["auc"] == 0.5
        assert found[features]["twin_scored_lower"] == 0.5


def test_pairs_are_compared_only_where_claims_come_as_twins() -> None:
    found = claim_only({"dialogues": chats("Ana moved to Porto.", "Ana perhaps moved to Porto.")})["dialogues"]
    assert "twin_scored_lower" not in found["words"]
