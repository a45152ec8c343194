"""Microseconds a claim, decide and complete of the SQLite ledger, beside a bare INSERT and commit of the same report.

Run: python benchmarks/ledger.py [--writes 1000] [--folder PATH on the disk to measure]
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.table import Table

from admission.ledger import SqliteLedger, WriteIntent, fingerprint_of
from admission.ledger.sqlite_file import Synchronous
from admission.records import Finding, Judgment, Passage, Report

NAMESPACE = ("bench", "user-1")
STEPS = ("bare INSERT + commit", "claim", "decide", "complete", "claim of a known write")


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


def measure(folder: Path, synchronous: Synchronous, writes: int) -> dict[str, list[float]]:
    """Microseconds of every step of every write. The steps alternate, so that all see the same state of the disk."""
    times: dict[str, list[float]] = {step: [] for step in STEPS}

    def timed(step: str, call: Callable[..., object], *arguments: object, **named: object) -> None:
        start = time.perf_counter_ns()
        call(*arguments, **named)
        times[step].append((time.perf_counter_ns() - start) / 1000)

    with (
        closing(SqliteLedger(str(folder / f"ledger-{synchronous}.db"), synchronous=synchronous)) as ledger,
        closing(sqlite3.connect(folder / f"bare-{synchronous}.db", isolation_level=None)) as bare,
    ):
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute(f"PRAGMA synchronous = {synchronous}")
        bare.execute("CREATE TABLE reports (id INTEGER PRIMARY KEY, body TEXT)")
        for n in range(writes):
            value = {"content": f"Memory {n}."}
            fingerprint = fingerprint_of("thread", f"task-{n}", NAMESPACE, value, key=f"k{n}")
            intent = WriteIntent(fingerprint=fingerprint, namespace=NAMESPACE, key=f"k{n}", value=value)
            report = a_report(n)
            body = json.dumps(report.model_dump(mode="json"))
            timed("bare INSERT + commit", bare.execute, "INSERT INTO reports (body) VALUES (?)", (body,))
            timed("claim", ledger.claim, intent)
            timed("decide", ledger.decide, fingerprint, report, value, quarantined=False)
            timed("complete", ledger.complete, fingerprint)
            timed("claim of a known write", ledger.claim, intent)
        found = ledger.verify(ledger.head())
        assert found.ok and found.entries == 2 * writes
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=int, default=1000)
    parser.add_argument("--folder", type=Path, default=None, help="where the files go; default: a temporary folder")
    arguments = parser.parse_args()
    table = Table(title=f"SQLite ledger, {arguments.writes} writes, SQLite {sqlite3.sqlite_version}")
    for heading in ("synchronous", "step", "median us", "p99 us", "x bare"):
        table.add_column(heading, justify="left" if heading in {"synchronous", "step"} else "right")
    levels: tuple[Synchronous, ...] = ("FULL", "NORMAL")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for synchronous in levels:
            times = measure(Path(folder), synchronous, arguments.writes)
            bare = statistics.median(times[STEPS[0]])
            for step, taken in times.items():
                median, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
                table.add_row(synchronous, step, f"{median:.0f}", f"{p99:.0f}", f"{median / bare:.2f}")
            whole = statistics.median(map(sum, zip(*(times[s] for s in STEPS[1:4]), strict=True)))
            table.add_row(synchronous, "one write (three steps)", f"{whole:.0f}", "", f"{whole / bare:.2f}")
            table.add_section()
    Console().print(table)


if __name__ == "__main__":
    main()
