"""`admission eval families`: matched families, with the evidence in one place or spread, at equal retention."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from admission.cli.eval.options import Files, Out, RequestsOut, ResponsesIn, Seed, Views, Yes
from admission.cli.options import AsJson, Config
from admission.evaluation.seed import SEED


def eval_families(
    files: Files,
    view: Views = None,
    out: Out = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Only so many families, drawn whole with --seed.")] = None,
    seed: Seed = SEED,
    requests_out: RequestsOut = None,
    responses_in: ResponsesIn = None,
    yes: Yes = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Decide matched families: what is kept of valid and found of invalid memories, local and distributed."""
    from admission.cli.eval.families_run import FamiliesRun
    from admission.cli.eval.families_view import families_page, families_tables
    from admission.cli.eval.showing import show
    from admission.cli.eval.tables import terminal_table
    from admission.cli.eval.trials import TrialsRun, chosen_views, data_digest, varied
    from admission.evaluation.derivation.cases import read_cases
    from admission.evaluation.derivation.families import decided, family_cells, family_figures, languages
    from admission.evaluation.derivation.trials import Trial
    from admission.evaluation.reading.plots import check_plots
    from admission.settings import load_settings

    if out is not None:
        check_plots()
    views = chosen_views(view)
    settings = load_settings(config)
    every = read_cases(files, passage_chars=settings.evidence.passage_chars)
    cells = family_cells(every, languages(files), sample, seed)
    changes = {
        str(one): varied(settings, evidence={"setting": "expanded"}, verification={"view": one}) for one in views
    }
    run = TrialsRun(changes, out, yes=yes, requests_out=requests_out, responses_in=responses_in)
    own = settings.verification.strictness
    families = FamiliesRun(run, views, own, out)
    kept = families.kept([cell.case for cell in cells])
    found = family_figures({one: decided(cells, kept[one]) for one in views}, families.sweep, own)
    put = [Trial(views[0], cell.case.candidate, cell.case.history) for cell in cells]
    configuration = {"data digest": data_digest(put), "seed": str(seed), **run.configuration()}
    show(
        found,
        configuration,
        partial(families_page, found),
        lambda: map(terminal_table, families_tables(found)),
        out,
        as_json=as_json,
    )
