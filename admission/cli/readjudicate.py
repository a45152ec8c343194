"""`admission readjudicate`: unresolved memories of a ledger judged again on what their conversations have become."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from admission.cli.options import AsJson, Config, LedgerUrl, existing_ledger, tell_of_audits
from admission.cli.output import console, print_json, warn_of_missing

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from admission.readjudication import Budget, Readmit
    from admission.records import Turn
    from admission.settings import Settings
    from graph_nodes.docket import Docket


def readjudicate(
    conversations: Annotated[
        list[Path],
        typer.Argument(metavar="CONVERSATIONS", help="Conversation files (JSONL), each under its thread's id."),
    ],
    budget: Annotated[int | None, typer.Option(min=0, help="Judge at most N memories.")] = None,
    calls: Annotated[int | None, typer.Option(min=0, help="Begin no further one after N calls of verifiers.")] = None,
    readmit: Annotated[
        str, typer.Option(help="What the conversation now supports: review (waits for a person) or store.")
    ] = "review",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be judged.")] = False,
    ledger: LedgerUrl = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Judge unresolved memories again whose missing evidence may have arrived since.

    Every verdict is in the ledger as soon as it is made; what is left over comes in the next run.
    """
    from admission.readjudication import Budget
    from admission.settings import load_settings
    from graph_nodes.docket import Docket

    chosen = _readmit(readmit)
    settings = load_settings(config)
    with existing_ledger(ledger, config) as opened:
        tell_of_audits(opened, opened.waiting())
        docket = Docket(opened, settings, chosen)
        turns = _turns(conversations, docket.threads())
        docket.call(turns.get)
        if not dry_run:
            _judge(docket, settings, Budget(budget, calls))
    if as_json:
        print_json(_due(docket) if dry_run else _came_to(docket))
    else:
        _print(docket, dry_run)


def _readmit(value: str) -> Readmit:
    from admission.errors import InputError

    if value == "review" or value == "store":
        return "review" if value == "review" else "store"
    raise InputError("--readmit", f"{value!r} is no way to readmit", "use review or store")


def _turns(files: Sequence[Path], threads: Collection[str]) -> dict[str, tuple[Turn, ...]]:
    """The conversations that memories wait for. Raises `InputError` for one that is in the files twice."""
    from admission.conversations import read_conversations
    from admission.errors import InputError

    found: dict[str, tuple[Turn, ...]] = {}
    for file in files:
        for conversation in read_conversations(file):
            if conversation.id in found:
                raise InputError("id", f"{conversation.id!r} was in another file", "give each once", where=str(file))
            if conversation.id in threads:
                found[conversation.id] = conversation.turns
    return found


def _judge(docket: Docket, settings: Settings, budget: Budget) -> None:
    from rich.progress import track

    from admission.gate import AdmissionGate

    if not docket.cases:
        return
    gate = AdmissionGate(settings)
    warn_of_missing(gate)
    err = console(stderr=True)
    total = len(docket.cases) if budget.writes is None else min(budget.writes, len(docket.cases))
    cases = track(
        docket.within(budget), "judging again", total, console=err, transient=True, disable=not err.is_terminal
    )
    for case in cases:
        docket.record(case, gate.decide(case.candidate, case.history))


def _due(docket: Docket) -> dict[str, Any]:
    return {
        "due": [
            {
                "id": case.former.id,
                "conversation": case.record.intent.thread,
                "memory": case.former.memory,
                "since": list(case.found.turns),
                "share": round(case.found.share, 3),
            }
            for case in docket.cases
        ]
    }


def _came_to(docket: Docket) -> dict[str, Any]:
    from admission.reports.jsonl import report_json

    result = docket.result()
    return {
        "judged": [{"former": again.former, "report": report_json(again.report)} for again in result.judged],
        "unanswered": list(result.unanswered),
        "settled": list(result.settled),
        "left": list(result.left),
        "calls": result.calls,
    }


def _print(docket: Docket, dry_run: bool) -> None:
    from admission.reports.text import reports_table

    result = docket.result()
    reports = [case.former for case in docket.cases] if dry_run else [again.report for again in result.judged]
    console().print(reports_table(reports))
    if not dry_run:
        told = f"{len(result.judged)} judged again, {len(result.unanswered)} without an answer, {len(result.left)} left"
        typer.echo(f"admission: {told}", err=True)
