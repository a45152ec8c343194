"""Reports as JSON lines: the contract's report line, reading reports back, and a log that survives being killed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from pydantic import ValidationError

from admission.errors import InputError
from admission.records import Report
from admission.reports.safe import json_safe


def report_json(report: Report) -> dict[str, Any]:
    """The report as plain JSON values, keys always in the same order."""
    return report.model_dump(mode="json")


def report_line(report: Report) -> str:
    """The report as one line of JSON without its newline; the same report gives the same line."""
    return to_json(report_json(report))


def to_json(value: object, *, indent: int | None = None) -> str:
    """JSON for people's terminals and for files: non-ASCII kept, what could steer a terminal escaped."""
    return json_safe(json.dumps(value, ensure_ascii=False, indent=indent))


def parse_report(line: str | bytes, *, where: str) -> Report:
    """The report of one line. `where` is `file:line` for the error. Raises `InputError`."""
    try:
        return Report.model_validate(json.loads(line))
    except (ValueError, ValidationError) as error:
        problem = _first_problem(error)
        raise InputError("report", problem, "give a file that `admission audit --out` wrote", where=where) from error


def read_reports(path: str | Path) -> Iterator[Report]:
    """The reports of a file, in order. A last line cut short by a kill is left out. Raises `InputError`."""
    for report, _ in _whole_lines(Path(path)):
        yield report


def write_reports(path: str | Path, reports: Iterable[Report]) -> None:
    """Write a file of these reports, replacing what was there only when it is complete."""
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    with partial.open("w", encoding="utf-8") as file:
        file.writelines(report_line(report) + "\n" for report in reports)
    partial.replace(target)


_ANOTHER = "wait for it and start again, or give another"


class ReportLog:
    """A file of reports that is only appended to; every report is in the file as soon as `append` returns.

    Appending first drops a last line cut short by a kill, and refuses a file that holds anything but reports
    (`InputError`), so that a wrong path harms nothing. `sync` makes what was appended durable. While one log appends to
    a file no other may, in whatever process: its first append raises `InputError`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._end: int | None = None
        self._size = 0
        self._file: BinaryIO | None = None

    def __enter__(self) -> ReportLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def existing(self) -> Iterator[Report]:
        """The reports already in the file, in order."""
        end = 0
        if self.path.exists():
            self._size = self.path.stat().st_size
            for report, end in _whole_lines(self.path):  # noqa: B007
                yield report
        self._end = end

    def begin(self) -> None:
        """Open the file for appending. The first `append` does, too; what costs much should be told before."""
        if self._file is None:
            self._file = self._open()

    def append(self, report: Report) -> None:
        self.begin()
        assert self._file is not None
        self._file.write(report_line(report).encode() + b"\n")
        self._file.flush()

    def sync(self) -> None:
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self.sync()
            self._file.close()
            self._file = None

    def _open(self) -> BinaryIO:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._end is None:
            for _ in self.existing():
                pass
        self.path.touch()
        file = open(self.path, "r+b")  # noqa: SIM115
        self._alone(file)
        end = file.seek(self._end or 0)
        file.truncate()
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                file.write(b"\n")
        return file

    def _alone(self, file: BinaryIO) -> None:
        """Holds the file until it is closed: two runs that write to one would spoil each other's reports."""
        try:
            _lock(file)
        except OSError as error:
            file.close()
            raise InputError("--out", f"{self.path} is being written by another run", _ANOTHER) from error
        if file.seek(0, os.SEEK_END) != self._size:
            file.close()
            raise InputError("--out", f"{self.path} was written by another run meanwhile", _ANOTHER)


def _lock(file: BinaryIO) -> None:
    """Locks an open file against other runs, where the system can. Raises `OSError` if another has it."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _whole_lines(path: Path) -> Iterator[tuple[Report, int]]:
    """Each report with the offset of the byte after its line; a torn last line is left out."""
    end = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n") and _torn(line, first=number == 1):
                return
            end += len(line)
            yield parse_report(line, where=f"{path}:{number}"), end


def _torn(line: bytes, *, first: bool) -> bool:
    """Whether an unterminated last line is a report cut short. As the only line it must at least begin like one."""
    try:
        json.loads(line)
    except ValueError:
        return not first or b'{"id":'.startswith(line[:6]) or line.startswith(b'{"id":')
    return False


def _first_problem(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(str(p) for p in first['loc']) or 'line'}: {first['msg']}"
    return f"is not JSON ({error})"
