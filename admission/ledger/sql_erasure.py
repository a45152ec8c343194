"""Erasing a memory's text from a ledger for good: what was recorded, held back and kept beside the chain."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from admission.errors import LedgerError
from admission.ledger import statements
from admission.ledger.chain import Chain
from admission.ledger.consistency import check_named
from admission.ledger.erasing import Texts, accounts, cleansed, emptied, text_of, tombstone
from admission.ledger.protocol import Entry, Erasure, WriteRecord
from admission.ledger.rows import Row, entry_of, sealed
from admission.ledger.statements import Database
from admission.observability import ledger_call
from admission.records import Namespace, canonical_json, digest

T = TypeVar("T")

_PAGE = 200


@dataclass
class _Plan:
    """What is to be erased: the writes' fingerprints by key, the texts, and what becomes of which entry, by key."""

    texts: Texts
    reports: dict[str, Mapping[str, Any]]
    doomed: dict[str, list[str]]
    left: dict[str, list[Entry]] = field(default_factory=lambda: defaultdict(list))


class SqlErasure(ABC):
    """The part of `SqlLedger` that erases. All in one transaction; what a database keeps of overwritten rows is cleared
    after it (`_purge`), and again when the same key is erased again."""

    name: str
    _chain: Chain

    @abstractmethod
    def _read(self, work: Callable[[Database], T]) -> T: ...

    @abstractmethod
    def _write(self, work: Callable[[Database], T], *, appends: bool = True) -> T: ...

    @abstractmethod
    def _latest(self, db: Database, namespace: Namespace, key: str, pending: bool) -> WriteRecord | None: ...

    @abstractmethod
    def _append_to_chain(self, db: Database, **content: Any) -> Entry: ...

    @abstractmethod
    def _seal(self, db: Database, fingerprint: str) -> None: ...

    @abstractmethod
    def _entries(self, where: str, parameters: tuple[object, ...]) -> Iterator[Entry]: ...

    @abstractmethod
    def _check_owner(self, db: Database, namespace: Namespace, key: str, store: str | None) -> None: ...

    @abstractmethod
    def _unguarded(self, db: Database) -> AbstractContextManager[None]:
        """Within a transaction: entries may be changed by it until the block ends, and by nobody else."""

    @abstractmethod
    def _purge(self) -> None:
        """Rewrite the database without what it keeps of rows that were overwritten or deleted."""

    @ledger_call
    def erase(self, namespace: Namespace, key: str, *, by: str, why: str, store: str | None = None) -> Erasure:
        check_named(by, why, "erases the memory")
        erasure, known = self._write(lambda db: self._erase(db, namespace, key, by, why, store))
        if known:
            self._purge()
        return erasure

    def purge(self) -> None:
        self._purge()

    def erasures(self) -> list[Erasure]:
        return [
            Erasure(namespace=entry.namespace, key=entry.key, entries=len(entry.body["entries"]), keys=_keys(entry))
            for entry in self._entries("kind = 'erased'", ())
            if entry.key is not None
        ]

    def _erase(
        self, db: Database, namespace: Namespace, key: str, by: str, why: str, store: str | None
    ) -> tuple[Erasure, bool]:
        """And whether this key was ever erased, now or before."""
        self._check_owner(db, namespace, key, store)
        own = [row for row in _writes(db, namespace) if row["key"] == key]
        if not own:
            return self._erased_before(db, namespace, key)
        plan = _plan(db, namespace, key, own)
        if plan.texts.within([by, why]):
            raise LedgerError("by, why", "quotes what is to be erased", "say it without the memory's text")
        gone = [one for one in plan.doomed if self._is_what_the_key_has(db, namespace, one, plan.doomed[one])]
        _find_entries(db, namespace, key, plan)
        self._check_intact(db, plan)
        with self._unguarded(db):
            for entry in (entry for left in plan.left.values() for entry in left):
                db.execute(statements.LEAVE, _left_row(entry))
        for fingerprint in (one for doomed in plan.doomed.values() for one in doomed):
            db.execute("DELETE FROM writes WHERE fingerprint = ?", (fingerprint,))
        for fingerprint in _cleanse_conversations(db, namespace, plan.texts, self._chain):
            self._seal(db, fingerprint)
        for one in gone:
            nobody = {"thread": None, "task": None}
            self._append_to_chain(db, kind="deleted", namespace=namespace, key=_shown(one, plan), body=nobody)
        said = {"by": by, "why": why, "keys": [one for one in gone if _shown(one, plan) is not None]}
        for one in (*(other for other in plan.doomed if other != key), key):
            seq = self._account(db, namespace, one, plan, said)
            if store is not None and _shown(one, plan) is not None:
                db.execute(statements.OPEN_DELETION, (seq, store))
        count = sum(len(left) for left in plan.left.values())
        return Erasure(namespace=namespace, key=key, entries=count, keys=tuple(dict.fromkeys((key, *gone)))), True

    def _check_intact(self, db: Database, plan: _Plan) -> None:
        """Refuses to account for entries that somebody changed: what is left of them would pass for the recorded."""
        accounted = accounts(map(entry_of, db.execute(statements.ERASURES).fetchall()))
        for seq in sorted(entry.seq for left in plan.left.values() for entry in left):
            entry = entry_of(db.execute("SELECT * FROM entries WHERE seq = ?", (seq,)).fetchone())
            if not self._chain.intact(entry, accounted.get(seq)):
                raise LedgerError("ledger", f"entry {seq} is not as it was recorded", "run `admission verify` first")

    def _erased_before(self, db: Database, namespace: Namespace, key: str) -> tuple[Erasure, bool]:
        """Nothing is left to erase: what the key's last erasure named and was not written again since, if there was
        one."""
        row = db.execute(statements.LAST_ERASED, (canonical_json(namespace), key)).fetchone()
        named = _keys(entry_of(row)) if row is not None else (key,)
        keys = tuple(one for one in named if one == key or self._latest(db, namespace, one, pending=True) is None)
        return Erasure(namespace=namespace, key=key, entries=0, keys=keys), row is not None

    def _is_what_the_key_has(self, db: Database, namespace: Namespace, key: str, doomed: list[str]) -> bool:
        latest = self._latest(db, namespace, key, pending=False)
        return latest is not None and latest.intent.fingerprint in doomed

    def _account(self, db: Database, namespace: Namespace, key: str, plan: _Plan, said: dict[str, Any]) -> int:
        """The `erased` entry of this key; its `seq`."""
        body = {
            **said,
            "writes": len(plan.doomed[key]),
            "entries": [
                {"seq": entry.seq, "hash": entry.hash, "left": self._chain.left_digest(entry)}
                for entry in plan.left[key]
            ],
            # Without a key, whoever guesses the text could try: nothing of it stays.
            "texts": [self._chain.text_digest(text) for text in plan.texts.texts] if self._chain.keyed else None,
        }
        return self._append_to_chain(db, kind="erased", namespace=namespace, key=_shown(key, plan), body=body).seq


