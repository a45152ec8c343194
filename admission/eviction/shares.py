"""What one cell of the grid came to: counts, accuracy, and the two shares that are always named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from admission.evaluation.paired import Interval, group_interval
from admission.eviction.restore import CELLS, CellName, Outcome
from admission.records import Record


class CellFigures(Record):
    """`counts` by cell sum to `questions`. `abstained`: of the wrong answers, those that abstain. `of_restored`: of the
    wrong answers that restoring turned, the irreversible share, irreversible / (irreversible + recoverable).
    `of_errors`: of all that were wrong, irreversible / (irreversible + recoverable + residual). Intervals draw whole
    histories; all None where there is no such answer."""

    questions: int
    counts: dict[CellName, int]
    abstained: int
    accuracy: Interval
    of_restored: Interval
    of_errors: Interval


def cell_figures(outcomes: Sequence[Outcome]) -> CellFigures:
    """The figures of the outcomes of one cell; what could not be read counts in `counts` alone."""
    found = Counter(outcome.cell for outcome in outcomes)
    return CellFigures(
        questions=len(outcomes),
        counts={cell: found[cell] for cell in CELLS},
        abstained=sum(outcome.mark == "abstained" for outcome in outcomes),
        accuracy=group_interval(*accuracies(outcomes)),
        of_restored=group_interval(*irreversible_of_restored(outcomes)),
        of_errors=group_interval(*irreversible_of_errors(outcomes)),
    )


Values = tuple[list[float], list[str]]
"""0 or 1 for each that counts, and the group of each."""


def accuracies(outcomes: Sequence[Outcome]) -> Values:
    return _indicator(outcomes, "right", ("right", "irreversible", "recoverable", "residual"))


def irreversible_of_restored(outcomes: Sequence[Outcome]) -> Values:
    return _indicator(outcomes, "irreversible", ("irreversible", "recoverable"))


def irreversible_of_errors(outcomes: Sequence[Outcome]) -> Values:
    return _indicator(outcomes, "irreversible", ("irreversible", "recoverable", "residual"))


def recoverable_of_restored(outcomes: Sequence[Outcome]) -> Values:
    return _indicator(outcomes, "recoverable", ("irreversible", "recoverable"))


def _indicator(outcomes: Sequence[Outcome], cell: CellName, among: Sequence[CellName]) -> Values:
    counted = [outcome for outcome in outcomes if outcome.cell in among]
    return [float(outcome.cell == cell) for outcome in counted], [outcome.group for outcome in counted]
