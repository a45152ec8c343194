"""The six verification views: the same memory, evidence setting and judges, and only how the memory is put to them.

Method: DerivAudit, "verification views". Both sides are always measured: what a view finds of unsupported memories, and
what it keeps of valid ones. The references only score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from admission.evaluation.derivation.cases import Case
from admission.evaluation.derivation.families import group_of
from admission.evaluation.derivation.scope import gold_evidence
from admission.evaluation.paired import Interval, group_interval, holm, mcnemar
from admission.evaluation.replay_metrics import parse_reference
from admission.evaluation.statistics import proportion
from admission.evidence import expanded_view
from admission.gate import AdmissionGate
from admission.records import Obligation, Record, Report, Usage, VerificationView
from admission.reports.summary import Proportion
from admission.settings import EvidenceSettings

VIEWS: tuple[VerificationView, ...] = get_args(VerificationView)
BASELINE: VerificationView = "obligations"
"""The view that the others are compared with: the gate's own."""

Metric = Literal["relation_detection", "unsupported_detection", "multi_passage_retention", "valid_retention"]
METRICS: tuple[Metric, ...] = get_args(Metric)
RETENTIONS: tuple[Metric, ...] = ("multi_passage_retention", "valid_retention")


class PublishedView(NamedTuple):
    """Qwen3-30B-A3B's shares in one view (DerivAudit); None where nothing was published."""

    view: VerificationView
    relation_detection: float
    multi_passage_retention: float | None


PUBLISHED = (
    PublishedView("holistic", 0.608, None),
    PublishedView("atomic_claims", 0.165, None),
    PublishedView("predicate_argument_qa", 0.392, 0.564),
    PublishedView("compact_relation", 0.595, 0.949),
)


class ViewedCase(NamedTuple):
    """A case with its report in each view."""

    case: Case
    reports: Mapping[VerificationView, Report]

    def hit(self, view: VerificationView, metric: Metric) -> bool:
        kept = self.reports[view].status in ("admitted", "repaired")
        return kept if metric in RETENTIONS else not kept


class ViewFigures(Record):
    """One view's shares with exact 95 % intervals.

    `same_as`: another view in which these judges are asked the very same; its reports stand for both.
    `same_passages`: of all writes, those whose expanded view holds the passages it holds in `BASELINE`: what is
    retrieved depends on the statements that are looked for. `usage`: what judging cost, nothing where `same_as`.
    """

    view: VerificationView
    same_as: VerificationView | None
    rates: dict[Metric, Proportion]
    same_passages: Proportion
    usage: Usage


class ViewComparison(Record):
    """One metric in a view, less the same in `BASELINE`, over the same writes.

    `difference`: with a 95 % bootstrap interval over families or conversations; `only_view`, `only_baseline`: writes
    that only the one detects, or keeps; `p`: McNemar's exact test; `adjusted`: after Holm over all comparisons.
    """

    metric: Metric
    view: VerificationView
    difference: Interval
    only_view: int
    only_baseline: int
    p: float
    adjusted: float | None = None


class ViewsReport(Record):
    """The views' table: `writes` measured, of which `unlabelled` have no reference and count for no rate."""

    writes: int
    unlabelled: int
    views: tuple[ViewFigures, ...]
    comparisons: tuple[ViewComparison, ...]


def counts_for(case: Case, metric: Metric) -> bool:
    """Whether a metric is measured on the case, by its reference."""
    if metric == "relation_detection":
        return case.valid is False and _relation_fails(case)
    if metric == "multi_passage_retention":
        return case.valid is True and len(gold_evidence(case)) > 1
    return case.valid is (metric == "valid_retention")


def check_references(cases: Sequence[Case]) -> None:
    """Raises `InputError` for the first reference whose labels cannot be read."""
    for case in cases:
        if case.valid is not None:
            parse_reference(case.reference, "expanded", where=f"{case.group}, {case.candidate.id}")


