"""Checks the cases blindly: which of the two answers a memory states is told without knowing which memory it is.

Run from the root of the repository: python examples/downstream/check.py [CASES.jsonl]
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from admission.evaluation.derivation.downstream import DownstreamCase, read_cases
from admission.eviction.answering.judges import NormalisedJudge
from admission.eviction.scoring import JudgeRequest
from admission.text import content_terms, terms

MOST_CHANGED = 0.5
"""Share of a memory's words that a minimal distortion may change."""


def stated(memory: str, answers: list[str]) -> list[int]:
    """Which of the answers the memory states."""
    marks = NormalisedJudge().marks([JudgeRequest("", answer, memory) for answer in answers])
    return [place for place, mark in enumerate(marks) if mark == "right"]


def problems(case: DownstreamCase, draw: random.Random) -> list[str]:
    """What is wrong with a case, in words."""
    memories, answers = [case.memory, case.distorted], [case.answer, case.distorted_answer]
    of_memory, of_answer = draw.sample((0, 1), 2), draw.sample((0, 1), 2)
    found = []
    for memory in of_memory:  # neither the order nor anything else says which is the exact one
        told = [of_answer[place] for place in stated(memories[memory], [answers[place] for place in of_answer])]
        if told != [memory]:
            found.append(f"memory {memories[memory]!r} states {[answers[place] for place in told]}")
    for memory in memories:
        if not set(content_terms(case.question)) & set(content_terms(memory)):
            found.append(f"the question shares no word with {memory!r}")
    exact, distorted = set(terms(case.memory)), set(terms(case.distorted))
    changed = len(exact ^ distorted) / (len(exact) + len(distorted))
    if changed > MOST_CHANGED:
        found.append(f"{changed:.0%} of the words differ: no minimal distortion")
    return found


def main() -> int:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("cases.jsonl")
    draw = random.Random(20)
    cases = read_cases(file)
    found = [(case.id, problem) for case in cases for problem in problems(case, draw)]
    for id, problem in found:
        print(f"{id}: {problem}")
    print(f"{len(cases)} cases, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