def _plan(db: Database, namespace: Namespace, key: str, own: list[Row]) -> _Plan:
    """From the writes of the key: their texts, and which other writes of the namespace say the same."""
    reports = {row["fingerprint"]: _report(db, row["fingerprint"]) for row in own}
    texts = Texts(text_of(_values(row), reports[row["fingerprint"]].get("memory")) for row in own)
    doomed: dict[str, list[str]] = {key: [row["fingerprint"] for row in own]}
    for row in _writes(db, namespace):
        if row["key"] != key and texts.within([row["key"], *_values(row), _json(row["options"])]):
            doomed.setdefault(row["key"], []).append(row["fingerprint"])
            reports[row["fingerprint"]] = _report(db, row["fingerprint"])
    names = [fingerprint for fingerprints in doomed.values() for fingerprint in fingerprints]
    # A trace has a digest of the question and of the answer, which may be the text itself.
    names.extend(digest(text) for text in texts.texts)
    return _Plan(texts.with_names(names), reports, doomed)


def _find_entries(db: Database, namespace: Namespace, key: str, plan: _Plan) -> None:
    """Which entries of the namespace are about an erased write, or say the same, and what is left of each."""
    keys = {fingerprint: one for one, doomed in plan.doomed.items() for fingerprint in doomed}
    for entry in (*_entries(db, namespace), *_reads_from_above(db, namespace)):
        if entry.fingerprint in keys:
            of = plan.reports[entry.fingerprint]
            plan.left[keys[entry.fingerprint]].append(tombstone(entry, plan.texts, of))
            continue
        left = cleansed(entry, plan.texts)
        if left is None:
            continue
        if entry.kind == "report" and plan.texts.within(entry.body.get("memory")):
            left = left.model_copy(update={"body": emptied(left.body)})
        plan.left[key].append(left)


