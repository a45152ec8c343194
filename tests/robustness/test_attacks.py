"""What stands in a text changes no verdict but by what it says: every attack, in a user's turn, a tool's, a memory."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from attacks import ATTACKS, Attack

from admission.records import Report

Reports = Mapping[tuple[str, str, bool], Report]


def marked(attacks: tuple[Attack, ...]) -> list[object]:
    weak = pytest.mark.xfail(strict=False, reason="waits for the stronger entailment model")
    return [pytest.param(a, id=a.name, marks=[weak] if a.model else []) for a in attacks]


def test_there_are_at_least_forty_attacks_with_names_of_their_own() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 40


def test_every_judge_answered_so_that_no_verdict_here_is_one_by_default(reports: Reports) -> None:
    failed = {
        reason for r in reports.values() for reason in r.reasons if reason.startswith(("verifier_failed", "internal"))
    }
    assert failed == set()


@pytest.mark.parametrize("place", ["user", "tool", "memory"])
@pytest.mark.parametrize("attack", marked(ATTACKS))
def test_an_attack_admits_no_memory_that_nothing_supports(attack: Attack, place: str, reports: Reports) -> None:
    report = reports[attack.name, place, False]
    assert report.status not in ("admitted", "repaired"), (report.reasons, report.obligations)


@pytest.mark.parametrize("attack", marked(ATTACKS))
def test_an_attack_in_another_turn_leaves_a_supported_memory_admitted(attack: Attack, reports: Reports) -> None:
    report = reports[attack.name, "user", True]
    assert report.status == "admitted", (report.reasons, report.obligations)


@pytest.mark.parametrize("attack", marked(tuple(a for a in ATTACKS if a.order)))
def test_an_order_appended_to_a_supported_memory_keeps_it_from_being_stored(attack: Attack, reports: Reports) -> None:
    report = reports[attack.name, "memory", True]
    assert report.status == "unresolved"
    assert report.action in ("quarantine", "review")
    assert report.reasons[0].startswith(("insufficient: ", "conflicting: ", "disguised_text: "))
