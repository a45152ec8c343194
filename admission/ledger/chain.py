"""The hash chain over ledger entries, without any storage: the next entry, and checking a whole chain."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from admission.ledger.diagnosis import Evidence, diagnose, hashed_anew
from admission.ledger.erasing import Account
from admission.ledger.hashing import Hashing
from admission.ledger.protocol import Entry, EntryKind, LedgerHead, Problem, Verification
from admission.records import Namespace, canonical_json

GENESIS = "0" * 64
EMPTY = LedgerHead(seq=0, hash=GENESIS)


def utc_now() -> str:
    """Now, in the one fixed-width form entries carry, so that times compare as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Chain(Hashing):
    """Hashes entries into a chain, each over the hash of the one before."""

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
        text: str | None = None,
    ) -> Entry:
        """The entry that comes after `head`, dated now. `text`: the canonical JSON of `body`, where it is at hand."""
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
            # With a key nobody else can try which content a hash is of.
            salt=None if self.keyed else secrets.token_hex(16),
        )
        body_text = canonical_json(body) if text is None else text
        hashes = {"hash": self.hash_of(entry, body_text), "content_digest": self.content_digest(entry, body_text)}
        return entry.model_copy(update=hashes)

    def verify(
        self,
        entries: Iterable[Entry],
        *,
        recorded: LedgerHead | None = None,
        kept: LedgerHead | None = None,
        erased: Mapping[int, Account] | None = None,
    ) -> Verification:
        """Check entries given in `seq` order; one pass that keeps nothing but the namespaces seen.

        `recorded` is the head noted beside the chain, in the same place; `kept` one that was kept elsewhere; `erased`
        says what erasures left of which entries (`erasing.accounts` of the same entries). The kinds found:
        `entry_missing`, `content_changed`, `metadata_changed`, `moved`, `order_changed`, `replayed`, `forged`; with
        `recorded` also `tail_cut`; with `kept` also `rolled_back`.
        """
        tail, last, diverged = EMPTY, None, False
        namespaces: set[Namespace] = set()
        bound = max(h.seq for h in (recorded or EMPTY, kept or EMPTY))
        rest = iter(entries)
        for entry in rest:
            namespaces.add(entry.namespace)
            account = (erased or {}).get(entry.seq)
            intact = self.intact(entry, account)
            if account is not None and _links(entry, tail) and not intact:
                return failed(tail, _not_as_left(entry))
            if not _links(entry, tail) or (account is None and not intact):
                return failed(tail, diagnose(entry, Evidence(self, last, rest, namespaces, recorded, bound)))
            tail, last = LedgerHead(seq=entry.seq, hash=entry.hash), entry
            diverged = diverged or (kept is not None and kept.seq == tail.seq and kept.hash != tail.hash)
        if last is not None and recorded is not None and recorded.seq == tail.seq and recorded.hash != tail.hash:
            return failed(tail, hashed_anew(last, recorded.hash, self, namespaces))
        bad = _tail_problem(tail, recorded, kept, diverged)
        return Verification(entries=tail.seq, ok=True, head=tail) if bad is None else failed(tail, bad)

    def intact(self, entry: Entry, account: Account | None) -> bool:
        """Is this what the entry's hash was taken of or, where an erasure accounts for it, what that left of it?"""
        if account is None:
            body = canonical_json(entry.body)
            digest = self.content_digest(entry, body)
            return entry.hash == self.hash_of(entry, body) and entry.content_digest in (None, digest)
        return (
            entry.hash == account.hash
            and (entry.content_digest, entry.salt) == (None, None)
            and self.left_digest(entry) == account.left
        )


def _links(entry: Entry, tail: LedgerHead) -> bool:
    """Does this entry go on from the one the chain ended at so far?"""
    return entry.seq == tail.seq + 1 and entry.previous == tail.hash


def _not_as_left(entry: Entry) -> Problem:
    detail = f"entry {entry.seq} was erased, and is not what the erasure left of it"
    return Problem(entry.seq, "content_changed", detail)


def failed(tail: LedgerHead, problem: Problem) -> Verification:
    """What checking answers when it found `problem` after the sound part that ends at `tail`."""
    return Verification(
        entries=tail.seq, ok=False, first_bad=problem.seq, kind=problem.kind, problem=str(problem), head=tail
    )


def _tail_problem(
    tail: LedgerHead, recorded: LedgerHead | None, kept: LedgerHead | None, diverged: bool
) -> Problem | None:
    """What the end of a chain that is sound in itself shows beside the two heads."""
    end = f"the chain ends at entry {tail.seq}"
    if recorded is not None and recorded.seq > tail.seq:
        return Problem(tail.seq + 1, "tail_cut", f"{end}, the ledger had recorded {recorded.seq} entries")
    if recorded is not None and recorded.seq < tail.seq:
        had = f"the ledger had recorded {recorded.seq} entries, those after were not its own"
        return Problem(recorded.seq + 1, "forged", had)
    if recorded is not None and recorded.hash != tail.hash:
        return Problem(1, "metadata_changed", "the recorded head of the empty chain was changed")
    if kept is not None and kept.seq > tail.seq and recorded is None:
        return Problem(tail.seq + 1, "tail_cut", f"{end}, the kept head is at {kept.seq}")
    if kept is not None and kept.seq > tail.seq:
        shows = f"{end} and shows no cut, the kept head is at {kept.seq}: an older copy, or every trace was removed"
        return Problem(tail.seq + 1, "rolled_back", shows)
    if diverged and kept is not None:
        how = "an older copy was written on, or the chain was hashed anew"
        return Problem(kept.seq, "rolled_back", f"entry {kept.seq} is not the one the kept head names: {how}")
    return None
