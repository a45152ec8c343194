"""What is known of a memory beside its text: where it came from, what it may be used for, whether it still holds.

The read gate judges by these and by nothing the text says (method: retrieval admissibility). What nobody stated stays
None, which is unresolved and never a guess.
"""

from __future__ import annotations

from typing import Literal

from admission.records import Namespace, Record

LifecycleState = Literal["current", "stale", "superseded", "forgotten"]


class Provenance(Record):
    """Who wrote a memory (`written_by`, a principal), by which way (`channel`), in which session; `authenticated`: was
    the writer's identity vouched for by the deployment, not claimed?"""

    written_by: str | None = None
    channel: str | None = None
    session: str | None = None
    authenticated: bool | None = None


class Lifecycle(Record):
    """Whether a memory still holds. Times are UTC, ISO 8601. `superseded_by` is the key of the memory that took its
    place, in the same namespace."""

    state: LifecycleState | None = None
    superseded_by: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class Permission(Record):
    """What a directive says of one principal's use of a memory: `allow` or `deny`, until a moment (UTC, ISO 8601,
    exclusive; None: without end). `source`: where it was said (a turn's id)."""

    principal: str
    effect: Literal["allow", "deny"]
    until: str | None = None
    source: str


class RecordMetadata(Record):
    """The trusted metadata of one memory. None: missing. An empty tuple is a statement: no tag, no purpose.

    `forget`: this memory is itself a request to forget something; it stays usable when what it is about does not.
    `permissions`: oldest first; of those on one principal the newest that is in force counts.
    """

    namespace: Namespace | None = None
    provenance: Provenance = Provenance()
    policy_tags: tuple[str, ...] | None = None
    purpose_allow: tuple[str, ...] | None = None
    lifecycle: Lifecycle = Lifecycle()
    forget: bool | None = None
    permissions: tuple[Permission, ...] = ()
    created_at: str | None = None
