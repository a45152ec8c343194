"""Matched families through the gate: what is kept of each cell, by target; the same from reports made before.

    python -m benchmarks.family_rates examples/families/families.jsonl [--config F] [--reports FILE] [--json FILE]

Valid cells should be kept (admitted or repaired), invalid ones not. Families in other languages than English are
counted apart: the embedded verifiers abstain on them. With `--reports` the reports are kept there, one a line.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

from admission.conversations import read_conversations
from admission.gate import AdmissionGate
from admission.history import Timeline
from admission.settings import load_settings

CELLS = ("local_valid", "local_invalid", "distributed_valid", "distributed_invalid")
KEPT = {"admitted", "repaired"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", type=Path)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--reports", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    gate = AdmissionGate(load_settings(arguments.config))
    cases, about = [], []
    languages = _languages(arguments.families)
    for conversation in read_conversations(arguments.families):
        timeline = Timeline(conversation.id, conversation.turns, passage_chars=gate.settings.evidence.passage_chars)
        for write in conversation.writes:
            reference = write.reference or {}
            cases.append((conversation.candidate(write), timeline.before(write.written_after)))
            about.append((reference["cell"], reference["target"], languages[conversation.id]))
    reports = list(gate.decide_many(cases))
    if arguments.reports is not None:
        arguments.reports.write_text("\n".join(report.model_dump_json() for report in reports) + "\n")
    kept: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for report, (cell, target, language) in zip(reports, about, strict=True):
        group = target if language == "en" else f"({language})"
        for name in (group, "all" if language == "en" else "other languages"):
            kept[name][cell].append(report.status in KEPT)
    table = {
        name: {cell: {"n": len(cells[cell]), "kept": sum(cells[cell])} for cell in CELLS}
        for name, cells in sorted(kept.items())
    }
    print(f"{'':26}" + "".join(f"{cell:>22}" for cell in CELLS))
    for name, cells in table.items():
        print(f"{name:26}" + "".join(f"{cells[cell]['kept']:>18}/{cells[cell]['n']:<3}" for cell in CELLS))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(table, indent=1) + "\n")


def _languages(path: Path) -> dict[str, str]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return {row["id"]: row.get("language", "en") for row in rows}


if __name__ == "__main__":
    main()
