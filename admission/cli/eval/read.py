"""`admission eval read`: retrieval routes compared at equal recall."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from admission.cli.options import AsJson, Config
from admission.cli.output import console, print_json


def eval_read(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="RHELM's files, or memories.jsonl and questions.jsonl.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Also write report.html, report.json and the plots into this folder.")
    ] = None,
    k: Annotated[str, typer.Option("--k", metavar="K,...", help="Budgets: how many places a ranking has.")] = "20,100",
    rankers: Annotated[str, typer.Option(metavar="R,...", help="bm25, dense, fusion.")] = "bm25,dense,fusion",
    tau: Annotated[float, typer.Option(help="The recall at which risks are compared, above 0 and at most 1.")] = 0.8,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Compare retrieval routes and rankers at equal recall: what is found, what should not have been."""
    from admission.cli.eval.read_view import comparison_page, comparison_views
    from admission.cli.eval.reading import ReadingRun, advancing, check_folder, chosen_rankers, measuring
    from admission.errors import InputError
    from admission.evaluation.reading.comparison import compare
    from admission.evaluation.reading.plots import check_plots
    from admission.reports.evaluation import write_evaluation

    budgets = _budgets(k)
    if not 0 < tau <= 1:
        raise InputError("--tau", f"{tau} is no recall to reach", "give a number above 0 and at most 1")
    names = chosen_rankers(rankers)
    if out is not None:
        check_folder(out)
        check_plots()
    run = ReadingRun(folder, names, config)
    with measuring() as progress:
        questions = run.questions(progress)
        task = progress.add_task("questions", total=len(questions))
        found = compare(questions, names, budgets=budgets, tau=tau, advance=partial(advancing, progress, task))
    configuration = (*run.configuration(), ("budgets", ", ".join(map(str, budgets))), ("tau", str(tau)))
    figures = {**found.model_dump(mode="json"), "configuration": dict(configuration)}
    if out is not None:
        write_evaluation(out, comparison_page(found, budgets, configuration), figures)
    if as_json:
        print_json(figures)
    else:
        for view in comparison_views(found, budgets):
            console(stderr=True).print(view)


def _budgets(text: str) -> tuple[int, ...]:
    from admission.errors import InputError

    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and int(part) for part in parts):
        raise InputError("--k", f"{text!r} is no list of budgets", "give whole numbers above 0, such as 20,100")
    return tuple(sorted({int(part) for part in parts}))
