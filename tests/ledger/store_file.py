"""A second SQLite file that stands in for the memory store."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from admission.ledger import WriteRecord


def put(path: Path, record: WriteRecord) -> None:
    with closing(sqlite3.connect(path, timeout=30.0)) as db, db:
        db.execute(
            "CREATE TABLE IF NOT EXISTS memories (namespace TEXT, key TEXT, value TEXT, UNIQUE (namespace, key))"
        )
        db.execute(
            "INSERT OR REPLACE INTO memories VALUES (?, ?, ?)",
            ("/".join(record.intent.namespace), record.intent.key, json.dumps(record.stored_value)),
        )


def memories(path: Path) -> list[tuple[str, dict[str, Any]]]:
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'memories'").fetchone() is None:
            return []
        return [(key, json.loads(value)) for key, value in db.execute("SELECT key, value FROM memories")]
