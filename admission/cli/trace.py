"""`admission trace`: what a question found, was shown and told, and where its answer went wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admission.cli.options import AsJson, Config, LedgerUrl, existing_ledger
from admission.cli.output import console, print_json
from admission.reports.safe import one_line

if TYPE_CHECKING:
    from rich.table import Table

    from admission.ledger import Entry
    from admission.reading.axes import Admissibility
    from admission.reading.ledger_trace import LedgerTrace
    from admission.reading.trace import Located, QuestionTrace


def trace(
    question_id: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION_ID", help="The id the question was asked under; without it, all are listed."),
    ] = None,
    required: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="A memory its answer needs: its key, or namespace/.../key. May be repeated."),
    ] = None,
    ledger: LedgerUrl = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show which memories a question found, which of them it was shown, and which its answer told."""
    from admission.reading.ledger_trace import trace_of

    if question_id is None:
        _list(ledger, config, as_json)
        return
    with existing_ledger(ledger, config) as opened:
        found = trace_of(opened, question_id, required or ())
    if as_json:
        print_json(_json(found))
        return
    out = console()
    out.print(one_line(_headline(found)), markup=False)
    out.print(_memories(found.trace))
    if found.located:
        out.print(_located(found.located))


def _list(ledger: str | None, config: Path | None, as_json: bool) -> None:
    """The questions that have a trace, in the order in which they were first asked."""
    first: dict[str, Entry] = {}
    with existing_ledger(ledger, config) as opened:
        for entry in opened.entries():
            if entry.kind == "read" and entry.key is not None:
                first.setdefault(entry.key, entry)
    if as_json:
        asked = [{"id": id, "namespace": entry.namespace, "time": entry.time} for id, entry in first.items()]
        print_json({"questions": asked})
        return
    table = _table("question", "namespace", "first asked")
    for id, entry in first.items():
        table.add_row(one_line(id), one_line("/".join(entry.namespace)), entry.time)
    console().print(table)


def _json(found: LedgerTrace) -> dict[str, object]:
    return {
        **found.trace.model_dump(mode="json"),
        "exclusions": found.trace.exclusions,
        "disclosed": [id.model_dump(mode="json") for id in found.trace.disclosed],
        "disclosed_unexposed": [id.model_dump(mode="json") for id in found.trace.disclosed_unexposed],
        "outside": [id.model_dump(mode="json") for id in found.outside],
        "located": [one.model_dump(mode="json") for one in found.located],
        "events": [event.model_dump(mode="json") for event in found.events],
    }


def _headline(found: LedgerTrace) -> str:
    trace = found.trace
    counts = f"{len(trace.retrieved)} retrieved, {len(trace.exposed)} exposed"
    scored = f", {len(trace.disclosed)} disclosed" if trace.scorer is not None else ", no answer scored"
    kept = "".join(f"; kept back for {code}: {count}" for code, count in trace.exclusions.items())
    outside = f"; {len(found.outside)} not known to the ledger as stored" if found.outside else ""
    return f"question {trace.question_id}: {counts}{scored}{kept}{outside}"


def _memories(trace: QuestionTrace) -> Table:
    table = _table("memory", "route", "rank", "score", "scope policy lifecycle", "exposed", "disclosed", "why not")
    exposed, scored = set(trace.exposed), {one.id: one for one in trace.scored}
    for found in trace.retrieved:
        told = scored.get(found.id)
        kept_back = found.id not in exposed and found.admissibility is not None
        reasons = found.admissibility.reasons if kept_back and found.admissibility is not None else ()
        table.add_row(
            one_line(str(found.id)),
            one_line(found.route),
            str(found.rank),
            "" if found.score is None else f"{found.score:.4g}",
            _axes(found.admissibility),
            _yes(found.id in exposed),
            "" if told is None else _yes(told.disclosed) + ("" if told.score is None else f" ({told.score:.2f})"),
            one_line("; ".join(reasons)),
        )
    return table


def _located(located: tuple[Located, ...]) -> Table:
    table = _table("required memory", "lost at", "why")
    for one in located:
        table.add_row(one_line(str(one.id)), one.lost_at or "-", one_line("; ".join(one.reasons)))
    return table


def _table(*headings: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _axes(admissibility: Admissibility | None) -> str:
    from admission.reading.axes import shown

    return "" if admissibility is None else "      ".join(str(shown(axis.value)) for axis in admissibility.axes)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
