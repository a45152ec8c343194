"""What was done to the first entry of a chain that is not as it was recorded, from the evidence around it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from admission.ledger.hashing import Hashing, canonical_bytes
from admission.ledger.protocol import Entry, EntryKind, LedgerHead, Problem
from admission.records import Namespace


@dataclass(frozen=True)
class Evidence:
    """What stands around the first entry that does not fit.

    `before` is the last sound entry, `after` what comes after the bad one (read only when needed), `namespaces` those
    of every entry up to it, `recorded` the head noted beside the chain, `bound` the highest `seq` any head names.
    """

    hashing: Hashing
    before: Entry | None
    after: Iterable[Entry]
    namespaces: set[Namespace]
    recorded: LedgerHead | None
    bound: int


def diagnose(entry: Entry, evidence: Evidence) -> Problem:
    """Why `entry` is not the one that was recorded after `evidence.before`.

    A hash covers all of its entry, so one that does not fit tells only that something is different. What it was shows
    by trying: at another place, under another namespace or as another kind the hash fits again, or the content still
    fits its own digest.
    """
    before, hashing = evidence.before, evidence.hashing
    expected = 1 if before is None else before.seq + 1
    if entry.seq > expected:
        last = entry.seq - 1
        which = f"entry {expected} is" if last == expected else f"entries {expected} to {last} are"
        return Problem(expected, "entry_missing", f"{which} not there")
    if entry.seq < expected:
        return Problem(expected, "order_changed", f"entry {entry.seq} stands where entry {expected} belongs")
    if entry.hash != hashing.hash_of(entry):
        return _hash_does_not_fit(entry, evidence)
    if entry.content_digest not in (None, hashing.content_digest(entry)):
        return _content_digest_does_not_fit(entry, evidence)
    if before is None:
        return Problem(expected, "content_changed", "the first entry follows an entry that was never here")
    # Both entries are sound in themselves, so the one before was changed and hashed anew, but not what follows it.
    return hashed_anew(before, entry.previous, hashing, evidence.namespaces)


def hashed_anew(entry: Entry, recorded: str, hashing: Hashing, namespaces: Iterable[Namespace]) -> Problem:
    """What was changed in an entry that is sound in itself but was recorded with the hash `recorded`."""
    was = _namespace_that_fits(entry, recorded, hashing, namespaces)
    if was is not None:
        return Problem(entry.seq, "moved", f"entry {entry.seq} was recorded under {list(was)}, and was hashed anew")
    return Problem(entry.seq, "content_changed", f"entry {entry.seq} was hashed anew: it is not the one recorded here")


def _content_digest_does_not_fit(entry: Entry, evidence: Evidence) -> Problem:
    follower, recorded = next(iter(evidence.after), None), evidence.recorded
    if _vouched_for(entry, follower, recorded):
        return Problem(entry.seq, "metadata_changed", f"entry {entry.seq}: its content digest is not the recorded one")
    was = follower.previous if follower is not None else recorded.hash if recorded is not None else ""
    return hashed_anew(entry, was, evidence.hashing, evidence.namespaces)


def _hash_does_not_fit(entry: Entry, evidence: Evidence) -> Problem:
    follower: Entry | None = None
    follows_later, last = False, max(entry.seq, evidence.bound)
    namespaces = set(evidence.namespaces)
    for other in evidence.after:
        follower = follower or other
        last = max(last, other.seq)
        follows_later = follows_later or other.hash == entry.previous
        namespaces.add(other.namespace)
    content = canonical_bytes(entry)
    places = (seq for seq in range(1, last + 1) if evidence.hashing.link(entry.previous, seq, content) == entry.hash)
    place = next(places, None)
    if place is not None:
        return _misplaced(entry, place, evidence.before, follows_later)
    return _altered(entry, evidence, follower, namespaces)


def _misplaced(entry: Entry, place: int, before: Entry | None, follows_later: bool) -> Problem:
    """An entry that is sound, but was recorded at another place."""
    seq = entry.seq
    if before is not None and place == before.seq and entry.previous == before.previous:
        return Problem(before.seq, "forged", f"entry {before.seq} was put in before the one recorded there")
    if place < seq:
        return Problem(seq, "replayed", f"entry {seq} is a copy of entry {place}")
    if follows_later:
        after = f"entry {seq} was recorded as entry {place}, after one that now stands later"
        return Problem(seq, "order_changed", after)
    gone = f"entry {seq} was recorded as entry {place}; what came before it is not there"
    return Problem(seq, "entry_missing", gone)


def _altered(entry: Entry, evidence: Evidence, follower: Entry | None, namespaces: set[Namespace]) -> Problem:
    """An entry that was never recorded anywhere as it is now."""
    seq, hashing, recorded = entry.seq, evidence.hashing, evidence.recorded
    was = _namespace_that_fits(entry, entry.hash, hashing, namespaces)
    if was is not None:
        return Problem(seq, "moved", f"entry {seq} was recorded under {list(was)}")
    if hashing.keyed and Hashing().hash_of(entry) == entry.hash:
        return Problem(seq, "forged", f"entry {seq} was made without the ledger's key")
    if recorded is not None and seq > recorded.seq:
        return Problem(seq, "forged", f"the ledger had recorded {recorded.seq} entries, entry {seq} is not its own")
    if entry.content_digest is None:  # from before it was kept: nothing tells more
        return Problem(seq, "content_changed", f"entry {seq} is not what was recorded")
    if entry.content_digest == hashing.content_digest(entry):
        kind = _kind_that_fits(entry, hashing)
        what = f"it was a {kind!r} entry" if kind else "its time, fingerprint, key or link is not the recorded one"
        return Problem(seq, "metadata_changed", f"entry {seq} has the content that was recorded, but {what}")
    if not _vouched_for(entry, follower, recorded):
        return Problem(seq, "forged", f"entry {seq} stands in place of the one recorded; nothing that follows knows it")
    return Problem(seq, "content_changed", f"entry {seq}: its body or value digest is not what was recorded")


def _vouched_for(entry: Entry, follower: Entry | None, recorded: LedgerHead | None) -> bool:
    """Is an entry with this hash what was once recorded here, by what comes after it?"""
    if follower is not None:
        return follower.previous == entry.hash
    return recorded is None or recorded.hash == entry.hash


def _namespace_that_fits(
    entry: Entry, recorded: str, hashing: Hashing, namespaces: Iterable[Namespace]
) -> Namespace | None:
    """The namespace that gives the entry the hash it was recorded with; a report names its namespace itself, too."""
    body = entry.body if isinstance(entry.body, dict) else {}  # whatever was put there
    named = body.get("namespace")
    known = set(namespaces)
    if isinstance(named, list) and all(isinstance(label, str) for label in named):
        known.add(tuple(named))
    for namespace in known - {entry.namespace}:
        moved = entry.model_copy(update={"namespace": namespace})
        inside = moved.model_copy(update={"body": {**body, "namespace": list(namespace)}})
        if recorded == hashing.hash_of(moved) or (named is not None and recorded == hashing.hash_of(inside)):
            return namespace
    return None


def _kind_that_fits(entry: Entry, hashing: Hashing) -> EntryKind | None:
    kinds: tuple[EntryKind, ...] = get_args(EntryKind)
    fits = (kind for kind in kinds if hashing.hash_of(entry.model_copy(update={"kind": kind})) == entry.hash)
    return next(fits, None)
