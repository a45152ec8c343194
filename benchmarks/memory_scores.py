"""What each method makes of a whole memory on the passages the gate could show: overlap, cosine, judges, panel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from admission.eligibility import admissible
from admission.evaluation.strictness_grid import GridDecision
from admission.evidence import expanded_view
from admission.history import History
from admission.obligations import cover, split
from admission.panel import adjudicate, blind, settle
from admission.records import Candidate, Judgment, Obligation, Question, Thresholds, digest
from admission.settings import EvidenceSettings
from admission.text import content_terms, terms
from admission.verifiers import KINDS, Verifier, build_verifier
from admission.verifiers.entailment_weights import BACKBONE_SHA256
from admission.verifiers.states import StateEncoder
from training.verifier_data import DIALOGUES, dialogue_claims, dialogue_purpose, dialogue_rows

GATE = "gate end to end"
JUDGES = ("entailment", "adjudicator", "alignment")
STEPS = (5.0, 4.0, 3.0, 2.5, 2.0, 1.5, *(step / 8 for step in range(8, -9, -1)), -1.5, -2.0, -2.5, -3.0)
"""Strictness, strictest first: fine where thresholds are shipped, coarse elsewhere, for each takes time."""
NEVER = STEPS[-1] - 1.0
"""Score of what is admitted at none of the steps."""
_AT_ONCE = 16
_LEAST = 5e-5  # half of the last decimal of a support, so that 0 and 1 have log-odds


class Case(NamedTuple):
    """A memory whole, on its passages; `kind` is the edit or the claim's kind, `group` its conversation."""

    question: Question
    valid: bool
    kind: str
    group: str


class Ranking(NamedTuple):
    """`scores` (cases,): higher is better supported. `kept` (cases, cuts): what is admitted, strictest cut first.

    `shipped` (cases,): what is admitted at the thresholds in the package; None for a method that has none.
    """

    name: str
    scores: np.ndarray
    kept: np.ndarray
    shipped: np.ndarray | None = None


class Answers:
    """Judgments kept a file a question, by judge and content: a run that was stopped asks only what is missing.

    A folder belongs to one state of the code: files are told apart by the judge's identity, not by how it reads.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def to(self, judge: Verifier, questions: Sequence[Question]) -> list[Judgment]:
        """One judgment a question, in order. Raises `RuntimeError` where the judge failed: that measures nothing."""
        identity = digest(judge.identity)
        folder = self._folder / f"{judge.name}-{identity[:12]}"
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{digest(question.model_dump(mode='json'))[:24]}.json" for question in questions]
        missing = [pair for pair in zip(questions, files, strict=True) if not pair[1].is_file()]
        for start in range(0, len(missing), _AT_ONCE):
            asked = missing[start : start + _AT_ONCE]
            judgments = judge.judge([question for question, _ in asked])
            for judgment, (_, file) in zip(judgments, asked, strict=True):
                if judgment.outcome == "failed":
                    raise RuntimeError(f"{judge.name} failed: {judgment.reason}")
                partial = file.with_suffix(".partial")
                partial.write_text(judgment.model_dump_json())
                partial.replace(file)
        return [Judgment.model_validate_json(file.read_text()) for file in files]


def recorded_cases(writes: Iterable[tuple[Candidate, History]], kinds: Mapping[str, str]) -> Iterator[Case]:
    """Each write as one obligation on its expanded view: the most the gate could show.

    `kinds` is by write id, `valid...` where it is to be kept.
    """
    bounds = EvidenceSettings()
    for candidate, history in writes:
        parts = cover(candidate.memory, split(candidate))
        view = expanded_view(history, candidate, parts, retrieved=bounds.retrieved, total=bounds.total)
        question = Question(
            obligation=Obligation(id="whole", text=candidate.memory, type="fact"),
            memory=candidate.memory,
            view="expanded",
            passages=admissible(view.passages, candidate.memory, history),
            people=history.people,
        )
        kind = kinds[candidate.id]
        yield Case(question, kind.startswith("valid"), kind.removeprefix("twin "), candidate.conversation)


def dialogue_cases(purpose: str) -> list[Case]:
    """The claims of the project's dialogues held out for `purpose`, each on all turns of its dialogue."""
    rows = [row for row in dialogue_rows(DIALOGUES) if dialogue_purpose(row["id"]) == purpose]
    return [
        Case(claim.question, claim.label == 0, claim.kind, row["id"])
        for row in rows
        for claim in dialogue_claims([row])
    ]


class Judges(NamedTuple):
    """By kind: the judges with thresholds of their own, and the thresholds they have in the panel."""

    alone: Mapping[str, Verifier]
    panel: Mapping[str, Thresholds]


