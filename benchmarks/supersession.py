"""Supersession on the labelled pairs, over a file of recorded facts, and its cost a write by size of the namespace.

python benchmarks/supersession.py pairs [--judge]        precision and recall, both halves; with the embedded verifier
python benchmarks/supersession.py locomo FILE            all ordered pairs of a conversation's observations: what fires
python benchmarks/supersession.py cost [SIZE ...]        CPU milliseconds a write, by memories in the namespace
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from admission.evaluation.statistics import proportion
from admission.gate import AdmissionGate
from admission.history import History
from admission.ledger import Ledger, WriteIntent, fingerprint_of, open_ledger
from admission.records import Obligation, Passage, Question, Report
from admission.settings import load_settings
from admission.supersession.change import change_said, when
from admission.supersession.conflict import conflict
from admission.supersession.statement import read_statement
from admission.verifiers import build_verifier
from graph_nodes.superseding import Superseding

TESTS = Path(__file__).parents[1] / "tests" / "supersession"
sys.path.append(str(TESTS))

from labelled_pairs import NAMESPACE, admitted, judged, pairs, turn  # noqa: E402

WRITES = 30


def print_pairs(with_judge: bool) -> None:
    """Precision and recall of both halves: of what the words decide, and of all that would be superseded."""
    table = Table(title="supersession on labelled pairs (95 % intervals: exact)")
    for heading in ("part", "pairs", "supersede", "asked a judge", "fired", "wrong", "precision", "recall"):
        table.add_column(heading, justify="right")
    for part in ("dev", "heldout", "fresh"):
        listed = pairs(part)
        found = {pair.id: judged(pair) for pair in listed}
        asked = {id: f.ask for id, f in found.items() if f is not None and f.ask is not None}
        contradicted = contradictions(asked) if with_judge else set()
        fired = [p for p in listed if found[p.id] is not None and (p.id not in asked or p.id in contradicted)]
        right = sum(pair.supersedes for pair in fired)
        positive = sum(pair.supersedes for pair in listed)
        for pair in listed:
            if pair.supersedes != (pair in fired):
                print(f"{'missed' if pair.supersedes else 'WRONG'} {pair.id} ({pair.kind}): {pair.old} | {pair.new}")
        numbers = (len(listed), positive, len(asked), len(fired), len(fired) - right)
        table.add_row(part, *map(str, numbers), share(right, len(fired)), share(right, positive))
    Console(width=120).print(table)


def contradictions(asked: dict[str, tuple[str, str]]) -> set[str]:
    """Which of the questions the embedded entailment verifier finds contradicted."""
    verifier = build_verifier("entailment")
    questions = []
    for old, instead in asked.values():
        shown = Passage(id="old", turn_id="old", position=0, role="user", text=old, origin="conversation")
        obligation = Obligation(id="o1", text=instead, type="fact")
        questions.append(Question(obligation=obligation, memory=instead, view="citation_only", passages=(shown,)))
    return {
        id for id, judgment in zip(asked, verifier.judge(questions), strict=True) if judgment.label == "contradicted"
    }


def share(right: int, of: int) -> str:
    found = proportion(right, of)
    return f"{right}/{of} [{found.low or 0:.2f}, {found.high or 0:.2f}]"


def print_locomo(file: Path) -> None:
    """Every observation of a conversation against every earlier one: how many conflict, and which would supersede."""
    held, texts, conflicts, fired = 0, 0, 0, 0
    for conversation in json.loads(file.read_text(encoding="utf-8")):
        facts = [(read_statement(text), said) for text, said in observations(conversation)]
        texts += len(facts)
        for place, (new, said) in enumerate(facts):
            for old, earlier in facts[:place]:
                if new is None or old is None or not said or not earlier:
                    continue
                held += 1
                found = conflict(old, new)
                if found is None:
                    continue
                conflicts += 1
                if change_said(found, old, new, said, when(earlier[-1])) is not None:
                    fired += 1
                    print(f"fires: {old.text} | {new.text} | {said[-1].text}")
    print(f"{texts:,} observations, {held:,} pairs held against each other, {conflicts} conflicts, {fired} fire")


def observations(conversation: dict[str, Any]) -> list[tuple[str, list[Passage]]]:
    """The observations of one LoCoMo conversation with the turns they name, in order of sessions."""
    spoken: dict[str, Passage] = {}
    found: list[tuple[str, list[Passage]]] = []
    talk = conversation["conversation"]
    for number in count(1):
        if f"session_{number}" not in talk:
            return found
        told = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").isoformat()
        for said in talk[f"session_{number}"]:
            spoken[said["dia_id"]] = Passage(
                id=said["dia_id"], turn_id=said["dia_id"], position=len(spoken), role="user", speaker=said["speaker"],
                time=told, text=said["text"], origin="conversation",
            )  # fmt: skip
        for facts in conversation["observation"].get(f"session_{number}_observation", {}).values():
            for text, ids in facts:
                named = [ids] if isinstance(ids, str) else ids
                found.append((text, [spoken[id] for id in named if id in spoken]))


def print_cost(sizes: list[int]) -> None:
    """What a write costs more with supersession: the list, the texts, the few candidates; no judge is asked."""
    table = Table(title=f"supersession of one admitted write, CPU, median of {WRITES}, SQLite in memory")
    for heading in ("memories in the namespace", "no conflict", "one superseded"):
        table.add_column(heading, justify="right")
    for size in sizes:
        table.add_row(f"{size:,}", f"{cost(size, changes=False):.2f} ms", f"{cost(size, changes=True):.2f} ms")
    Console().print(table)


def cost(size: int, *, changes: bool) -> float:
    """Median CPU milliseconds of `Superseding.noted` for a write to a namespace of `size` memories."""
    ledger = open_ledger("sqlite://")
    settings = load_settings()
    gate = AdmissionGate(settings)
    said = turn("t2", "I no longer drink coffee.", "Ana")
    first = turn("t1", "I drink coffee.", "Ana")
    before = admitted("", first, History.of("talk", [first]))
    for number in range(size - 1):
        stored(ledger, f"k{number}", f"Ana keeps {number} stamps from {1800 + number % 200} in album {number}.", before)
    stored(ledger, "old", "Ana drinks coffee." if changes else "Ana drinks water.", before)
    history = History.of("talk", [first, said])
    report = admitted("Ana no longer drinks coffee.", said, history)
    superseding = Superseding(gate, ledger, settings.writes)
    intent = intent_of("new", report.memory)
    spent = []
    for _ in range(WRITES):
        start = time.process_time()
        noted = superseding.noted(intent, report, history)
        spent.append((time.process_time() - start) * 1000)
        assert (len(noted.reasons) > 0) is changes
    return statistics.median(spent)


def stored(ledger: Ledger, key: str, memory: str, report: Report) -> None:
    intent = intent_of(key, memory)
    ledger.claim(intent)
    ledger.decide(intent.fingerprint, report.model_copy(update={"memory": memory}), intent.value)
    ledger.complete(intent.fingerprint)


def intent_of(key: str, memory: str) -> WriteIntent:
    value = {"content": memory}
    fingerprint = fingerprint_of("talk", None, NAMESPACE, value, 0, key=key)
    return WriteIntent(fingerprint=fingerprint, namespace=NAMESPACE, key=key, value=value, thread="talk")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("pairs").add_argument("--judge", action="store_true")
    commands.add_parser("locomo").add_argument("file", type=Path)
    commands.add_parser("cost").add_argument("sizes", nargs="*", type=int, default=[10, 200, 1_000])
    given = parser.parse_args()
    if given.command == "pairs":
        print_pairs(given.judge)
    elif given.command == "locomo":
        print_locomo(given.file)
    else:
        print_cost(given.sizes)


if __name__ == "__main__":
    main()
