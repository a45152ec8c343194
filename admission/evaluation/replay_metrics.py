"""The contract's metrics of replayed writes against their references: retention, unsupported admission, accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from admission.errors import InputError
from admission.evaluation.statistics import proportion
from admission.records import Finding, Label, Report, Status
from admission.reports.summary import Proportion

ReferenceStatus = Literal["admitted", "repaired", "unresolved", "contradicted", "invalid", "admitted_or_repaired"]

VALID: frozenset[str] = frozenset({"admitted", "repaired", "admitted_or_repaired"})
UNSUPPORTED: frozenset[str] = frozenset({"unresolved", "contradicted"})
_LET_IN: frozenset[Status] = frozenset({"admitted", "repaired"})
# Two wordings of one obligation share at least so much of their stems (Dice coefficient).
ALIGNED = 0.6


class ReferenceObligation(NamedTuple):
    text: str
    label: Label


class Reference(NamedTuple):
    """What people (or independent models) say a write's status and its obligations' labels are."""

    status: ReferenceStatus
    obligations: tuple[ReferenceObligation, ...]


def parse_reference(data: Mapping[str, Any], setting: str, *, where: str) -> Reference:
    """The reference of a write. Raises `InputError` naming the field.

    Obligations carry one `label`, or one for each setting: `cited` for citation_only, `history` for expanded. Those
    without a label are left out.
    """
    status: Any = data.get("status")
    if status not in get_args(ReferenceStatus):
        known = ", ".join(get_args(ReferenceStatus))
        raise InputError("reference.status", f"{status!r} is no status", f"use one of {known}", where=where)
    by_setting = "cited" if setting == "citation_only" else "history"
    obligations = []
    for number, item in enumerate(data.get("obligations") or ()):
        if not isinstance(item, Mapping) or not isinstance(item.get("text"), str):
            problem, remedy = "has no text", 'write {"text": ..., "label": ...}'
            raise InputError(f"reference.obligations.{number}", problem, remedy, where=where)
        label = item.get("label", item.get(by_setting))
        if label is None:
            continue
        if label not in get_args(Label):
            known = ", ".join(get_args(Label))
            problem = f"{label!r} is no label"
            raise InputError(f"reference.obligations.{number}.label", problem, f"use one of {known}", where=where)
        obligations.append(ReferenceObligation(item["text"], label))
    return Reference(status, tuple(obligations))


class ReplayScore:
    """Counts reports against their references one by one, so that a replay need not hold them."""

    def __init__(self) -> None:
        self._n: Counter[str] = Counter()
        self._hits: Counter[str] = Counter()

    def add(self, report: Report, reference: Reference) -> None:
        let_in = report.status in _LET_IN
        right = report.status == reference.status or (reference.status == "admitted_or_repaired" and let_in)
        self._count("status_accuracy", right)
        if reference.status in VALID:
            self._count("valid_retention", let_in)
        if reference.status == "repaired":
            self._count("repaired_retention", let_in)
        if reference.status in UNSUPPORTED:
            self._count("unsupported_admission", let_in)
        for expected, finding in align(reference.obligations, report.obligations):
            self._count("obligation_label_agreement", expected.label == finding.label)

    def metrics(self) -> dict[str, Proportion]:
        """Each metric with its n and 95 % interval; n is 0 where no reference is of its kind.

        `valid_retention`: of references admitted or repaired, those let in. `repaired_retention`: the same of
        references repaired. `unsupported_admission`: of references unresolved or contradicted, those let in.
        `status_accuracy`: the very status. `obligation_label_agreement`: the label, where obligations align.
        """
        names = ("valid_retention", "repaired_retention", "unsupported_admission", "status_accuracy")
        return {n: proportion(self._hits[n], self._n[n]) for n in (*names, "obligation_label_agreement")}

    def _count(self, metric: str, hit: bool) -> None:
        self._n[metric] += 1
        self._hits[metric] += hit


def align(
    expected: Sequence[ReferenceObligation], found: Sequence[Finding]
) -> list[tuple[ReferenceObligation, Finding]]:
    """Pairs that say the same, each obligation in one pair at most, so that the shared wording is greatest in all.

    Two say the same when their texts are equal but for case, spacing and a full stop, or share at least `ALIGNED` of
    their stems.
    """
    if not expected or not found:
        return []
    from scipy.optimize import linear_sum_assignment

    shared = np.array([[_shared(e.text, f.text) for f in found] for e in expected])
    rows, columns = linear_sum_assignment(shared, maximize=True)
    return [(expected[r], found[c]) for r, c in zip(rows, columns, strict=True) if shared[r, c] >= ALIGNED]


def _shared(a: str, b: str) -> float:
    """Dice coefficient of the two texts' stems, counted with repetition, in [0, 1]; 1 for texts that are equal."""
    from admission.text import normalise, terms

    if normalise(a).casefold().rstrip(".") == normalise(b).casefold().rstrip("."):
        return 1.0
    left, right = Counter(terms(a)), Counter(terms(b))
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 0.0
