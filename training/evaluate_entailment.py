"""Evaluate the shipped entailment weights: `python -m training.evaluate_entailment --data DIR [--locomo DIR]`."""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from admission.records import Conversation, Judgment, Obligation, Passage, Question
from admission.verifiers import entailment_weights
from admission.verifiers.entailment import EntailmentVerifier
from training import sources
from training.export_entailment import logits, questions

SETS = ("mnli", "cad", "vitaminc", "foolmetwice", "feversymmetric", "scone", "negation_nli", "wice", "q2", "cider",
        "fragments", "med_help", "bigbench")  # fmt: skip
RETENTION = 0.85
NEIGHBOURS = 2
"""Turns each side of a cited one that the LoCoMo measure shows with it."""


def by_set(data: Path, size: int) -> dict[str, dict[str, float]]:
    """Per data set, on `size` test pairs: accuracy on the labels given, and AUC of entailed or not."""
    network = entailment_weights.load()
    rng = random.Random(3)
    found: dict[str, dict[str, float]] = {}
    for source in SETS:
        held = [p for p in sources.pairs(data, source) if sources.purpose(p) == "test"]
        chosen = rng.sample(held, min(size, len(held)))
        scores = logits(network, chosen)
        chances = torch.softmax(torch.tensor(scores), dim=-1).numpy()
        best = scores.argmax(1)
        right = [
            (b != 0) if p.label == "not_entailment" else sources.LABELS[b] == p.label
            for b, p in zip(best, chosen, strict=True)
        ]
        entailed = [p.label == "entailment" for p in chosen]
        contradicted = [place for place, p in enumerate(chosen) if p.label == "contradiction"]
        found[source] = {
            "n": len(chosen),
            "accuracy": round(float(np.mean(right)), 3),
            "auc": round(float(roc_auc_score(entailed, chances[:, 0])), 3),
        }
        if contradicted:
            found[source]["contradiction_recall"] = round(float(np.mean(best[contradicted] == 2)), 3)
    return found


def on_dialogues(verifier: EntailmentVerifier, rows: list[dict]) -> dict[str, object]:
    """Supported or not for each claim, the evidence found among all turns of the dialogue."""
    claims = [claim for row in rows for claim in row["claims"]]
    judged = verifier.judge([question for row in rows for question in questions(row)])
    support = np.array([j.support for j in judged])
    holds = np.array([claim["label"] == "supported" for claim in claims])
    shipped = verifier.thresholds.support
    grid = np.unique(support)
    kinds: dict[str, list[int]] = defaultdict(list)
    for place, claim in enumerate(claims):
        kinds[claim["kind"]].append(place)
    labels = {"supported": "supported", "insufficient": "insufficient", "contradicted": "contradicted"}
    return {
        "claims": len(claims),
        "auc": round(float(roc_auc_score(holds, support)), 3),
        "best_accuracy": round(max(float(((support >= t) == holds).mean()) for t in grid), 3),
        "shipped_accuracy": round(float(((support >= shipped) == holds).mean()), 3),
        "retained": round(float((support[holds] >= shipped).mean()), 3),
        "unsupported_admitted": round(float((support[~holds] >= shipped).mean()), 3),
        "labels": {
            label: {
                given: sum(j.label == given for j, c in zip(judged, claims, strict=True) if c["label"] == label)
                for given in (*labels, "conflicting")
            }
            for label in labels
        },
        "auc_by_kind": {
            kind: round(float(roc_auc_score(holds[places], support[places])), 3)
            for kind, places in sorted(kinds.items())
        },
    }


def claim_only(rows: list[dict]) -> dict[str, float]:
    """What the words of a claim alone tell about its label, learnt on the training dialogues."""
    parts: dict[bool, tuple[list[str], list[bool]]] = {True: ([], []), False: ([], [])}
    for row in rows:
        purpose = sources.dialogue_purpose(row["id"])
        if purpose != "calibration":
            for claim in row["claims"]:
                parts[purpose == "test"][0].append(claim["text"])
                parts[purpose == "test"][1].append(claim["label"] == "supported")
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    learnt = LogisticRegression(max_iter=2000, C=1.0).fit(words.fit_transform(parts[False][0]), parts[False][1])
    chances = learnt.predict_proba(words.transform(parts[True][0]))[:, 1]
    holds = np.array(parts[True][1])
    return {
        "accuracy": round(float(((chances >= 0.5) == holds).mean()), 3),
        "auc": round(float(roc_auc_score(holds, chances)), 3),
    }


