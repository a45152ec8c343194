"""Valid retention and unsupported admission of the gate on recorded writes and their minimally edited twins.

    python benchmarks/admission_rates.py --writes writes_dev.jsonl --twins negatives_dev.jsonl [--config F] [--out DIR]

A twin is one JSON object a line: `memory`, `edit`, and `of`, the id of the write whose turns, citations and position it
takes. The data stays where the user has it; only counts are printed. With `--out` the reports are kept there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from admission.conversations import read_conversations
from admission.gate import AdmissionGate
from admission.history import History, Timeline
from admission.records import Candidate, Report
from admission.settings import load_settings

VALID = {"admitted", "repaired", "admitted_or_repaired"}
KEPT = {"admitted", "repaired"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=Path, required=True)
    parser.add_argument("--twins", type=Path)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    gate = AdmissionGate(load_settings(arguments.config))
    kinds: dict[str, str] = {}
    candidates = list(_candidates(arguments.writes, arguments.twins, gate, kinds))
    began = time.perf_counter()
    reports = list(gate.decide_many(candidates))
    seconds = time.perf_counter() - began
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({**report.model_dump(mode="json"), "kind": kinds[report.id]}) for report in reports)
        (arguments.out / "reports.jsonl").write_text("\n".join(lines) + "\n")
    _print_rates(reports, kinds)
    print(f"{len(reports)} writes in {seconds:.1f} s: {len(reports) / seconds:.2f} a second")


def _candidates(
    writes: Path, twins: Path | None, gate: AdmissionGate, kinds: dict[str, str]
) -> Iterator[tuple[Candidate, History]]:
    known: dict[str, tuple[Candidate, History]] = {}
    for conversation in read_conversations(writes):
        timeline = Timeline(conversation.id, conversation.turns, passage_chars=gate.settings.evidence.passage_chars)
        for write in conversation.writes:
            known[write.id] = (conversation.candidate(write), timeline.before(write.written_after))
            reference = (write.reference or {}).get("status", "unlabelled")
            kinds[write.id] = "valid" if reference in VALID else f"reference {reference}"
            if reference == "repaired":
                kinds[write.id] = "valid (repaired)"
            yield known[write.id]
    if twins is None:
        return
    for number, line in enumerate(twins.read_text().splitlines()):
        twin = json.loads(line)
        candidate, history = known[twin["of"]]
        id = f"twin-{number}"
        kinds[id] = f"twin {twin['edit']}"
        yield candidate.model_copy(update={"id": id, "memory": twin["memory"]}), history


def _print_rates(reports: list[Report], kinds: dict[str, str]) -> None:
    statuses: dict[str, Counter[str]] = defaultdict(Counter)
    for report in reports:
        statuses[kinds[report.id]][report.status] += 1
    for kind, counts in sorted(statuses.items()):
        kept = sum(counts[status] for status in KEPT)
        print(f"{kind:28} n {counts.total():4}  kept {kept / counts.total():.3f}  {dict(counts)}")
    for name, prefixes in {"valid retention": ("valid",), "unsupported admission": ("reference", "twin")}.items():
        counts = sum((c for kind, c in statuses.items() if kind.startswith(prefixes)), Counter[str]())
        if counts:
            kept = sum(counts[status] for status in KEPT)
            print(f"{name}: {kept}/{counts.total()} = {kept / counts.total():.3f}")


if __name__ == "__main__":
    main()
