"""`admission demo`: a LangGraph agent on the embedded defaults whose memory writes end in every status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admission.cli.options import AsJson, Config
from admission.cli.output import check_output, check_output_folder, console, print_json, warn_of_missing

if TYPE_CHECKING:
    from admission.records import Conversation, Report
    from admission.settings import Settings

TITLE = "Admission demo: what became of an agent's memories"


def demo(
    out: Annotated[Path, typer.Option(help="Folder for ledger, reports and page.")] = Path("admission-demo"),
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Run a LangGraph agent (its chat model is scripted) and show what became of each memory it wrote."""
    from admission.reports.html import write_page
    from admission.reports.jsonl import report_json, write_reports
    from admission.settings import load_settings

    check_output_folder("--out", out)
    out.mkdir(parents=True, exist_ok=True)
    files = {name: out / name for name in ("ledger.db", "reports.jsonl", "report.html")}
    for file in files.values():
        check_output("--out", file)
    settings = load_settings(config, {"ledger": {"url": f"sqlite:///{files['ledger.db']}"}})
    reports = _run(settings)
    write_reports(files["reports.jsonl"], reports)
    write_page(files["report.html"], reports, title=TITLE)
    if as_json:
        paths = {name.partition(".")[0]: str(path) for name, path in files.items()}
        print_json({"reports": [report_json(report) for report in reports], "files": paths})
    else:
        _show(reports, files)


def _run(settings: Settings) -> list[Report]:
    from langgraph.store.memory import InMemoryStore

    from admission.cli.demo_agent import converse
    from admission.gate import AdmissionGate
    from admission.ledger import open_ledger
    from graph_nodes.store import AdmissionStore

    gate = AdmissionGate(settings)
    warn_of_missing(gate)
    ledger = open_ledger(settings.ledger.url, key=settings.ledger.key)
    said = "an agent talks, and the gate judges what it writes; the first run unpacks the embedded models"
    try:
        # A spinner on a terminal, nothing elsewhere.
        with console(stderr=True).status(said):
            return converse(shipped_conversation(), AdmissionStore(InMemoryStore(), gate=gate, ledger=ledger))
    finally:
        ledger.close()


def shipped_conversation() -> Conversation:
    """The conversation the demo plays, with the writes its agent makes."""
    from importlib.resources import as_file, files

    from admission.conversations import read_conversations

    with as_file(files("admission") / "data" / "demo_conversation.jsonl") as path:
        return next(read_conversations(path))


def _show(reports: list[Report], files: dict[str, Path]) -> None:
    from admission.reports.text import report_view, reports_table

    screen = console()
    screen.print(
        "An agent with a scripted chat model wrote these memories; the gate decided on each before it was stored."
    )
    screen.print(reports_table(reports))
    instructive = next((report for report in reports if report.status == "repaired"), reports[0])
    screen.print("One report in full:")
    screen.print(report_view(instructive))
    screen.print()
    screen.print(
        f"ledger    {files['ledger.db']}  (admission list --ledger sqlite:///{files['ledger.db']})", markup=False
    )
    screen.print(f"reports   {files['reports.jsonl']}", markup=False)
    screen.print(f"page      {files['report.html']}", markup=False)
