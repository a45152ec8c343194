"""From a status to an action, by namespace; what no rule names takes the closed default."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

from admission.records import Action, Namespace, Status
from admission.settings import PolicyRule

# A memory whose evidence conflicts is `unresolved`; a policy may still treat it apart.
PolicyCase = Literal["admitted", "repaired", "unresolved", "conflicting", "contradicted", "invalid"]

DEFAULT_ACTIONS: dict[PolicyCase, Action] = {
    "admitted": "persist",
    "repaired": "persist",
    "unresolved": "quarantine",
    "conflicting": "quarantine",
    "contradicted": "quarantine",
    "invalid": "drop",
}


def action_for(status: Status, conflicting: bool, namespace: Namespace, rules: Sequence[PolicyRule]) -> Action:
    """The action of the first rule whose pattern matches the namespace and that names this status.

    Where no rule does, the default holds: persist what is supported, quarantine the rest, drop what claims nothing.
    """
    case: PolicyCase = "conflicting" if status == "unresolved" and conflicting else status
    path = "/".join(namespace)
    for rule in rules:
        if not fnmatchcase(path, rule.namespace):
            continue
        action: Action | None = getattr(rule, case)
        if action is None and case == "conflicting":
            action = rule.unresolved
        if action is not None:
            return action
    return DEFAULT_ACTIONS[case]
