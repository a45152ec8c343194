"""Microseconds of CPU that the read gate takes for one candidate, by how much policy a deployment has.

    python benchmarks/read_gate.py [--candidates 1000] [--repeats 30] [--json]

Candidates and questions are made up and seeded. Each repeat is one question whose candidates are read one after the
other, as in a search; given are the median over the repeats and the 95th percentile, in CPU time, so that a busy
machine says nearly the same. Tags are shared by many records, or each record has some of its own and the gate has seen
none before, so that it finds the rules about each anew. The shares are of all readings. No store, no ledger is asked.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from admission.metadata import Lifecycle, LifecycleState, Provenance, RecordMetadata
from admission.reading.context import QueryContext
from admission.reading.gate import ReadGate
from admission.reading_settings import ReadingSettings, ReadRule, Relation

TAGS = ("clinical", "medication", "scheduling", "billing", "contact")
ROLES = ("nurse", "clinician", "pharmacist", "family", "reception")
STATES: tuple[LifecycleState, ...] = ("current", "current", "current", "stale", "superseded", "forgotten")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [
        {"rules": rules, "relations": relations, "tags": tags}
        | _measure(rules, relations, tags == "own", arguments.candidates, arguments.repeats)
        for rules, relations, tags in ((0, 0, "shared"), (5, 10, "shared"), (20, 50, "shared"), (20, 50, "own"))
    ]
    if arguments.json:
        print(json.dumps({"candidates": arguments.candidates, "repeats": arguments.repeats, "rows": rows}))
        return
    table = Table("rules", "relations", "tags", "CPU µs a candidate", "95th percentile", "admissible", "open")
    for row in rows:
        table.add_row(*(f"{value:.2g}" if isinstance(value, float) else str(value) for value in row.values()))
    Console().print(table)


def _measure(rules: int, relations: int, own_tags: bool, candidates: int, repeats: int) -> dict[str, float]:
    chance = random.Random(7)
    settings = ReadingSettings(
        namespace=("clinic", "{ward}"),
        owner=("clinic", "*", "{owner}"),
        sub_namespaces=True,
        policy=_rules(rules),
        relations=_relations(relations, chance),
        policy_default="unresolved" if rules else "allow",
    )
    gate = ReadGate(settings)
    records = [_record(n if own_tags else None, chance) for n in range(candidates)]
    spent: list[float] = []
    found: Counter[bool | None] = Counter()
    for repeat in range(repeats):
        context = _context(repeat, chance)
        gate = ReadGate(settings) if own_tags else gate
        start = time.process_time()
        readings = [gate.read(record, context) for record in records]
        spent.append((time.process_time() - start) / candidates * 1e6)
        found.update(reading.admissible for reading in readings)
    return {
        "median_us": statistics.median(spent),
        "p95_us": sorted(spent)[int(0.95 * (repeats - 1))],
        "admissible": found[True] / found.total(),
        "open": found[None] / found.total(),
    }


def _rules(count: int) -> tuple[ReadRule, ...]:
    """Of every five rules four allow and one denies; three ask for a relation, one for a purpose, one for a window."""
    shapes: Sequence[dict[str, object]] = (
        {"relations": ("self", "assigned")},
        {"relations": ("assigned", "covering")},
        {"relations": ("family",), "valid_to": "2027-01-01"},
        {"purposes": ("care", "billing")},
        {"effect": "deny", "purposes": ("marketing",)},
    )
    return tuple(
        ReadRule.model_validate(
            {"name": f"rule {n}", "namespace": "clinic/*", "tags": (TAGS[n % 5],), "roles": (ROLES[n // 5 % 5],)}
            | shapes[n % 5]
        )
        for n in range(count)
    )


def _relations(count: int, chance: random.Random) -> tuple[Relation, ...]:
    return tuple(
        Relation(
            subject=f"person-{n % 5}",
            relation=chance.choice(("assigned", "covering", "family")),
            object=f"patient-{chance.randrange(20)}",
            scope=chance.choice((None, (TAGS[2],))),
            valid_to=chance.choice((None, "2026-06-30", "2027-06-30T12:00:00Z")),
        )
        for n in range(count)
    )


def _record(number: int | None, chance: random.Random) -> RecordMetadata:
    return RecordMetadata(
        namespace=("clinic", "ward-1", f"patient-{chance.randrange(20)}"),
        provenance=Provenance(written_by=f"person-{chance.randrange(5)}", authenticated=True),
        policy_tags=(*chance.sample(TAGS, 2), *([] if number is None else [f"case:{number}"])),
        purpose_allow=chance.choice((None, ("care",), ("care", "billing"))),
        lifecycle=Lifecycle(
            state=chance.choice(STATES), valid_from="2026-01-01", valid_to=chance.choice((None, "2026-12-31"))
        ),
    )


def _context(repeat: int, chance: random.Random) -> QueryContext:
    return QueryContext(
        query=f"What is the dose number {repeat} now?",
        principal=f"person-{repeat % 5}",
        namespace=("clinic", "ward-1"),
        roles=(ROLES[repeat % 5],),
        purpose=chance.choice(("care", "marketing")),
        intent="current",
        time=f"2026-07-01T12:00:{repeat:02d}Z",
    )


if __name__ == "__main__":
    main()
