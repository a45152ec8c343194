"""The audit trace of questions: what was read for each, as entries of the chain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from admission.errors import LedgerError
from admission.ledger.fingerprint import plain_value
from admission.ledger.protocol import Entry
from admission.ledger.statements import Database
from admission.observability import ledger_call
from admission.records import Namespace

T = TypeVar("T")


class SqlReads(ABC):
    """The part of `SqlLedger` for audit traces: entries of kind `read`, whose key is the question's id."""

    @abstractmethod
    def _write(self, work: Callable[[Database], T], *, appends: bool = True) -> T: ...

    @abstractmethod
    def _append_to_chain(self, db: Database, **content: Any) -> Entry: ...

    @abstractmethod
    def _entries(self, where: str, parameters: tuple[object, ...]) -> Iterator[Entry]: ...

    @ledger_call
    def record_read(self, question_id: str, *bodies: dict[str, Any], namespace: Namespace = ()) -> None:
        if not question_id:
            raise LedgerError("question_id", "empty", "give the question an id, by which its trace is found")
        plain = [plain_value(body) for body in bodies]

        def commit(db: Database) -> None:
            for body in plain:
                self._append_to_chain(db, kind="read", namespace=namespace, key=question_id, body=body)

        self._write(commit)

    def reads(self, question_id: str) -> list[Entry]:
        return list(self._entries("kind = 'read' AND key = ?", (question_id,)))
