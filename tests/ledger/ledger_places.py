"""Where a test's ledger is kept, whichever its kind: opening it, tampering with it, putting an older copy back."""

from __future__ import annotations

import re
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from admission.ledger import Ledger, open_ledger

_NAMED_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")
_TABLES = ("entries", "writes", "head")


class Place(ABC):
    """One place for a ledger. It is empty until the ledger is first opened."""

    url: str

    def open(self, key: bytes | None = None) -> Ledger:
        return open_ledger(self.url, key=key)

    @abstractmethod
    def sibling(self, name: str) -> str:
        """The URL of another ledger beside this one."""

    @abstractmethod
    def rows(self, statement: str) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def attack(self, *statements: str, **values: object) -> None:
        """What someone does who may write to the database: first away with all that guards the entries."""

    @abstractmethod
    def keep_copy(self) -> None: ...

    @abstractmethod
    def put_back(self) -> None:
        """The copy kept before, in place of what is there now. No ledger is open meanwhile."""

    def _used(self, statement: str, values: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in values.items() if f":{name}" in statement}


class SqlitePlace(Place):
    def __init__(self, folder: Path) -> None:
        self.file = folder / "ledger.db"
        self.url = f"sqlite:///{self.file}"

    def sibling(self, name: str) -> str:
        return f"sqlite:///{self.file.with_name(name)}.db"

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.file)) as db:
            return db.execute(statement).fetchall()

    def attack(self, *statements: str, **values: object) -> None:
        with closing(sqlite3.connect(self.file)) as db, db:
            db.execute("DROP TRIGGER IF EXISTS entries_are_never_changed")
            db.execute("DROP TRIGGER IF EXISTS entries_are_never_deleted")
            db.execute("DROP INDEX IF EXISTS reports_by_id")  # it would refuse a body that is not JSON
            for statement in statements:
                db.execute(statement, self._used(statement, values))

    def keep_copy(self) -> None:
        shutil.copy(self.file, self.file.with_name("copy.db"))

    def put_back(self) -> None:
        shutil.copy(self.file.with_name("copy.db"), self.file)


class PostgresPlace(Place):
    def __init__(self, address: str, schema: str) -> None:
        self.address = address
        self.schema = schema
        self.url = self.sibling("")

    def sibling(self, name: str) -> str:
        return f"{self.address}?schema={self.schema}{name}"

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        return self._run([statement])

    def attack(self, *statements: str, **values: object) -> None:
        guards = [
            *(f"DROP TRIGGER IF EXISTS entries_are_never_{what} ON entries" for what in _GUARDED),
            "ALTER TABLE writes DROP CONSTRAINT IF EXISTS writes_report_seq_fkey",
            "DROP INDEX IF EXISTS reports_by_id",
        ]
        self._run([*guards, *statements], values)

    def keep_copy(self) -> None:
        self._run(f"CREATE TABLE copy_of_{table} AS TABLE {table}" for table in _TABLES)

    def put_back(self) -> None:
        self.attack(
            *(f"DELETE FROM {table}" for table in _TABLES),
            *(f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM copy_of_{table}" for table in _TABLES),
        )

    def drop(self) -> None:
        found = self._run([f"SELECT nspname FROM pg_namespace WHERE starts_with(nspname, '{self.schema}')"])
        self._run(f'DROP SCHEMA "{name}" CASCADE' for (name,) in found)

    def _run(self, statements: Any, values: dict[str, object] | None = None) -> list[tuple[Any, ...]]:
        import psycopg

        rows: Sequence[tuple[Any, ...]] = []
        with psycopg.connect(self.address, options=f"-c search_path={self.schema}") as db:
            for statement in statements:
                used = self._used(statement, values or {})
                cursor = db.execute(_NAMED_PARAMETER.sub(r"%(\1)s", statement) if used else statement, used or None)
                rows = cursor.fetchall() if cursor.description else []
        return list(rows)


_GUARDED = ("changed", "deleted", "emptied")
