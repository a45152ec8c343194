"""Interventions: the same write after its evidence was taken from the history, or its premise replaced by other talk.

Method: DerivAudit, "interventions". The turns are changed before the gate sees them, not the questions to its judges: a
gate that goes by the evidence lets go of a valid memory, and one that goes by plausibility does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from admission.counterfactual import replacement
from admission.evaluation.derivation.cases import Case
from admission.evaluation.derivation.families import group_of
from admission.evaluation.derivation.scope import gold_evidence
from admission.evaluation.paired import Interval, group_interval, holm, mcnemar
from admission.evaluation.statistics import proportion
from admission.history import History
from admission.records import Passage, Record, Report, Turn, VerificationView
from admission.reports.summary import Proportion

Intervention = Literal["evidence_removed", "premise_replaced"]
INTERVENTIONS: tuple[Intervention, ...] = ("evidence_removed", "premise_replaced")

ALL = "all"


class PublishedIntervention(NamedTuple):
    """The range over the models of DerivAudit: of accepted writes, those then rejected; accepted before and after."""

    intervention: Intervention
    flipped: tuple[float, float] | None
    before: tuple[float, float] | None
    after: tuple[float, float] | None


PUBLISHED = (
    PublishedIntervention("evidence_removed", (0.88, 1.0), None, None),
    PublishedIntervention("premise_replaced", None, (0.65, 0.88), (0.0, 0.10)),
)


class Changed(NamedTuple):
    """A case with the history that an intervention makes of its own."""

    case: Case
    intervention: Intervention
    history: History


class Intervened(NamedTuple):
    """A changed case with the reports on both histories, by view."""

    changed: Changed
    before: Mapping[VerificationView, Report]
    after: Mapping[VerificationView, Report]


class InterventionFigures(Record):
    """One intervention in one view, on all of its writes or (`part`) those of one cell of the matched families.

    `before`, `after`: accepted on the history as it was and as it was changed; `flipped`: of those accepted before, no
    longer accepted; exact 95 % intervals. `difference`: after less before, with a bootstrap interval over families or
    conversations. `lost`, `gained`: writes accepted only before, only after; `p`: McNemar's exact test of the two;
    `adjusted`: after Holm over the tests on all writes.
    """

    intervention: Intervention
    view: VerificationView
    part: str
    before: Proportion
    after: Proportion
    flipped: Proportion
    difference: Interval
    lost: int
    gained: int
    p: float
    adjusted: float | None = None


class InterventionsReport(Record):
    """`left_out`: labelled writes of which there is nothing to take away: the reference names no evidence that the
    history has, and of an unsupported memory nothing is cited either. `unlabelled`: writes without a reference."""

    writes: dict[Intervention, int]
    left_out: dict[Intervention, int]
    unlabelled: int
    figures: tuple[InterventionFigures, ...]


def changed(cases: Iterable[Case], *, passage_chars: int) -> tuple[list[Changed], dict[Intervention, int]]:
    """The labelled cases, each with its changed history, and how many of either kind are left out.

    Valid memories lose all evidence that their reference names. Of unsupported ones the premise is replaced: the turns
    that the reference names beside their obligations, or where it names none, those that the author cites.
    """
    found: list[Changed] = []
    left_out = dict.fromkeys(INTERVENTIONS, 0)
    for case in cases:
        if case.valid is None:
            continue
        kind: Intervention = "evidence_removed" if case.valid else "premise_replaced"
        turns = _turns(case)
        if not turns:
            left_out[kind] += 1
            continue
        change = without_turns if case.valid else with_unrelated
        found.append(Changed(case, kind, change(case, turns, passage_chars=passage_chars)))
    return found, left_out


def without_turns(case: Case, turns: Sequence[str], *, passage_chars: int) -> History:
    """The case's history as if these turns had never been said."""
    gone = frozenset(turns)
    left = [turn for turn in case.history if turn.id not in gone]
    return History.of(case.history.conversation_id, left, passage_chars=passage_chars)


def with_unrelated(case: Case, turns: Sequence[str], *, passage_chars: int) -> History:
    """The case's history with other words in these turns: of each of their passages, one of the same speaker that
    shares no content word with the memory and is half to twice as long; small talk where the history has none.

    Ids, speakers and times stay, so that citations name turns as before.
    """
    instead = _replacements(case, turns)
    said = [_saying(turn, instead[turn.id]) if turn.id in instead else turn for turn in case.history]
    return History.of(case.history.conversation_id, said, passage_chars=passage_chars)


def _turns(case: Case) -> list[str]:
    """The turns to change, in the order of the history."""
    named = gold_evidence(case) or (frozenset() if case.valid else frozenset(case.candidate.citations))
    return [turn.id for turn in case.history if turn.id in named]


def _replacements(case: Case, turns: Sequence[str]) -> dict[str, str]:
    """The words to be put into each turn. Those that are no evidence anyway have no passages, and stay."""
    history = case.history
    passages = {turn: history.passages_of(turn) for turn in turns}
    taken, number = set(turns), 0
    found: dict[str, str] = {}
    for turn, own in passages.items():
        chosen: list[Passage] = []
        for passage in own:
            other = replacement(passage, case.candidate.memory, taken, number, history)
            taken.add(other.turn_id)
            chosen.append(other)
            number += 1
        if chosen:
            found[turn] = " ".join(passage.text for passage in chosen)
    return found


def _saying(turn: Turn, text: str) -> Turn:
    return turn.model_copy(update={"text": text})


def intervened(
    cases: Sequence[Intervened],
    views: Sequence[VerificationView],
    left_out: Mapping[Intervention, int],
    unlabelled: int,
) -> InterventionsReport:
    """The figures of changed cases, each with its reports before and after in every view."""
    by_kind = {kind: [case for case in cases if case.changed.intervention == kind] for kind in INTERVENTIONS}
    figures = [
        _figures(kind, view, part, own)
        for kind in INTERVENTIONS
        for view in views
        for part, own in _parts(by_kind[kind])
        if own
    ]
    adjusted = iter(holm([one.p for one in figures if one.part == ALL]))
    return InterventionsReport(
        writes={kind: len(own) for kind, own in by_kind.items()},
        left_out=dict(left_out),
        unlabelled=unlabelled,
        figures=tuple(
            one.model_copy(update={"adjusted": next(adjusted)}) if one.part == ALL else one for one in figures
        ),
    )


def _parts(cases: Sequence[Intervened]) -> list[tuple[str, Sequence[Intervened]]]:
    cells = sorted({cell for case in cases if (cell := _cell(case)) is not None})
    return [(ALL, cases), *((cell, [case for case in cases if _cell(case) == cell]) for cell in cells)]


def _cell(case: Intervened) -> str | None:
    cell = case.changed.case.reference.get("cell")
    return None if cell is None else str(cell)


def _figures(kind: Intervention, view: VerificationView, part: str, cases: Sequence[Intervened]) -> InterventionFigures:
    kept = [(_kept(case.before[view]), _kept(case.after[view])) for case in cases]
    before, after = (sum(side) for side in zip(*kept, strict=True))
    lost, gained = kept.count((True, False)), kept.count((False, True))
    groups = [group_of(case.changed.case) for case in cases]
    return InterventionFigures(
        intervention=kind,
        view=view,
        part=part,
        before=proportion(before, len(kept)),
        after=proportion(after, len(kept)),
        flipped=proportion(lost, before),
        difference=group_interval([float(b) - float(a) for a, b in kept], groups),
        lost=lost,
        gained=gained,
        p=mcnemar(lost, gained),
    )


def _kept(report: Report) -> bool:
    return report.status in ("admitted", "repaired")
