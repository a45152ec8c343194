"""Replayed admissions: the same writes in three settings, what each keeps and lets in, and what the misses are due to.

Method: DerivAudit, "admission replay". Both sides are always measured: retention of valid memories and admission of
unsupported ones. The references only score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from admission.evaluation.derivation.cases import Case
from admission.evaluation.paired import Interval, group_interval, holm, mcnemar
from admission.evaluation.statistics import proportion
from admission.records import Record, Report, Usage
from admission.reports.summary import Proportion

CITED_WHOLE = "citation-only holistic"
EXPANDED_WHOLE = "expanded holistic"
EXPANDED_PARTS = "expanded obligation-aware"
SETTINGS: dict[str, tuple[str, str]] = {
    CITED_WHOLE: ("citation_only", "holistic"),
    EXPANDED_WHOLE: ("expanded", "holistic"),
    EXPANDED_PARTS: ("expanded", "obligations"),
}
"""Evidence setting and verification view of each; the first is what the others are compared with."""

Metric = Literal["repaired_retention", "valid_retention", "unsupported_admission", "edited_admission"]
METRICS: tuple[Metric, ...] = ("repaired_retention", "valid_retention", "unsupported_admission", "edited_admission")


class ReplayedCase(NamedTuple):
    """A case with its report in each setting. `edited`: a minimally edited twin rather than a recorded write."""

    case: Case
    reports: Mapping[str, Report]
    edited: bool = False

    def kept(self, setting: str) -> bool:
        return self.reports[setting].status in ("admitted", "repaired")

    def counts_for(self, metric: Metric) -> bool:
        if metric == "edited_admission":
            return self.edited and self.case.valid is False
        if self.edited:
            return False
        if metric == "repaired_retention":
            return bool(self.case.reference.get("status") == "repaired")
        return self.case.valid is (metric == "valid_retention")


class SettingFigures(Record):
    """One setting's shares with exact 95 % intervals, counts by status, and what judging cost."""

    setting: str
    rates: dict[Metric, Proportion]
    statuses: dict[str, int]
    usage: Usage


class Comparison(Record):
    """One metric in two settings: second less first over the same writes.

    `difference`: with a 95 % bootstrap interval over conversations. `only_first`, `only_second`: writes that only the
    one lets in. `p`: McNemar's exact test; `adjusted`: after Holm over all comparisons with a write to compare.
    """

    metric: Metric
    first: str
    second: str
    difference: Interval
    only_first: int
    only_second: int
    p: float | None
    adjusted: float | None = None


class ReplayFigures(Record):
    """The replay table: `writes` recorded, `edited` twins, and of the writes those without a reference."""

    writes: int
    edited: int
    unlabelled: int
    settings: tuple[SettingFigures, ...]
    comparisons: tuple[Comparison, ...]


def replayed(cases: Sequence[ReplayedCase]) -> ReplayFigures:
    """The figures of the cases, each of which has a report in every setting."""
    recorded = [case for case in cases if not case.edited]
    return ReplayFigures(
        writes=len(recorded),
        edited=len(cases) - len(recorded),
        unlabelled=sum(case.case.valid is None for case in recorded),
        settings=tuple(_figures(setting, cases) for setting in SETTINGS),
        comparisons=_compared(cases),
    )


def _figures(setting: str, cases: Sequence[ReplayedCase]) -> SettingFigures:
    rates: dict[Metric, Proportion] = {}
    for metric in METRICS:
        counted = [case.kept(setting) for case in cases if case.counts_for(metric)]
        rates[metric] = proportion(sum(counted), len(counted))
    statuses: dict[str, int] = {}
    usage = Usage()
    for case in cases:
        report = case.reports[setting]
        usage += report.usage
        if not case.edited:
            statuses[report.status] = statuses.get(report.status, 0) + 1
    return SettingFigures(setting=setting, rates=rates, statuses=dict(sorted(statuses.items())), usage=usage)


def _compared(cases: Sequence[ReplayedCase]) -> tuple[Comparison, ...]:
    couples = ((CITED_WHOLE, EXPANDED_WHOLE), (CITED_WHOLE, EXPANDED_PARTS), (EXPANDED_WHOLE, EXPANDED_PARTS))
    found = [_comparison(metric, *couple, cases) for metric in METRICS for couple in couples]
    adjusted = holm([one.p for one in found])
    return tuple(one.model_copy(update={"adjusted": p}) for one, p in zip(found, adjusted, strict=True))


def _comparison(metric: Metric, first: str, second: str, cases: Sequence[ReplayedCase]) -> Comparison:
    counted = [case for case in cases if case.counts_for(metric)]
    kept = [(case.kept(first), case.kept(second)) for case in counted]
    only_first, only_second = sum(a and not b for a, b in kept), sum(b and not a for a, b in kept)
    return Comparison(
        metric=metric,
        first=first,
        second=second,
        difference=group_interval([float(b) - float(a) for a, b in kept], [case.case.group for case in counted]),
        only_first=only_first,
        only_second=only_second,
        p=mcnemar(only_first, only_second) if counted else None,
    )
