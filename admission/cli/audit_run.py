"""One audit: recorded writes through the gate in input order, resumable, stoppable, nothing finished ever lost."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from admission.cli.output import console, print_line, warn_of_missing
from admission.conversations import read_conversations
from admission.errors import InputError
from admission.evaluation.replay_metrics import Reference, ReplayScore, parse_reference
from admission.gate import AdmissionGate
from admission.history import History, Timeline
from admission.records import Candidate, Report, digest
from admission.reports.jsonl import ReportLog, read_reports, report_line, write_reports
from admission.reports.summary import Summary, Tally

if TYPE_CHECKING:
    from types import FrameType

    from admission.cli.audit_batch import BatchFiles
    from admission.ledger import Ledger
    from admission.settings import Settings

# Writes judged together.
BATCH = 32

# A write is known by its conversation and its id.
Key = tuple[str, str]


class Planned(NamedTuple):
    """One write of the input: its place, a digest of what is to be judged, its reference if it has one."""

    place: int
    asked: str
    reference: Reference | None


class AuditRun:
    """An audit of conversation files with one gate. The input is read and checked whole before anything is judged.
    With `batch` chat models are asked by files, and a write is left open until all its answers are there.

    Raises `InputError` for bad input, a write that occurs twice, an `out` that holds anything but reports, reports of
    another configuration, or reports of other writes under the same ids.
    """

    def __init__(
        self,
        files: Sequence[Path],
        settings: Settings,
        *,
        out: Path | None = None,
        limit: int | None = None,
        ledger_url: str | None = None,
        batch: BatchFiles | None = None,
    ) -> None:
        self.files = files
        self.settings = settings
        self.out = out
        self.ledger_url = ledger_url
        self.batch = batch
        self.reports: list[Report] = []
        self.plan = self._planned(limit)
        self._done: set[Key] = set()
        self._already = 0
        self._tally = Tally()
        self._score = ReplayScore()
        self._stopping = False

    @property
    def remaining(self) -> int:
        """Writes that have no report yet."""
        return len(self.plan) - len(self._done)

    def go(self, *, lines: bool = False, keep: bool = False) -> None:
        """Judge every write that has no report yet, until done or interrupted.

        `lines`: print each report on stdout. `keep`: hold all reports in `reports`, in input order.
        """
        gate = AdmissionGate(self.settings) if self.batch is None else AdmissionGate(self.settings, by_file=True)
        decide = gate.decide_many if self.batch is None else self.batch.driver(gate).decide_many
        warn_of_missing(gate)
        with ExitStack() as stack:
            log = stack.enter_context(ReportLog(self.out)) if self.out is not None else None
            if log is not None:
                self._resume(log, gate.config_digest, keep)
            if self.remaining:
                self._judge(decide, log, lines, keep)
        self.reports.sort(key=self._place)
        if self.batch is not None and self.out is not None and not self.remaining:
            self._restore_order(self.out)

    def summary(self) -> Summary:
        """Counts over every report of the input, those of earlier runs included; metrics where references exist."""
        referenced = any(planned.reference is not None for planned in self.plan.values())
        return self._tally.summary(self._score.metrics() if referenced else None)

    def summary_json(self) -> dict[str, Any]:
        """The summary with how this run went, as `--json` prints it."""
        summary = self.summary().model_dump(mode="json")
        if summary["metrics"] is None:
            del summary["metrics"]
        else:
            summary["interval"] = "Clopper-Pearson, 95 %"
        ran = {"new": len(self._done) - self._already, "already_reported": self._already, "remaining": self.remaining}
        batch = {} if self.batch is None else self.batch.summary()
        return summary | ran | batch | ({} if self.out is None else {"out": str(self.out)})

    def _planned(self, limit: int | None) -> dict[Key, Planned]:
        plan: dict[Key, Planned] = {}
        seen: dict[Key, str] = {}
        setting = self.settings.evidence.setting
        for file in self.files:
            if file.exists() and not file.is_file():
                raise InputError("FILE", f"{file} is no regular file", "write it to a file first: it is read twice")
            for conversation, line in zip(read_conversations(file), _line_numbers(file), strict=False):
                where = f"{file}:{line}"
                for write in conversation.writes:
                    key = (conversation.id, write.id)
                    if key in seen:
                        problem = f"{write.id!r} of {conversation.id!r} was already at {seen[key]}"
                        raise InputError(
                            "writes.id", problem, "give each write of a conversation its own id", where=where
                        )
                    seen[key] = where
                    given = write.reference
                    reference = parse_reference(given, setting, where=f"{where}, {write.id}") if given else None
                    if limit is None or len(plan) < limit:
                        plan[key] = Planned(len(plan), _asked(conversation.candidate(write)), reference)
        return plan

    def _resume(self, log: ReportLog, config_digest: str, keep: bool) -> None:
        """Count the reports already in the file, after checking that they answer the same questions the same way."""
        for report in log.existing():
            if report.config_digest != config_digest:
                problem = f"{log.path} holds reports of another configuration ({report.config_digest[:12]})"
                raise InputError("--out", problem, f"give another --out for this one ({config_digest[:12]})")
            planned = self.plan.get(_key(report))
            if planned is None:
                continue
            if planned.asked != _asked(report):
                problem = f"{log.path} holds a report on another write named {report.id!r}"
                raise InputError("--out", problem, "give another --out, or the write a new id")
            self._count(report, keep)
        self._already = len(self._done)

    def _judge(self, decide: Callable[..., Iterator[Report]], log: ReportLog | None, lines: bool, keep: bool) -> None:
        with ExitStack() as stack:
            ledger = stack.enter_context(self._ledger()) if self.ledger_url is not None else None
            requests = stack.enter_context(self.batch) if self.batch is not None else None
            if log is not None:
                log.begin()  # before anything is judged and paid for
            stack.enter_context(self._interruptible())
            progress = stack.enter_context(self._progress())
            task = progress.add_task("judging", total=len(self.plan), completed=self._already)
            for report in decide(self._pending(), batch=BATCH):
                # The ledger first: what is in `out` is never looked at again.
                if ledger is not None:
                    ledger.record_report(report)
                if log is not None:
                    log.append(report)
                    log.sync()
                if lines:
                    print_line(report_line(report))
                self._count(report, keep)
                progress.advance(task)
            if requests is not None and not self._stopping:
                requests.finish()

    def _place(self, report: Report) -> int:
        """Where the report's write stands in the input; -1 for one of another input."""
        planned = self.plan.get(_key(report))
        return -1 if planned is None else planned.place

    def _restore_order(self, out: Path) -> None:
        """Answers by file complete the writes in any order: with the last one the reports take that of the input."""
        reports = list(read_reports(out))
        ordered = sorted(reports, key=self._place)
        if ordered != reports:
            write_reports(out, ordered)

    def _count(self, report: Report, keep: bool) -> None:
        key = _key(report)
        if key in self._done:
            return
        self._done.add(key)
        self._tally.add(report)
        reference = self.plan[key].reference
        if reference is not None:
            self._score.add(report, reference)
        if keep:
            self.reports.append(report)

    def _pending(self) -> Iterator[tuple[Candidate, History]]:
        """Writes without a report, in input order. Ends early on an interrupt: the batch in hand is still finished."""
        for file in self.files:
            for conversation in read_conversations(file):
                timeline: Timeline | None = None
                for write in conversation.writes:
                    key = (conversation.id, write.id)
                    if self._stopping:
                        return
                    if key in self._done or key not in self.plan:
                        continue
                    if timeline is None:
                        chars = self.settings.evidence.passage_chars
                        timeline = Timeline(conversation.id, conversation.turns, passage_chars=chars)
                    yield conversation.candidate(write), timeline.before(write.written_after)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """The first SIGINT lets the batch in hand finish; a second one stops at once. What is written stays."""

        def stop(signum: int, frame: FrameType | None) -> None:
            self._stopping = True
            signal.signal(signal.SIGINT, signal.default_int_handler)
            console(stderr=True).print("stopping after the writes in hand; once more stops at once")

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield
        except KeyboardInterrupt:
            self._stopping = True
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def _ledger(self) -> Iterator[Ledger]:
        from admission.ledger import open_ledger

        assert self.ledger_url is not None
        ledger = open_ledger(self.ledger_url, key=self.settings.ledger.key)
        try:
            yield ledger
        finally:
            ledger.close()

    def _progress(self) -> Progress:
        err = console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        return Progress(*columns, console=err, disable=not err.is_terminal)


def _line_numbers(file: Path) -> Iterator[int]:
    """Where the conversations of a file stand: `read_conversations` does not say."""
    with file.open("rb") as lines:
        yield from (number for number, line in enumerate(lines, 1) if line.strip())


def _key(report: Report) -> Key:
    return (report.conversation, report.id)


def _asked(write: Candidate | Report) -> str:
    """Digest of what is asked about a write: the same write in the same place with the same citations."""
    cited = write.citations if isinstance(write, Candidate) else write.citations.author
    return digest([write.namespace, write.memory, cited, write.written_after])
