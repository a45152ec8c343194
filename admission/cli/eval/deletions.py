"""`admission eval deletions`: what the deletions in a ledger cost, beside the log of them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from admission.cli.options import AsJson, Config, LedgerUrl, existing_ledger
from admission.cli.output import check_output_folder, console, print_json


def eval_deletions(
    questions: Annotated[
        Path,
        typer.Argument(metavar="QUESTIONS", help="Questions with the memories or turns they need (JSONL)."),
    ],
    ledger: LedgerUrl = None,
    out: Annotated[Path | None, typer.Option(help="Also write report.html and report.json into this folder.")] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Say of each question what the deletions made of it, and of each deletion which questions it cost."""
    from admission.cli.eval.deletions_view import deletions_page, deletions_view
    from admission.eviction.deletions.audit import audit_deletions
    from admission.eviction.deletions.questions import read_questions
    from admission.reports.evaluation import write_evaluation
    from admission.version import __version__

    check_output_folder("--out", out)
    asked = read_questions(questions)
    with existing_ledger(ledger, config) as opened:
        found = audit_deletions(opened, asked)
    configuration = (
        ("as of", found.as_of),
        ("ledger head", f"{found.head.seq}, {found.head.hash}"),
        ("questions digest", hashlib.sha256(questions.read_bytes()).hexdigest()),
        ("version", __version__),
    )
    figures = {**found.model_dump(mode="json"), "configuration": dict(configuration)}
    if out is not None:
        write_evaluation(out, deletions_page(found, configuration), figures)
    if as_json:
        print_json(figures)
    else:
        console(stderr=True).print(deletions_view(found))
