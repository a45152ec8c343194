"""Microseconds a write costs outside the verifiers, beside a gate that rebuilds BM25 for every write.

    python benchmarks/gate_overhead.py [--turns 1000 10000 100000] [--writes 20]

Verifiers answer at once, so that what is left is the gate's own work: one new turn is added to the conversation, then
one memory is judged on both views. The rebuilding gate is counted for its index alone: rank-bm25 built anew from the
conversation's text for each write, and one query. Compare the ratio, not the seconds: machines differ.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable

from rank_bm25 import BM25Okapi

from admission.gate import AdmissionGate
from admission.history import Timeline
from admission.records import Candidate, Turn
from admission.settings import Settings
from admission.text import terms
from admission.verifiers.scripted import ScriptedVerifier

VOCABULARY = 20_000
WORDS_A_TURN = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--writes", type=int, default=20)
    arguments = parser.parse_args()
    print(f"{'turns':>8} {'gate µs':>10} {'rebuild µs':>12} {'rebuild of split text µs':>25} {'ratio':>8} {'ratio':>8}")
    for turns in arguments.turns:
        gate, rebuild, rebuild_split = _measure(turns, arguments.writes)
        print(
            f"{turns:>8} {gate:>10.0f} {rebuild:>12.0f} {rebuild_split:>25.0f} "
            f"{rebuild / gate:>8.1f} {rebuild_split / gate:>8.1f}"
        )


def _measure(turns: int, writes: int) -> tuple[float, float, float]:
    """Median microseconds of: this gate, the rebuilding gate, and the rebuilding gate with its words given."""
    chance = random.Random(turns)
    # Word frequencies fall off as in real text, so that common words have long posting lists.
    weights = [1 / (rank + 10) for rank in range(VOCABULARY)]
    names = [f"w{number}" for number in range(VOCABULARY)]

    def turn(number: int) -> Turn:
        text = " ".join(chance.choices(names, weights, k=WORDS_A_TURN))
        return Turn(id=f"t{number}", role="user", speaker="Ana", text=text, origin="conversation")

    conversation = [turn(number) for number in range(turns)]
    timeline = Timeline("conversation", conversation)
    gate = AdmissionGate(
        Settings(),
        verifier_a=ScriptedVerifier("a", lambda question: (0.0, 0.0)),
        verifier_b=ScriptedVerifier("b", lambda question: (0.0, 0.0)),
    )
    memory = " ".join(["Ana", *chance.choices(names, weights, k=10)]) + "."
    candidate = Candidate(id="m", conversation="conversation", namespace=("n",), memory=memory, citations=("t1",))
    gate.decide(candidate, timeline.before(None))

    def one_write(number: int) -> None:
        timeline.extend([turn(turns + number)])
        gate.decide(candidate, timeline.before(None))

    def rebuilt(number: int) -> None:
        BM25Okapi([terms(turn.text) for turn in conversation]).get_scores(terms(memory))

    split = [terms(turn.text) for turn in conversation]

    def rebuilt_from_words(number: int) -> None:
        BM25Okapi(split).get_scores(terms(memory))

    few = max(2, min(5, 200_000 // turns))
    return _median(one_write, writes), _median(rebuilt, few), _median(rebuilt_from_words, few)


def _median(work: Callable[[int], None], times: int) -> float:
    seconds = []
    for number in range(times):
        began = time.perf_counter()
        work(number)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds) * 1e6


if __name__ == "__main__":
    main()
