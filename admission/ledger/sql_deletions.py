"""Deletes on their way to the store, and which of the stores that share a ledger has a key."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from admission.errors import LedgerError
from admission.ledger import statements
from admission.ledger.fingerprint import plain_value
from admission.ledger.protocol import Deletion, Entry
from admission.ledger.statements import Database
from admission.observability import ledger_call
from admission.records import Namespace, canonical_json

T = TypeVar("T")


class SqlDeletions(ABC):
    """The part of `SqlLedger` for deletes. That a delete is open is kept beside the chain: whoever takes it away, or
    adds one, changes nothing that the chain says."""

    @abstractmethod
    def _read(self, work: Callable[[Database], T]) -> T: ...

    @abstractmethod
    def _write(self, work: Callable[[Database], T], *, appends: bool = True) -> T: ...

    @abstractmethod
    def _append_to_chain(self, db: Database, **content: Any) -> Entry: ...

    @ledger_call
    def record_delete(
        self,
        namespace: Namespace,
        key: str,
        *,
        thread: str | None,
        task: str | None,
        store: str | None = None,
        cause: Mapping[str, Any] | None = None,
    ) -> Deletion:
        body = {**plain_value(dict(cause or {})), "thread": thread, "task": task}

        def commit(db: Database) -> Deletion:
            self._check_owner(db, namespace, key, store)
            entry = self._append_to_chain(db, kind="deleted", namespace=namespace, key=key, body=body)
            if store is not None:
                db.execute(statements.OPEN_DELETION, (entry.seq, store))
            return Deletion(seq=entry.seq, namespace=namespace, key=key, store=store)

        return self._write(commit)

    def removed(self, deletions: Sequence[Deletion]) -> None:
        def commit(db: Database) -> None:
            for deletion in deletions:
                db.execute(statements.END_DELETION, (deletion.seq,))

        if deletions:
            self._write(commit, appends=False)

    def deletions(self) -> list[Deletion]:
        return self._open("deleted")

    def erasing(self) -> list[Deletion]:
        return self._open("erased")

    def _open(self, kind: str) -> list[Deletion]:
        rows = self._read(lambda db: db.execute(statements.OPEN_DELETIONS, (kind,)).fetchall())
        return [Deletion(**{**row, "namespace": json.loads(row["namespace"])}) for row in rows]

    def _check_owner(self, db: Database, namespace: Namespace, key: str, store: str | None) -> None:
        """Refuses another store's key: what the ledger says of a key would be of two memories."""
        first = db.execute(statements.FIRST_OF_KEY, (canonical_json(namespace), key)).fetchone()
        owner = None if first is None else json.loads(first["options"]).get("store")
        if owner is not None and store is not None and owner != store:
            problem = f"{key!r} in {list(namespace)} is a memory of the store {owner!r}, and this is {store!r}"
            raise LedgerError("key", problem, "give stores that share a ledger namespaces of their own")
