"""Two judgments of one obligation -> agreement, or a question for blind adjudication -> a label."""

from __future__ import annotations

from typing import NamedTuple

from admission.records import Judgment, Label, Question, ResolvedBy


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
    """The third judge's label. Where none judged, a lone verifier's doubt stands and its support does not."""
    if third is not None and third.outcome == "judged":
        return Settled(third.label, "adjudication")
    alone = [j for j in (first, second) if j.outcome == "judged"]
    if len(alone) == 1 and alone[0].label != "supported":
        return Settled(alone[0].label, "single")
    return Settled("insufficient", "none")


def blind(question: Question) -> Question:
    """The question as the third judge sees it: the passages in another order, and nothing of the two verdicts."""
    return question.model_copy(update={"passages": tuple(reversed(question.passages))})
