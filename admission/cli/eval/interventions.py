"""`admission eval interventions`: does the decision change when the evidence, or the premise, is taken away?"""

from __future__ import annotations

from functools import partial

from admission.cli.eval.options import Files, Out, RequestsOut, ResponsesIn, Sample, Seed, Views, Yes
from admission.cli.options import AsJson, Config
from admission.evaluation.seed import SEED


def eval_interventions(
    files: Files,
    view: Views = None,
    out: Out = None,
    sample: Sample = None,
    seed: Seed = SEED,
    requests_out: RequestsOut = None,
    responses_in: ResponsesIn = None,
    yes: Yes = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Remove the evidence of valid memories, replace the premise of others, and count the decisions that change."""
    from admission.cli.eval.interventions_view import interventions_page, interventions_tables
    from admission.cli.eval.showing import show
    from admission.cli.eval.tables import terminal_table
    from admission.cli.eval.trials import TrialsRun, chosen_views, data_digest, varied
    from admission.evaluation.derivation.cases import drawn, read_cases
    from admission.evaluation.derivation.interventions import Intervened, changed, intervened
    from admission.evaluation.derivation.trials import Trial
    from admission.evaluation.reading.plots import check_plots
    from admission.settings import load_settings

    if out is not None:
        check_plots()
    views = chosen_views(view)
    settings = load_settings(config)
    chars = settings.evidence.passage_chars
    cases = drawn(read_cases(files, passage_chars=chars), sample, seed)
    changes, left_out = changed(cases, passage_chars=chars)
    own_settings = {
        str(one): varied(settings, evidence={"setting": "expanded"}, verification={"view": one}) for one in views
    }
    run = TrialsRun(own_settings, out, yes=yes, requests_out=requests_out, responses_in=responses_in)
    trials = [
        Trial(one, change.case.candidate, history)
        for change in changes
        for history in (change.case.history, change.history)
        for one in views
    ]
    reports = iter(run.reports(trials))
    cases_found = [
        Intervened(change, *({one: next(reports) for one in views} for _ in ("before", "after"))) for change in changes
    ]
    found = intervened(cases_found, views, left_out, unlabelled=sum(case.valid is None for case in cases))
    configuration = {"data digest": data_digest(trials), "seed": str(seed), **run.configuration()}
    show(
        found,
        configuration,
        partial(interventions_page, found),
        lambda: map(terminal_table, interventions_tables(found)),
        out,
        as_json=as_json,
    )
