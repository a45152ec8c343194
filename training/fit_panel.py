"""Fits the panel's thresholds together, on chats that no verifier was trained on.

    python -m training.fit_panel [--max-unsupported 0.08] [--write]

Each held-out memory of the exchanges, true or edited, is written without citations: split into obligations, with itself
as one more where no part says it all, and put to all three judges on its expanded view. Contradiction thresholds:
each judge contradicts at most .5 % of the obligations of true memories, for a contradiction is not outvoted. Alignment
ranks memories worst by far, so its support counts only where nine in ten of the memories it supports are true. The two
that read premises are held to be equally strict: at every step each would lose the same share of the true memories; of
these steps the one is taken that retains most while at most `--max-unsupported` of the edited memories are admitted.
One number is fitted, since the best of many combinations on some hundred memories is mostly luck. The figures printed
are cross-validated over chats. With `--write` the thresholds go to admission/data/panel.json, which
`admission.verifiers.build_verifier` reads. Answers are kept in training/runs/panel by the judge's identity. Ten
minutes, most of it the entailment model.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from admission.eligibility import admissible
from admission.evidence import expanded_view
from admission.history import History
from admission.obligations import cover, split
from admission.panel import blind
from admission.records import Candidate, Judgment, Obligation, Question, Turn, digest
from admission.text import words
from admission.verifiers import KINDS, PANEL_FILE, Verifier
from training.verifier_data import dialogue_purpose, exchange_rows

JUDGES = ("entailment", "alignment", "adjudicator")
LOST = np.round(np.arange(0.05, 0.70, 0.01), 2)
"""Steps of strictness: the share of true memories that each reading judge alone would lose."""
FOLDS = 5
MAX_UNSUPPORTED = 0.08
MAX_FALSE_CONTRADICTION = 0.005
LEAST_PRECISION = 0.9
RUNS = Path(__file__).parent / "runs" / "panel"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-unsupported", type=float, default=MAX_UNSUPPORTED)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    rows = [row for row in exchange_rows() if dialogue_purpose(row["id"]) != "train"]
    memories, questions, owner = _questions(rows)
    support = np.zeros((len(JUDGES), len(questions)))
    refuted = np.zeros((len(JUDGES), len(questions)), dtype=bool)
    judged = np.zeros((len(JUDGES), len(questions)), dtype=bool)
    contradiction = {}
    label = np.array([claim["label"] == "supported" for _, claim in memories])
    for number, kind in enumerate(JUDGES):
        judge = KINDS[kind](None)
        asked = [blind(question) for question in questions] if kind == "adjudicator" else questions
        answers = _answers(judge, asked)
        support[number] = [answer.support for answer in answers]
        against = np.array([answer.contradiction for answer in answers])
        cut = np.quantile(against[label[owner]], 1 - MAX_FALSE_CONTRADICTION)
        contradiction[kind] = round(max(float(cut), judge.thresholds.contradiction), 3)
        refuted[number] = against >= contradiction[kind]
        judged[number] = [answer.outcome == "judged" for answer in answers]
    lowest = np.ones((len(JUDGES), len(memories)))
    for number in range(len(JUDGES)):
        np.minimum.at(lowest[number], owner, support[number])
    first, third = (np.quantile(lowest[number][label], LOST) for number in (0, 2))
    sure = _precise(lowest[1], label)
    cuts = [(a, sure, c) for a, c in zip(first.round(3), third.round(3), strict=True)]
    kept = np.stack([_kept(support, refuted, judged, owner, len(memories), cut) for cut in cuts])
    group = np.array([row["id"] for row, _ in memories])
    print(f"{len(memories)} memories of {len(rows)} chats, {len(questions)} obligations")
    bound = arguments.max_unsupported
    _cross_validate(kept, label, group, bound)
    best = _best(kept, label, bound)
    chosen = dict(zip(JUDGES, map(float, cuts[best]), strict=True))
    print("thresholds", chosen, "contradiction", contradiction, _rates(kept[best], label))
    if arguments.write:
        fitted = {
            kind: {"support": round(cut, 3), "contradiction": contradiction[kind]} for kind, cut in chosen.items()
        }
        PANEL_FILE.write_text(json.dumps(fitted, indent=1) + "\n")


def _precise(lowest: np.ndarray, label: np.ndarray) -> float:
    """The least threshold at which, of the memories supported in all their obligations, enough are true."""
    return float(next(cut for cut in np.arange(0.5, 1.0, 0.01) if label[lowest >= cut].mean() >= LEAST_PRECISION))


def _answers(judge: Verifier, asked: list[Question]) -> list[Judgment]:
    file = RUNS / f"{judge.name}-{digest([judge.identity, digest([q.model_dump() for q in asked])])[:16]}.jsonl"
    if not file.is_file():
        answers = judge.judge(asked)
        RUNS.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(answer.model_dump_json() for answer in answers))
    return [Judgment.model_validate_json(line) for line in file.read_text().splitlines()]


def _questions(rows: list[dict]) -> tuple[list[tuple[dict, dict]], list[Question], np.ndarray]:
    """All claims, the questions their obligations make, and which claim each question belongs to."""
    memories: list[tuple[dict, dict]] = []
    questions: list[Question] = []
    owner: list[int] = []
    for row in rows:
        history = History.of(row["id"], [Turn.model_validate(turn) for turn in row["turns"]])
        for claim in row["claims"]:
            candidate = Candidate(id="c", conversation=row["id"], namespace=("d",), memory=claim["text"])
            obligations = cover(claim["text"], split(candidate))
            if len(obligations) > 1 and all(words(o.text) != words(claim["text"]) for o in obligations):
                obligations = (*obligations, Obligation(id="whole", text=claim["text"], type="relation"))
            view = expanded_view(history, candidate, obligations)
            for obligation in obligations:
                passages = admissible(view.passages, obligation.text, history)
                questions.append(
                    Question(
                        obligation=obligation,
                        memory=claim["text"],
                        view="expanded",
                        passages=passages,
                        people=history.people,
                    )
                )
                owner.append(len(memories))
            memories.append((row, claim))
    return memories, questions, np.array(owner)


def _kept(
    support: np.ndarray, refuted: np.ndarray, judged: np.ndarray, owner: np.ndarray, memories: int, cuts: tuple
) -> np.ndarray:
    """Whether each memory is supported: `admission.panel` written over arrays, for thousands of combinations.

    Labels are compared as (holds, refuted); a judge that abstained differs from any that judged.
    """
    holds = support >= np.array(cuts)[:, None]
    clear = holds & ~refuted & judged
    agree = judged[0] & judged[1] & (holds[0] == holds[1]) & (refuted[0] == refuted[1])
    nobody = ~judged[0] & ~judged[1]
    unrefuted = ~(judged[0] & refuted[0]) & ~(judged[1] & refuted[1])
    supported = np.where(agree, clear[0], ~nobody & unrefuted & clear[2])
    kept = np.ones(memories, dtype=bool)
    np.logical_and.at(kept, owner, supported)
    return kept


def _rates(kept: np.ndarray, label: np.ndarray) -> dict[str, float]:
    return {
        "retention": round(float(kept[label].mean()), 3),
        "unsupported_admission": round(float(kept[~label].mean()), 3),
    }


def _best(kept: np.ndarray, label: np.ndarray, bound: float) -> int:
    """The first step, from the most lenient, that keeps to the bound; the strictest where none does."""
    unsupported = kept[:, ~label].mean(axis=1)
    return int(np.argmax(unsupported <= bound)) if (unsupported <= bound).any() else len(LOST) - 1


def _cross_validate(kept: np.ndarray, label: np.ndarray, group: np.ndarray, bound: float) -> None:
    names = np.unique(group)
    fold_of = {name: number % FOLDS for number, name in enumerate(names)}
    fold = np.array([fold_of[name] for name in group])
    out = np.zeros(len(label), dtype=bool)
    for number in range(FOLDS):
        inside = fold != number
        out[~inside] = kept[_best(kept[:, inside], label[inside], bound)][~inside]
    print("cross-validated", _rates(out, label))


if __name__ == "__main__":
    main()
