"""Milliseconds a put takes through the guarded store, beside the same put on the raw store, with many writers at once.

Each of the processes writes in turns: one put through an AdmissionStore (ledger and memory store on disk, verifiers
that answer at once, blocking mode), one on a raw store of the same kind. Afterwards every memory has to be there once,
with one report, and the ledger has to verify.

Run: python benchmarks/store_writers.py [--writers 16] [--writes 1000] [--postgres postgresql://user@host/database]
     [--sqlite no]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path

from langchain_core.messages import HumanMessage
from langgraph.store.base import BaseStore
from langgraph.store.sqlite import SqliteStore

from admission.gate import AdmissionGate
from admission.ledger import open_ledger
from admission.settings import load_settings
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes import AdmissionStore, conversation

SAID = "Ana moved to Lisbon in May."
WAIT_S = 900.0
Times = tuple[list[float], list[float]]

_start: Barrier


def wait_at(start: Barrier) -> None:
    """Run first in each process: where it is to wait for the others."""
    global _start
    _start = start


@contextmanager
def raw_store(place: str) -> Iterator[BaseStore]:
    """The store at a path, or in a schema of a Postgres database (`url#schema`)."""
    if not place.startswith("postgres"):
        with closing(sqlite3.connect(place, check_same_thread=False, isolation_level=None, timeout=WAIT_S)) as db:
            store = SqliteStore(db)
            store.setup()
            yield store
        return
    from langgraph.store.postgres import PostgresStore
    from psycopg import Connection
    from psycopg.rows import dict_row

    url, schema = place.split("#")
    options = f"-c search_path={schema}"
    with Connection.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row, options=options) as on:
        postgres = PostgresStore(on)
        postgres.setup()
        yield postgres


def a_gate() -> AdmissionGate:
    judges = [ScriptedVerifier(name, lambda question: (1.0, 0.0)) for name in ("first", "second", "third")]
    return AdmissionGate(load_settings(), verifier_a=judges[0], verifier_b=judges[1], adjudicator=judges[2])


def write(ledger_url: str, guarded: str, raw: str, writer: int, writes: int) -> Times:
    """One process of many: seconds of each put through the gate, and of each on the raw store."""
    through, beside = list[float](), list[float]()
    with ExitStack() as stack:
        ledger = stack.enter_context(closing(open_ledger(ledger_url)))
        inner, other = stack.enter_context(raw_store(guarded)), stack.enter_context(raw_store(raw))
        store = AdmissionStore(inner, gate=a_gate(), ledger=ledger)
        store.batch([])
        talk = [HumanMessage(SAID, id="m1")]
        _start.wait()
        for n in range(writes):
            value = {"content": SAID, "number": writer * writes + n}
            with conversation(f"thread-{writer}", talk):
                began = time.perf_counter()
                store.put(("memories", f"user-{writer}"), f"k{n}", value)
                through.append(time.perf_counter() - began)
            began = time.perf_counter()
            other.put(("raw", f"user-{writer}"), f"k{n}", value)
            beside.append(time.perf_counter() - began)
    return through, beside


def measure(ledger_url: str, guarded: str, raw: str, writers: int, writes: int) -> tuple[Times, float]:
    """The seconds of all puts, and how long all took together. Raises where anything is lost or doubled."""
    open_ledger(ledger_url).close()
    for place in (guarded, raw):
        with raw_store(place):
            pass
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Barrier(writers + 1)
    with ProcessPoolExecutor(writers, mp_context=spawn, initializer=wait_at, initargs=(start,)) as pool:
        processes = [pool.submit(write, ledger_url, guarded, raw, n, writes) for n in range(writers)]
        start.wait()
        began = time.perf_counter()
        each = [process.result() for process in processes]
        seconds = time.perf_counter() - began
    check_that_nothing_is_lost(ledger_url, guarded, writers, writes)
    return ([t for times in each for t in times[0]], [t for times in each for t in times[1]]), seconds


def check_that_nothing_is_lost(ledger_url: str, guarded: str, writers: int, writes: int) -> None:
    with closing(open_ledger(ledger_url)) as ledger, raw_store(guarded) as store:
        reports = [report for _, report in ledger.reports()]
        assert len(reports) == len({report.id for report in reports}) == writers * writes, len(reports)
        assert ledger.incomplete() == [] and ledger.verify(ledger.head()).ok
        for writer in range(writers):
            found = store.search(("memories", f"user-{writer}"), limit=writes + 1)
            assert len({item.value["number"] for item in found}) == len(found) == writes, len(found)


def row(name: str, times: Times, seconds: float) -> str:
    (through, high), (raw, raw_high) = (quantiles(taken) for taken in times)
    rate = len(times[0]) / seconds
    puts = f"{through:.1f} / {high:.0f} | {raw:.1f} / {raw_high:.0f} | {through / raw:.1f} / {high / raw_high:.1f}"
    return f"| {name} | {len(times[0])} | {rate:.0f} | {puts} |"


def quantiles(taken: list[float]) -> tuple[float, float]:
    """Median and 99th percentile, in milliseconds."""
    return statistics.median(taken) * 1e3, statistics.quantiles(taken, n=100)[98] * 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--writes", type=int, default=1000, help="by each writer")
    parser.add_argument("--postgres", default=None, help="a database to make schemas in; default: SQLite only")
    parser.add_argument("--sqlite", choices=["yes", "no"], default="yes")
    arguments = parser.parse_args()
    size = arguments.writers, arguments.writes
    print("| ledger and store | puts | a second | through the gate, ms p50 / p99 | raw, ms p50 / p99 | times raw |")
    print("|---|--:|--:|--:|--:|--:|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.sqlite == "yes":
            places = f"sqlite:///{folder}/ledger.db", str(folder / "memories.db"), str(folder / "raw.db")
            print(row("SQLite", *measure(*places, *size)), flush=True)
        if arguments.postgres is not None:
            with schemas(arguments.postgres) as (ledger, guarded, raw):
                print(row("Postgres", *measure(ledger, guarded, raw, *size)), flush=True)
    return 0


@contextmanager
def schemas(url: str) -> Iterator[tuple[str, str, str]]:
    """A ledger and two places for stores, in new schemas that are dropped at the end."""
    import psycopg

    names = [f"admission_writers_{os.getpid()}_{what}" for what in ("ledger", "guarded", "raw")]
    with psycopg.connect(url, autocommit=True) as db:
        for name in names[1:]:
            db.execute(f"CREATE SCHEMA {name}")
    try:
        yield f"{url}?schema={names[0]}", f"{url}#{names[1]}", f"{url}#{names[2]}"
    finally:
        with psycopg.connect(url, autocommit=True) as db:
            for name in names:
                db.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


if __name__ == "__main__":
    sys.exit(main())
