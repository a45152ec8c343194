"""The part of an audit that asks chat models by batch files: its folders, its requests, and what to do next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from admission.batch.addressing import check_format
from admission.batch.answers import Answers
from admission.batch.driver import FileDriver
from admission.batch.request_files import RequestFiles, Written
from admission.errors import InputError
from admission.reports.safe import one_line

if TYPE_CHECKING:
    from types import TracebackType

    from admission.gate import AdmissionGate


class BatchFiles:
    """The answers an audit reads and the requests it writes. Without a folder for requests they go to that of answers.
    As a context it leaves no request file of a run that did not `finish`.

    Raises `InputError` for options that do not go together, and for a damaged file of answers.
    """

    def __init__(self, requests_out: Path | None, responses_in: Path | None, format: str | None, final: bool) -> None:
        requests = requests_out or responses_in
        if requests is None:
            given = "--final" if final else "--batch-format"
            raise InputError(given, "is for batch files", "give --requests-out or --responses-in with it")
        if final and responses_in is None:
            raise InputError("--final", "there are no answers to be final", "give their folder with --responses-in")
        self.format = check_format(format)
        self.answers = Answers.read(responses_in, final=final) if responses_in is not None else Answers()
        self.requests = RequestFiles(requests)
        self.written: Written | None = None

    def __enter__(self) -> BatchFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.requests.abandon()

    def driver(self, gate: AdmissionGate) -> FileDriver:
        """What decides by these files; a person is told what their requests leave out."""
        driver = FileDriver(gate, self.answers, self.requests.add, format=self.format)
        for note in _notes(driver):
            typer.echo(f"admission: {one_line(note)}", err=True)
        return driver

    def finish(self) -> None:
        """Keep the requests written: the run has looked at every write. Those of a run that was stopped are not all."""
        self.written = self.requests.finish()

    def summary(self) -> dict[str, Any]:
        """What `--json` says of the files."""
        written = self.written or Written(0, (), 0, False)
        said = {"open_requests": written.requests, "request_files": [str(file) for file in written.files]}
        return {"batch": said | {"unused_answers": self.answers.unused}}

    def next_step(self, waiting: int) -> str | None:
        """What is to be done with the requests written, in a few lines; None where none is open."""
        if self.written is None or not self.written.requests:
            return None
        before = " (as before)" if self.written.again else ""
        lines = [
            f"{waiting} writes wait for {self.written.requests} answers. The requests{before}:",
            *(f"  {file}" for file in self.written.files),
            "Send each file to its provider's batch API, put what comes back into one folder with all earlier answers,",
            "and run the same command with --responses-in FOLDER.",
        ]
        if len(self.answers) and self.answers.unused == len(self.answers):
            lines.append(f"None of the {len(self.answers)} answers is to a request of these writes and settings.")
        return "\n".join(lines)


def _notes(driver: FileDriver) -> list[str]:
    if not driver.addressees:
        return ["no role of these settings is a chat model (chat:NAME): nothing is asked by files"]
    return [
        f"params of {to.named} that are not part of a request: {', '.join(to.left_out)}"
        for to in {to.named: to for to in driver.addressees.values()}.values()
        if to.left_out
    ]
