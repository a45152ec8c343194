"""`admission review`: what waits in a ledger's quarantine, and a person's decision on one memory of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from admission.cli.options import (
    WRITE_TO_A_STORE,
    AsJson,
    Config,
    LedgerUrl,
    existing_ledger,
    no_such_report,
    tell_of_audits,
)
from admission.cli.output import console, print_json, print_line, warn_of_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from admission.ledger import Ledger, WriteRecord
    from admission.records import Turn
    from admission.settings import Settings
    from graph_nodes.review_desk import ReviewAnswer, ReviewDesk, ReviewOutcome


def review(
    id: Annotated[
        str | None, typer.Argument(help="A waiting memory: its report's id, or the beginning of it.", metavar="ID")
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Have it stored as it is.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Have it stay in quarantine, and wait no longer.")] = False,
    edit: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Have this text judged in its place; see --conversation.")
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who decides; goes into the ledger.")] = None,
    why: Annotated[str | None, typer.Option(metavar="TEXT", help="The reason; goes into the ledger.")] = None,
    conversation: Annotated[
        Path | None,
        typer.Option(help="Conversation file (JSONL) to judge an edited text on; without one it stays unresolved."),
    ] = None,
    ledger: LedgerUrl = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List the memories that wait for a person, or decide on one.

    An approved memory, or an edited one that is admitted, is stored at the next start of the agent's store.
    """
    from admission.errors import InputError
    from admission.settings import load_settings

    verdicts = [name for name, given in (("approve", approve), ("reject", reject), ("edit", edit is not None)) if given]
    if id is None and not verdicts:
        _list(ledger, config, as_json)
        return
    if id is None or len(verdicts) != 1:
        raise InputError("review", "takes an ID and one verdict", "give ID and --approve, --reject or --edit TEXT")
    if conversation is not None and edit is None:
        raise InputError("--conversation", "is for an edited text", "leave it out, or give --edit TEXT")
    settings = load_settings(config)
    with existing_ledger(ledger, config) as opened:
        record = _named(opened, id)
        answer = _answer(record, verdicts[0], by, why, edit)
        outcome = _decide(opened, settings, record, answer, conversation)
        shown = outcome.model_dump(mode="json") | _report(opened, outcome)
    if outcome.outcome == "settled_before":
        raise InputError(
            "ID", f"{outcome.id} was settled before: {outcome.detail}", "`admission review` lists the rest"
        )
    if as_json:
        print_json(shown)
    else:
        print_line(_sentence(outcome, shown))


def _list(ledger: str | None, config: Path | None, as_json: bool) -> None:
    from admission.reports.text import reports_table
    from admission.settings import load_settings
    from graph_nodes.held_back import report_of
    from graph_nodes.review_desk import ReviewDesk

    with existing_ledger(ledger, config) as opened:
        waiting = opened.waiting()
        tell_of_audits(opened, waiting)
        question = ReviewDesk(opened, load_settings(config)).question(waiting) if as_json else None
    if question is not None:
        print_json(question)
    else:
        console().print(reports_table(report_of(record) for record in waiting))


def _named(ledger: Ledger, id: str) -> WriteRecord:
    from admission.errors import InputError

    found = ledger.report(id)
    if found is None:
        raise no_such_report(id)
    entry, report = found
    record = ledger.write(entry.fingerprint) if entry.fingerprint is not None else None
    if record is None:
        problem = (
            f"{report.id!r} was judged by an audit: nothing was stored or held back, so there is nothing to decide"
        )
        raise InputError("ID", problem, f"read it with `admission show {report.id}`; {WRITE_TO_A_STORE}")
    return record


def _answer(record: WriteRecord, verdict: str, by: str | None, why: str | None, text: str | None) -> ReviewAnswer:
    from pydantic import ValidationError

    from admission.errors import InputError
    from graph_nodes.held_back import report_of
    from graph_nodes.review_desk import ReviewAnswer

    decision = {"id": report_of(record).id, "verdict": verdict, "why": why or "", "text": text}
    try:
        return ReviewAnswer.model_validate({"by": by or "", "decisions": [decision]})
    except ValidationError as error:
        field = error.errors()[0]["loc"][-1]
        option = {"by": "--by", "why": "--why", "text": "--edit"}.get(str(field), str(field))
        raise InputError(
            option, "is missing or empty", "say who decides (--by), why (--why), and what (--edit)"
        ) from error


def _decide(
    ledger: Ledger, settings: Settings, record: WriteRecord, answer: ReviewAnswer, conversation: Path | None
) -> ReviewOutcome:
    from graph_nodes.review_desk import ReviewDesk

    desk = ReviewDesk(ledger, settings)
    desk.check(answer, [record])
    turns = _turns(record, conversation) if conversation is not None else ()
    outcomes = _judged_and_settled(desk, settings, answer, record, turns)
    return desk.result(outcomes)[0][0]


def _judged_and_settled(
    desk: ReviewDesk, settings: Settings, answer: ReviewAnswer, record: WriteRecord, turns: Sequence[Turn]
) -> list[ReviewOutcome]:
    edits = desk.edits(answer, [record], turns)
    reports = []
    if edits:
        from admission.gate import AdmissionGate

        gate = AdmissionGate(settings)
        warn_of_missing(gate)
        reports = [gate.decide(edit.candidate, edit.history) for edit in edits.values()]
    return desk.settle(answer, [record], edits, reports, overrule=True)


def _turns(record: WriteRecord, file: Path) -> Sequence[Turn]:
    from admission.conversations import read_conversations
    from admission.errors import InputError

    thread = record.intent.thread
    for conversation in read_conversations(file):
        if conversation.id == thread:
            return conversation.turns
    problem = f"{file} has no conversation {thread!r}, which the memory was written in"
    raise InputError("--conversation", problem, "give the file with that conversation, under that id")


def _report(ledger: Ledger, outcome: ReviewOutcome) -> dict[str, Any]:
    """The report on an edited text, in full."""
    from admission.reports.jsonl import report_json

    found = ledger.report(outcome.report) if outcome.report is not None else None
    return {} if found is None else {"report": report_json(found[1])}


def _sentence(outcome: ReviewOutcome, shown: dict[str, Any]) -> str:
    told = f"{outcome.id} {outcome.outcome} by {outcome.by}"
    if outcome.report is not None:
        told = f"{told}: {outcome.report} is {shown['report']['status']}, {shown['report']['action']}"
    later = outcome.to_be_stored and not outcome.stored
    return f"{told}; it is stored at the next start of the agent's store" if later else told
