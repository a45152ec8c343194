"""Metadata that a SQLite ledger has read before, kept for as long as its file says that they hold."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence

from admission.ledger.chain import EMPTY
from admission.ledger.protocol import LedgerHead
from admission.metadata import RecordMetadata
from admission.records import Namespace

Place = tuple[Namespace, str]
Select = Callable[[sqlite3.Connection, Sequence[Place]], dict[Place, RecordMetadata]]

MOST = 20_000
"""So many places are kept at most (1 to 2 kB each)."""
_FOLLOWED = 500
"""After so many entries that others appended it is cheaper to read anew what is asked for."""

_HEAD = "SELECT seq, hash, (SELECT e.hash FROM entries e WHERE e.seq = ?) AS seen FROM head"
_CHANGES = "SELECT kind, namespace, key FROM entries WHERE seq > ? AND kind <> 'read' ORDER BY seq LIMIT ?"


class KnownMetadata:
    """What `select` said of places, until the ledger changes it; for one connection, under its ledger's lock.

    Never stale: a commit of any other connection, in whatever process, changes SQLite's `PRAGMA data_version` here, and
    one of this connection its `total_changes`. Both are looked at before every answer. Where either differs, what was
    appended to the chain since is read: a memory's metadata change in no transaction that does not append an entry
    about its place. What another connection changed without appending anything makes all of it be read anew.
    """

    def __init__(self, select: Select) -> None:
        self._select = select
        self._known: dict[Place, RecordMetadata | None] = {}
        self._others = self._own = -1
        self._seen = EMPTY

    def of(self, db: sqlite3.Connection, places: Sequence[Place]) -> dict[Place, RecordMetadata]:
        """The metadata of those places that have some."""
        if db.in_transaction:
            return self._select(db, places)  # it may see what is never committed
        self._catch_up(db)
        missing = [place for place in places if place not in self._known]
        if len(self._known) + len(missing) > MOST:
            self._known.clear()
            missing = list(places)
        if missing:
            self._known.update({**dict.fromkeys(missing), **self._select(db, missing)})
        return {place: found for place in places if (found := self._known[place]) is not None}

    def _catch_up(self, db: sqlite3.Connection) -> None:
        """Forgets what may have changed. What is committed while it looks is found the next time: the state of the file
        is taken first, and metadata are read after it."""
        others: int = db.execute("PRAGMA data_version").fetchone()["data_version"]
        own = db.total_changes
        if (others, own) == (self._others, self._own):
            return
        head = db.execute(_HEAD, (self._seen.seq,)).fetchone()
        unchanged = head is not None and head["seq"] == self._seen.seq and head["hash"] == self._seen.hash
        if head is None or (unchanged and others != self._others) or not self._goes_on(head["seq"], head["seen"]):
            self._known.clear()
        elif not unchanged:
            self._follow(db)
        self._others, self._own = others, own
        self._seen = EMPTY if head is None else LedgerHead(seq=head["seq"], hash=head["hash"])

    def _goes_on(self, seq: int, seen: str | None) -> bool:
        """Does the chain still have the head that was seen last? A copy that was put back has not."""
        return seq >= self._seen.seq and (self._seen.seq == 0 or seen == self._seen.hash)

    def _follow(self, db: sqlite3.Connection) -> None:
        changes = db.execute(_CHANGES, (self._seen.seq, _FOLLOWED + 1)).fetchall()
        # An erasure takes the names of places away with everything else.
        if len(changes) > _FOLLOWED or any(change["key"] is None or change["kind"] == "erased" for change in changes):
            self._known.clear()
            return
        for change in changes:
            self._known.pop((tuple(json.loads(change["namespace"])), change["key"]), None)
