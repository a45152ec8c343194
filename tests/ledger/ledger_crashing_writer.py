"""A program that carries one write through ledger and store and is killed at a given step (run by test_ledger_crash).

For n = 1, 2, ... it forks a child that works on the n-th ledger and store and dies by SIGKILL right before its n-th
step. A step is a statement sent to the ledger's or the store's database, or the return of a ledger call. It ends with
the first child that gets through, and prints how many were killed. Arguments: a folder, the URL of a ledger with {n} in
it, and "held" for a write that is restored from quarantine.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import psycopg
from ledger_records import HELD, MARKED, a_report, an_intent
from store_file import put

from admission.ledger import open_ledger

LIMIT = 200


class Countdown:
    def __init__(self, steps: int) -> None:
        self.left = steps

    def step(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def watch_databases(countdown: Countdown) -> None:
    connect, wait = sqlite3.connect, psycopg.Connection.wait

    def traced(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        db = connect(*args, **kwargs)
        db.set_trace_callback(countdown.step)
        return db

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        countdown.step()
        return wait(self, *args, **kwargs)

    sqlite3.connect = traced  # type: ignore[assignment]
    psycopg.Connection.wait = counted  # type: ignore[method-assign]


def write_once(folder: Path, url: str, countdown: Countdown, held: bool) -> None:
    watch_databases(countdown)
    intent = an_intent()
    ledger = open_ledger(url)
    countdown.step()
    ledger.claim(intent)
    countdown.step()
    ledger.hold(intent.fingerprint)
    countdown.step()
    if held:
        ledger.decide(intent.fingerprint, HELD, None)
        countdown.step()
        record = ledger.restore(intent.fingerprint, by="Ada", why="the user confirmed it")
    else:
        record = ledger.decide(intent.fingerprint, a_report(), MARKED)
    countdown.step()
    put(folder / "store.db", record)
    countdown.step()
    ledger.complete(intent.fingerprint)
    countdown.step()
    ledger.close()


def main(folder: Path, url: str, held: bool) -> int:
    for n in range(1, LIMIT):
        place = folder / str(n)
        place.mkdir()
        child = os.fork()
        if child == 0:
            write_once(place, url.format(n=n), Countdown(n), held)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            print(n - 1)  # noqa: T201
            return 0
        if code != -signal.SIGKILL:
            return 1
    return 2


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "held"))
