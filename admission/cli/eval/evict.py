"""`admission eval evict`: what eviction destroyed, what retrieval missed, what the reader could not use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admission.cli.options import AsJson, Config
from admission.cli.output import check_output_folder, console, print_json

if TYPE_CHECKING:
    from admission.eviction.bench import Budget
    from admission.eviction.histories.conversations import MemoriesAre

POLICIES = ("fifo", "random", "redundancy", "importance", "adversarial")


def eval_evict(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="LoCoMo, RHELM, LongMemEval or conversations with questions: a folder, or the file."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for report.html, report.json, the plots and the cells; a stopped run goes on.")
    ],
    policies: Annotated[
        str, typer.Option(metavar="P,...", help=f"{', '.join(POLICIES)}. No eviction is always measured.")
    ] = ",".join(POLICIES),
    budgets: Annotated[
        str | None,
        typer.Option(
            metavar="B,...",
            help="Tokens, or shares of each history (80%). Default: 80000,30000,8000, or where histories are shorter "
            "80%,30%,8%.",
        ),
    ] = None,
    memories: Annotated[
        str, typer.Option(help="What a conversation's memories are: turns, or the writes it records.")
    ] = "turns",
    rankers: Annotated[str, typer.Option(metavar="R,...", help="bm25, dense, fusion.")] = "bm25,dense,fusion",
    k: Annotated[int, typer.Option("--k", min=1, help="How many memories are read.")] = 60,
    cap: Annotated[int, typer.Option(min=1, help="How many tokens a restoration may add.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of random eviction, of the controls and of the sample.")] = 0,
    sample: Annotated[int | None, typer.Option(min=1, help="Only so many questions, drawn with --seed.")] = None,
    reader: Annotated[
        str, typer.Option(help="Who answers: containment (no model), or chat:NAME, local:NAME of the settings.")
    ] = "containment",
    judge: Annotated[
        str | None,
        typer.Option(help="Who marks the answers: normalised (the default), or chat:NAME of the settings."),
    ] = None,
    importance: Annotated[
        str, typer.Option(help="Who scores importance: embedded, or chat:NAME of the settings.")
    ] = "embedded",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a run that is paid for.")] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Evict under budgets, restore the evidence of each wrong answer, and say which errors only retention mends."""
    from admission.cli.eval.evict_panel import Panel
    from admission.cli.eval.evict_run import EvictionRun, chat_scorer
    from admission.cli.eval.evict_view import eviction_page, eviction_table, left_out
    from admission.cli.eval.reading import chosen_rankers
    from admission.evaluation.reading.plots import check_plots
    from admission.eviction.histories.loading import load
    from admission.eviction.records import sampled
    from admission.reports.evaluation import write_evaluation

    names, chosen = chosen_rankers(rankers), _names(policies)
    wanted = None if budgets is None else _budgets(budgets)
    check_output_folder("--out", out)
    check_plots()
    data = load(folder, _memories(memories))
    if sample is not None:
        data = sampled(data, sample, seed)
    panel = Panel(reader, judge, config, out)
    scorer = chat_scorer(importance, config, out) if "importance" in chosen else None
    run = EvictionRun(data, panel, chosen, names, scorer=scorer, k=k, cap=cap, seed=seed, agreed=yes)
    report = run.report(wanted, out)
    configuration = run.configuration()
    figures = {**report.model_dump(mode="json"), "configuration": dict(configuration)}
    write_evaluation(out, eviction_page(report, names, configuration), figures)
    if as_json:
        print_json(figures)
    else:
        screen = console(stderr=True)
        screen.print(eviction_table(report))
        for line in left_out(report):
            screen.print(line, markup=False)


def _names(text: str) -> tuple[str, ...]:
    from admission.errors import InputError

    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in names if name not in POLICIES]
    if unknown or not names:
        problem = f"{', '.join(unknown) or 'nothing'} is no policy"
        raise InputError("--policies", problem, f"choose from {', '.join(POLICIES)}")
    return names


def _memories(text: str) -> MemoriesAre:
    from admission.errors import InputError
    from admission.eviction.histories.conversations import MEMORIES_ARE

    for known in MEMORIES_ARE:
        if known == text:
            return known
    raise InputError("--memories", f"{text!r} is no kind of memories", f"say {' or '.join(MEMORIES_ARE)}")


def _budgets(text: str) -> tuple[Budget, ...]:
    from admission.errors import InputError
    from admission.eviction.bench import Budget

    made: list[Budget] = []
    for part in (part.strip() for part in text.split(",") if part.strip()):
        number = part.removesuffix("%").strip()
        if not number.isdecimal() or (part.endswith("%") and int(number) > 100):
            problem = f"{part!r} is no budget"
            raise InputError("--budgets", problem, "give tokens or shares of the history, such as 30000 or 30%")
        made.append(Budget(share=int(number) / 100) if part.endswith("%") else Budget(tokens=int(number)))
    if not made:
        raise InputError("--budgets", "names none", "give tokens or shares of the history, such as 30000 or 30%")
    return tuple(dict.fromkeys(made))
