"""The risk-coverage curve of the gate, and the gate beside simpler ways to decide, on the same passages.

    python -m benchmarks.selective_risk FOLDER --work DIR [--writes-only] [--json FILE] [--plot FILE]

FOLDER holds writes_dev.jsonl and negatives_dev.jsonl: recorded writes with references, and edited twins in the form
of `admission eval write`. Every method ranks whole memories on what the gate could show; the gate itself runs
end to end at every step of strictness, and its score is the largest strictness at which it still admits a write.
Compared are: unsupported admission at the strictest cut that keeps .85 of the valid writes, AUC, and what is admitted
at the thresholds in the package. Overlap and cosine have none: theirs are the best on these very writes, in their
favour. The same methods on the held-out tenth of the project's dialogues, evidence found among all turns, each with the
cut that is best on the calibration twentieth; left out with `--writes-only`. Intervals: 95 %, bootstrap over
conversations or dialogues.

Answers and decisions are kept in DIR, so that a run that was stopped goes on where it was. DIR belongs to one state of
the code. Tables are printed as Markdown; the writes stay where the user has them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import bootstrap
from sklearn.metrics import roc_auc_score, roc_curve

from admission import minimal_evidence
from admission.deliberation import input_digest
from admission.evaluation.grid_log import GridLog
from admission.evaluation.reliability import risk_coverage
from admission.evaluation.statistics import proportion
from admission.evaluation.strictness_grid import GridDecision, StrictnessGrid
from admission.gate import AdmissionGate
from admission.settings import load_settings
from benchmarks.labelled_writes import labelled_writes
from benchmarks.memory_scores import (
    STEPS,
    Answers,
    Case,
    Ranking,
    dialogue_cases,
    gate_ranking,
    rankings,
    recorded_cases,
    shipped_judges,
)
from training.locomo import RETENTION

SHOWN = (5.0, 4.0, 3.0, 2.5, 2.0, 1.5, 1.0, 0.75, 0.5, 0.25, 0.0, -0.25, -0.5, -1.0, -1.5, -2.0, -3.0)
"""Points of the curve in the table; the plot has all of `STEPS`."""
RESAMPLES = 2000
SEED = 20260

Weights = np.ndarray
"""How often each case counts (cases,): all once, or as often as its group was drawn."""
Statistic = Callable[[Weights], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--writes-only", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    answers = Answers(options.work)
    gate = AdmissionGate(load_settings(None))
    recorded, edited = options.folder / "writes_dev.jsonl", options.folder / "negatives_dev.jsonl"
    writes, kinds = labelled_writes(recorded, edited, gate.settings)
    cases = list(recorded_cases(writes, kinds))
    judges = shipped_judges()
    ranked = rankings(cases, judges, answers)
    ranked.append(gate_ranking(decided(gate, writes, options.work / "decisions.jsonl")))
    figures = {
        "writes": on_writes(ranked, cases),
        "by_edit": by_edit(ranked, cases),
        "curve": curve(ranked[-1], cases),
    }
    if not options.writes_only:
        fitting, held_out = dialogue_cases("calibration"), dialogue_cases("test")
        fitted, tested = (rankings(part, judges, answers) for part in (fitting, held_out))
        figures["dialogues"] = on_dialogues(fitted, fitting, tested, held_out)
    _print_tables(figures)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if options.plot is not None:
        from benchmarks.risk_plot import draw

        draw(ranked, np.array([case.valid for case in cases]), options.plot)


def decided(gate: AdmissionGate, writes: Sequence, file: Path) -> list[GridDecision]:
    """The gate's decision on each write at every strictness of `STEPS`; those in `file` are not made again."""
    grid, log = StrictnessGrid(gate, STEPS), GridLog(file)
    logged = {decision.input_digest: decision for decision in log.read(grid.config_digest)}
    inputs = [input_digest(candidate, history) for candidate, history in writes]
    fresh = grid.decide([write for write, input in zip(writes, inputs, strict=True) if input not in logged])
    found = []
    # The smallest evidence of what is supported changes no status, and asking for it would be most of the work.
    with patch.object(minimal_evidence, "SUBSETS_TRIED", 0):
        for input in inputs:
            if input not in logged:
                logged[input] = next(fresh)
                log.append(logged[input])
            found.append(logged[input])
    return found


