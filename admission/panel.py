"""Two judgments of one obligation -> agreement, or a question for blind adjudication -> a label."""

from __future__ import annotations

from typing import NamedTuple

from admission.records import Judgment, Label, Question, ResolvedBy

REFUTED: frozenset[Label] = frozenset({"contradicted", "conflicting"})


class Settled(NamedTuple):
    """The panel's label for one obligation on one view, and how it came about."""

    label: Label
    resolved_by: ResolvedBy


def settle(first: Judgment, second: Judgment) -> Settled | None:
    """The label two verifiers agree on; None where a third judge has to be asked.

    A failed verifier closes the question: nothing is supported by what was not checked. Where one abstains, the other
    alone does not decide, so the third judge is asked as in a disagreement.
    """
    if "failed" in (first.outcome, second.outcome):
        return Settled("insufficient", "none")
    if first.outcome == second.outcome == "abstained":
        return Settled("insufficient", "none")
    if first.outcome == second.outcome and first.label == second.label:
        return Settled(first.label, "agreement")
    return None


def adjudicate(first: Judgment, second: Judgment, third: Judgment | None) -> Settled:
    """The third judge's label, but for one case: what a verifier found contradicted is not made supported by another's
    word, it is `conflicting`. Where none judged, a lone verifier's doubt stands and its support does not.
    """
    if third is not None and third.outcome == "judged":
        refuted = any(judgment.label in REFUTED for judgment in (first, second))
        return Settled("conflicting" if refuted and third.label == "supported" else third.label, "adjudication")
    alone = [j for j in (first, second) if j.outcome == "judged"]
    if len(alone) == 1 and alone[0].label != "supported":
        return Settled(alone[0].label, "single")
    return Settled("insufficient", "none")


def blind(question: Question) -> Question:
    """The question as the third judge sees it: the passages in another order, and nothing of the two verdicts."""
    return question.model_copy(update={"passages": tuple(reversed(question.passages))})
