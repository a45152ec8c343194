"""The figures of an audit: each cell, the gap between the read conditions, and pairs of policies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from admission.eviction.bench import Bench
from admission.eviction.comparison import Gap, corrected, gap, matched
from admission.eviction.controls import Controls, Count
from admission.eviction.grid import Cell, Denominator, FinishedCell
from admission.eviction.policies import Adversarial, KeepAll
from admission.eviction.restore import CellName, Outcome
from admission.eviction.scoring import Failed, Scoring
from admission.eviction.shares import (
    CellFigures,
    Values,
    cell_figures,
    irreversible_of_errors,
    irreversible_of_restored,
    recoverable_of_restored,
)
from admission.records import Record

Of = Callable[[Sequence[Outcome]], Values]


class ReportedCell(Record):
    """A cell with its figures. `kinds`: its counts by the questions' kinds."""

    cell: Cell
    memories: Count
    gold: Count
    figures: CellFigures
    kinds: dict[str, dict[CellName, int]]
    controls: Controls


class PolicyPair(Record):
    """Two policies at the same budget, read the same way. Their shares may be compared where their accuracies are
    `matched` (caliper .05); a pair that is not is a description and no test. Both shares are compared."""

    first: str
    second: str
    budget: str
    ranker: str
    accuracy_gap: float | None
    matched: bool
    of_restored: Gap
    of_errors: Gap


class EvictionReport(Record):
    """All figures of one run. `failures`: trials that are not counted. `unscored`: memories that the importance scorer
    could not score, which were taken for most important. `condition_gaps`: recoverable share of restored errors, ranked
    minus forced. `pairs`: policies against each other. `control_pairs`: the adversarial control against each policy,
    never matched in accuracy by design: it shows that a destruction that is there is seen."""

    data: str
    data_digest: str
    about: str
    histories: int
    memories: int
    tokens: int
    reader: str
    limits: tuple[str, ...]
    denominator: Denominator
    failures: tuple[Failed, ...]
    unscored: int
    cells: tuple[ReportedCell, ...]
    condition_gaps: tuple[Gap, ...]
    pairs: tuple[PolicyPair, ...]
    control_pairs: tuple[PolicyPair, ...]

    def of(self, policy: str, budget: str, condition: str, ranker: str) -> ReportedCell | None:
        """The cell, if it was measured."""
        wanted = (policy, budget, condition, ranker)
        return next((each for each in self.cells if _place(each.cell) == wanted), None)


def reported(
    bench: Bench, scoring: Scoring, denominator: Denominator, done: Sequence[FinishedCell], *, unscored: int = 0
) -> EvictionReport:
    """The report of the cells that were measured. `unscored`: as in `EvictionReport`."""
    ranked = [cell for cell in done if cell.cell.setting.condition == "ranked" and cell.cell.policy != KeepAll.name]
    by_read: dict[tuple[str, str], list[FinishedCell]] = {}
    for found in ranked:
        by_read.setdefault((found.cell.budget, found.cell.setting.ranker), []).append(found)
    pairs = [pair for cells in by_read.values() for pair in combinations(cells, 2)]
    controlled = [pair for pair in pairs if _has_control(pair)]
    return EvictionReport(
        data=bench.data.name,
        data_digest=bench.digest,
        about=bench.data.about,
        histories=len(bench.data.histories),
        memories=sum(len(history.memories) for history in bench.data.histories),
        tokens=sum(int(sizes.sum()) for sizes in bench.sizes.values()),
        reader=scoring.name,
        limits=scoring.limits,
        denominator=denominator,
        failures=scoring.failures,
        unscored=unscored,
        cells=tuple(_reported(found) for found in done),
        condition_gaps=_condition_gaps(done),
        pairs=_compared([pair for pair in pairs if not _has_control(pair)], only_matched=True),
        control_pairs=_compared(controlled, only_matched=False),
    )


def _reported(found: FinishedCell) -> ReportedCell:
    kinds: dict[str, Counter[CellName]] = {}
    for outcome in found.outcomes:
        kinds.setdefault(outcome.kind, Counter())[outcome.cell] += 1
    return ReportedCell(
        cell=found.cell,
        memories=found.memories,
        gold=found.gold,
        figures=cell_figures(found.outcomes),
        kinds={kind: dict(sorted(counts.items())) for kind, counts in sorted(kinds.items())},
        controls=found.controls,
    )


def _condition_gaps(done: Sequence[FinishedCell]) -> tuple[Gap, ...]:
    forced = {(f.cell.policy, f.cell.budget): f for f in done if f.cell.setting.condition == "forced"}
    gaps = []
    for found in done:
        other = forced.get((found.cell.policy, found.cell.budget))
        if found.cell.setting.condition == "ranked" and other is not None:
            name = f"{found.cell.policy}, {found.cell.budget}, {found.cell.setting.ranker}"
            first, second = recoverable_of_restored(found.outcomes), recoverable_of_restored(other.outcomes)
            gaps.append(gap(name, first, second))
    return corrected(gaps)


def _compared(pairs: Sequence[tuple[FinishedCell, FinishedCell]], *, only_matched: bool) -> tuple[PolicyPair, ...]:
    """Holm's correction is over the pairs that are tested, each share for itself."""
    accuracies = [(cell_accuracy(first), cell_accuracy(second)) for first, second in pairs]
    tested = [not only_matched or matched(*both) for both in accuracies]
    gaps: Mapping[str, list[Gap]] = {
        name: _corrected_where(
            tested, [gap(_name(*pair), of(pair[0].outcomes), of(pair[1].outcomes)) for pair in pairs]
        )
        for name, of in (("restored", irreversible_of_restored), ("errors", irreversible_of_errors))
    }
    return tuple(
        PolicyPair(
            first=first.cell.policy,
            second=second.cell.policy,
            budget=first.cell.budget,
            ranker=first.cell.setting.ranker,
            accuracy_gap=None
            if None in accuracies[place]
            else (accuracies[place][0] or 0) - (accuracies[place][1] or 0),
            matched=matched(*accuracies[place]),
            of_restored=gaps["restored"][place],
            of_errors=gaps["errors"][place],
        )
        for place, (first, second) in enumerate(pairs)
    )


def _corrected_where(tested: Sequence[bool], gaps: Sequence[Gap]) -> list[Gap]:
    """Those that are tested with their adjusted p; the others without any p."""
    adjusted = iter(corrected([found for found, yes in zip(gaps, tested, strict=True) if yes]))
    untested = {"p": None, "adjusted": None}
    return [
        next(adjusted) if yes else found.model_copy(update=untested) for found, yes in zip(gaps, tested, strict=True)
    ]


def _has_control(pair: tuple[FinishedCell, FinishedCell]) -> bool:
    return Adversarial.name in (pair[0].cell.policy, pair[1].cell.policy)


def cell_accuracy(found: FinishedCell) -> float | None:
    """The share of the questions read that were answered rightly."""
    read = [outcome.cell == "right" for outcome in found.outcomes if outcome.cell != "unread"]
    return sum(read) / len(read) if read else None


def _name(first: FinishedCell, second: FinishedCell) -> str:
    return f"{first.cell.policy} - {second.cell.policy}, {first.cell.budget}, {first.cell.setting.ranker}"


def _place(cell: Cell) -> tuple[str, str, str, str]:
    return cell.policy, cell.budget, cell.setting.condition, cell.setting.ranker
