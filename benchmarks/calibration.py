"""How often `admission calibrate` keeps its bound, on recorded writes it was not calibrated on.

    python -m benchmarks.calibration --writes writes_dev.jsonl --twins negatives_dev.jsonl [--config F] [--decisions F]

Every write and twin is judged at every strictness of the grid. With `--decisions` what was decided is kept there, and a
second run with the same configuration judges nothing. Then, for bounds .05, .10 and .20 at confidence .9, 200 times:

- by write, by conversation: calibrate on a random half, test on the other. `within` is how often the other half's rate
  is within the bound; as that half is a small sample, a true rate within the bound may show a rate over it, so that
  `refuted` says how often a one-sided Clopper-Pearson test at the same confidence would call the bound broken.
- drawn: calibrate on as many unsupported writes as there are, drawn with replacement; the rate of all of them is then
  the true one, and `within` should be at least the confidence.

A refusal promises nothing: it counts as within the bound, and `refused` says how many there are. Retention and
unsupported admission are means over what was not refused, on the writes tested. The data stays where the user has it;
only counts are printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from admission.deliberation import input_digest
from admission.evaluation.calibration import GRID, unbroken, upper_bounds
from admission.evaluation.grid_log import GridLog
from admission.evaluation.reliability import judge_reliability, risk_coverage
from admission.evaluation.strictness_grid import GridDecision, StrictnessGrid
from admission.gate import AdmissionGate
from admission.settings import load_settings
from benchmarks.labelled_writes import labelled_writes

BOUNDS = (0.05, 0.10, 0.20)
CONFIDENCE = 0.9
SPLITS = 200


class Sample(NamedTuple):
    """Writes: kept at each strictness (writes, grid), labelled valid (writes,), the conversation's number (writes,)."""

    kept: np.ndarray
    valid: np.ndarray
    conversation: np.ndarray


# Two parts of a sample as places of its writes, to calibrate on and to test on.
Halves = Callable[[Sample, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writes", type=Path, required=True)
    parser.add_argument("--twins", type=Path)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--decisions", type=Path)
    arguments = parser.parse_args()
    gate = AdmissionGate(load_settings(arguments.config))
    labelled, kinds = labelled_writes(arguments.writes, arguments.twins, gate.settings)
    log = GridLog(arguments.decisions) if arguments.decisions is not None else None
    decisions = list(_decided(gate, labelled, log))
    names = {name: number for number, name in enumerate(sorted({d.conversation for d in decisions}))}
    sample = Sample(
        np.array([d.kept for d in decisions]),
        np.array([kinds[d.id].startswith("valid") for d in decisions]),
        np.array([names[d.conversation] for d in decisions]),
    )
    _print_curve(sample)
    for judge, found in judge_reliability([d.supports for d in decisions], sample.valid).items():
        print(f"calibration error of {judge}: {found.equal_width:.3f} equal width, {found.equal_mass:.3f} equal mass")
        print(f"  ({found.n} writes of one obligation)")
    _print_promises(sample)


def _decided(gate: AdmissionGate, writes: list, log: GridLog | None) -> Iterator[GridDecision]:
    grid = StrictnessGrid(gate)
    known = {d.id: d for d in log.read(grid.config_digest)} if log is not None else {}
    known = {c.id: known[c.id] for c, h in writes if c.id in known and known[c.id].input_digest == input_digest(c, h)}
    fresh = grid.decide([pair for pair in writes if pair[0].id not in known])
    for candidate, _ in writes:
        decision = known.get(candidate.id)
        if decision is None:
            decision = next(fresh)
            if log is not None:
                log.append(decision)
        yield decision


def _print_curve(sample: Sample) -> None:
    """The risk-coverage curve, where it changes, and the strictest value at which each write is let in."""
    first = np.where(sample.kept.any(axis=1), sample.kept.argmax(axis=1), len(GRID))
    after = np.arange(len(GRID)) >= first[:, None]
    print(f"{len(first)} writes; {int((sample.kept != after).any(axis=1).sum())} are let in, then not, then again")
    print("strictness  coverage    risk  retention  unsupported  first let in: valid, unsupported")
    before = None
    for number, (value, at) in enumerate(zip(GRID, risk_coverage(sample.kept, sample.valid), strict=True)):
        if at != before:
            shares = (at.coverage, at.risk, at.retention, at.unsupported_admission)
            cells = "  ".join("     -" if share is None else f"{share:6.3f}" for share in shares)
            new = [int((first[rows] == number).sum()) for rows in (sample.valid, ~sample.valid)]
            print(f"{value:10.2f}    {cells}      {new[0]:3} {new[1]:3}")
        before = at


def _print_promises(sample: Sample) -> None:
    print(f"\nbounds at confidence {CONFIDENCE}, {SPLITS} times each")
    print("bound  part             within  refuted  refused  retention  unsupported admitted (mean)")
    for bound in BOUNDS:
        for name, halves in {"by write": _by_write, "by conversation": _by_conversation, "drawn": _drawn}.items():
            chance = np.random.default_rng(20260)
            _print_row(name, bound, [_once(sample, bound, *halves(sample, chance)) for _ in range(SPLITS)])


def _once(sample: Sample, bound: float, fit: np.ndarray, test: np.ndarray) -> tuple[int, int, float] | None:
    """Unsupported writes admitted, of how many, and retention on the part tested; None where refused."""
    fitted = sample.kept[fit][~sample.valid[fit]]
    held = unbroken(upper_bounds(fitted.sum(axis=0), len(fitted), CONFIDENCE), bound)
    if not held:
        return None
    kept, valid = sample.kept[test, held - 1], sample.valid[test]
    return int(kept[~valid].sum()), int((~valid).sum()), float(kept[valid].mean())


def _print_row(name: str, bound: float, outcomes: list[tuple[int, int, float] | None]) -> None:
    made = [outcome for outcome in outcomes if outcome is not None]
    refused = len(outcomes) - len(made)
    admitted, n, retention = (np.array(column) for column in zip(*made, strict=True)) if made else (np.zeros(0),) * 3
    within = (admitted <= bound * n).sum() + refused
    # The lower bound on a rate of `admitted` is 1 less the upper bound on what is left.
    lower = 1 - upper_bounds(n - admitted, n, CONFIDENCE)
    rates = f"{retention.mean():9.3f}  {(admitted / n).mean():9.3f}" if made else "        -          -"
    shares = f"{within / len(outcomes):7.3f}  {(lower > bound).sum() / len(outcomes):7.3f}"
    print(f"{bound:5.2f}  {name:15}  {shares}  {refused / len(outcomes):7.3f}  {rates}")


def _by_write(sample: Sample, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = chance.permutation(len(sample.valid))
    return order[: len(order) // 2], order[len(order) // 2 :]


def _by_conversation(sample: Sample, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Whole conversations; of an odd number, the larger half is now the one, now the other."""
    names = chance.permutation(np.unique(sample.conversation))
    fit = np.isin(sample.conversation, names[: (len(names) + int(chance.integers(2))) // 2])
    return np.flatnonzero(fit), np.flatnonzero(~fit)


def _drawn(sample: Sample, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    places = np.arange(len(sample.valid))
    return chance.choice(places[~sample.valid], size=int((~sample.valid).sum())), places


if __name__ == "__main__":
    main()
