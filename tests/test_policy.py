"""Policy: from status to action, by namespace, closed by default."""

import pytest

from admission.policy import action_for
from admission.settings import PolicyRule

RULES = (
    PolicyRule(namespace="acme/trusted/*", unresolved="persist_marked", conflicting="review"),
    PolicyRule(namespace="acme/*", unresolved="persist_marked"),
    PolicyRule(namespace="*/drafts", admitted="review", invalid="quarantine"),
)


@pytest.mark.parametrize(
    ("status", "action"),
    [
        ("admitted", "persist"),
        ("repaired", "persist"),
        ("unresolved", "quarantine"),
        ("contradicted", "quarantine"),
        ("invalid", "drop"),
    ],
)
def test_without_rules_only_what_is_supported_is_persisted(status: str, action: str) -> None:
    assert action_for(status, False, ("any",), ()) == action  # type: ignore[arg-type]


def test_the_first_rule_that_matches_and_names_the_status_decides() -> None:
    assert action_for("unresolved", False, ("acme", "user-7"), RULES) == "persist_marked"
    assert action_for("admitted", False, ("acme", "drafts"), RULES) == "review"
    assert action_for("invalid", False, ("zeta", "drafts"), RULES) == "quarantine"


def test_a_rule_that_leaves_a_status_out_opens_nothing() -> None:
    assert action_for("contradicted", False, ("acme", "user-7"), RULES) == "quarantine"


def test_conflicting_evidence_has_its_own_action_and_else_that_of_unresolved() -> None:
    assert action_for("unresolved", True, ("acme", "trusted", "u"), RULES) == "review"
    assert action_for("unresolved", True, ("acme", "user-7"), RULES) == "persist_marked"
    assert action_for("unresolved", True, ("zeta",), RULES) == "quarantine"


def test_a_pattern_matches_the_whole_namespace() -> None:
    assert action_for("unresolved", False, ("acme",), RULES) == "quarantine"
    assert action_for("unresolved", False, ("not-acme", "user-7"), RULES) == "quarantine"
