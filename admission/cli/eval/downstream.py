"""`admission eval downstream`: what a distorted or missing memory does to the answers that need it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admission.cli.eval.options import Out, Seed, Yes
from admission.cli.options import AsJson, Config
from admission.cli.output import check_output_folder
from admission.evaluation.seed import SEED

if TYPE_CHECKING:
    from admission.evaluation.derivation.downstream import Says

RETRIEVED = 5


def eval_downstream(
    file: Annotated[Path, typer.Argument(metavar="CASES", help="Cases (JSONL), see docs/derivation.md.")],
    reader: Annotated[str, typer.Option(help="Who answers: scripted, or chat:NAME, local:NAME of the settings.")] = (
        "scripted"
    ),
    k: Annotated[int, typer.Option("--k", min=1, help="Memories that natural retrieval shows the reader.")] = RETRIEVED,
    out: Out = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Only so many cases, drawn with --seed.")] = None,
    seed: Seed = SEED,
    yes: Yes = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Ask a reader with the exact memory, a distorted one and none, and by retrieval from stores that hold both."""
    from admission.cli.eval.downstream_model import PricedModel
    from admission.cli.eval.downstream_view import downstream_page, downstream_tables
    from admission.cli.eval.showing import show
    from admission.evaluation.derivation.cases import drawn
    from admission.evaluation.derivation.downstream import ARMS, downstream, read_cases, retrievals, shown
    from admission.evaluation.readers import prompt_of, reader_of
    from admission.evaluation.reading.plots import check_plots
    from admission.records import digest
    from admission.settings import load_settings
    from admission.version import __version__

    check_output_folder("--out", out)
    if out is not None:
        check_plots()
    chosen = reader_of(reader, load_settings(config))
    cases = drawn(read_cases(file), sample, seed)
    natural = retrievals(cases, seed, k)
    by_arm = {arm: [prompt_of(case.question, shown(case, arm)) for case in cases] for arm in ARMS}
    retrieved = [prompt_of(one.case.question, one.retrieved) for one in natural]
    prompts = list(dict.fromkeys(prompt for own in (*by_arm.values(), retrieved) for prompt in own))
    model = PricedModel(chosen, (), out, rounds=1, yes=yes)
    said = dict(zip(prompts, model.answers(prompts), strict=True))
    answers = {arm: [said[prompt] for prompt in prompts] for arm, prompts in by_arm.items()}
    says = _says()
    figures = downstream(cases, answers, natural, [said[prompt] for prompt in retrieved], says)
    configuration = {
        "data digest": digest([case.model_dump(mode="json") for case in cases]),
        "reader": chosen.name,
        "reader digest": digest(chosen.identity),
        "retrieved": f"{k} by BM25",
        "seed": str(seed),
        "version": __version__,
    }
    show(
        figures,
        configuration,
        partial(downstream_page, figures),
        lambda: downstream_tables(figures),
        out,
        as_json=as_json,
    )


def _says() -> Says:
    """The containment rule of the eviction audit: the reference's words or numbers stand in the answer."""
    from admission.eviction.answering.judges import NormalisedJudge
    from admission.eviction.scoring import JudgeRequest

    judge = NormalisedJudge()
    return lambda reference, answer: judge.marks([JudgeRequest("", reference, answer)]) == ["right"]