def _cleanse_conversations(db: Database, namespace: Namespace, texts: Texts, chain: Chain) -> Iterator[str]:
    """Of writes that are still to be judged: the turns that say the same. Answers with the names of
    those that were sound, which are to be sealed anew."""
    for row in _writes(db, namespace):
        if row["conversation"] is not None:
            turns = _json(row["conversation"])
            if texts.within(turns):
                cleansed_turns = json.dumps(texts.erased_from(turns))
                db.execute("UPDATE writes SET conversation = ? WHERE id = ?", (cleansed_turns, row["id"]))
                if row["seal"] == chain.seal(sealed(row)):
                    yield row["fingerprint"]


def _keys(erased: Entry) -> tuple[str, ...]:
    """The keys at which the store may have had a memory that was erased, the erased entry's own first."""
    own = () if erased.key is None else (erased.key,)
    return tuple(dict.fromkeys((*own, *erased.body["keys"])))


def _writes(db: Database, namespace: Namespace) -> Iterator[Row]:
    return _paged(db, "SELECT * FROM writes WHERE namespace = ? AND id > ? ORDER BY id", namespace, "id")


def _entries(db: Database, namespace: Namespace) -> Iterator[Entry]:
    select = "SELECT * FROM entries WHERE namespace = ? AND seq > ? ORDER BY seq"
    return map(entry_of, _paged(db, select, namespace, "seq"))


def _reads_from_above(db: Database, namespace: Namespace) -> Iterator[Entry]:
    """The traces of questions asked from a namespace that this one is beneath: they may have found its memories."""
    select = "SELECT * FROM entries WHERE kind = 'read' AND namespace = ? AND seq > ? ORDER BY seq"
    for depth in range(len(namespace)):
        yield from map(entry_of, _paged(db, select, namespace[:depth], "seq"))


def _paged(db: Database, select: str, namespace: Namespace, column: str) -> Iterator[Row]:
    after, place = 0, canonical_json(namespace)
    while rows := db.execute(f"{select} LIMIT {_PAGE}", (place, after)).fetchall():
        yield from rows
        after = rows[-1][column]


def _values(row: Row) -> Iterable[Any]:
    """The JSON values that a write came with, or was to be stored with."""
    return [_json(row[column]) for column in ("value", "stored_value") if row[column] is not None]


def _report(db: Database, fingerprint: str) -> Mapping[str, Any]:
    """The body of the report on a write; empty while there is none."""
    select = "SELECT body FROM entries WHERE kind = 'report' AND fingerprint = ?"
    row = db.execute(select, (fingerprint,)).fetchone()
    body = {} if row is None else _json(row["body"])
    return body if isinstance(body, dict) else {}


def _json(text: str) -> Any:
    """What the JSON text says; the text itself where somebody changed it into none, for it may hold what is erased."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shown(key: str, plan: _Plan) -> str | None:
    """The key, unless it says what is erased itself."""
    return None if plan.texts.within(key) else key


def _left_row(entry: Entry) -> tuple[object, ...]:
    """The parameters of `statements.LEAVE`."""
    return (entry.fingerprint, entry.key, entry.value_digest, canonical_json(entry.body), entry.seq)