def on_writes(ranked: Sequence[Ranking], cases: Sequence[Case]) -> dict[str, Any]:
    """By method: AUC, unsupported admission at the retention asked for, and what is admitted as shipped.

    `last_less` is the unsupported admission of the last method, the gate, less this one's, both at that retention on
    the same resample. `in_out_in` counts writes that the last lets in, then not, then again as it grows lenient.
    """
    valid, groups = _labels(cases)
    everyone = np.ones(len(cases))
    last = ranked[-1]
    table = {}
    for ranking in ranked:
        cut = cut_at(ranking, valid, everyone)
        row: dict[str, Any] = {
            "auc": estimate(_area(ranking, valid), groups),
            "unsupported": estimate(_unsupported_at(ranking, valid), groups),
            "retention": _share(_admitted(ranking, cut), valid, everyone),
            "reached": cut < ranking.kept.shape[1],
        }
        if ranking is not last:
            row["last_less"] = estimate(_less(last, ranking, valid), groups)
        shipped = ranking.shipped if ranking.shipped is not None else ranking.scores >= best_cut(ranking.scores, valid)
        row["shipped"] = {
            "best_on_these": ranking.shipped is None,
            "retention": _share(shipped, valid, everyone),
            "unsupported": _share(shipped, ~valid, everyone),
        }
        table[ranking.name] = row
    return {
        "valid": int(valid.sum()),
        "unsupported": int((~valid).sum()),
        "conversations": len(np.unique(groups)),
        "in_out_in": int((np.diff(last.kept.astype(int), axis=1) < 0).any(axis=1).sum()),
        "methods": table,
    }


def by_edit(ranked: Sequence[Ranking], cases: Sequence[Case]) -> dict[str, Any]:
    """By kind of unsupported write: how many, the share admitted by each method, the last of them as shipped."""
    valid, _ = _labels(cases)
    kinds = np.array([case.kind for case in cases])
    everyone = np.ones(len(cases))
    admitted = {ranking.name: _admitted(ranking, cut_at(ranking, valid, everyone)) for ranking in ranked}
    shipped = ranked[-1].shipped
    table = {}
    for kind in sorted(set(kinds[~valid])):
        at = (kinds == kind) & ~valid
        table[str(kind)] = {
            "n": int(at.sum()),
            "at_retention": {name: _share(kept, at, everyone) for name, kept in admitted.items()},
            "as_shipped": proportion(int(shipped[at].sum()), int(at.sum())).model_dump(),
        }
    return table


