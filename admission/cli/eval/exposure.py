"""`admission eval exposure`: what showing a memory does to a reader's answers, by relevance and admissibility."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admission.cli.options import AsJson, Config
from admission.cli.output import console, print_json

if TYPE_CHECKING:
    from admission.evaluation.exposure import ExposureCase
    from admission.evaluation.kept_answers import KeptAnswers
    from admission.evaluation.readers import Reader
    from admission.reading.disclosure import Scorer

BATCH = 16
INTERRUPTED = 130


def eval_exposure(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Cases (JSONL), see docs/evaluations.md.")],
    reader: Annotated[str, typer.Option(help="Who answers: scripted, or chat:NAME, local:NAME of the settings.")] = (
        "scripted"
    ),
    scorer: Annotated[str, typer.Option(help="What counts as disclosed: exact, normalised, numbers, entailment.")] = (
        "normalised"
    ),
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html, report.json and the answers; a stopped run goes on.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N cases.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a run that is paid for.")] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Ask a reader each question with and without one memory, and compare how often it discloses the target."""
    from admission.cli.eval.exposure_view import exposure_page, exposure_table, gap_line
    from admission.evaluation.exposure import effects, read_cases
    from admission.evaluation.kept_answers import KeptAnswers
    from admission.evaluation.readers import identity_digest, reader_of
    from admission.reading.disclosure import scorer_of
    from admission.reports.evaluation import write_evaluation
    from admission.settings import load_settings

    cases = read_cases(file)[:limit]
    looks = scorer_of(scorer)
    chosen = reader_of(reader, load_settings(config))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    kept = KeptAnswers(None if out is None else out / "answers.jsonl", identity_digest(chosen))
    exposed, withheld = ([_prompt(case, shown) for case in cases] for shown in (True, False))
    _ask(chosen, [*exposed, *withheld], kept, agreed=yes, resumable=out is not None)
    with_it, without = ([kept.get(prompt) for prompt in prompts] for prompts in (exposed, withheld))
    report = effects(cases, with_it, without, lambda answer, target: _discloses(looks, answer, target))
    figures = {
        **report.model_dump(mode="json"),
        "cases": len(cases),
        "reader": {"name": chosen.name, **chosen.identity},
        "scorer": looks.declaration,
    }
    if out is not None:
        write_evaluation(out, exposure_page(report, chosen.name, scorer), figures)
    if as_json:
        print_json(figures)
        return
    screen = console(stderr=True)
    screen.print(exposure_table(report, chosen.name))
    screen.print(gap_line(report))


def _discloses(looks: Scorer, answer: str, target: str) -> bool:
    return looks.find([target], answer)[0].disclosed


def _prompt(case: ExposureCase, exposed: bool) -> str:
    from admission.evaluation.exposure import memories
    from admission.evaluation.readers import prompt_of

    return prompt_of(case.query, memories(case, exposed=exposed))


def _ask(reader: Reader, prompts: Sequence[str], kept: KeptAnswers, *, agreed: bool, resumable: bool) -> None:
    """Ask what was not asked before, once each. Exits if the user does not agree to the cost, or stops it."""
    from rich.progress import track

    from admission.cli.eval.trials import agree
    from admission.evaluation.derivation.cost import CHARS_A_TOKEN, Cost

    new = [prompt for prompt in dict.fromkeys(prompts) if kept.get(prompt) is None]
    if reader.paid:
        agree(Cost(len(new), sum(map(len, new)) // CHARS_A_TOKEN), agreed=agreed)
    batches = [new[begin : begin + BATCH] for begin in range(0, len(new), BATCH)]
    screen = console(stderr=True)
    try:
        for batch in track(batches, "asking", console=screen, transient=True, disable=not screen.is_terminal):
            for prompt, answer in zip(batch, reader.answer(batch), strict=True):
                if answer is not None:
                    kept.keep(prompt, answer)
    except KeyboardInterrupt:
        again = "run it again to go on" if resumable else "with --out a run can be resumed"
        typer.echo(f"admission: stopped; {again}", err=True)
        raise typer.Exit(INTERRUPTED) from None
