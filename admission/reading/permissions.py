"""What directives say of who may use a memory: what holds for one principal, and what a new one changes."""

from __future__ import annotations

from collections.abc import Sequence

from admission.metadata import Permission, RecordMetadata
from admission.reading.validity import standing

Part = tuple[bool | None, str]
"""A value, and the reason for it ("code: detail")."""


def permission_for(metadata: RecordMetadata, principal: str | None, time: str | None) -> Part | None:
    """What the directives on this memory say of the principal at `time` (ISO 8601); None where they say nothing.

    The newest one in force counts: when a leave that was given for a time is over, what was said before holds again.
    """
    if not metadata.permissions:
        return None
    if principal is None:
        return None, "directive_unresolved: who asks is not known"
    for permission in reversed(metadata.permissions):
        if permission.principal != principal:
            continue
        now = standing(None, permission.until, time)
        if now is None:
            return None, f"directive_unresolved: {permission.source} holds until {permission.until}; is that over?"
        if now == "holds" and permission.effect == "deny":
            return False, f"withheld_by_directive: {permission.source}"
        if now == "holds":
            return True, f"granted_by_directive: {permission.source}"
    return None


def permitted(known: Sequence[Permission], new: Permission) -> tuple[Permission, ...]:
    """The permissions of a memory with one more; those that it makes meaningless are left out. The same as before where
    it is the newest of its principal already."""
    theirs = [permission for permission in known if permission.principal == new.principal]
    if theirs and theirs[-1] == new:
        return tuple(known)
    if new.until is not None:
        return (*known, new)
    return (*(permission for permission in known if permission.principal != new.principal), new)


def withdrawn(known: Sequence[Permission], principal: str) -> tuple[Permission, ...]:
    """The permissions of a memory without those on this principal."""
    return tuple(permission for permission in known if permission.principal != principal)
