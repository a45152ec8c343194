"""AdmissionStore: the choke point. A store around any LangGraph store, which every memory write passes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from langgraph.store.base import BaseStore, Op, Result
from langgraph.store.base.batch import AsyncBatchedBaseStore

from admission.errors import InputError
from admission.gate import AdmissionGate
from admission.ledger import Ledger, open_ledger
from admission.records import Report
from admission.settings import Settings, load_settings
from graph_nodes.steps import adrive, drive
from graph_nodes.writing import Recovery, WriteProtocol

_LOCK_POLL_S = 0.01


class AdmissionStore(BaseStore):
    """A LangGraph store that stores only what the conversation before the write supports.

    Wraps any `BaseStore` and takes its place (`compile(store=)`, `create_agent(store=)`, `@entrypoint(store=)`): reads
    and deletes pass, every put is judged, and what is held back never reaches `inner`, so that get, search and
    list_namespaces cannot show it. A put never raises for a verdict: `collect_reports` and `report_for` tell what
    became of it. Errors of `inner` are raised as they are. After a `LedgerError` nothing was stored, unless it was the
    completion that failed to be recorded: then the next start records it.

    `gate` and `ledger` default to what `settings` say: embedded verifiers, and the ledger at `ledger.url`. Writes that
    an earlier process left unfinished are finished at the first use, not when the store is made: only then is `inner`
    sure to be ready (set up, on its event loop), and nothing of this store's own can be in the way yet. `name` tells
    stores apart that share a ledger, so that each finishes its own writes only; it has to stay the same over restarts.
    """

    def __init__(
        self,
        inner: BaseStore,
        *,
        gate: AdmissionGate | None = None,
        ledger: Ledger | None = None,
        settings: Settings | None = None,
        name: str = "store",
    ) -> None:
        if isinstance(inner, AdmissionStore):
            raise InputError("inner", "is an AdmissionStore already", "wrap the store beneath it, once")
        if settings is None:
            settings = gate.settings if gate is not None else load_settings()
        self.settings = settings
        self.inner = inner
        self.gate = gate if gate is not None else AdmissionGate(settings)
        self.ledger = ledger if ledger is not None else open_ledger(settings.ledger.url, key=settings.ledger.key)
        # An async batched store takes a ttl without asking `supports_ttl`; the guard must not refuse what it takes.
        self.supports_ttl = inner.supports_ttl or isinstance(inner, AsyncBatchedBaseStore)
        self.ttl_config = inner.ttl_config
        self._protocol = WriteProtocol(
            self.gate,
            self.ledger,
            self.settings.writes,
            store=name,
            indexes_whole_value=_indexes_whole_value(inner),
        )
        self._recovering = threading.Lock()
        self._recovered = False

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Results in the order of `ops`, None for puts. Reads see the state before; the last put of a key wins."""
        self._recover_once()
        return drive(self._protocol.batch(list(ops)), self.gate, self.inner)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Async twin of `batch`."""
        await self._arecover_once()
        return await adrive(self._protocol.batch(list(ops)), self.gate, self.inner)

    def recover(self) -> Recovery:
        """Finish the writes an earlier process, or a failing `inner`, left behind; safe at any time."""
        with self._recovering:
            return self._finish(drive(self._protocol.recover(), self.gate, self.inner))

    async def arecover(self) -> Recovery:
        """Async twin of `recover`."""
        async with _held(self._recovering):
            return self._finish(await adrive(self._protocol.recover(), self.gate, self.inner))

    def report_for(self, namespace: tuple[str, ...], key: str) -> Report | None:
        """The newest report on a write of this key, whatever became of it; None if there was none. Reads the ledger.

        A retried write keeps the key of its first attempt.
        """
        return self._protocol.report_for(namespace, key)

    async def areport_for(self, namespace: tuple[str, ...], key: str) -> Report | None:
        """Async twin of `report_for`."""
        return await asyncio.to_thread(self.report_for, namespace, key)

    def _recover_once(self) -> None:
        if not self._recovered:
            with self._recovering:
                if not self._recovered:
                    self._finish(drive(self._protocol.recover(), self.gate, self.inner))

    async def _arecover_once(self) -> None:
        if not self._recovered:
            async with _held(self._recovering):
                if not self._recovered:
                    self._finish(await adrive(self._protocol.recover(), self.gate, self.inner))

    def _finish(self, recovery: Recovery) -> Recovery:
        self._recovered = True
        return recovery


@asynccontextmanager
async def _held(lock: threading.Lock) -> AsyncIterator[None]:
    """Hold a thread's lock in a coroutine without blocking its loop, which the holder may need to get done."""
    while not lock.acquire(blocking=False):
        await asyncio.sleep(_LOCK_POLL_S)
    try:
        yield
    finally:
        lock.release()


def _indexes_whole_value(inner: BaseStore) -> bool:
    """Does the store embed whole values where a put names no fields ("$", the default of its index configuration)?"""
    config = getattr(inner, "index_config", None)
    return config is not None and "$" in (config.get("fields") or ["$"])
