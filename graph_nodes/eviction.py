"""Evicting memories of a namespace by a policy, until the rest fits a budget of tokens; each is in the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langgraph.store.base import BaseStore, Item, PutOp

from admission.errors import InputError
from admission.eviction.policies import EvictionPolicy, survivors
from admission.eviction.records import Memory
from admission.eviction.tokens import TokenCount, minilm_tokens
from admission.ledger import Ledger
from admission.records import Namespace, Record
from admission.settings import WriteSettings
from graph_nodes.causes import deleting_for
from graph_nodes.store import AdmissionStore
from graph_nodes.values import memory_text

EVICTION = "eviction"
"""The `reason` of a `deleted` entry that an eviction caused; `policy`, `budget` and `tokens` stand beside it."""
_PAGE = 500


class Evicted(Record):
    """What an eviction did: the `keys` that were deleted, how many memories are `kept`, and the tokens of the namespace
    before and after."""

    namespace: Namespace
    policy: str
    budget: int
    keys: tuple[str, ...]
    kept: int
    tokens_before: int
    tokens_after: int


def evict(
    store: BaseStore,
    namespace: Namespace,
    budget: int,
    policy: EvictionPolicy,
    *,
    ledger: Ledger | None = None,
    count: TokenCount = minilm_tokens,
) -> Evicted:
    """Delete memories of exactly this namespace, in the policy's order, until the rest has at most `budget` tokens.

    The oldest memory is the one that was written last the longest ago. What counts is each memory's text, as the write
    gate reads it. The deletes pass an `AdmissionStore`'s guard and are in its ledger, as `deleted` entries with reason,
    policy and budget; for any other store they are appended to `ledger`, where one is given, before the store is told.
    For trusted code: the whole namespace is seen, whatever a read gate would show. Nothing is said about what should be
    kept. Not atomic: a memory that is written meanwhile is not counted. Raises `InputError` for a budget below 0, and
    for a `ledger` beside that of an `AdmissionStore`.
    """
    inner, settings = _beneath(store, ledger)
    listing = _Listing(namespace)
    while not listing.complete:
        listing.take(inner.search(namespace, limit=_PAGE, offset=listing.seen, refresh_ttl=False))
    plan = _Plan(listing.items, namespace, budget, policy, count, settings)
    if ledger is not None:
        plan.record(ledger)
    with deleting_for(plan.cause):
        store.batch(plan.deletes)
    return plan.evicted


async def aevict(
    store: BaseStore,
    namespace: Namespace,
    budget: int,
    policy: EvictionPolicy,
    *,
    ledger: Ledger | None = None,
    count: TokenCount = minilm_tokens,
) -> Evicted:
    """Async twin of `evict`; policy and ledger run in a thread."""
    inner, settings = _beneath(store, ledger)
    listing = _Listing(namespace)
    while not listing.complete:
        listing.take(await inner.asearch(namespace, limit=_PAGE, offset=listing.seen, refresh_ttl=False))
    plan = await asyncio.to_thread(_Plan, listing.items, namespace, budget, policy, count, settings)
    if ledger is not None:
        await asyncio.to_thread(plan.record, ledger)
    with deleting_for(plan.cause):
        await store.abatch(plan.deletes)
    return plan.evicted


class _Listing:
    """All items of exactly one namespace, page by page: a search finds those beneath it, too."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._items: dict[str, Item] = {}
        self.seen = 0
        self.complete = False

    def take(self, page: Sequence[Item]) -> None:
        self.seen += len(page)
        self.complete = len(page) < _PAGE
        self._items.update((item.key, item) for item in page if item.namespace == self._namespace)

    @property
    def items(self) -> list[Item]:
        """The one written longest ago first."""
        return sorted(self._items.values(), key=lambda item: (item.updated_at, item.created_at, item.key))


class _Plan:
    """What goes, and what the ledger is told of it."""

    def __init__(
        self,
        items: Sequence[Item],
        namespace: Namespace,
        budget: int,
        policy: EvictionPolicy,
        count: TokenCount,
        settings: WriteSettings,
    ) -> None:
        memories = [
            Memory(id=item.key, text=memory_text(item.value, settings), time=item.updated_at.isoformat())
            for item in items
        ]
        tokens = {
            memory.id: tokens
            for memory, tokens in zip(memories, count([memory.text for memory in memories]), strict=True)
        }
        kept = frozenset(survivors(memories, budget, policy, lambda _: list(tokens.values())))
        keys = tuple(memory.id for memory in memories if memory.id not in kept)
        self.deletes = [PutOp(namespace, key, None) for key in keys]
        self.evicted = Evicted(
            namespace=namespace,
            policy=policy.name,
            budget=budget,
            keys=keys,
            kept=len(kept),
            tokens_before=sum(tokens.values()),
            tokens_after=sum(tokens[key] for key in kept),
        )
        self.cause: dict[str, Any] = {
            "reason": EVICTION,
            "policy": policy.name,
            "budget": budget,
            "tokens": self.evicted.tokens_before,
        }

    def record(self, ledger: Ledger) -> None:
        """Before the store: a deletion may be recorded twice, but none goes unrecorded."""
        for key in self.evicted.keys:
            ledger.record_delete(self.evicted.namespace, key, thread=None, task=None, cause=self.cause)


def _beneath(store: BaseStore, ledger: Ledger | None) -> tuple[BaseStore, WriteSettings]:
    """The store to list from, and how its values are read."""
    if not isinstance(store, AdmissionStore):
        return store, WriteSettings()
    if ledger is not None:
        raise InputError("ledger", "the store has its own", "leave it out: the guard records every delete")
    return store.inner, store.settings.writes
