"""AdmissionBackend for deepagents: what is new in a memory file is judged before the file is written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from deepagents.backends.protocol import (
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)

from admission.records import STORED_ACTIONS, Report
from admission.reports.sentences import headline
from graph_nodes.file_blocks import new_text
from graph_nodes.outcome import collect_reports
from graph_nodes.outside import NotWritten, OutsideMemory, filled
from graph_nodes.store import AdmissionStore

_MISSING = "file_not_found"
_NOT_TEXT = "only text files can be kept here: what they say is judged before they are written"


class _Result(Protocol):
    error: str | None


R = TypeVar("R", bound=_Result)


class AdmissionBackend(BackendProtocol):  # type: ignore[misc, unused-ignore]  # untyped where not installed
    """A deepagents backend around another that holds memory files, such as a `StoreBackend` over a raw store.

    A write, edit or upload is judged by its new and changed list items, headings and paragraphs, all together as one
    memory: what stood in the file before was judged when it was written, from a conversation that may be gone. Where
    they are held back the file stays as it was, and the result's `error` says why. What only takes text away passes, as
    reads and deletes do; deletes are recorded. Only text files are taken.

    `namespace` is where the memories count as written, for policy and ledger; `{name}` stands for a value of the run's
    `configurable`. A `StoreBackend` over the guard itself is caught without this class, but there the whole file is
    judged at each edit.
    """

    def __init__(self, inner: BackendProtocol, guard: AdmissionStore, *, namespace: tuple[str, ...]) -> None:
        self.inner = inner
        self._namespace = namespace
        self._place = OutsideMemory(guard, f"files:{'/'.join(namespace)}")

    def write(self, file_path: str, content: str) -> WriteResult:
        """Writes the file, if what is new in it is admitted."""
        before = _text(self.inner.download_files([file_path]))
        if before is None:
            return WriteResult(error=_NOT_TEXT)
        done = self._put(new_text(before, content), lambda: self.inner.write(file_path, content))
        return _write_result(done, file_path)

    async def awrite(self, file_path: str, content: str) -> WriteResult:
        """Async twin of `write`."""
        before = _text(await self.inner.adownload_files([file_path]))
        if before is None:
            return WriteResult(error=_NOT_TEXT)
        done = await self._aput(new_text(before, content), lambda: self.inner.awrite(file_path, content))
        return _write_result(done, file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Edits the file, if what is new in it is admitted. `old_string` has to stand in it to the letter."""
        change = _change(self.inner.download_files([file_path]), old_string, new_string, replace_all)
        if isinstance(change, EditResult):
            return change
        done = self._put(change.text, lambda: self.inner.edit(file_path, old_string, new_string, replace_all))
        return _edit_result(done, file_path, change.occurrences)

    async def aedit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Async twin of `edit`."""
        change = _change(await self.inner.adownload_files([file_path]), old_string, new_string, replace_all)
        if isinstance(change, EditResult):
            return change
        done = await self._aput(change.text, lambda: self.inner.aedit(file_path, old_string, new_string, replace_all))
        return _edit_result(done, file_path, change.occurrences)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Uploads each file as a write of its text."""
        return [self._upload(path, content) for path, content in files]

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Async twin of `upload_files`."""
        return [await self._aupload(path, content) for path, content in files]

    def delete(self, file_path: str) -> DeleteResult:
        """Deletes the file, and records it."""
        self._place.record_delete(filled(self._namespace), file_path)
        return self.inner.delete(file_path)

    async def adelete(self, file_path: str) -> DeleteResult:
        """Async twin of `delete`."""
        await asyncio.to_thread(self._place.record_delete, filled(self._namespace), file_path)
        return await self.inner.adelete(file_path)

    def ls(self, path: str) -> LsResult:
        return self.inner.ls(path)

    async def als(self, path: str) -> LsResult:
        return await self.inner.als(path)

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        return self.inner.read(file_path, offset, limit)

    async def aread(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        return await self.inner.aread(file_path, offset, limit)

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        return self.inner.grep(pattern, path, glob, max_count=max_count)

    async def agrep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        return await self.inner.agrep(pattern, path, glob, max_count=max_count)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        return self.inner.glob(pattern, path)

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        return await self.inner.aglob(pattern, path)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        found: list[FileDownloadResponse] = self.inner.download_files(paths)
        return found

    async def adownload_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        found: list[FileDownloadResponse] = await self.inner.adownload_files(paths)
        return found

    def _upload(self, path: str, content: bytes) -> FileUploadResponse:
        before, text = _text(self.inner.download_files([path])), _decoded(content)
        if before is None or text is None:
            return FileUploadResponse(path, _NOT_TEXT)
        done = self._put(new_text(before, text), lambda: self.inner.upload_files([(path, content)])[0])
        return done if isinstance(done, FileUploadResponse) else FileUploadResponse(path, done)

    async def _aupload(self, path: str, content: bytes) -> FileUploadResponse:
        before, text = _text(await self.inner.adownload_files([path])), _decoded(content)
        if before is None or text is None:
            return FileUploadResponse(path, _NOT_TEXT)

        async def upload() -> FileUploadResponse:
            return (await self.inner.aupload_files([(path, content)]))[0]

        done = await self._aput(new_text(before, text), upload)
        return done if isinstance(done, FileUploadResponse) else FileUploadResponse(path, done)

    def _put(self, text: str, action: Callable[[], R]) -> R | str | None:
        """What the inner backend answered; or why it was not asked; None where an earlier run of this task did it."""
        if not text:
            return action()
        with collect_reports() as reports:
            done = self._place.write(filled(self._namespace), text, lambda: _checked(action()))
        return done if done is not None else _refusal(reports)

    async def _aput(self, text: str, action: Callable[[], Awaitable[R]]) -> R | str | None:
        if not text:
            return await action()

        async def checked() -> R:
            return _checked(await action())

        with collect_reports() as reports:
            done = await self._place.awrite(filled(self._namespace), text, checked)
        return done if done is not None else _refusal(reports)


@dataclass(frozen=True)
class _Change:
    """What an edit says anew, and how often it replaces what stood there."""

    text: str
    occurrences: int


def _text(found: Sequence[FileDownloadResponse]) -> str | None:
    """The text of a file as it is, empty where there is no such file; None where it is no text, or cannot be read."""
    (file,) = found
    if file.content is None:
        return "" if file.error == _MISSING else None
    return _decoded(file.content)


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _change(found: Sequence[FileDownloadResponse], old: str, new: str, replace_all: bool) -> _Change | EditResult:
    """What is to be judged of an edit, or why it cannot be made. Worked out here: an inner backend that is less strict
    about what it replaces would write what nobody has judged."""
    before = _text(found)
    if before is None or found[0].content is None:
        return EditResult(error=_NOT_TEXT if before is None else f"Error: File '{found[0].path}' not found")
    occurrences = before.count(old) if old else 0
    if occurrences == 0:
        return EditResult(error="Error: the text to replace does not stand in the file to the letter")
    if occurrences > 1 and not replace_all:
        return EditResult(error=f"Error: the text to replace stands in the file {occurrences} times: give more of it")
    return _Change(new_text(before, before.replace(old, new)), occurrences)


def _checked(result: R) -> R:
    """The result of a write; raises `NotWritten` where it says that it failed."""
    if result.error is not None:
        raise NotWritten(result)
    return result


def _refusal(reports: Sequence[Report]) -> str | None:
    held = [report for report in reports if report.action not in STORED_ACTIONS]
    return f"Error: the file was not changed. {headline(held[-1])}" if held else None


def _write_result(done: WriteResult | str | None, path: str) -> WriteResult:
    if isinstance(done, WriteResult):
        return done
    return WriteResult(path=path) if done is None else WriteResult(error=done)


def _edit_result(done: EditResult | str | None, path: str, occurrences: int) -> EditResult:
    if isinstance(done, EditResult):
        return done
    return EditResult(path=path, occurrences=occurrences) if done is None else EditResult(error=done)
