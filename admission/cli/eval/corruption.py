"""`admission eval corruption`: metadata corrupted on purpose, and when the namespace route loses by it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from admission.cli.options import AsJson, Config
from admission.cli.output import console, print_json


def eval_corruption(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="RHELM's files, or memories.jsonl and questions.jsonl.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Also write report.html, report.json and the plot into this folder.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="How many places a ranking has.")] = 20,
    ranker: Annotated[str, typer.Option(help="bm25, dense or fusion.")] = "dense",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Corrupt each kind of metadata at growing rates, and say at which the gated namespace route first loses."""
    from admission.cli.eval.corruption_view import corruption_page, corruption_view
    from admission.cli.eval.reading import ReadingRun, advancing, check_folder, chosen_rankers, measuring
    from admission.errors import InputError
    from admission.evaluation.reading.corruption import corrupt
    from admission.evaluation.reading.plots import check_plots
    from admission.reports.evaluation import write_evaluation

    names = chosen_rankers(ranker)
    if len(names) > 1:
        raise InputError("--ranker", f"{ranker} is more than one", "name one")
    if out is not None:
        check_folder(out)
        check_plots()
    run = ReadingRun(folder, names, config)
    with measuring() as progress:
        questions = run.questions(progress)
        task = progress.add_task("questions", total=len(questions))
        found = corrupt(questions, run.settings, names[0], k=k, advance=partial(advancing, progress, task))
    configuration = (*run.configuration(), ("k", str(k)), ("draws a rate", str(found.draws)))
    figures = {**found.model_dump(mode="json"), "configuration": dict(configuration)}
    if out is not None:
        write_evaluation(out, corruption_page(found, configuration), figures)
    if as_json:
        print_json(figures)
    else:
        console(stderr=True).print(corruption_view(found))
