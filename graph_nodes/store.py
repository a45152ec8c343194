"""AdmissionStore: the choke point. A store around any LangGraph store, which every memory write passes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import Self

from langgraph.store.base import BaseStore, Op, PutOp, Result
from langgraph.store.base.batch import AsyncBatchedBaseStore

from admission.errors import InputError
from admission.gate import AdmissionGate
from admission.ledger import Ledger, Version, WriteRecord, open_ledger
from admission.reading.gate import ReadGate
from admission.records import Report
from admission.settings import Settings, load_settings
from graph_nodes.background import Background
from graph_nodes.copies import own
from graph_nodes.deciding import Write
from graph_nodes.erasing import Erased, Erasing, check_flushed
from graph_nodes.forgetting import forget, reinstate
from graph_nodes.principals import Principal
from graph_nodes.read_check import ReadCheck
from graph_nodes.read_ops import GatedReads
from graph_nodes.recovery import Recovery
from graph_nodes.settling import Settled
from graph_nodes.steps import Steps, adrive, drive
from graph_nodes.write_bounds import check_writes
from graph_nodes.writing import DEFAULT_NAME, WriteProtocol

_POLL_S = 0.01

# Set where writes are being settled, and so in `on_report`: who is waited for must not wait for others there.
_SETTLING: ContextVar[bool] = ContextVar("admission_settling", default=False)


class AdmissionStore(BaseStore):
    """A LangGraph store that stores only what the conversation before the write supports.

    Wraps any `BaseStore` and takes its place (`compile(store=)`, `create_agent(store=)`, `@entrypoint(store=)`): reads
    and deletes pass, every put is judged, and what is held back never reaches `inner`, so that get, search and
    list_namespaces cannot show it. A put never raises for a verdict: `collect_reports` and `report_for` tell what
    became of it. Errors of `inner` are raised as they are. After a `LedgerError` nothing was stored, unless it was the
    completion that failed to be recorded: then the next start records it.

    With a read gate a run reads, writes and deletes where its principal may; anything else is a `BoundaryError` before
    anything of its batch is done (docs/reading.md).

    `gate` and `ledger` default to what `settings` say: embedded verifiers, and the ledger at `ledger.url`. Writes that
    an earlier process left unfinished are finished at the first use, not when the store is made: only then is `inner`
    sure to be ready (set up, on its event loop), and nothing of this store's own can be in the way yet. `name` tells
    stores apart that share a ledger, so that each finishes its own writes only; it has to stay the same over restarts.
    `on_report` is called with every report as it is decided, in the thread that decided it. It may use the store, but
    not `flush` or `close` it in background mode, which is an `InputError`.

    In background mode (`settings.writes.mode`, docs/writing.md) a put returns at once and is `pending` until a thread
    has judged it from the conversation before the put. `flush` waits for what is pending; so does the end of the
    process, for a while. Use the store as a context manager, or `close` it.
    """

    def __init__(
        self,
        inner: BaseStore,
        *,
        gate: AdmissionGate | None = None,
        ledger: Ledger | None = None,
        settings: Settings | None = None,
        name: str = DEFAULT_NAME,
        on_report: Callable[[Report], None] | None = None,
        read_gate: ReadGate | None = None,
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
        if read_gate is None and settings.reading is not None:
            read_gate = ReadGate(settings.reading)
        self.read_gate = read_gate
        self._protocol = WriteProtocol(
            self.gate,
            self.ledger,
            self.settings.writes,
            store=name,
            indexes_whole_value=_indexes_whole_value(inner),
            on_report=on_report,
            reading=read_gate.settings if read_gate is not None else None,
        )
        writes = self.settings.writes
        on_read = writes.verify_on_read
        self._read_check = ReadCheck(self.ledger, hide=on_read == "hide") if on_read != "off" else None
        self._reads = (
            GatedReads(
                self.ledger,
                read_gate,
                self._read_check,
                log_text=self.settings.observability.log_text,
                refreshes=_refreshes_on_read(inner),
            )
            if read_gate is not None
            else None
        )
        self._queue = (
            Background(self._settle, self._protocol.ready, writes.queue) if writes.mode == "background" else None
        )
        self._erasing = Erasing(self.ledger, self.gate.settings.cache, store=name)
        self._recovering = threading.Lock()
        self._recovered = False

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Results in the order of `ops`, None for puts. Reads see the state before; the last put of a key wins."""
        self._recover_once()
        return own(drive(self._batch(list(ops)), self.gate, self.inner))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Async twin of `batch`."""
        await self._arecover_once()
        return own(await adrive(self._batch(list(ops)), self.gate, self.inner))

    def recover(self) -> Recovery:
        """Finish the writes an earlier process, or a failing `inner` or ledger, left behind; safe at any time."""
        with _turn(self._recovering):
            return drive(self._noted(self._protocol.recover()), self.gate, self.inner)

    async def arecover(self) -> Recovery:
        """Async twin of `recover`."""
        async with _aturn(self._recovering):
            return await adrive(self._noted(self._protocol.recover()), self.gate, self.inner)

    def principal(self) -> Principal:
        """Who reads in the run at hand, and the namespace that is theirs. Raises `BoundaryError` where nobody vouches
        for one, and `InputError` while the read gate is off."""
        if self._reads is None:
            raise InputError("reading", "the read gate is off", "add a section [reading] to admission.toml")
        return self._reads.principal()

    def report_for(self, namespace: tuple[str, ...], key: str) -> Report | None:
        """The newest report on a write of this key, whatever became of it; None if there was none. Reads the ledger.

        A retried write keeps the key of its first attempt.
        """
        return self._protocol.report_for(namespace, key)

    async def areport_for(self, namespace: tuple[str, ...], key: str) -> Report | None:
        """Async twin of `report_for`."""
        return await asyncio.to_thread(self.report_for, namespace, key)

    def versions(self, namespace: tuple[str, ...], key: str) -> list[Version]:
        """What the memory at this key has been, oldest first: an update keeps the value it replaces in the ledger."""
        return self.ledger.versions(namespace, key)

    async def aversions(self, namespace: tuple[str, ...], key: str) -> list[Version]:
        """Async twin of `versions`."""
        return await asyncio.to_thread(self.versions, namespace, key)

    def reinstate(self, namespace: tuple[str, ...], key: str, *, by: str, why: str) -> None:
        """Make a superseded memory current again, where what took its place should not have (docs/supersession.md), or
        one that was forgotten what it was before. Raises `InputError` for any other."""
        reinstate(self.ledger, namespace, key, by=by, why=why)

    async def areinstate(self, namespace: tuple[str, ...], key: str, *, by: str, why: str) -> None:
        """Async twin of `reinstate`."""
        await asyncio.to_thread(partial(self.reinstate, namespace, key, by=by, why=why))

    def forget(
        self, namespace: tuple[str, ...], key: str, *, by: str, why: str, directive_key: str | None = None
    ) -> None:
        """From now on no question may use what this memory says; its text stays, and `reinstate` takes it back.

        `directive_key`: the memory in this namespace that is the request to forget; it stays usable. For trusted code:
        the boundary of reads is not asked. What is pending is waited for, so that it does not bring back what is to be
        forgotten. Raises `LedgerError` for a key without a memory that passed the gate, or where writes are pending
        still after a flush.
        """
        check_flushed(self.flush())
        forget(self.ledger, namespace, key, by=by, why=why, directive_key=directive_key)

    async def aforget(
        self, namespace: tuple[str, ...], key: str, *, by: str, why: str, directive_key: str | None = None
    ) -> None:
        """Async twin of `forget`."""
        check_flushed(await self.aflush())
        about = partial(forget, self.ledger, namespace, key, by=by, why=why, directive_key=directive_key)
        await asyncio.to_thread(about)

    def erase(self, namespace: tuple[str, ...], key: str, *, by: str, why: str) -> Erased:
        """Erase a memory for good: from ledger, store, what the store's file keeps of deleted rows, and cached answers.

        With it goes whatever else of the namespace says the same. There is no way back. If the process dies on the way,
        a repeat or the next start finishes it. For trusted code, like `forget`. Raises `LedgerError` where writes are
        still pending after a flush, and what the database raises.
        """
        self._recover_once()
        check_flushed(self.flush())
        return drive(self._erasing.erase(namespace, key, by=by, why=why), self.gate, self.inner)

    async def aerase(self, namespace: tuple[str, ...], key: str, *, by: str, why: str) -> Erased:
        """Async twin of `erase`."""
        await self._arecover_once()
        check_flushed(await self.aflush())
        return await adrive(self._erasing.erase(namespace, key, by=by, why=why), self.gate, self.inner)

    def pending(self) -> list[WriteRecord]:
        """The writes of this store that are not finished, oldest first: `claimed` ones have no verdict yet, `decided`
        ones are admitted but not in `inner`. No read shows them. Reads the ledger."""
        return self._protocol.unfinished()

    async def apending(self) -> list[WriteRecord]:
        """Async twin of `pending`."""
        return await asyncio.to_thread(self.pending)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait, up to `timeout` seconds, until all that was put is decided and stored; what failed is tried once more.

        False: time ran out, or some failed again (`pending` has them, and the next flush tries them again). Not on the
        thread of the event loop that `inner` needs: there, `aflush`. Raises `InputError` in `on_report`, on the thread
        that it would wait for.
        """
        if self._queue is None:
            return True
        return self._queue.wait(timeout) and (not self._queue.take_failed() or not self.recover().failed)

    async def aflush(self, timeout: float | None = None) -> bool:
        """Async twin of `flush`."""
        if self._queue is None:
            return True
        self._queue.check_waiter()
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._queue.idle:
            if deadline is not None and time.monotonic() >= deadline:
                return False
            await asyncio.sleep(_POLL_S)
        return not self._queue.take_failed() or not (await self.arecover()).failed

    def close(self, timeout: float | None = None) -> bool:
        """`flush`, and take no more puts in background mode. What is pending still is judged at the next start. The
        ledger and `inner` stay open."""
        if self._queue is not None:
            self._queue.close()
        return self.flush(timeout)

    async def aclose(self, timeout: float | None = None) -> bool:
        """Async twin of `close`."""
        if self._queue is not None:
            self._queue.close()
        return await self.aflush(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    def _batch(self, ops: list[Op]) -> Steps[list[Result]]:
        check_writes(ops, self.read_gate)
        if self._reads is None:
            return (yield from self._ungated(ops))
        # Reads come first, and see the state before the writes of their batch.
        reads = {place: op for place, op in enumerate(ops) if not isinstance(op, PutOp)}
        found = (yield from self._reads.read(reads)) if reads else {}
        writes = [op for op in ops if isinstance(op, PutOp)]
        if writes:
            yield from self._ungated(writes)
        return [found.get(place) for place in range(len(ops))]

    def _ungated(self, ops: Sequence[Op]) -> Steps[list[Result]]:
        steps = self._protocol.batch(ops) if self._queue is None else self._protocol.submit(ops, self._queue)
        results = yield from steps
        return results if self._read_check is None else (yield from self._read_check.checked(results))

    def _settle(self, writes: Sequence[Write], held: set[str]) -> Settled:
        with _settling():
            return drive(self._protocol.settle(writes, held), self.gate, self.inner)

    def _recovery(self) -> Steps[Recovery]:
        """At the first use: what was pending when an earlier process ended goes on being so."""
        return self._protocol.recover(partial(self._queue.submit, reserved=0) if self._queue is not None else None)

    def _recover_once(self) -> None:
        if not self._recovered:
            with _turn(self._recovering) as ours:
                if ours and not self._recovered:
                    drive(self._noted(self._recovery()), self.gate, self.inner)

    async def _arecover_once(self) -> None:
        if not self._recovered:
            async with _aturn(self._recovering) as ours:
                if ours and not self._recovered:
                    await adrive(self._noted(self._recovery()), self.gate, self.inner)

    def _noted(self, recovering: Steps[Recovery]) -> Steps[Recovery]:
        """The same recovery; what it leaves open, however it ends, is for the next flush to try again."""
        failed = True
        try:
            recovery = yield from recovering
            yield from self._erasing.finish()
            self._recovered, failed = True, bool(recovery.failed)
            return recovery
        finally:
            if failed and self._queue is not None:
                self._queue.mark_failed()


@contextmanager
def _turn(lock: threading.Lock) -> Iterator[bool]:
    """Recover one after another: is it our turn?

    Not waited for where the one whose turn it is may be waiting for us: in its `on_report`, and on the thread of an
    event loop, which it may need to get done. Going on is safe there: recoveries of several processes overlap as well.
    """
    ours = lock.acquire(blocking=not (_SETTLING.get() or _on_loop()))
    try:
        with _settling():
            yield ours
    finally:
        if ours:
            lock.release()


@asynccontextmanager
async def _aturn(lock: threading.Lock) -> AsyncIterator[bool]:
    """Async twin of `_turn`; its loop goes on while it waits."""
    while not (ours := lock.acquire(blocking=False)) and not _SETTLING.get():
        await asyncio.sleep(_POLL_S)
    try:
        with _settling():
            yield ours
    finally:
        if ours:
            lock.release()


@contextmanager
def _settling() -> Iterator[None]:
    token = _SETTLING.set(True)
    try:
        yield
    finally:
        _SETTLING.reset(token)


def _on_loop() -> bool:
    """Is this thread running an event loop?"""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _refreshes_on_read(inner: BaseStore) -> bool:
    """May the store prolong the life of what a read returns? Of one without a configuration nothing ever expires; one
    that is not to do it by itself may be asked to."""
    return inner.ttl_config is not None


def _indexes_whole_value(inner: BaseStore) -> bool:
    """Does the store embed whole values where a put names no fields ("$", the default of its index configuration)?"""
    config = getattr(inner, "index_config", None)
    return config is not None and "$" in (config.get("fields") or ["$"])
