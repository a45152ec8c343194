"""The hash chain over ledger entries, without any storage: the next entry, an entry's hash, checking a whole chain."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from admission.errors import LedgerError
from admission.ledger.protocol import Entry, EntryKind, LedgerHead, Verification
from admission.records import Namespace, canonical_json

GENESIS = "0" * 64
EMPTY = LedgerHead(seq=0, hash=GENESIS)
_FORMAT = b"admission-ledger/1"


def utc_now() -> str:
    """Now, in the one fixed-width form entries carry, so that times compare as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def canonical_bytes(entry: Entry) -> bytes:
    """Everything the hash covers besides the entry's place (`previous`, `seq`): one byte string for one content."""
    content = {
        "kind": entry.kind,
        "time": entry.time,
        "fingerprint": entry.fingerprint,
        "namespace": list(entry.namespace),
        "key": entry.key,
        "value_digest": entry.value_digest,
        "body": entry.body,
    }
    return canonical_json(content).encode("utf-8", "surrogatepass")


class Chain:
    """Hashes entries into a chain: SHA-256, or HMAC-SHA256 where a key is given.

    Without a key, whoever can write the file can hash a changed chain anew, and only a head kept elsewhere shows it;
    with a key kept out of the file, they cannot.
    """

    def __init__(self, key: bytes | None = None) -> None:
        if key is not None and not key:
            raise LedgerError("key", "is empty", "give some secret bytes, or no key at all")
        self._key = key

    @property
    def key_check(self) -> str:
        """Tells whether two chains have the same key, without telling the key; empty for no key."""
        return "" if self._key is None else self._digest(b"key check")

    def hash_of(self, entry: Entry) -> str:
        """The hash (64 hex characters) of an entry at its `seq`, after its `previous`."""
        return self._link(entry.previous, entry.seq, canonical_bytes(entry))

    def following(
        self,
        head: LedgerHead,
        *,
        kind: EntryKind,
        namespace: Namespace,
        key: str | None,
        body: dict[str, Any],
        fingerprint: str | None = None,
        value_digest: str | None = None,
    ) -> Entry:
        """The entry that comes after `head`, dated now."""
        entry = Entry(
            seq=head.seq + 1,
            kind=kind,
            time=utc_now(),
            fingerprint=fingerprint,
            namespace=namespace,
            key=key,
            value_digest=value_digest,
            body=body,
            previous=head.hash,
            hash="",
        )
        return entry.model_copy(update={"hash": self.hash_of(entry)})

    def verify(
        self, entries: Iterable[Entry], *, recorded: LedgerHead | None = None, kept: LedgerHead | None = None
    ) -> Verification:
        """Check entries given in `seq` order; one pass, constant memory.

        `recorded` is the head noted beside the chain, in the same file; `kept` one that was kept elsewhere. A
        problem reads `code: detail`. Codes: `entry_missing`, `content_changed`, `order_changed`, `replayed`; with
        `recorded` also `tail_cut` and `forged`; with `kept` also `rolled_back`. On a problem, `entries` and `head` tell
        of the sound part before it.
        """
        tail, diverged = EMPTY, False
        rest = iter(entries)
        bound = max(h.seq for h in (recorded or EMPTY, kept or EMPTY))
        for entry in rest:
            bad = self._problem(entry, tail, rest, bound)
            if bad is not None:
                return _failed(tail, *bad)
            tail = LedgerHead(seq=entry.seq, hash=entry.hash)
            diverged = diverged or (kept is not None and kept.seq == tail.seq and kept.hash != tail.hash)
        bad = _tail_problem(tail, recorded, kept, diverged)
        return Verification(entries=tail.seq, ok=True, head=tail) if bad is None else _failed(tail, *bad)

    def _problem(self, entry: Entry, tail: LedgerHead, rest: Iterator[Entry], bound: int) -> tuple[int, str] | None:
        """The seq of the bad entry and what is wrong with `entry`, which is to come right after `tail`."""
        expected = tail.seq + 1
        if entry.seq > expected:
            last = entry.seq - 1
            which = f"entry {expected} is" if last == expected else f"entries {expected} to {last} are"
            return expected, f"entry_missing: {which} not there"
        if entry.seq < expected:
            return expected, f"order_changed: entry {entry.seq} stands where entry {expected} belongs"
        if entry.hash != self.hash_of(entry):
            return expected, self._diagnosis(entry, rest, bound)
        if entry.previous == tail.hash:
            return None
        if tail.seq == 0:
            return expected, "content_changed: the first entry follows an entry that was never here"
        # Both entries are sound in themselves, so the one before was changed and hashed anew, but not what follows it.
        return tail.seq, f"content_changed: entry {tail.seq} was hashed anew; entry {expected} follows another one"

    def _diagnosis(self, entry: Entry, rest: Iterator[Entry], bound: int) -> str:
        """What happened to an entry whose hash does not fit its place: it may be sound, but belong at another place."""
        follows_later, last = False, max(entry.seq, bound)
        for other in rest:
            last = max(last, other.seq)
            follows_later = follows_later or other.hash == entry.previous
        content = canonical_bytes(entry)
        places = (seq for seq in range(1, last + 1) if self._link(entry.previous, seq, content) == entry.hash)
        place = next(places, None)
        if place is None:
            return f"content_changed: entry {entry.seq} is not what was recorded"
        if place < entry.seq:
            return f"replayed: entry {entry.seq} is a copy of entry {place}"
        if follows_later:
            return f"order_changed: entry {entry.seq} was recorded as entry {place}, after one that now stands later"
        return f"entry_missing: entry {entry.seq} was recorded as entry {place}; what came before it is not there"

    def _link(self, previous: str, seq: int, content: bytes) -> str:
        return self._digest(f"{previous}\n{seq}\n".encode("utf-8", "surrogatepass") + content)

    def _digest(self, message: bytes) -> str:
        message = _FORMAT + b"\n" + message
        if self._key is None:
            return hashlib.sha256(message).hexdigest()
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()


def _failed(tail: LedgerHead, first_bad: int, problem: str) -> Verification:
    return Verification(entries=tail.seq, ok=False, first_bad=first_bad, problem=problem, head=tail)


def _tail_problem(
    tail: LedgerHead, recorded: LedgerHead | None, kept: LedgerHead | None, diverged: bool
) -> tuple[int, str] | None:
    """What the end of a chain that is sound in itself shows beside the two heads."""
    end = f"the chain ends at entry {tail.seq}"
    if recorded is not None and recorded.seq > tail.seq:
        return tail.seq + 1, f"tail_cut: {end}, the ledger had recorded {recorded.seq} entries"
    if recorded is not None and recorded.seq < tail.seq:
        return recorded.seq + 1, f"forged: the ledger had recorded {recorded.seq} entries, those after were not its own"
    if recorded is not None and recorded.hash != tail.hash:
        return max(tail.seq, 1), f"content_changed: {end}, which was hashed anew after the ledger recorded it"
    if kept is not None and kept.seq > tail.seq and recorded is None:
        return tail.seq + 1, f"tail_cut: {end}, the kept head is at {kept.seq}"
    if kept is not None and kept.seq > tail.seq:
        return tail.seq + 1, f"rolled_back: {end} and shows no cut, the kept head is at {kept.seq}: an older copy"
    if diverged and kept is not None:
        return kept.seq, (
            f"rolled_back: entry {kept.seq} is not the one the kept head names: "
            "an older copy was written on, or the chain was hashed anew"
        )
    return None
