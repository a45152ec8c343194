"""What a search costs through the read gate, beside the same search of the store beneath, in one run.

    python benchmarks/recall_overhead.py [--items 10000] [--elsewhere 0 100000] [--repeats 60] [--stores memory sqlite]

One principal has `--items` memories, others have `--elsewhere` more. The store is filled directly and the ledger by its
own calls, as if all had been admitted. Raw and gated searches take turns; each figure is the median of `--repeats`, in
processor time of the whole process, which other load on the machine moves little. Waiting for a disk is no part of it:
what writing the trace makes a search wait is given as time on the clock. Kinds of search, for 10 memories each:
`vector` (the query is compared with every memory of the namespace; embedding it costs next to nothing), `filter` (every
memory is looked at), `list` (no query: the first ones). `first`: the ledger is open, but has looked up none of these
memories yet. `excl.`: every seventh memory is forgotten.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from admission.gate import AdmissionGate
from admission.ledger import Ledger, SqliteLedger, WriteIntent
from admission.metadata import Lifecycle, LifecycleState, RecordMetadata
from admission.reading.context import QueryContext
from admission.records import Report
from admission.settings import load_settings
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes import AdmissionStore
from graph_nodes.principals import reading_as

DIMENSIONS = 64
MINE = ("memories", "ana")
KEPT_BACK = 7
"""Of the gated figures with exclusions: every so many-th memory is forgotten."""


class ChecksumEmbeddings(Embeddings):
    """Counts words by a checksum. It costs next to nothing, so that the search itself is what is measured."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = [0.0] * DIMENSIONS
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
        return vector


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--elsewhere", type=int, nargs="+", default=[0, 100_000])
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--stores", nargs="+", default=["memory", "sqlite"], choices=["memory", "sqlite"])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    heads = f"{'raw µs':>9} {'gated µs':>9} {'ratio':>6} {'first':>6} {'traced':>6} {'excl.':>6} {'wait µs':>8}"
    print(f"{'store':<8} {'elsewhere':>9} {'search':<7} {heads}")
    with tempfile.TemporaryDirectory() as folder:
        filled = Path(folder) / "filled.db"
        keys = _filled_ledger(filled, arguments.items)
        for kind in arguments.stores:
            for elsewhere in arguments.elsewhere:
                for row in _measure(kind, filled, keys, elsewhere, arguments.repeats):
                    rows.append(row)
                    named = ("ratio", "first_ratio", "traced_ratio", "exclusions_ratio")
                    ratios = " ".join(f"{row[name]:>6.2f}" for name in named)
                    costs = f"{row['raw']:>9.0f} {row['gated']:>9.0f} {ratios} {row['wait']:>8.0f}"
                    print(f"{kind:<8} {elsewhere:>9} {row['search']:<7} {costs}", flush=True)
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


def _filled_ledger(file: Path, items: int) -> list[str]:
    """A ledger in which so many memories were admitted; their keys."""
    keys = [f"k{number}" for number in range(items)]
    with closing(SqliteLedger(str(file), synchronous="NORMAL")) as ledger:  # it need not survive a power cut
        for number, key in enumerate(keys):
            _admit(ledger, key, _value(number))
    return keys


def _measure(kind: str, filled: Path, keys: list[str], elsewhere: int, repeats: int) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, _store(kind, Path(folder)) as raw:
        file = shutil.copy(filled, folder)
        ledger = SqliteLedger(file)
        _fill(raw, keys, elsewhere)
        plain, traced = _guard(raw, ledger, trace=False), _guard(raw, ledger, trace=True)
        searches: dict[str, dict[str, Any]] = {"list": {}, "filter": {"filter": {"kind": "pet"}}}
        if kind == "memory":
            searches = {"vector": {"query": "where does ana keep number 77"}, **searches}
        question = QueryContext(query="", question_id="q", principal="ana", namespace=MINE)

        def gated(store: AdmissionStore, how: dict[str, Any]) -> Callable[[], object]:
            return lambda: store.search(MINE, limit=10, **how)

        found: dict[str, dict[str, Any]] = {}
        with reading_as(question):
            for name, how in searches.items():
                raw_us, gated_us, traced_us = _medians(
                    [lambda how=how: raw.search(MINE, limit=10, **how), gated(plain, how), gated(traced, how)], repeats
                )
                other = next(more for known, more in searches.items() if known != name and known != "vector")
                first_us = _first(raw, file, how, other, repeats)
                found[name] = {"store": kind, "items": len(keys), "elsewhere": elsewhere, "search": name, "raw": raw_us,
                               "gated": gated_us, "first": first_us, "traced": traced_us, "ratio": gated_us / raw_us,
                               "first_ratio": first_us / raw_us, "traced_ratio": traced_us / raw_us}  # fmt: skip
            waited, traced_wait = _medians([gated(plain, {}), gated(traced, {})], repeats, time.perf_counter)
            for key in keys[::KEPT_BACK]:
                ledger.annotate(MINE, key, _metadata(MINE, "forgotten"), by="benchmark", why="to be kept back")
            for name, how in searches.items():
                raw_us, kept_us = _medians(
                    [lambda how=how: raw.search(MINE, limit=10, **how), gated(plain, how)], repeats
                )
                more = {"exclusions": kept_us, "exclusions_ratio": kept_us / raw_us, "wait": traced_wait - waited}
                yield found[name] | more
        ledger.close()


