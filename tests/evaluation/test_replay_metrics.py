"""The contract's metrics on hand-made reports and references, and how obligations are paired."""

from __future__ import annotations

import pytest

from admission.errors import InputError
from admission.evaluation.replay_metrics import ReferenceObligation, ReplayScore, align, parse_reference
from admission.evaluation.statistics import proportion
from admission.records import Finding, Report, Status


def found(text: str, label: str = "supported") -> Finding:
    return Finding(id=text, text=text, type="fact", label=label, view="expanded", resolved_by="agreement")


def report(status: Status, *findings: Finding) -> Report:
    return Report(
        id="w", conversation="c", namespace=("n",), memory="m", status=status, action="persist", obligations=findings,
        config_digest="c", input_digest="i",
    )  # fmt: skip


def scored(*pairs: tuple[str, str]) -> dict[str, tuple[float | None, int]]:
    """Metrics of (reference status, status got) pairs, as (value, n)."""
    score = ReplayScore()
    for reference, got in pairs:
        score.add(report(got), parse_reference({"status": reference}, "expanded", where="f:1"))
    return {name: (m.value, m.n) for name, m in score.metrics().items()}


def test_retention_counts_what_was_let_in_either_way() -> None:
    metrics = scored(("admitted", "repaired"), ("repaired", "admitted"), ("repaired", "unresolved"))
    assert metrics["valid_retention"] == (pytest.approx(2 / 3), 3)
    assert metrics["repaired_retention"] == (0.5, 2)
    assert metrics["status_accuracy"] == (0.0, 3)


def test_unsupported_admission_counts_unresolved_and_contradicted_references_only() -> None:
    metrics = scored(("unresolved", "admitted"), ("contradicted", "unresolved"), ("invalid", "admitted"))
    assert metrics["unsupported_admission"] == (0.5, 2)
    assert metrics["valid_retention"] == (None, 0)


def test_a_reference_that_leaves_the_kind_open_is_valid_and_right_either_way() -> None:
    kind_open = "admitted_or_repaired"
    metrics = scored((kind_open, "admitted"), (kind_open, "repaired"), (kind_open, "contradicted"))
    assert metrics["valid_retention"] == metrics["status_accuracy"] == (pytest.approx(2 / 3), 3)
    assert metrics["repaired_retention"] == (None, 0)


def test_label_agreement_is_over_aligned_obligations() -> None:
    reference = {
        "status": "unresolved",
        "obligations": [
            {"text": "Ines moved to Lisse.", "label": "supported"},
            {"text": "the move was because of a boat", "label": "insufficient"},
            {"text": "nothing alike", "label": "contradicted"},
        ],
    }
    got = report("unresolved", found("ines moved to  lisse"), found("The move was because of the boat.", "supported"))
    score = ReplayScore()
    score.add(got, parse_reference(reference, "expanded", where="f:1"))
    agreement = score.metrics()["obligation_label_agreement"]
    assert (agreement.value, agreement.n) == (0.5, 2)


def test_an_obligation_is_paired_once_and_with_its_best_match() -> None:
    expected = [
        ReferenceObligation("the boat is red", "supported"),
        ReferenceObligation("the boat is old", "supported"),
    ]
    pairs = align(expected, [found("The boat is old."), found("The boat is red.")])
    assert [(e.text, f.text) for e, f in pairs] == [
        ("the boat is red", "The boat is red."),
        ("the boat is old", "The boat is old."),
    ]


def test_too_little_in_common_is_no_pair() -> None:
    assert align([ReferenceObligation("Ines sold the boat", "supported")], [found("A storm hit Lisse in May.")]) == []
    assert align([], [found("x")]) == align([ReferenceObligation("x", "supported")], []) == []


@pytest.mark.parametrize(("setting", "label"), [("citation_only", "insufficient"), ("expanded", "supported")])
def test_labels_given_for_each_setting_are_read_for_the_one_replayed(setting: str, label: str) -> None:
    both = {"text": "x", "cited": "insufficient", "history": "supported"}
    reference = parse_reference({"status": "repaired", "obligations": [both]}, setting, where="f:1")
    assert reference.obligations == (ReferenceObligation("x", label),)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({}, "reference.status"),
        ({"status": "ok"}, "reference.status"),
        ({"status": "admitted", "obligations": ["x"]}, "reference.obligations.0"),
        ({"status": "admitted", "obligations": [{"text": "x", "label": "no"}]}, "reference.obligations.0.label"),
    ],
)
def test_a_reference_that_cannot_be_read_names_its_field(data: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_reference(data, "expanded", where="f:7")
    assert raised.value.field == field
    assert str(raised.value).startswith("f:7: ")


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (5, 10, 0.1871, 0.8129), (1, 1, 0.025, 1.0)],
)
def test_intervals_are_clopper_pearson(hits: int, n: int, low: float, high: float) -> None:
    """Bounds from the published tables (for 0 of n: 1 - 0.025 ** (1 / n))."""
    found = proportion(hits, n)
    assert (found.value, found.n) == (hits / n, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
