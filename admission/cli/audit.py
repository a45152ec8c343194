"""`admission audit`: the gate over recorded writes; its options, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from admission.cli.options import AsJson, Config
from admission.cli.output import check_output, check_output_folder, console, print_json

INTERRUPTED = 130


def audit(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Conversation files (JSONL).")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Append reports to this file (JSONL); those already in it are skipped. Default: stdout,"
            " or nowhere with --json."
        ),
    ] = None,
    config: Config = None,
    setting: Annotated[str | None, typer.Option(help="citation_only or expanded.")] = None,
    view: Annotated[
        str | None,
        typer.Option(
            help="How a memory is put to the judges: holistic, atomic_claims, predicate_argument_qa, compact_relation,"
            " composition_graph or obligations."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N writes of the input.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write the run as one HTML page.")] = None,
    ledger: Annotated[str | None, typer.Option(help="Also record every report in this ledger.")] = None,
    requests_out: Annotated[
        Path | None,
        typer.Option(help="Ask chat models by batch files: write the open requests into this folder, and stop."),
    ] = None,
    responses_in: Annotated[
        Path | None,
        typer.Option(help="Go on from the provider's output files in this folder; next requests go to --requests-out."),
    ] = None,
    batch_format: Annotated[
        str | None, typer.Option(help="Request files as openai or anthropic; default: as each model's provider has it.")
    ] = None,
    final: Annotated[
        bool,
        typer.Option("--final", help="With --responses-in: what has no answer by now has failed."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Judge the recorded memory writes of conversation files."""
    from admission.cli.audit_run import AuditRun
    from admission.errors import InputError
    from admission.reports.html import write_page
    from admission.reports.text import summary_view
    from admission.settings import load_settings

    check_output("--out", out, makes_folder=True)
    check_output("--html", html)
    check_output_folder("--requests-out", requests_out)
    if out is not None and html is not None and out.resolve() == html.resolve():
        raise InputError("--html", f"{html} is where the reports go (--out)", "give the page a file of its own")
    chosen = {"evidence": {"setting": setting}, "verification": {"view": view}}
    overrides = {name: part for name, part in chosen.items() if None not in part.values()}
    batch = None
    if requests_out or responses_in or batch_format or final:
        from admission.cli.audit_batch import BatchFiles

        batch = BatchFiles(requests_out, responses_in, batch_format, final)
    run = AuditRun(files, load_settings(config, overrides), out=out, limit=limit, ledger_url=ledger, batch=batch)
    run.go(lines=out is None and not as_json, keep=html is not None)
    summary = run.summary()
    if html is not None:
        write_page(
            html, run.reports, title=f"Admission audit: {', '.join(f.name for f in files)}", metrics=summary.metrics
        )
    step = batch.next_step(run.remaining) if batch is not None else None
    if as_json:
        print_json(run.summary_json())
        if out is None and html is None and ledger is None:
            typer.echo("admission: only the summary is kept; give --out to keep the reports", err=True)
    elif summary.reports or step is None:
        console(stderr=True).print(summary_view(summary))
    if step is not None:
        typer.echo(f"admission: {step}", err=True)
    elif run.remaining:
        again = f"run it again to go on: what is in {out} is skipped" if out else "with --out a run can be resumed"
        typer.echo(f"admission: stopped with {run.remaining} writes to go; {again}", err=True)
        raise typer.Exit(INTERRUPTED)
