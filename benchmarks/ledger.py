"""Microseconds a claim, decide and complete of a ledger, beside a bare INSERT and commit of the same report.

One writer on SQLite with each level of syncing; then many processes at once on SQLite and, where a server is named, on
Postgres, with a check that nothing was lost. Ledger and bare table are written in turns: both see the same disk.

Run: python benchmarks/ledger.py [--writes 1000] [--writers 16] [--folder PATH on the disk to measure]
     [--postgres postgresql://user@host/database]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path

from rich.console import Console
from rich.table import Table

from admission.ledger import Ledger, SqliteLedger, WriteIntent, fingerprint_of, open_ledger
from admission.ledger.sqlite_file import Synchronous
from admission.records import Finding, Judgment, Passage, Report

NAMESPACE = ("bench", "user-1")
STEPS = ("bare INSERT + commit", "claim", "decide", "complete", "claim of a known write")
WAIT_S = 120.0

Times = dict[str, list[float]]
Insert = Callable[[str], object]


def a_report(n: int) -> Report:
    """A report of usual size: six passages, three obligations with two judgments each (about 5 kB of JSON)."""
    passages = tuple(
        Passage(
            id=f"t{p}",
            turn_id=f"t{p}",
            position=p,
            role="user",
            text=f"Sentence {p} of talk {n}. " * 8,
            origin="conversation",
        )
        for p in range(6)
    )
    judgments = tuple(
        Judgment(
            verifier=v, view="citation_only", support=0.91, contradiction=0.02, label="supported", evidence=("t1",)
        )
        for v in ("entailment", "alignment")
    )
    findings = tuple(
        Finding(
            id=f"o{o}",
            text=f"Obligation {o} of memory {n}.",
            type="fact",
            label="supported",
            view="citation_only",
            evidence=("t1",),
            resolved_by="agreement",
            judgments=judgments,
        )
        for o in range(3)
    )
    return Report(
        id=f"w{n}",
        conversation="bench",
        namespace=NAMESPACE,
        memory=f"Memory {n}.",
        status="admitted",
        action="persist",
        passages=passages,
        obligations=findings,
        config_digest="c" * 64,
        input_digest=f"{n:064d}",
    )


def write_in_turns(ledger: Ledger, insert: Insert, writes: range) -> Times:
    """Microseconds of every step of every write."""
    times: Times = {step: [] for step in STEPS}

    def timed(step: str, call: Callable[..., object], *arguments: object, **named: object) -> None:
        start = time.perf_counter_ns()
        call(*arguments, **named)
        times[step].append((time.perf_counter_ns() - start) / 1000)

    for n in writes:
        value = {"content": f"Memory {n}."}
        fingerprint = fingerprint_of("thread", f"task-{n}", NAMESPACE, value, key=f"k{n}")
        intent = WriteIntent(fingerprint=fingerprint, namespace=NAMESPACE, key=f"k{n}", value=value)
        report = a_report(n)
        timed("bare INSERT + commit", insert, json.dumps(report.model_dump(mode="json")))
        timed("claim", ledger.claim, intent)
        timed("decide", ledger.decide, fingerprint, report, value)
        timed("complete", ledger.complete, fingerprint)
        timed("claim of a known write", ledger.claim, intent)
    return times


# -- the bare tables -------------------------------------------------------------------------------------------------


@contextmanager
def bare_sqlite(path: Path, synchronous: Synchronous) -> Iterator[Insert]:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=WAIT_S)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA synchronous = {synchronous}")
        db.execute("CREATE TABLE IF NOT EXISTS reports (id INTEGER PRIMARY KEY, body TEXT)")
        yield lambda body: db.execute("INSERT INTO reports (body) VALUES (?)", (body,))


@contextmanager
def bare_postgres(url: str) -> Iterator[Insert]:
    """A table in the ledger's own schema, which is there already."""
    from admission.ledger.postgres_server import connect, parse_address

    with connect(parse_address(url), WAIT_S) as db:
        yield lambda body: db.execute("INSERT INTO bare_reports (body) VALUES (%s)", (body,))


# -- many writers ----------------------------------------------------------------------------------------------------


_start: Barrier


def wait_at(start: Barrier) -> None:
    """Run first in each process: where it is to wait for the others."""
    global _start
    _start = start


def write_beside_others(url: str, bare: Path | None, writer: int, writes: int) -> Times:
    """One process of many: its writes, once all are ready."""
    insert = bare_postgres(url) if bare is None else bare_sqlite(bare, "FULL")
    with closing(open_ledger(url)) as ledger, insert as insert_one:
        ledger.head()
        _start.wait()
        return write_in_turns(ledger, insert_one, range(writer * writes, (writer + 1) * writes))