def curve(gate: Ranking, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """The gate's points at `SHOWN`: coverage, risk; retention and unsupported admission, both with intervals."""
    valid, groups = _labels(cases)
    points = risk_coverage(gate.kept, valid)
    rows = []
    for strictness in SHOWN:
        place = STEPS.index(strictness)
        kept = gate.kept[:, place]
        rows.append(
            {
                "strictness": strictness,
                "coverage": points[place].coverage,
                "risk": points[place].risk,
                "retention": estimate(lambda w, kept=kept: _share(kept, valid, w), groups),
                "unsupported": estimate(lambda w, kept=kept: _share(kept, ~valid, w), groups),
            }
        )
    return rows


def on_dialogues(
    fitted: Sequence[Ranking], fitting: Sequence[Case], tested: Sequence[Ranking], held_out: Sequence[Case]
) -> dict[str, Any]:
    """By method, on `held_out`: accuracy supported or not at the cut that is best on `fitting`, and AUC."""
    known, _ = _labels(fitting)
    valid, groups = _labels(held_out)
    everyone = np.ones(len(held_out))
    table = {}
    for before, ranking in zip(fitted, tested, strict=True):
        kept = ranking.scores >= best_cut(before.scores, known)
        table[ranking.name] = {
            "accuracy": estimate(lambda w, kept=kept: float(w @ (kept == valid) / w.sum()), groups),
            "auc": estimate(_area(ranking, valid), groups),
            "retention": _share(kept, valid, everyone),
            "unsupported": _share(kept, ~valid, everyone),
        }
    counts = {"fitted_on": len(fitting), "claims": len(held_out), "dialogues": len(np.unique(groups))}
    return {**counts, "supported": int(valid.sum()), "methods": table}


def cut_at(ranking: Ranking, valid: np.ndarray, weights: Weights, retention: float = RETENTION) -> int:
    """The strictest cut (its place in `kept`) that keeps this share of the valid; one past the last where none does."""
    shares = weights[valid] @ ranking.kept[valid] / weights[valid].sum()
    enough = np.append(shares >= retention - 1e-9, True)
    return int(enough.argmax())


def best_cut(scores: np.ndarray, valid: np.ndarray) -> float:
    """The score from which on to admit so that most cases are told right; the strictest among equals."""
    false, true, cuts = roc_curve(valid, scores, drop_intermediate=False)
    return float(cuts[np.argmax(true * valid.sum() - false * (~valid).sum())])


def estimate(statistic: Statistic, groups: np.ndarray) -> dict[str, float | None]:
    """The statistic of all cases, and its 95 % percentile interval when whole groups are drawn with replacement; none
    where there is one group.

    Source: Efron and Tibshirani, An introduction to the bootstrap, 1993 (percentile interval); Davison and Hinkley,
    Bootstrap methods and their application, 1997, section 3.8 (whole clusters).
    """
    _, group = np.unique(groups, return_inverse=True)
    names = np.arange(group.max() + 1)

    def drawn(sample: np.ndarray) -> float:
        return statistic(np.bincount(sample, minlength=len(names))[group].astype(float))

    value = statistic(np.ones(len(group)))
    if len(names) == 1:
        return {"value": value, "low": None, "high": None}
    found = bootstrap(
        (names,), drawn, n_resamples=RESAMPLES, vectorized=False, method="percentile", rng=np.random.default_rng(SEED)
    ).confidence_interval
    return {"value": value, "low": float(found.low), "high": float(found.high)}


def _area(ranking: Ranking, valid: np.ndarray) -> Statistic:
    return lambda weights: float(roc_auc_score(valid, ranking.scores, sample_weight=weights))


def _unsupported_at(ranking: Ranking, valid: np.ndarray) -> Statistic:
    return lambda weights: _share(_admitted(ranking, cut_at(ranking, valid, weights)), ~valid, weights)


def _less(last: Ranking, other: Ranking, valid: np.ndarray) -> Statistic:
    first, second = _unsupported_at(last, valid), _unsupported_at(other, valid)
    return lambda weights: first(weights) - second(weights)


def _admitted(ranking: Ranking, cut: int) -> np.ndarray:
    """What is admitted at a cut; everything one past the last, which is what it takes to keep enough."""
    return ranking.kept[:, cut] if cut < ranking.kept.shape[1] else np.ones(len(ranking.kept), dtype=bool)


def _share(kept: np.ndarray, of: np.ndarray, weights: Weights) -> float:
    return float(weights[of] @ kept[of] / weights[of].sum())


def _labels(cases: Sequence[Case]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([case.valid for case in cases]), np.array([case.group for case in cases])


def _print_tables(figures: dict[str, Any]) -> None:
    writes, dialogues = figures["writes"], figures.get("dialogues", {"methods": {}})
    *_, last = writes["methods"]
    print(
        f"{writes['valid']} valid and {writes['unsupported']} unsupported writes of {writes['conversations']} "
        f"conversations; {writes['in_out_in']} are let in, then not, then again by the {last} as strictness falls."
    )
    if "claims" in dialogues:
        print(
            f"{dialogues['claims']} claims ({dialogues['supported']} supported) of {dialogues['dialogues']} dialogues, "
            f"cuts fitted on {dialogues['fitted_on']} other claims."
        )
    print()
    _line("method", "AUC", f"unsupported at {RETENTION:g}", "valid kept there", f"{last} less this",
          "as shipped: valid kept", "unsupported", "dialogues: accuracy", "AUC", "valid kept",
          "unsupported")  # fmt: skip
    _line(*["---"] * 11)
    for name, row in writes["methods"].items():
        shipped, mark = row["shipped"], "*" if row["shipped"]["best_on_these"] else ""
        claims = dialogues["methods"].get(name)
        told = ["-"] * 4
        if claims is not None:
            told = [_span(claims["accuracy"]), _span(claims["auc"])]
            told += [f"{claims[share]:.3f}" for share in ("retention", "unsupported")]
        _line(name, _span(row["auc"]), _span(row["unsupported"]) if row["reached"] else "not reached",
              f"{row['retention']:.3f}", _span(row["last_less"]) if "last_less" in row else "-",
              f"{shipped['retention']:.3f}{mark}", f"{shipped['unsupported']:.3f}{mark}", *told)  # fmt: skip
    print("\n* at the threshold that is best on these very writes\n")
    names = list(writes["methods"])
    _line("edit", "n", *names, f"{last} as shipped")
    _line(*["---"] * (len(names) + 3))
    for kind, row in figures["by_edit"].items():
        _line(kind, row["n"], *(f"{row['at_retention'][name]:.2f}" for name in names), _span(row["as_shipped"]))
    print()
    _print_curve(figures["curve"])


def _print_curve(points: Sequence[dict[str, Any]]) -> None:
    _line("strictness", "coverage", "risk", "valid kept", "unsupported admitted")
    _line(*["---"] * 5)
    for point in points:
        risk = "-" if point["risk"] is None else f"{point['risk']:.3f}"
        _line(f"{point['strictness']:g}", f"{point['coverage']:.3f}", risk, _span(point["retention"]),
              _span(point["unsupported"]))  # fmt: skip


def _line(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


def _span(found: dict[str, Any]) -> str:
    interval = "" if found["low"] is None else f" ({found['low']:.3f} to {found['high']:.3f})"
    return f"{found['value']:.3f}{interval}"


if __name__ == "__main__":
    main()
