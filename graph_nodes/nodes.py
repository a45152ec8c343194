"""The gate as a node of its own: judges the memories waiting in the state, stores what is admitted, reports on all."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.runtime import get_runtime
from langgraph.store.base import BaseStore, PutOp

from admission.errors import InputError
from admission.gate import AdmissionGate
from admission.ledger import Ledger
from admission.records import Report
from admission.settings import Settings
from graph_nodes.outcome import collect_reports
from graph_nodes.scope import conversation
from graph_nodes.state import PendingWrite
from graph_nodes.store import AdmissionStore
from graph_nodes.values import citation_field

StateUpdate = dict[str, Any]


def create_admission_node(
    store: BaseStore | None = None,
    *,
    gate: AdmissionGate | None = None,
    ledger: Ledger | None = None,
    settings: Settings | None = None,
) -> Runnable[Mapping[str, Any], StateUpdate]:
    """A node over `AdmissionState` for sync and async graphs: each pending write is judged against `messages`.

    It writes to `store`, else to the store the graph was compiled with. An `AdmissionStore` is used as it is, with its
    own gate and ledger; any other is wrapped in one with these (defaults as there). Raises `InputError` for a pending
    write that cannot be read, and where there is no store.
    """
    node = _AdmissionNode(store, gate, ledger, settings)
    return RunnableLambda(node.run, node.arun, name="admission")


class _AdmissionNode:
    def __init__(
        self,
        store: BaseStore | None,
        gate: AdmissionGate | None,
        ledger: Ledger | None,
        settings: Settings | None,
    ) -> None:
        self._store, self._gate, self._ledger, self._settings = store, gate, ledger, settings
        self._guard: AdmissionStore | None = None
        self._guarding = threading.Lock()

    def run(self, state: Mapping[str, Any]) -> StateUpdate:
        pending = state.get("pending_writes") or []
        if not pending:
            return {}
        guard = self._guarded()
        with _judging(state) as reports:
            guard.batch(_puts(pending, guard))
        return _update(pending, reports)

    async def arun(self, state: Mapping[str, Any]) -> StateUpdate:
        pending = state.get("pending_writes") or []
        if not pending:
            return {}
        guard = self._guarded()
        with _judging(state) as reports:
            await guard.abatch(_puts(pending, guard))
        return _update(pending, reports)

    def _guarded(self) -> AdmissionStore:
        store = self._store if self._store is not None else get_runtime().store
        if store is None:
            raise InputError("store", "the graph has none", "compile it with store=, or give the node one")
        if isinstance(store, AdmissionStore):
            return store
        with self._guarding:
            if self._guard is None or self._guard.inner is not store:
                self._guard = AdmissionStore(store, gate=self._gate, ledger=self._ledger, settings=self._settings)
                self._gate, self._ledger = self._guard.gate, self._guard.ledger
            return self._guard


@contextmanager
def _judging(state: Mapping[str, Any]) -> Iterator[list[Report]]:
    with conversation(None, state.get("messages") or []), collect_reports() as reports:
        yield reports


def _puts(pending: Sequence[PendingWrite], guard: AdmissionStore) -> list[PutOp]:
    return [_put(write, f"pending_writes[{place}]", guard) for place, write in enumerate(pending)]


def _put(write: PendingWrite, field: str, guard: AdmissionStore) -> PutOp:
    """The write as a store operation. Citations go into the value: there the gate reads and repairs them."""
    if not isinstance(write, dict) or not isinstance(write.get("value"), dict):
        raise InputError(f"{field}.value", "is not a dict", 'give {"namespace": [...], "value": {...}}')
    namespace = write.get("namespace")
    if isinstance(namespace, str) or not isinstance(namespace, Sequence) or not namespace:
        raise InputError(f"{field}.namespace", f"is {namespace!r}", "give a list of one or more texts")
    value, writes = write["value"], guard.settings.writes
    if write.get("citations") and citation_field(value, writes) is None and writes.citation_fields:
        value = {**value, writes.citation_fields[0]: list(write["citations"])}
    return PutOp(tuple(namespace), str(write.get("key") or uuid.uuid4()), value)


def _update(pending: Sequence[PendingWrite], reports: Sequence[Report]) -> StateUpdate:
    return {
        "pending_writes": {"handled": list(pending)},
        "admission_reports": [report.model_dump(mode="json") for report in reports],
    }