def measure_together(url: str, bare: Path | None, writers: int, writes: int) -> tuple[Times, float]:
    """Every step of all writers, and the seconds they took together."""
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Barrier(writers + 1)
    with ProcessPoolExecutor(writers, mp_context=spawn, initializer=wait_at, initargs=(start,)) as pool:
        processes = [pool.submit(write_beside_others, url, bare, n, writes) for n in range(writers)]
        start.wait()
        began = time.perf_counter()
        each = [process.result() for process in processes]
        seconds = time.perf_counter() - began
    check_that_nothing_is_lost(url, writers * writes)
    return {step: [taken for times in each for taken in times[step]] for step in STEPS}, seconds


def check_that_nothing_is_lost(url: str, writes: int) -> None:
    with closing(open_ledger(url)) as ledger:
        found = ledger.verify(ledger.head())
        told = {(entry.fingerprint, entry.kind) for entry in ledger.entries()}
        assert found.ok, found.problem
        assert found.entries == len(told) == 2 * writes, found.entries
        assert ledger.incomplete() == []


@contextmanager
def postgres_schema(url: str) -> Iterator[str]:
    """The URL of a new schema with a ledger and a bare table, dropped at the end."""
    import psycopg

    schema = f"admission_benchmark_{os.getpid()}"
    there = f"{url}{'&' if '?' in url else '?'}schema={schema}"
    try:
        open_ledger(there).close()
        with psycopg.connect(url) as db:
            db.execute(f"CREATE TABLE {schema}.bare_reports (id bigserial PRIMARY KEY, body text)")
        yield there
    finally:
        with psycopg.connect(url) as db:
            db.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


# -- tables ----------------------------------------------------------------------------------------------------------


def a_table(title: str, first: str) -> Table:
    table = Table(title=title)
    for heading in (first, "step", "p50 us", "p99 us", "x bare (p50)", "x bare (p99)"):
        table.add_column(heading, justify="left" if heading in {first, "step"} else "right")
    return table


def add_rows(table: Table, name: str, times: Times) -> None:
    whole = list(map(sum, zip(*(times[step] for step in STEPS[1:4]), strict=True)))
    bare = quantiles(times[STEPS[0]])
    for step, taken in [*times.items(), ("one write (three steps)", whole)]:
        middle, high = quantiles(taken)
        times_bare = (f"{middle / bare[0]:.2f}", f"{high / bare[1]:.2f}")
        table.add_row(name, step, f"{middle:.0f}", f"{high:.0f}", *times_bare)
    table.add_section()


def quantiles(taken: list[float]) -> tuple[float, float]:
    """Median and 99th percentile."""
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]


def one_writer(folder: Path, writes: int) -> Table:
    table = a_table(f"One writer, {writes} writes, SQLite {sqlite3.sqlite_version}", "synchronous")
    levels: tuple[Synchronous, ...] = ("FULL", "NORMAL")
    for synchronous in levels:
        path = folder / f"ledger-{synchronous}.db"
        with (
            closing(SqliteLedger(str(path), synchronous=synchronous)) as ledger,
            bare_sqlite(folder / f"bare-{synchronous}.db", synchronous) as insert,
        ):
            add_rows(table, synchronous, write_in_turns(ledger, insert, range(writes)))
        check_that_nothing_is_lost(f"sqlite:///{path}", writes)
    return table


def many_writers(folder: Path, postgres: str | None, writers: int, writes: int) -> Table:
    table = a_table(f"{writers} writers at once, {writes} writes each: nothing lost, nothing doubled", "ledger")

    def add(name: str, url: str, bare: Path | None) -> None:
        times, seconds = measure_together(url, bare, writers, writes)
        add_rows(table, f"{name}, {writers * writes / seconds:.0f} writes/s", times)

    add("SQLite", f"sqlite:///{folder / 'together.db'}", folder / "together-bare.db")
    if postgres is not None:
        with postgres_schema(postgres) as url:
            add("Postgres", url, None)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writes", type=int, default=1000, help="by each writer")
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--folder", type=Path, default=None, help="where the files go; default: a temporary folder")
    parser.add_argument("--postgres", default=None, help="a database to make a schema in; default: SQLite only")
    arguments = parser.parse_args()
    console = Console()
    console.width = max(console.width, 120)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        console.print(one_writer(folder, arguments.writes))
        console.print(many_writers(folder, arguments.postgres, arguments.writers, arguments.writes))


if __name__ == "__main__":
    main()
