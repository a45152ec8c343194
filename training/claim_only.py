"""What the words of a claim alone tell about its label: how far the project's own data give the answer away.

`python -m training.claim_only [--json FILE]`: for the dialogues and for the exchanges, a logistic regression on the
claims of the training part, tested on the held-out tenth. A model that reads no turn cannot know; what it is right
about beyond chance are traces of the writing. Minutes, most of it MiniLM.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold

from admission.evaluation.statistics import proportion
from admission.verifiers.states import StateEncoder
from training.verifier_data import DIALOGUES, dialogue_purpose, dialogue_rows, exchange_rows

PENALTIES = {"C": [0.1, 1.0, 10.0, 100.0]}
FOLDS = 5


def claim_only(sets: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """By set of chats and by features (`words`: tf-idf of words and pairs of words; `meaning`: mean MiniLM states).

    `accuracy` and `auc` of supported or not on the claims held out, and how much regularisation cross-validation over
    the training chats chose. `twin_scored_lower`, where every claim at an even place is followed by its edited twin
    (`exchanges`): how often the true one of the two scores higher, a tie counting half.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, rows in sets.items():
        train, test = (_claims(rows, purpose) for purpose in ("train", "test"))
        holds, chats = np.array([label for _, label, _ in train]), [chat for _, _, chat in train]
        truth = np.array([label for _, label, _ in test])
        known, asked = ([text for text, _, _ in part] for part in (train, test))
        words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
        features = {
            "words": (words.fit_transform(known), words.transform(asked)),
            "meaning": (_meanings(known), _meanings(asked)),
        }
        found[name] = {"trained_on": len(train), "tested_on": len(test), "supported": round(float(truth.mean()), 3)}
        for kind, (learnt_from, tested_on) in features.items():
            search = GridSearchCV(LogisticRegression(max_iter=5000), PENALTIES, scoring="roc_auc", cv=GroupKFold(FOLDS))
            chances = search.fit(learnt_from, holds, groups=chats).predict_proba(tested_on)[:, 1]
            found[name][kind] = {"C": search.best_params_["C"], **_figures(chances, truth, twins=name == "exchanges")}
    return found


def _claims(rows: Sequence[dict[str, Any]], purpose: str) -> list[tuple[str, bool, str]]:
    """(text, whether it is supported, its chat) of the claims of this part."""
    return [
        (claim["text"], claim["label"] == "supported", row["id"])
        for row in rows
        if dialogue_purpose(row["id"]) == purpose
        for claim in row["claims"]
    ]


def _meanings(texts: Sequence[str]) -> np.ndarray:
    return np.array([state.vector for state in StateEncoder((6,)).encode(texts)])


def _figures(chances: np.ndarray, truth: np.ndarray, *, twins: bool) -> dict[str, Any]:
    right = (chances >= 0.5) == truth
    figures: dict[str, Any] = {
        "accuracy": proportion(int(right.sum()), len(right)).model_dump(),
        "auc": round(float(roc_auc_score(truth, chances)), 3),
    }
    if twins:
        won = (chances[::2] > chances[1::2]) + 0.5 * (chances[::2] == chances[1::2])
        figures["twin_scored_lower"] = round(float(won.mean()), 3)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    text = json.dumps(claim_only({"dialogues": dialogue_rows(DIALOGUES), "exchanges": exchange_rows()}), indent=1)
    print(text)
    if options.json is not None:
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
