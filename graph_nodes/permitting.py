"""Who may use a memory, as directives say it: granted, withheld and taken back in the memory's metadata."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from admission.ledger import Ledger
from admission.metadata import Permission, RecordMetadata
from admission.reading.access import access_meant, is_clear
from admission.reading.directives import Directive
from admission.reading.permissions import permitted, withdrawn
from admission.reading.trace import MemoryId
from admission.records import Namespace, Record
from graph_nodes.erasing import check_flushed
from graph_nodes.forgetting import known_metadata
from graph_nodes.store import AdmissionStore

AT_ONCE = 500
"""A directive that means more memories than this asks for a rule: each change is an entry in the ledger."""

Outcome = Literal["changed", "unsure", "unknown", "unclear", "too_many", "no_authority"]


class AccessHeard(Record):
    """What became of one directive on access: the `place`-th, from 0, of the turn. Keys, and no texts.

    `changed`: memories that it means beyond doubt, and that `who` may or may not use from now on (or before), until
    `until`. `unsure`: what it may mean, and was left alone. `outcome`: "changed" where anything was; "unsure" where
    something only may be meant; "unknown" where nothing is known that it could mean; "unclear": whom it concerns or
    when it holds is not; "too_many" memories for one by one; "no_authority": the principal has no say.
    """

    turn: str
    place: int
    kind: Literal["restrict", "grant", "revoke"]
    who: str | None
    until: str | None
    outcome: Outcome
    changed: tuple[MemoryId, ...] = ()
    unsure: tuple[MemoryId, ...] = ()


def permit(guard: AdmissionStore, namespace: Namespace, key: str, permission: Permission, *, by: str, why: str) -> None:
    """Say of one memory that a principal may, or may not, use it. A grant counts within the boundary of reads, beside
    the memory's purposes and the rules that deny. For trusted code, like `AdmissionStore.forget`. Raises `LedgerError`
    for a key without a memory that passed the gate, or where writes are pending still after a flush."""
    check_flushed(guard.flush())
    set_permission(guard.ledger, namespace, key, permission, by=by, why=why)


async def apermit(
    guard: AdmissionStore, namespace: Namespace, key: str, permission: Permission, *, by: str, why: str
) -> None:
    """Async twin of `permit`."""
    check_flushed(await guard.aflush())
    await asyncio.to_thread(partial(set_permission, guard.ledger, namespace, key, permission, by=by, why=why))


def withdraw(guard: AdmissionStore, namespace: Namespace, key: str, principal: str, *, by: str, why: str) -> None:
    """Take back all that was ever granted or withheld of one memory for this principal: rules alone decide again.
    Raises as `permit` does."""
    check_flushed(guard.flush())
    unset_permissions(guard.ledger, namespace, key, principal, by=by, why=why)


async def awithdraw(
    guard: AdmissionStore, namespace: Namespace, key: str, principal: str, *, by: str, why: str
) -> None:
    """Async twin of `withdraw`."""
    check_flushed(await guard.aflush())
    await asyncio.to_thread(partial(unset_permissions, guard.ledger, namespace, key, principal, by=by, why=why))


def set_permission(
    ledger: Ledger, namespace: Namespace, key: str, permission: Permission, *, by: str, why: str
) -> None:
    """`permit` without the wait. Appends nothing where the memory has this permission already."""
    known = known_metadata(ledger, namespace, key)
    _become(ledger, namespace, key, known, permitted(known.permissions, permission), by=by, why=why)


def unset_permissions(ledger: Ledger, namespace: Namespace, key: str, principal: str, *, by: str, why: str) -> None:
    """`withdraw` without the wait."""
    known = known_metadata(ledger, namespace, key)
    _become(ledger, namespace, key, known, withdrawn(known.permissions, principal), by=by, why=why)


def _become(
    ledger: Ledger,
    namespace: Namespace,
    key: str,
    known: RecordMetadata,
    permissions: tuple[Permission, ...],
    *,
    by: str,
    why: str,
) -> None:
    if known.permissions != permissions:
        ledger.annotate(namespace, key, known.model_copy(update={"permissions": permissions}), by=by, why=why)


def carry_out(
    ledger: Ledger, directive: Directive, heard: AccessHeard, texts: Mapping[MemoryId, str], asked_about: int
) -> AccessHeard:
    """Understand and carry out one directive on access of somebody who has a say over these memories; `heard` as it is
    so far. At most `asked_about` unsure ones are named. Blocks."""
    if not is_clear(directive):
        return heard.model_copy(update={"outcome": "unclear"})
    records = {str(place): id for place, id in enumerate(texts)}  # keys of two namespaces may be alike
    found = access_meant(directive, [(place, texts[id]) for place, id in records.items()])
    sure, unsure = _there(ledger, records, found.sure), _there(ledger, records, found.unsure)[:asked_about]
    if len(sure) > AT_ONCE:
        return heard.model_copy(update={"outcome": "too_many"})
    effect: Literal["allow", "deny"] = "allow" if directive.kind == "grant" else "deny"
    new = Permission(principal=directive.who[0], effect=effect, until=directive.until, source=heard.turn)
    for id in sure:
        why = f"asked for in turn {heard.turn}"
        set_permission(ledger, id.namespace, id.key, new, by=str(directive.by), why=why)
    outcome: Outcome = "changed" if sure else "unsure" if unsure else "unknown"
    return heard.model_copy(update={"outcome": outcome, "changed": sure, "unsure": unsure})


def _there(ledger: Ledger, records: Mapping[str, MemoryId], places: Sequence[str]) -> tuple[MemoryId, ...]:
    """Those that are in the store still: the ledger's list has deleted memories too."""
    ids = [records[place] for place in places]
    known = ledger.metadata([(id.namespace, id.key) for id in ids])
    return tuple(id for id in ids if (id.namespace, id.key) in known or ledger.latest(id.namespace, id.key) is not None)
