"""Background mode: the queue of pending writes, and the thread that settles them in the order they were put."""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401 - so that its end is registered before ours, and comes after it
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence

from admission.errors import InputError
from admission.observability import watch_queue
from graph_nodes.deciding import Write
from graph_nodes.settling import Settled

logger = logging.getLogger(__name__)

# The end of the process waits so long for what is pending; what is left then is judged at the next start.
EXIT_S = 30.0
_TOGETHER = 32

# How often to ask after what another process is judging, and how long before waiting for it like any blocking write.
_OTHERS_PAUSE_S = 0.05
_OTHERS_S = 60.0

_all: weakref.WeakSet[Background] = weakref.WeakSet()


class Background:
    """Pending writes, at most `limit` of them (or one batch that is larger), each in the ledger already.

    `settle` judges and stores some of them, those that are ours by the holds given. What another process is judging is
    left for last, until it is `ready`: neither does it keep others waiting, nor do two processes wait for each other.
    The thread lives while there is something to do: nothing has to be stopped, and an idle queue is no burden.
    """

    def __init__(
        self,
        settle: Callable[[Sequence[Write], set[str]], Settled],
        ready: Callable[[Write, set[str]], bool],
        limit: int,
    ) -> None:
        self._settle = settle
        self._ready = ready
        self._limit = limit
        self._ours: deque[Write] = deque()
        self._others: deque[tuple[Write, float]] = deque()
        self._count = 0
        self._working = False
        self._failed = False
        self._closed = False
        self._worker: threading.Thread | None = None
        self._changed = threading.Condition()
        _all.add(self)
        watch_queue(self, lambda queue: queue._count)

    @property
    def idle(self) -> bool:
        """Nothing waits and nothing is being settled."""
        return self._count == 0 and not self._working

    def reserve(self, count: int) -> bool:
        """Take room for so many writes; False while there is none. Raises `InputError` once closed.

        The thread that makes the room (a put in `on_report`) gets it at once: it would wait for itself.
        """
        with self._changed:
            if self._closed:
                raise InputError("store", "is closed", "write before close(), or make another store")
            if self._count and self._count + count > self._limit and not self._is_worker():
                return False
            self._count += count
            return True

    def submit(self, writes: Sequence[Write], held: set[str], reserved: int) -> None:
        """Queue these writes, for which room was `reserved`. `held`: the fingerprints that are ours to judge."""
        with self._changed:
            self._count += len(writes) - reserved
            now = time.monotonic()
            for write in writes:
                if write.intent.fingerprint in held:
                    self._ours.append(write)
                else:
                    self._others.append((write, now))
            if writes and not self._working:
                self._worker = threading.Thread(target=self._work, name="admission-writes", daemon=True)
                self._worker.start()
                self._working = True
            self._changed.notify_all()

    def wait(self, timeout: float | None) -> bool:
        """Wait until idle; False where that takes longer than `timeout` seconds. `InputError` as `check_waiter`."""
        self.check_waiter()
        with self._changed:
            return self._changed.wait_for(lambda: self.idle, timeout)

    def check_waiter(self) -> None:
        """Raises `InputError` on the thread that settles the writes (in `on_report`): it would wait for itself."""
        if self._is_worker():
            raise InputError(
                "store",
                "is flushed or closed in on_report, by the thread that settles what the flush waits for",
                "flush or close after on_report has returned, from another thread",
            )

    def mark_failed(self) -> None:
        """Something is open still that a later flush is to try again."""
        with self._changed:
            self._failed = True

    def take_failed(self) -> bool:
        """Has anything failed since the last time this was asked? Who asks tries again, or marks it again."""
        with self._changed:
            failed, self._failed = self._failed, False
            return failed

    def close(self) -> None:
        """Take no more. `InputError` as `check_waiter`."""
        self.check_waiter()
        with self._changed:
            self._closed = True

    def _is_worker(self) -> bool:
        return threading.current_thread() is self._worker

    def _work(self) -> None:
        while True:
            with self._changed:
                ours = [self._ours.popleft() for _ in range(min(_TOGETHER, len(self._ours)))]
                other = self._others.popleft() if self._others and not ours else None
                if not ours and other is None:
                    self._working = False
                    self._changed.notify_all()
                    return
            if other is None:
                self._end(ours, {write.intent.fingerprint for write in ours})
            else:
                self._look_at(*other)

    def _look_at(self, write: Write, since: float) -> None:
        """Settle a write that was somebody else's to judge, or leave it for a while."""
        held: set[str] = set()
        try:
            ready = self._ready(write, held) or time.monotonic() - since > _OTHERS_S
        except Exception as error:  # noqa: BLE001 - settling it will say what is wrong
            logger.warning("the ledger cannot be asked about a pending write: %s", type(error).__name__)
            ready = True
        if ready:
            self._end([write], held)
            return
        with self._changed:
            self._others.append((write, since))
            if not self._ours:
                self._changed.wait(_OTHERS_PAUSE_S)

    def _end(self, writes: Sequence[Write], held: set[str]) -> None:
        try:
            failed = bool(self._settle(writes, held).failed)
        except BaseException as error:  # noqa: BLE001 - the next writes still need this thread; these are in the ledger
            logger.warning("%d pending writes could not be settled: %s", len(writes), type(error).__name__)
            failed = True
        with self._changed:
            self._count -= len(writes)
            self._failed = self._failed or failed
            self._changed.notify_all()


def _flush_at_exit() -> None:
    deadline = time.monotonic() + EXIT_S
    for background in list(_all):
        if not background.wait(max(0.0, deadline - time.monotonic())):
            logger.warning("the process ends with writes pending; the next start judges them")


# By the time of `atexit`, executors refuse new work, and a verifier that uses one would fail. They hear of the end by
# this call of CPython's, which has no public name; where it is gone, what is left pending is safe in the ledger.
getattr(threading, "_register_atexit", atexit.register)(_flush_at_exit)