def on_locomo(verifier: EntailmentVerifier, folder: Path) -> dict[str, object]:
    """Whole memories against their cited passages and neighbours: valid writes, and their minimally edited twins."""
    asked: list[Question] = []
    valid: list[bool] = []
    edits: list[str] = []
    twins = defaultdict(list)
    for text in (folder / "negatives_dev.jsonl").read_text(encoding="utf-8").splitlines():
        twin = json.loads(text)
        twins[twin["conversation"], twin["of"]].append(twin)
    for text in (folder / "writes_dev.jsonl").read_text(encoding="utf-8").splitlines():
        raw = json.loads(text)
        fields = ("id", "memory", "citations", "written_after", "reference")
        raw["writes"] = [{key: write[key] for key in fields if key in write} for write in raw["writes"]]
        conversation = Conversation.model_validate(raw)
        for write in conversation.writes:
            passages = _cited_and_near(conversation, write.citations, write.written_after)
            stands = (write.reference or {}).get("status") in ("admitted", "repaired")
            for memory, holds, edit in [
                (write.memory, stands, "written"),
                *((twin["memory"], False, twin["edit"]) for twin in twins[conversation.id, write.id]),
            ]:
                asked.append(_whole(memory, passages))
                valid.append(holds)
                edits.append(edit)
    judged = verifier.judge(asked)
    return _twin_figures(verifier, judged, np.array(valid), edits)


def _whole(memory: str, passages: tuple[Passage, ...]) -> Question:
    return Question(
        obligation=Obligation(id="whole", text=memory, type="fact"), memory=memory, view="expanded", passages=passages
    )


def _cited_and_near(conversation: Conversation, cited: tuple[str, ...], last: str | None) -> tuple[Passage, ...]:
    places = {turn.id: place for place, turn in enumerate(conversation.turns)}
    end = places[last] if last else len(conversation.turns) - 1
    kept = {
        near
        for name in cited
        if name in places
        for near in range(places[name] - NEIGHBOURS, places[name] + NEIGHBOURS + 1)
        if 0 <= near <= end
    }
    return tuple(
        Passage(id=t.id, turn_id=t.id, position=place, role=t.role, speaker=t.speaker, time=t.time, text=t.text,
                origin=t.origin, end=len(t.text))
        for place in sorted(kept)
        for t in [conversation.turns[place]]
    )  # fmt: skip


def _twin_figures(
    verifier: EntailmentVerifier, judged: list[Judgment], valid: np.ndarray, edits: list[str]
) -> dict[str, object]:
    support = np.array([j.support for j in judged])
    at = float(np.quantile(support[valid], 1.0 - RETENTION, method="lower"))
    shipped = verifier.thresholds.support
    by_edit: dict[str, list[int]] = defaultdict(list)
    for place, edit in enumerate(edits):
        if not valid[place]:
            by_edit[edit].append(place)
    return {
        "valid": int(valid.sum()),
        "not_valid": int((~valid).sum()),
        "auc": round(float(roc_auc_score(valid, support)), 3),
        f"unsupported_admitted_at_retention_{RETENTION}": round(float((support[~valid] >= at).mean()), 3),
        "threshold_there": round(at, 3),
        "shipped": {
            "retained": round(float((support[valid] >= shipped).mean()), 3),
            "unsupported_admitted": round(float((support[~valid] >= shipped).mean()), 3),
        },
        "admitted_by_edit": {
            edit: round(float((support[places] >= at).mean()), 3) for edit, places in sorted(by_edit.items())
        },
    }


def speed(verifier: EntailmentVerifier, rows: list[dict]) -> dict[str, float]:
    """Questions a second on dialogues not scored before in this process."""
    asked = [question for row in rows for question in questions(row)]
    verifier.judge(asked[:1])  # loads the network
    asked = asked[1:]
    began = time.perf_counter()
    verifier.judge(asked)
    seconds = time.perf_counter() - began
    return {"questions": len(asked), "questions_per_second": round(len(asked) / seconds, 2)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="folder that holds nli/")
    options.add_argument("--dialogues", type=Path, default=Path(__file__).parent / "data" / "dialogues.jsonl")
    options.add_argument("--locomo", type=Path, help="folder of recorded writes and their twins, to measure only")
    options.add_argument("--pairs", type=int, default=300, help="test pairs a data set")
    arguments = options.parse_args()
    torch.set_num_threads(2)
    verifier = EntailmentVerifier()
    rows = sources.dialogues(arguments.dialogues)
    held = [row for row in rows if sources.dialogue_purpose(row["id"]) == "test"]
    found: dict[str, object] = {"identity": verifier.identity, "speed": speed(verifier, held[:10])}
    found["dialogues"] = on_dialogues(verifier, held)
    found["claim_only_baseline"] = claim_only(rows)
    if arguments.locomo:
        found["locomo_twins"] = on_locomo(verifier, arguments.locomo)
    found["sets"] = by_set(arguments.data, arguments.pairs)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