def _first(raw: BaseStore, file: str, how: dict[str, Any], other: dict[str, Any], repeats: int) -> float:
    """Median microseconds of a search that comes after one other, for other memories, in a ledger opened for it."""
    times = []
    for _ in range(repeats):
        with closing(SqliteLedger(file)) as ledger:
            guard = _guard(raw, ledger, trace=False)
            guard.recover()
            guard.search(MINE, limit=10, **other)
            began = time.process_time()
            guard.search(MINE, limit=10, **how)
            times.append(time.process_time() - began)
    return statistics.median(times) * 1e6


@contextmanager
def _store(kind: str, folder: Path) -> Iterator[BaseStore]:
    if kind == "memory":
        yield InMemoryStore(index={"dims": DIMENSIONS, "embed": ChecksumEmbeddings(), "fields": ["content"]})
        return
    with SqliteStore.from_conn_string(str(folder / "memories.db")) as store:
        store.setup()
        yield store


def _guard(raw: BaseStore, ledger: Ledger, *, trace: bool) -> AdmissionStore:
    judges = [ScriptedVerifier(name, lambda question: (0.0, 0.0)) for name in ("a", "b")]
    settings = load_settings(overrides={"reading": {"policy_default": "allow", "trace": trace}})
    return AdmissionStore(raw, gate=AdmissionGate(settings, verifier_a=judges[0], verifier_b=judges[1]), ledger=ledger)


def _fill(raw: BaseStore, keys: list[str], elsewhere: int) -> None:
    """The memories in one namespace, and `elsewhere` more over 100 others."""
    puts = [PutOp(MINE, key, _value(number)) for number, key in enumerate(keys)]
    puts += [PutOp(("memories", f"other{n % 100}"), f"k{n}", _value(n)) for n in range(elsewhere)]
    for start in range(0, len(puts), 1000):
        raw.batch(puts[start : start + 1000])


def _value(number: int) -> dict[str, Any]:
    kind = "pet" if number % 50 == 0 else "home"
    return {"content": f"Ana keeps number {number} in drawer {number % 97} of room {number % 13}.", "kind": kind}


def _admit(ledger: Ledger, key: str, value: dict[str, Any]) -> None:
    intent = WriteIntent(fingerprint=f"write-{key}", namespace=MINE, key=key, value=value)
    report = Report(id=key, conversation="c", namespace=MINE, memory=value["content"], status="admitted",
                    action="persist", config_digest="none", input_digest=key)  # fmt: skip
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, report, value, metadata=_metadata(MINE, "current"))
    ledger.complete(intent.fingerprint)


def _metadata(namespace: tuple[str, ...], state: LifecycleState) -> RecordMetadata:
    return RecordMetadata(namespace=namespace, lifecycle=Lifecycle(state=state), created_at="2026-01-01T00:00:00+00:00")


def _medians(
    works: list[Callable[[], object]], repeats: int, clock: Callable[[], float] = time.process_time
) -> list[float]:
    """Median microseconds of each; they take turns."""
    times: list[list[float]] = [[] for _ in works]
    for round in range(repeats + 2):
        for place, work in enumerate(works):
            began = clock()
            work()
            if round >= 2:  # the first ones warm up
                times[place].append(clock() - began)
    return [statistics.median(one) * 1e6 for one in times]


if __name__ == "__main__":
    main()