def shipped_judges() -> Judges:
    return Judges(
        {kind: KINDS[kind](None) for kind in JUDGES}, {kind: build_verifier(kind).thresholds for kind in JUDGES}
    )


def rankings(cases: Sequence[Case], judges: Judges, answers: Answers) -> list[Ranking]:
    """Every method on the same cases: two without a model of entailment, each judge alone, the networks, the panel."""
    questions = [case.question for case in cases]
    said = {kind: answers.to(judge, questions) for kind, judge in judges.alone.items()}
    support = {kind: np.array([j.support for j in judgments]) for kind, judgments in said.items()}
    odds = [_log_odds(support[kind]) for kind in ("entailment", "adjudicator")]
    apart = {
        **said,
        "adjudicator": answers.to(judges.alone["adjudicator"], [blind(question) for question in questions]),
    }
    return [
        by_score("lexical overlap", np.array([lexical_overlap(question) for question in questions])),
        by_score("MiniLM cosine", cosines(questions)),
        *(
            by_score(judge_name(judge), support[kind], np.array([j.label == "supported" for j in said[kind]]))
            for kind, judge in judges.alone.items()
        ),
        by_score("both networks, mean log-odds", np.mean(odds, axis=0)),
        by_strictness("panel, whole memory", panel_kept(apart, judges.panel)),
    ]


def judge_name(judge: Verifier) -> str:
    """`KIND (BACKBONE) alone`; the backbone of a judge that was trained on one."""
    backbones = {sha256: name for name, sha256 in BACKBONE_SHA256.items()}
    backbone = backbones.get(str(judge.identity.get("backbone")))
    return f"{judge.name} ({backbone}) alone" if backbone else f"{judge.name} alone"


def by_score(name: str, scores: np.ndarray, shipped: np.ndarray | None = None) -> Ranking:
    return Ranking(name, scores, scores[:, None] >= np.unique(scores)[::-1], shipped)


def by_strictness(name: str, kept: np.ndarray) -> Ranking:
    """`kept` (cases, `STEPS`): the score is the largest strictness at which the case is still admitted."""
    scores = np.where(kept.any(axis=1), np.array(STEPS)[kept.argmax(axis=1)], NEVER)
    return Ranking(name, scores, kept, kept[:, STEPS.index(0.0)])


def gate_ranking(decisions: Sequence[GridDecision]) -> Ranking:
    """The gate as it decided each write at every strictness."""
    return by_strictness(GATE, np.array([decision.kept for decision in decisions]))


def lexical_overlap(question: Question) -> float:
    """Share of the distinct content words of the memory (stems; all words where it has no other) in the passages."""
    text = question.obligation.text
    wanted = set(content_terms(text) or terms(text))
    shown = {term for passage in question.passages for term in terms(f"{passage.speaker or ''} {passage.text}")}
    return len(wanted & shown) / len(wanted) if wanted else 0.0


def cosines(questions: Sequence[Question]) -> np.ndarray:
    """Of the memory and the nearest passage, `Speaker: text`, by mean-pooled states of frozen MiniLM; -1 for none."""
    encoder = StateEncoder((6,))
    found = []
    for question in questions:
        texts = [f"{passage.speaker or 'Someone'}: {passage.text}" for passage in question.passages]
        memory, *shown = [state.vector for state in encoder.encode([question.obligation.text, *texts])]
        found.append(max((float(memory @ vector) for vector in shown), default=-1.0))
    return np.array(found)


def panel_kept(said: Mapping[str, Sequence[Judgment]], thresholds: Mapping[str, Thresholds]) -> np.ndarray:
    """Whether the three judgments of each question make it supported, at every strictness of `STEPS` (cases, STEPS)."""
    columns = []
    for strictness in STEPS:
        first, second, third = (
            [relabelled(judgment, thresholds[kind].stricter(strictness)) for judgment in said[kind]]
            for kind in ("entailment", "alignment", "adjudicator")
        )
        labels = [(settle(a, b) or adjudicate(a, b, c)).label for a, b, c in zip(first, second, third, strict=True)]
        columns.append([label == "supported" for label in labels])
    return np.array(columns).T


def relabelled(judgment: Judgment, thresholds: Thresholds) -> Judgment:
    """As the gate labels it: by the numbers, where a judge judged."""
    if judgment.outcome != "judged":
        return judgment
    return judgment.model_copy(update={"label": thresholds.label(judgment.support, judgment.contradiction)})


def _log_odds(chances: np.ndarray) -> np.ndarray:
    clipped = np.clip(chances, _LEAST, 1 - _LEAST)
    return np.log(clipped / (1 - clipped))
