"""`admission eval write`: recorded writes replayed in three settings, what each keeps and lets in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admission.cli.eval.options import Files, Out, RequestsOut, ResponsesIn, Sample, Seed, Yes
from admission.cli.options import AsJson, Config
from admission.evaluation.seed import SEED

if TYPE_CHECKING:
    from admission.evaluation.derivation.cases import Case


def eval_write(
    files: Files,
    twins: Annotated[
        Path | None,
        typer.Option(help="Minimally edited memories of these writes (JSONL), which the history does not support."),
    ] = None,
    out: Out = None,
    sample: Sample = None,
    seed: Seed = SEED,
    requests_out: RequestsOut = None,
    responses_in: ResponsesIn = None,
    yes: Yes = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Replay recorded writes: on their citations, on the wider view, and obligation by obligation."""
    from admission.cli.eval.showing import show
    from admission.cli.eval.trials import TrialsRun, data_digest, varied
    from admission.cli.eval.write_view import Replay, replay_page, replay_tables
    from admission.evaluation.derivation.cases import drawn, read_cases
    from admission.evaluation.derivation.replay import SETTINGS, ReplayedCase, replayed
    from admission.evaluation.derivation.scope import by_edit, by_gate, by_reference, misses, reach
    from admission.evaluation.derivation.trials import Trial
    from admission.evaluation.reading.plots import check_plots
    from admission.settings import load_settings

    if out is not None:
        check_plots()
    settings = load_settings(config)
    every = read_cases(files, passage_chars=settings.evidence.passage_chars)
    edited = _edited(twins, every)
    cases = drawn(every, sample, seed)
    edited = _of(cases, edited)
    changes = {
        name: varied(settings, evidence={"setting": setting}, verification={"view": view})
        for name, (setting, view) in SETTINGS.items()
    }
    run = TrialsRun(changes, out, yes=yes, requests_out=requests_out, responses_in=responses_in)
    trials = [Trial(name, case.candidate, case.history) for name in SETTINGS for case in (*cases, *edited)]
    reports = run.reports(trials)
    n = len(cases) + len(edited)
    by_setting = {name: reports[place * n : (place + 1) * n] for place, name in enumerate(SETTINGS)}
    found = [
        ReplayedCase(case, {name: own[place] for name, own in by_setting.items()}, edited=place >= len(cases))
        for place, case in enumerate((*cases, *edited))
    ]
    shown = Replay(
        figures=replayed(found),
        scope=(by_reference(cases), by_gate(found)),
        misses=misses(found),
        reach=reach(found, settings.evidence),
        by_edit=by_edit(found),
    )
    configuration = {"data digest": data_digest(trials), "seed": str(seed), **run.configuration()}
    show(shown, configuration, partial(replay_page, shown), lambda: replay_tables(shown), out, as_json=as_json)


def _edited(file: Path | None, cases: Sequence[Case]) -> list[Case]:
    if file is None:
        return []
    from admission.evaluation.derivation.twins import read_twins

    return read_twins(file, cases)


def _of(cases: Sequence[Case], twins: Sequence[Case]) -> list[Case]:
    """The twins of these cases."""
    drawn = {case.key for case in cases}
    return [twin for twin in twins if (twin.candidate.conversation, twin.reference["of"]) in drawn]
