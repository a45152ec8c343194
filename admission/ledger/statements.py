"""The SQL that every ledger's database understands, with `?` for a parameter, and what it asks of a connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from admission.ledger.protocol import Entry
from admission.ledger.rows import Row
from admission.records import Namespace, canonical_json


class Database(Protocol):
    """A connection within a transaction. `execute` answers with a cursor (`fetchone`, `fetchall`, iteration) whose rows
    are dicts by column name."""

    def execute(self, sql: str, parameters: Sequence[object] = (), /) -> Any: ...


# Each write, with what the chain says of it and the seq the chain ends at.
WRITES = """
SELECT w.*, (SELECT seq FROM head) AS last_seq, r.seq AS chain_report_seq, r.namespace AS chain_namespace,
       r.key AS chain_key, r.value_digest AS chain_digest, r.body AS report, b.seq AS restored_seq,
       b.value_digest AS restored_digest, s.seq AS stored_seq, s.value_digest AS stored_digest, o.seq AS overtaken_seq
FROM writes w
LEFT JOIN entries r ON r.fingerprint = w.fingerprint AND r.kind = 'report'
LEFT JOIN entries b ON b.fingerprint = w.fingerprint AND b.kind = 'restored'
LEFT JOIN entries s ON s.fingerprint = w.fingerprint AND s.kind = 'stored'
LEFT JOIN entries o ON o.fingerprint = w.fingerprint AND o.kind = 'overtaken'
"""
CLAIM = (
    "INSERT INTO writes (fingerprint, namespace, key, value, value_digest, options, thread, task)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (fingerprint) DO NOTHING RETURNING id"
)
SEAL = "UPDATE writes SET seal = ? WHERE id = ?"
# All writes of a key are one store's: the first tells whose.
FIRST_OF_KEY = "SELECT options FROM writes WHERE namespace = ? AND key = ? ORDER BY id LIMIT 1"
# Once: a retry brings the same conversation along, and the write keeps its turn.
KEEP_PENDING = (
    "UPDATE writes SET conversation = ?, pending_after = (SELECT seq FROM head)"
    " WHERE fingerprint = ? AND state = 'claimed' AND conversation IS NULL"
)
DECIDE = (
    "UPDATE writes SET state = ?, stored_value = ?, quarantined = ?, report_seq = ?, conversation = NULL"
    " WHERE fingerprint = ?"
)
COMPLETE = "UPDATE writes SET state = 'done' WHERE fingerprint = ?"
RESTORE = "UPDATE writes SET state = 'decided', stored_value = ?, quarantined = 0 WHERE fingerprint = ?"
# Held back, and by no review set aside: neither rejected nor replaced.
WAITING = (
    "w.quarantined = 1 AND NOT EXISTS"
    " (SELECT 1 FROM entries v WHERE v.kind = 'review' AND v.fingerprint = w.fingerprint)"
)
REVIEW = "SELECT body FROM entries WHERE kind = 'review' AND fingerprint = ? ORDER BY seq DESC LIMIT 1"
OPEN_DELETIONS = (
    "SELECT d.seq, d.store, e.namespace, e.key FROM deletions d JOIN entries e ON e.seq = d.seq"
    " WHERE e.kind = ? AND e.key IS NOT NULL ORDER BY d.seq"
)
OPEN_DELETION = "INSERT INTO deletions (seq, store) VALUES (?, ?)"
END_DELETION = "DELETE FROM deletions WHERE seq = ?"
LAST_CHANGE = "SELECT max(seq) AS seq FROM entries WHERE kind IN ('stored', 'deleted') AND namespace = ? AND key = ?"
APPEND = (
    "INSERT INTO entries (seq, kind, time, fingerprint, namespace, key, value_digest, body, previous, hash,"
    " content_digest, salt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
# What an erasure leaves of an entry; nothing else may do that.
LEAVE = (
    "UPDATE entries SET fingerprint = ?, key = ?, value_digest = ?, body = ?, content_digest = NULL, salt = NULL"
    " WHERE seq = ?"
)
_ERASED = "SELECT * FROM entries WHERE kind = 'erased' AND namespace = ? AND key = ? ORDER BY seq DESC"
ERASURES = "SELECT * FROM entries WHERE kind = 'erased' ORDER BY seq"
LAST_ERASED = f"{_ERASED} LIMIT 1"
ALL_ERASED = _ERASED
MOVE_HEAD = "UPDATE head SET seq = ?, hash = ?"
# In full, though the second condition implies the first: so the index of these two kinds is used.
_DELETED = "kind IN ('stored', 'deleted') AND kind = 'deleted' AND namespace = ? AND key = ?"
LAST_DELETE = f"SELECT max(seq) AS seq FROM entries WHERE {_DELETED}"
CHANGES = (
    f"SELECT (SELECT count(*) FROM entries WHERE {_DELETED})"
    " + (SELECT count(*) FROM writes WHERE namespace = ? AND key = ? AND value_digest <> ?) AS changes"
)
_NEWEST_FIRST = "ORDER BY coalesce(b.seq, w.pending_after, r.seq) DESC, w.id DESC LIMIT 1"
LATEST = f"{WRITES} WHERE w.namespace = ? AND w.key = ? AND w.stored_value IS NOT NULL {_NEWEST_FIRST}"
LATEST_MADE = (
    f"{WRITES} WHERE w.namespace = ? AND w.key = ? AND (w.stored_value IS NOT NULL OR w.conversation IS NOT NULL)"
    f" {_NEWEST_FIRST}"
)
STANDING = (
    "SELECT key, stored_value FROM writes WHERE namespace = ? AND stored_value IS NOT NULL ORDER BY id DESC LIMIT ?"
)
HISTORY = (
    "SELECT e.kind, e.time, e.fingerprint, e.body, w.stored_value, r.body AS report FROM entries e"
    " LEFT JOIN writes w ON w.fingerprint = e.fingerprint"
    " LEFT JOIN entries r ON r.fingerprint = e.fingerprint AND r.kind = 'report'"
    " WHERE e.kind IN ('stored', 'deleted') AND e.namespace = ? AND e.key = ? ORDER BY e.seq"
)
# For one place after the other: its latest write, unless it was deleted since, and that write's newest metadata.
_LATEST_ID = (
    "SELECT v.id FROM writes v"
    " LEFT JOIN entries r ON r.fingerprint = v.fingerprint AND r.kind = 'report'"
    " LEFT JOIN entries b ON b.fingerprint = v.fingerprint AND b.kind = 'restored'"
    " WHERE v.namespace = asked.namespace AND v.key = asked.key AND v.stored_value IS NOT NULL"
    " AND coalesce(b.seq, v.pending_after, r.seq) >= coalesce((SELECT max(d.seq) FROM entries d"
    " WHERE d.kind IN ('stored', 'deleted') AND d.kind = 'deleted'"
    " AND d.namespace = asked.namespace AND d.key = asked.key), 0)"
    " ORDER BY coalesce(b.seq, v.pending_after, r.seq) DESC, v.id DESC LIMIT 1"
)
METADATA = (
    "WITH asked (namespace, key) AS (VALUES {places}) SELECT w.namespace, w.key, m.body FROM asked"
    f" JOIN writes w ON w.id = ({_LATEST_ID})"
    " JOIN entries m ON m.seq = (SELECT max(n.seq) FROM entries n WHERE n.kind = 'metadata'"
    " AND n.fingerprint = w.fingerprint)"
)
METADATA_OF = "SELECT body FROM entries WHERE kind = 'metadata' AND fingerprint = ? ORDER BY seq DESC LIMIT 1"
ABOUT_NO_WRITE = (
    "SELECT e.seq, e.fingerprint FROM entries e LEFT JOIN writes w ON w.fingerprint = e.fingerprint"
    " WHERE e.fingerprint IS NOT NULL AND w.id IS NULL ORDER BY e.seq LIMIT 1"
)


def appended(entry: Entry, body: str) -> tuple[object, ...]:
    """The parameters of `APPEND`; `body` is the canonical JSON of the entry's."""
    return (
        entry.seq,
        entry.kind,
        entry.time,
        entry.fingerprint,
        canonical_json(entry.namespace),
        entry.key,
        entry.value_digest,
        body,
        entry.previous,
        entry.hash,
        entry.content_digest,
        entry.salt,
    )


def within(column: str, namespace: Namespace | None) -> tuple[str, tuple[object, ...]]:
    """SQL for namespaces at or below this one: those whose JSON text goes on from it with "," or ends with "]".

    Text has to be compared by code point or UTF-8 byte."""
    if not namespace:
        return "TRUE", ()
    stem = canonical_json(namespace)[:-1]
    return f"({column} >= ? AND {column} < ?)", (stem, stem + "~")


def newest_reports_starting_with(db: Database, name: str, start: str, limit: int) -> list[Row]:
    """`name` and `seq` of the newest report of each whose `name` (a column or an expression) starts with `start`."""
    rows: list[Row] = db.execute(
        f"SELECT {name} AS name, max(seq) AS seq FROM entries"
        f" WHERE kind = 'report' AND {name} >= ? AND {name} < ? GROUP BY {name} LIMIT {limit}",
        (start, start + "\U0010ffff"),
    ).fetchall()
    return rows
