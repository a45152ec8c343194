"""Adding a turn and searching: the postings index beside a rebuild of rank_bm25.BM25Okapi for each write.

Run: python benchmarks/evidence.py [TURNS ...]        (default 1000 10000 100000)
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from itertools import accumulate

from rank_bm25 import BM25Okapi
from rich.console import Console
from rich.table import Table

from admission.bm25 import Bm25Index
from admission.evidence import expanded_view
from admission.history import Timeline
from admission.records import Candidate, Turn
from admission.text import content_words, index_terms, words

WORDS_A_TURN = 20
VOCABULARY = 30_000
WRITES = 30
MEMORY_WORDS = 12


def texts(count: int, seed: int = 7) -> list[str]:
    """Made-up turns whose word frequencies fall off as those of a language do (Zipf)."""
    choose = random.Random(seed)
    vocabulary = [f"word{i}" for i in range(VOCABULARY)]
    weights = list(accumulate(1 / (rank + 2) for rank in range(VOCABULARY)))
    return [" ".join(choose.choices(vocabulary, cum_weights=weights, k=WORDS_A_TURN)) for _ in range(count)]


def median_ms(action: Callable[[int], object], times: int) -> float:
    spent = []
    for i in range(times):
        start = time.perf_counter()
        action(i)
        spent.append((time.perf_counter() - start) * 1000)
    return statistics.median(spent)


def measure(turns: int) -> tuple[float, float, float, float]:
    """Milliseconds: add + search, rebuild + search on ready tokens, the same with tokenising, turn to view."""
    corpus = texts(turns + WRITES)
    memories = [" ".join(text.split()[:MEMORY_WORDS]) for text in texts(WRITES, seed=8)]
    tokens = [index_terms(words(text)) for text in corpus]
    queries = [index_terms(content_words(memory)) for memory in memories]
    index = Bm25Index()
    for document in tokens[:turns]:
        index.add(document)

    def postings(i: int) -> object:
        index.add(tokens[turns + i])
        return index.search(queries[i], len(index), 12)

    def rebuild(i: int) -> object:
        return BM25Okapi(tokens[: turns + i + 1]).get_scores(queries[i])

    def rebuild_from_text(i: int) -> object:
        return BM25Okapi([index_terms(words(text)) for text in corpus[: turns + i + 1]]).get_scores(queries[i])

    rebuilds = 3 if turns >= 100_000 else 5
    timeline = Timeline("benchmark", (turn(i, text) for i, text in enumerate(corpus[:turns])))

    def view(i: int) -> object:
        history = timeline.extend([turn(turns + i, corpus[turns + i])])
        candidate = Candidate(id="w", conversation="benchmark", namespace=("n",), memory=memories[i])
        return expanded_view(history, candidate)

    return (
        median_ms(postings, WRITES),
        median_ms(rebuild, rebuilds),
        median_ms(rebuild_from_text, rebuilds),
        median_ms(view, WRITES),
    )


def turn(number: int, text: str) -> Turn:
    return Turn(id=f"t{number}", role="user", speaker="Ana", text=text, origin="conversation")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("turns", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    table = Table(title="add one turn and search; rebuild / postings; one turn added and its expanded view")
    for heading in ("turns", "postings", "rebuild", "ratio", "rebuild from text", "ratio", "view"):
        table.add_column(heading, justify="right")
    for turns in parser.parse_args().turns:
        ours, rebuilt, from_text, view = measure(turns)
        table.add_row(
            f"{turns:,}",
            f"{ours:.3f} ms",
            f"{rebuilt:,.1f} ms",
            f"{rebuilt / ours:,.0f}x",
            f"{from_text:,.1f} ms",
            f"{from_text / ours:,.0f}x",
            f"{view:.3f} ms",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