def same_questions(
    gates: Mapping[VerificationView, AdmissionGate],
) -> dict[VerificationView, VerificationView | None]:
    """Of each view, another in which its gate asks the very same questions in the same words; None for none.

    A view decides which statements are asked (the memory, its facts, or all its obligations), and how a judge that
    reads prompts is shown them. Judges that answer a statement alike however it is presented (`Verifier.seated` gives
    back the verifier itself) leave one of those that ask for all obligations: `BASELINE`.
    """
    first: dict[str, VerificationView] = {}
    found: dict[VerificationView, VerificationView | None] = {}
    for view, gate in sorted(gates.items(), key=lambda item: item[0] != BASELINE):
        indifferent = all(judge.seated(role, view) is judge for role, judge in gate.verifiers.items())
        # What is a view of all obligations for such judges is one thing, whatever the view is called.
        asked = view if not indifferent or view in ("holistic", "atomic_claims") else "all obligations"
        found[view] = first.get(asked)
        first.setdefault(asked, view)
    return found


def viewed(
    cases: Sequence[ViewedCase], same: Mapping[VerificationView, VerificationView | None], bounds: EvidenceSettings
) -> ViewsReport:
    """The figures of the cases, each of which has a report in every view. `same` is as from `same_questions`."""
    return ViewsReport(
        writes=len(cases),
        unlabelled=sum(case.case.valid is None for case in cases),
        views=tuple(_figures(view, same[view], cases, bounds) for view in VIEWS),
        comparisons=_compared(cases, same),
    )


def _relation_fails(case: Case) -> bool:
    obligations: Sequence[Mapping[str, Any]] = case.reference.get("obligations") or ()
    return any(
        item.get("type") == "relation" and item.get("label", item.get("history")) not in (None, "supported")
        for item in obligations
    )


def _figures(
    view: VerificationView, same: VerificationView | None, cases: Sequence[ViewedCase], bounds: EvidenceSettings
) -> ViewFigures:
    rates: dict[Metric, Proportion] = {}
    for metric in METRICS:
        hits = [case.hit(view, metric) for case in cases if counts_for(case.case, metric)]
        rates[metric] = proportion(sum(hits), len(hits))
    usage = Usage() if same is not None else sum((case.reports[view].usage for case in cases), Usage())
    alike = [_passages(case, view, bounds) == _passages(case, BASELINE, bounds) for case in cases]
    return ViewFigures(
        view=view, same_as=same, rates=rates, same_passages=proportion(sum(alike), len(alike)), usage=usage
    )


def _passages(case: ViewedCase, view: VerificationView, bounds: EvidenceSettings) -> tuple[str, ...]:
    findings = case.reports[view].obligations
    obligations = [Obligation(id=f.id, text=f.text, type=f.type) for f in findings]
    candidate, history, _ = case.case
    found = expanded_view(history, candidate, obligations, retrieved=bounds.retrieved, total=bounds.total)
    return tuple(passage.id for passage in found.passages)


def _compared(
    cases: Sequence[ViewedCase], same: Mapping[VerificationView, VerificationView | None]
) -> tuple[ViewComparison, ...]:
    """Views that ask what another asks are compared with nothing: they would only make the others' p values worse."""
    others = [view for view in VIEWS if same[view] is None and view != BASELINE]
    found = [_comparison(metric, view, cases) for metric in METRICS for view in others]
    tested = [one for one in found if one.difference.n]
    adjusted = holm([one.p for one in tested])
    return tuple(one.model_copy(update={"adjusted": p}) for one, p in zip(tested, adjusted, strict=True))


def _comparison(metric: Metric, view: VerificationView, cases: Sequence[ViewedCase]) -> ViewComparison:
    counted = [case for case in cases if counts_for(case.case, metric)]
    hits = [(case.hit(view, metric), case.hit(BASELINE, metric)) for case in counted]
    only_view, only_baseline = hits.count((True, False)), hits.count((False, True))
    return ViewComparison(
        metric=metric,
        view=view,
        difference=group_interval([float(a) - float(b) for a, b in hits], [group_of(case.case) for case in counted]),
        only_view=only_view,
        only_baseline=only_baseline,
        p=mcnemar(only_view, only_baseline),
    )
