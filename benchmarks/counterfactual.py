"""Does support fall without its evidence? Flip rates of supported findings, by verifier and panel, and the price.

    python -m benchmarks.counterfactual --writes writes_dev.jsonl [--config F] [--limit N] [--json FILE]

The gate judges the writes twice, without and with the counterfactual check, each time in a process of its own, so that
neither run finds the other's answers in a cache; the first write warms it up. Of each finding that was supported before
the check: `flipped at once` is the share no longer supported once its evidence is removed, `flipped` the share after
what was named instead is removed too (at most twice), `on unrelated` the share still supported on unrelated passages.
The panel supports a counterfactual where all do whose word made the finding supported. Bars: flipped >= .95,
on unrelated <= .02. The price is in questions asked and in CPU time, which holds on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from admission.conversations import read_conversations
from admission.evaluation.statistics import proportion
from admission.gate import AdmissionGate
from admission.history import Timeline
from admission.records import Check, Finding, Judgment, Report
from admission.reports.text import proportion_cells
from admission.settings import load_settings

FLIPPED_AT_LEAST, UNRELATED_AT_MOST = 0.95, 0.02
PANEL = "panel"
TABLE_WIDTH = 104


@dataclass
class Tally:
    """Checked findings of one judge, or of the panel."""

    checked: int = 0
    flipped_at_once: int = 0
    flipped: int = 0
    on_unrelated: int = 0

    def add(self, removed: Sequence[bool], unrelated: bool) -> None:
        """One finding: whether it was supported at each removal, in their order, and on unrelated passages."""
        self.checked += 1
        self.flipped_at_once += not removed[0]
        self.flipped += not removed[-1]
        self.on_unrelated += unrelated


def judged(writes: Path, config: Path | None, limit: int, check: bool) -> tuple[list[Report], float]:
    """Reports on the first `limit` writes, and the CPU seconds of all but the first."""
    settings = load_settings(config)
    verification = settings.verification.model_copy(update={"counterfactual": check})
    gate = AdmissionGate(settings.model_copy(update={"verification": verification}))
    pairs = []
    for conversation in read_conversations(writes):
        timeline = Timeline(conversation.id, conversation.turns, passage_chars=settings.evidence.passage_chars)
        pairs += [(conversation.candidate(w), timeline.before(w.written_after)) for w in conversation.writes]
    reports = list(gate.decide_many(pairs[:1]))
    began = time.process_time()
    reports += gate.decide_many(pairs[1:limit])
    return reports, time.process_time() - began


def tallies(findings: Iterable[Finding]) -> dict[str, Tally]:
    """By verifier and for the panel, from the judgments of the check; a finding whose check failed does not count."""
    found: dict[str, Tally] = defaultdict(Tally)
    for finding in findings:
        checks = [judgment for judgment in finding.judgments if judgment.check is not None]
        judges = dict.fromkeys(judgment.verifier for judgment in checks)
        if not judges or any(judgment.outcome == "failed" for judgment in checks):
            continue
        removed = {name: _supported(checks, name, "removed") for name in judges}
        unrelated = {name: _supported(checks, name, "unrelated")[0] for name in judges}
        for name in judges:
            found[name].add(removed[name], unrelated[name])
        at_once, at_last = (all(answers[place] for answers in removed.values()) for place in (0, -1))
        found[PANEL].add([at_once, at_last], all(unrelated.values()))
    return dict(found)


def _supported(checks: Iterable[Judgment], verifier: str, check: Check) -> list[bool]:
    return [j.label == "supported" for j in checks if (j.verifier, j.check) == (verifier, check)]


def measure(writes: Path, config: Path | None, limit: int) -> dict[str, Any]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as alone:
        plain, plain_seconds = alone.submit(judged, writes, config, limit, False).result()
        checked, checked_seconds = alone.submit(judged, writes, config, limit, True).result()
    calls = [sum(report.usage.calls for report in reports) for reports in (plain, checked)]
    findings = [finding for report in checked for finding in report.obligations]
    return {
        "writes": len(checked),
        "supported_findings": sum(f.label == "supported" for report in plain for f in report.obligations),
        "support_taken_back": sum(reason.startswith("plausible") for report in checked for reason in report.reasons),
        "writes_kept": {
            name: sum(report.status in ("admitted", "repaired") for report in reports)
            for name, reports in {"without": plain, "with": checked}.items()
        },
        "questions": {"without": calls[0], "with": calls[1]},
        "cpu_seconds": {"without": round(plain_seconds, 2), "with": round(checked_seconds, 2)},
        "cost": round(checked_seconds / plain_seconds - 1, 3),
        "judges": {name: vars(tally) for name, tally in tallies(findings).items()},
        "bars": {"flipped_at_least": FLIPPED_AT_LEAST, "on_unrelated_at_most": UNRELATED_AT_MOST},
    }


def table(found: dict[str, Any]) -> Table:
    taken, questions, cost = found["support_taken_back"], found["questions"], found["cost"]
    shown = Table(
        box=box.SIMPLE_HEAD,
        title=f"{found['writes']} writes, {found['supported_findings']} supported findings, {taken} taken back",
        caption=f"questions {questions['without']} -> {questions['with']}, CPU time {cost:+.0%}",
    )
    for heading in ("judge", "checked", "flipped at once", "flipped (95 %)", "on unrelated (95 %)", "bars"):
        shown.add_column(heading, no_wrap=True)
    for name, tally in sorted(found["judges"].items(), key=lambda item: item[0] == PANEL):
        n = tally["checked"]
        rates = ["{} ({})".format(*proportion_cells(proportion(tally[of], n))) for of in ("flipped", "on_unrelated")]
        holds = tally["flipped"] >= FLIPPED_AT_LEAST * n and tally["on_unrelated"] <= UNRELATED_AT_MOST * n
        at_once = f"{tally['flipped_at_once'] / n:.3f}"
        shown.add_row(name, str(n), at_once, *rates, "met" if holds else "missed")
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writes", type=Path, required=True)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = measure(arguments.writes, arguments.config, arguments.limit)
    Console(width=max(Console().width, TABLE_WIDTH)).print(table(found))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
