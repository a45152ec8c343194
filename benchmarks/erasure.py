"""What metadata and erasures cost by the size of a ledger: reading the metadata of many keys, erasing one memory."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from admission.ledger import Ledger, SqliteLedger, WriteIntent, fingerprint_of
from admission.metadata import Lifecycle, RecordMetadata
from admission.records import Namespace, Passage, Report

SPACE: Namespace = ("memories", "ana")
KNOWN = RecordMetadata(namespace=SPACE, lifecycle=Lifecycle(state="current"))
_PASSAGES = 8


def write(ledger: Ledger, number: int) -> None:
    """One stored memory with a report of about 5 kB and metadata."""
    key, text = f"k{number}", f"Ana keeps note number {number} in the drawer of her desk."
    value = {"content": text}
    fingerprint = fingerprint_of("thread", "task", SPACE, value, key=key)
    passages = tuple(
        Passage(id=f"t{n}", turn_id=f"t{n}", position=n, role="user", origin="conversation",
                text=f"Turn {n} of the talk before note {number}. " * 12)
        for n in range(_PASSAGES)
    )  # fmt: skip
    report = Report(id=f"r{number}", conversation="c", namespace=SPACE, memory=text, status="admitted",
                    action="persist", passages=passages, config_digest="c", input_digest=f"i{number}")  # fmt: skip
    ledger.claim(WriteIntent(fingerprint=fingerprint, namespace=SPACE, key=key, value=value))
    ledger.decide(fingerprint, report, value, metadata=KNOWN)
    ledger.complete(fingerprint)


def seconds(call: Callable[[], object], times: int = 1) -> float:
    """The median processor time of so many calls, which a busy machine changes less than the time on the clock."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def measure(path: Path, size: int) -> str:
    """One row of the table: a ledger of so many writes."""
    ledger = SqliteLedger(str(path), synchronous="NORMAL")
    for number in range(size):
        write(ledger, number)
    few, many = ([(SPACE, f"k{number}") for number in range(min(count, size))] for count in (20, 100))
    reading = seconds(lambda: ledger.metadata(few), 50), seconds(lambda: ledger.metadata(many), 50)
    erasing = seconds(lambda: ledger.erase(SPACE, "k0", by="benchmark", why="to see what it takes"))
    checking = seconds(lambda: ledger.verify())
    ledger.close()
    size_mb = path.stat().st_size / 1e6
    milli = " | ".join(f"{1000 * one:.2f}" for one in reading)
    return f"| {size:,} | {size_mb:.1f} | {milli} | {erasing:.2f} | {checking:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=int, nargs="+", default=[100, 1000, 5000])
    print("| writes | file MB | metadata of 20 keys, ms | of 100 keys, ms | one erasure, s | verify, s |")
    print("|---|---|---|---|---|---|")
    for size in parser.parse_args().writes:
        with tempfile.TemporaryDirectory() as folder:
            print(measure(Path(folder, "ledger.db"), size), flush=True)


if __name__ == "__main__":
    main()
