"""`admission eval noise`: more true obligations beside a memory that does not change, and what the judges then say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from admission.cli.eval.options import Files, Out, Sample, Seed, Yes
from admission.cli.options import AsJson, Config
from admission.cli.output import warn_of_missing
from admission.evaluation.seed import SEED

if TYPE_CHECKING:
    from admission.cli.eval.trials import TrialsRun
    from admission.deliberation import JudgeRole
    from admission.evaluation.derivation.cases import Case
    from admission.evaluation.derivation.noise import NoiseFigures, Remedy
    from admission.evaluation.derivation.noise_asking import AskedJudge
    from admission.evaluation.derivation.noise_cases import NoiseCase, Pool
    from admission.settings import Settings

AS_SET = "as set"
ISOLATED = "one obligation a prompt"
JUDGMENTS = "judgments.jsonl"


def eval_noise(
    files: Files,
    out: Out = None,
    sample: Sample = None,
    seed: Seed = SEED,
    yes: Yes = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Ask each judge about supported memories with 0, 2 and 4 more true obligations of the same history."""
    from admission.cli.eval.noise_view import Noise, noise_page, noise_tables
    from admission.cli.eval.showing import show
    from admission.cli.eval.trials import TrialsRun, data_digest
    from admission.evaluation.derivation.cases import drawn, read_cases
    from admission.evaluation.derivation.noise_asking import isolated
    from admission.evaluation.derivation.noise_cases import own_obligations, with_true_ones
    from admission.evaluation.derivation.trials import Trial
    from admission.evaluation.reading.plots import check_plots
    from admission.settings import load_settings
    from admission.version import __version__

    if out is not None:
        check_plots()
    settings = load_settings(config)
    cases = read_cases(files, passage_chars=settings.evidence.passage_chars)
    run = TrialsRun({AS_SET: settings, ISOLATED: isolated(settings)}, out, yes=yes)
    gate = run.trials.gates[AS_SET]
    warn_of_missing(gate)
    supported, pool, known_by = _known(cases, run)
    chosen = drawn(supported, sample, seed)
    prepared = [
        with_true_ones(case, own, pool, settings.evidence, seed)
        for case, own in zip(chosen, own_obligations(gate, chosen), strict=True)
    ]
    noises = [noise for noise in prepared if noise is not None]
    judges = _judges(settings, run, out)
    _ask([judge for ways in judges for judge in ways], noises, out, yes=yes)
    figures, remedies = _figures(judges, noises)
    shown = Noise(known_by=known_by, left_out=len(chosen) - len(noises), judges=figures, remedies=remedies)
    trials = [Trial(AS_SET, noise.case.candidate, noise.case.history) for noise in noises]
    configuration = {
        "data digest": data_digest(trials),
        "seed": str(seed),
        f"configuration of {AS_SET}": gate.config_digest,
        "version": __version__,
    }
    show(shown, configuration, partial(noise_page, shown), lambda: noise_tables(shown), out, as_json=as_json)


def _known(cases: Sequence[Case], run: TrialsRun) -> tuple[list[Case], Pool, str]:
    """The supported memories and the true obligations: by the references, or by the gate where there are none."""
    from admission.evaluation.derivation.noise_cases import found_by_gate, stated_by_references
    from admission.evaluation.derivation.trials import Trial

    pool = stated_by_references(cases)
    if pool:
        return [case for case in cases if case.valid], pool, "the references"
    reports = run.reports([Trial(AS_SET, case.candidate, case.history) for case in cases])
    kept = [case for case, report in zip(cases, reports, strict=True) if report.status in ("admitted", "repaired")]
    return kept, found_by_gate(reports), "the gate"


def _judges(settings: Settings, run: TrialsRun, out: Path | None) -> list[list[AskedJudge]]:
    """The two verifiers, each kind once: as it is set and, where that is together, asked alone as well."""
    from admission.evaluation.derivation.noise_asking import AskedJudge, asking_of

    file = None if out is None else out / JUDGMENTS
    a, b = settings.verification.verifier_a, settings.verification.verifier_b
    roles: list[tuple[str, JudgeRole]] = [(a, "verifier_a"), (b, "verifier_b")]
    found = []
    for kind, role in roles[: 1 if a == b else 2]:
        asked = asking_of(kind, settings)
        ways = [AskedJudge(run.trials.gates[AS_SET], role, asked, file)]
        if asked == "together":
            ways.append(AskedJudge(run.trials.gates[ISOLATED], role, "alone", file))
        found.append(ways)
    return found


def _ask(judges: Sequence[AskedJudge], noises: Sequence[NoiseCase], out: Path | None, *, yes: bool) -> None:
    from admission.cli.eval.reading import measuring
    from admission.cli.eval.trials import agree
    from admission.evaluation.derivation.cost import Cost

    costs = [judge.cost(noises) for judge in judges]
    agree(Cost(sum(one.requests for one in costs), sum(one.input_tokens for one in costs)), agreed=yes)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    kept = f"what is in {out} is kept: run it again to go on" if out else "with --out it can be resumed"
    with measuring(kept) as progress:
        for judge in judges:
            task = progress.add_task(f"{judge.name}, {judge.asked}", total=len(judge.missing(noises)))
            judge.ask(noises, partial(progress.advance, task))


def _figures(
    judges: Sequence[Sequence[AskedJudge]], noises: Sequence[NoiseCase]
) -> tuple[tuple[NoiseFigures, ...], tuple[Remedy, ...]]:
    from admission.evaluation.derivation.noise import noise_of, remedied

    figures: list[NoiseFigures] = []
    remedies: list[Remedy] = []
    for ways in judges:
        answered = [[judge.answered(noise) for noise in noises] for judge in ways]
        figures += [noise_of(judge.name, judge.asked, found) for judge, found in zip(ways, answered, strict=True)]
        if len(ways) > 1:
            remedies += remedied(ways[0].name, *answered)
    return tuple(figures), tuple(remedies)
