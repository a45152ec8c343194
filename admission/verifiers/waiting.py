"""Waiting for a call no longer than allowed, without being held up by one that never returns."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(limit: float, call: Callable[[], T]) -> T:
    """What `call` returns, or TimeoutError after `limit` seconds.

    The thread is a daemon: a call that never comes back must not keep the process alive.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            outcome.set_exception(error)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
    return outcome.result(timeout=limit)
