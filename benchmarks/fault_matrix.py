"""Every fault again and again on a real ledger and store, and what became of the writes, as a Markdown table.

    python benchmarks/fault_matrix.py [--runs 100] [--postgres postgresql://user@host/database] [--only WORDS ...]

The faults are those of tests/faults, which says how each is caused; verifiers are scripted, kills are SIGKILL. Progress
goes to stderr, the table to stdout. Ends with 1 if anything was lost, doubled, stored without a report or left open.
`--postgres none` leaves Postgres out; by default it is the server the tests find.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "faults"))
sys.path.append(str(Path(__file__).parents[1] / "tests" / "ledger"))

from fault_cases import IN_PROCESS, Fault
from fault_processes import OF_PROCESSES
from fault_world import Tally, World, repeated
from ledger_places import PostgresPlace
from ledger_postgres import NoServer, postgres_address

SHOWN = 4
HEADINGS = ("fault", "what is broken", "ledger", "runs", "what happened", "lost", "doubled", "no report", "left open")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="WORDS", help="faults whose name contains any of these"
    )
    arguments = parser.parse_args()
    faults = [fault for fault in (*IN_PROCESS, *OF_PROCESSES) if _wanted(fault, arguments.only)]
    sound = True
    print(_row(*HEADINGS), _row(*["---"] * 3, *["--:"], "---", *["--:"] * 4), sep="\n")
    with ExitStack() as stack:
        address = arguments.postgres
        if address is None:
            try:
                address = stack.enter_context(postgres_address())
            except NoServer as error:
                print(f"without Postgres: {error}", file=sys.stderr)
        for fault in faults:
            for kind in fault.ledgers:
                if kind == "postgres" and address in (None, "none"):
                    continue
                with _world(kind, address) as world:
                    tally = repeated(world, fault.run, arguments.runs)
                sound &= tally.clean
                counts = (tally.lost, tally.doubled, tally.unreported, tally.unsound)
                print(_row(fault.name, fault.what, kind, tally.runs, _outcomes(tally), *counts), flush=True)
                print(f"{fault.name} on {kind}: {'clean' if tally.clean else 'NOT CLEAN'}", file=sys.stderr)
    return 0 if sound else 1


def _wanted(fault: Fault, words: list[str]) -> bool:
    return not words or any(word in fault.name for word in words)


@contextmanager
def _world(kind: str, address: str | None) -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="fault-matrix-") as folder, ExitStack() as stack:
        url = f"sqlite:///{folder}/ledger.db"
        if kind == "postgres":
            place = PostgresPlace(str(address), f"faults_{uuid.uuid4().hex[:12]}")
            stack.callback(place.drop)
            url = place.url
        world = World(Path(folder), url)
        stack.callback(world.close)
        yield world


def _outcomes(tally: Tally) -> str:
    """Ends of the trials with their counts, and how the fault showed before each."""
    by_end: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for outcome, count in tally.outcomes.items():
        shown, _, end = outcome.rpartition("; ")
        by_end[end][shown] = count
    return "; ".join(f"{end}: {sum(shown.values())}{_how(shown)}" for end, shown in by_end.items())


def _how(shown: dict[str, int]) -> str:
    named = {how: count for how, count in sorted(shown.items()) if how}
    if not named:
        return ""
    if len(named) > SHOWN:
        first, *_ = named
        counts = named.values()
        return f" ({first.split()[0]} at {len(named)} steps, {min(counts)} to {max(counts)} times each)"
    return f" ({', '.join(f'{how} {count}' for how, count in named.items())})"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    sys.exit(main())
