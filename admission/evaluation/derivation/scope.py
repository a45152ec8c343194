"""Evidence scope: how often the author's citations are not enough, what the wider view recovers, and who misses what.

Method: DerivAudit, "evidence scope".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from admission.evaluation.derivation.cases import Case
from admission.evaluation.derivation.replay import EXPANDED_PARTS, EXPANDED_WHOLE, SETTINGS, ReplayedCase
from admission.evaluation.statistics import proportion
from admission.evidence import expanded_view
from admission.records import Obligation, Record, Report
from admission.reports.summary import Proportion
from admission.settings import EvidenceSettings


class EvidenceScope(Record):
    """Of the writes that `by` speaks of (the references, or the gate): shares with exact 95 % intervals.

    `insufficient`: not supported on the author's citations; `recovered`: of those, supported on the expanded view;
    `supported_before` and `supported_after`: of all writes, on the citations and with the expanded view;
    `several_passages`: of those supported on their citations, those whose evidence is of more than one turn.
    """

    by: str
    insufficient: Proportion
    recovered: Proportion
    supported_before: Proportion
    supported_after: Proportion
    several_passages: Proportion


class Misses(Record):
    """Valid writes that a setting did not keep, by whose miss it is.

    `retrieval`: part of the gold evidence was in no passage shown (the citations, BM25's passages, 16 in all), whatever
    the verifiers would have said of it; `verifiers`: all of it was shown. `untold`: the reference names no evidence.
    """

    setting: str
    missed: int
    retrieval: int
    verifiers: int
    untold: int


class Reach(Record):
    """How often the expanded view holds all gold evidence, of valid writes whose reference names evidence, kept or not.

    `all_valid`: of all of them; `repaired`: of those whose citations do not suffice, where retrieval has to find it.
    """

    all_valid: Proportion
    repaired: Proportion


def by_reference(cases: Iterable[Case]) -> EvidenceScope:
    """What the references say. Those that do not tell admitted from repaired count for nothing."""
    statuses = [
        (status, len(gold_evidence(case)))
        for case in cases
        if (status := case.reference.get("status")) in ("admitted", "repaired", "unresolved", "contradicted")
    ]
    return _scope("the references", statuses)


def by_gate(cases: Iterable[ReplayedCase]) -> EvidenceScope:
    """What the obligation-aware gate says of the recorded writes; those that claim nothing count for nothing."""
    reports = [case.reports[EXPANDED_PARTS] for case in cases if not case.edited]
    return _scope("the gate", [(r.status, len(_relied_on(r))) for r in reports if r.status != "invalid"])


def misses(cases: Sequence[ReplayedCase]) -> tuple[Misses, ...]:
    """Whose the misses of the two expanded settings are."""
    return tuple(_misses(setting, cases) for setting in (EXPANDED_WHOLE, EXPANDED_PARTS))


def reach(cases: Iterable[ReplayedCase], bounds: EvidenceSettings) -> Reach:
    """How far the view that the bounds allow reaches, on obligations as the obligation-aware gate split them."""
    told = [case for case in cases if not case.edited and case.case.valid and gold_evidence(case.case)]
    held = [(case.case.reference.get("status") == "repaired", _holds_all(case, bounds)) for case in told]
    repaired = [found for is_repaired, found in held if is_repaired]
    return Reach(
        all_valid=proportion(sum(found for _, found in held), len(held)),
        repaired=proportion(sum(repaired), len(repaired)),
    )


class EditFigures(Record):
    """Minimally edited twins of one kind: how many each setting let in."""

    edit: str
    n: int
    let_in: dict[str, int]


def by_edit(cases: Iterable[ReplayedCase]) -> tuple[EditFigures, ...]:
    """The edited twins by the kind of edit that their reference names."""
    kinds: dict[str, list[ReplayedCase]] = {}
    for case in cases:
        if case.edited:
            kinds.setdefault(str(case.case.reference.get("edit", "unnamed")), []).append(case)
    return tuple(
        EditFigures(edit=edit, n=len(own), let_in={name: sum(case.kept(name) for case in own) for name in SETTINGS})
        for edit, own in sorted(kinds.items())
    )


def gold_evidence(case: Case) -> frozenset[str]:
    """The turns on which the obligations of the reference rest."""
    obligations = case.reference.get("obligations") or ()
    return frozenset(turn for item in obligations for turn in item.get("evidence") or ())


def _scope(by: str, statuses: Sequence[tuple[str, int]]) -> EvidenceScope:
    n = len(statuses)
    sufficient = [turns for status, turns in statuses if status == "admitted"]
    recovered = sum(status == "repaired" for status, _ in statuses)
    return EvidenceScope(
        by=by,
        insufficient=proportion(n - len(sufficient), n),
        recovered=proportion(recovered, n - len(sufficient)),
        supported_before=proportion(len(sufficient), n),
        supported_after=proportion(len(sufficient) + recovered, n),
        several_passages=proportion(sum(turns > 1 for turns in sufficient), len(sufficient)),
    )


def _relied_on(report: Report) -> frozenset[str]:
    return frozenset(turn for finding in report.obligations for turn in finding.evidence)


def _misses(setting: str, cases: Sequence[ReplayedCase]) -> Misses:
    missed = [case for case in cases if not case.edited and case.case.valid and not case.kept(setting)]
    told = [case for case in missed if gold_evidence(case.case)]
    outside = sum(not gold_evidence(case.case) <= _shown(case.reports[setting]) for case in told)
    return Misses(
        setting=setting,
        missed=len(missed),
        retrieval=outside,
        verifiers=len(told) - outside,
        untold=len(missed) - len(told),
    )


def _shown(report: Report) -> frozenset[str]:
    return frozenset(passage.turn_id for passage in report.passages)


def _holds_all(case: ReplayedCase, bounds: EvidenceSettings) -> bool:
    findings = case.reports[EXPANDED_PARTS].obligations
    obligations = [Obligation(id=f.id, text=f.text, type=f.type) for f in findings]
    candidate, history, _ = case.case
    view = expanded_view(history, candidate, obligations, retrieved=bounds.retrieved, total=bounds.total)
    return gold_evidence(case.case) <= set(view.turn_ids)
