"""`admission eval views`: the same memories, evidence and judges in six views; what each finds, and what it keeps."""

from __future__ import annotations

from functools import partial

from admission.cli.eval.options import Files, Out, RequestsOut, ResponsesIn, Sample, Seed, Yes
from admission.cli.options import AsJson, Config
from admission.evaluation.seed import SEED


def eval_views(
    files: Files,
    out: Out = None,
    sample: Sample = None,
    seed: Seed = SEED,
    requests_out: RequestsOut = None,
    responses_in: ResponsesIn = None,
    yes: Yes = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Put recorded writes to the judges in each verification view: unsupported ones found against valid ones kept."""
    from admission.cli.eval.showing import show
    from admission.cli.eval.tables import terminal_table
    from admission.cli.eval.trials import TrialsRun, data_digest, varied
    from admission.cli.eval.views_view import views_page, views_tables
    from admission.evaluation.derivation.cases import drawn, read_cases
    from admission.evaluation.derivation.trials import Trial
    from admission.evaluation.derivation.views import VIEWS, ViewedCase, check_references, same_questions, viewed
    from admission.evaluation.reading.plots import check_plots
    from admission.settings import load_settings

    if out is not None:
        check_plots()
    settings = load_settings(config)
    cases = drawn(read_cases(files, passage_chars=settings.evidence.passage_chars), sample, seed)
    check_references(cases)
    changes = {
        str(view): varied(settings, evidence={"setting": "expanded"}, verification={"view": view}) for view in VIEWS
    }
    run = TrialsRun(changes, out, yes=yes, requests_out=requests_out, responses_in=responses_in)
    same = same_questions({view: run.trials.gates[view] for view in VIEWS})
    asked = [view for view in VIEWS if same[view] is None]
    trials = [Trial(view, case.candidate, case.history) for view in asked for case in cases]
    reports = iter(run.reports(trials))
    by_view = {view: [next(reports) for _ in cases] for view in asked}
    found = viewed(
        [
            ViewedCase(case, {view: by_view[same[view] or view][place] for view in VIEWS})
            for place, case in enumerate(cases)
        ],
        same,
        settings.evidence,
    )
    configuration = {"data digest": data_digest(trials), "seed": str(seed), **run.configuration()}
    show(
        found,
        configuration,
        partial(views_page, found),
        lambda: map(terminal_table, views_tables(found)),
        out,
        as_json=as_json,
    )
