"""What a ledger is: the durable, tamper-evident record of reports, of every action, and of quarantined writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import Field

from admission.metadata import RecordMetadata
from admission.records import Action, Namespace, Record, Report, Status, Turn

EntryKind = Literal["report", "stored", "deleted", "restored", "review", "overtaken", "metadata", "read", "erased"]
WriteState = Literal["claimed", "decided", "done"]
Damage = Literal[
    "content_changed",
    "metadata_changed",
    "moved",
    "entry_missing",
    "order_changed",
    "replayed",
    "forged",
    "tail_cut",
    "rolled_back",
    "write_disagrees",
]


class WriteIntent(Record):
    """One store write as it reached the gate. `fingerprint` names it over every retry (`fingerprint_of`).

    `value` is the JSON value the caller wanted stored, `options` the store's own arguments (index, ttl), both kept so
    that an interrupted or quarantined write can be carried out later. `conversation`: the turns before a write that is
    `pending`, to be judged later, whoever is left to do it. It is kept until the decision and no longer.
    """

    fingerprint: str
    namespace: Namespace
    key: str
    value: dict[str, Any]
    options: dict[str, Any] = Field(default_factory=dict)
    thread: str | None = None
    task: str | None = None
    conversation: tuple[Turn, ...] | None = None


class WriteRecord(Record):
    """Where one write stands. `claimed`: seen, no verdict yet; `decided`: report and action are in the ledger, the
    store has yet to be told; `done`: the store has it, or it is not to have it. `stored_value` is what is (to be)
    persisted: the intent's value, with provenance repaired or marked as the action says; None where nothing is.
    `overtaken`: it was to be stored, but its key was written or deleted later and the store did not get it any more."""

    intent: WriteIntent
    state: WriteState
    action: Action | None = None
    report: Report | None = None
    stored_value: dict[str, Any] | None = None
    quarantined: bool = False
    overtaken: bool = False


class Deletion(Record):
    """A delete on its way to the store: the `seq` of its `deleted` (or `erased`) entry, and the name of the store
    (None: nobody but the caller can carry it out)."""

    seq: int
    namespace: Namespace
    key: str
    store: str | None = None


class Version(Record):
    """A value that the memory at one key has, or had, in the store. `status` is the verdict it was stored on, `stored`
    and `ended` are UTC, ISO 8601; `ended` None: it is the newest. `superseded_by` is the fingerprint of the write that
    took its place; None for an ended one: it was deleted. Of an `erased` one neither value nor fingerprint is left:
    they are empty."""

    fingerprint: str
    value: dict[str, Any]
    status: Status
    report_id: str
    stored: str
    ended: str | None = None
    superseded_by: str | None = None
    erased: bool = False


class Erasure(Record):
    """What was erased with the memory at one key: how many `entries` of the chain have lost what they said (0: it had
    been erased before, or was never known), and the `keys` of the namespace at which the store may still have a memory
    that says the same, this one first: the store has to be told to delete them."""

    namespace: Namespace
    key: str
    entries: int
    keys: tuple[str, ...]


class Entry(Record):
    """One append-only record. `seq` counts from 1; `hash` covers all the rest but `content_digest`, so that a changed
    body, a deleted entry or another order shows on verification; `content_digest` is of body and value digest alone,
    and tells a changed content from changed circumstances (None in entries from before it was kept). `time` is UTC,
    ISO 8601. `value_digest` (`records.digest`) is of the value
    the entry is about: to be stored or held back (`report`), restored, or stored; it ties values, which are kept
    beside the chain, to it. `body`: the report (`report`), {by, why} (`restored`), {verdict, by, why, successor}
    (`review`: `rejected`, or `superseded` by the write with fingerprint `successor`), {thread, task}, its cause beside
    them (`deleted`),
    {metadata, by, why} (`metadata`; by and why None where it came with the write), an event of a trace, whose
    question's id is the `key` (`read`), {by, why, keys, writes, entries, texts} (`erased`: what was left of which
    entries, see `erasing`), {} (`stored`, `overtaken`). `salt`: random, in a chain without a key, so that a hash
    tells nothing of a content that was erased; None in entries from before there was one, and erased ones."""

    seq: int
    kind: EntryKind
    time: str
    fingerprint: str | None
    namespace: Namespace
    key: str | None
    value_digest: str | None = None
    body: dict[str, Any]
    previous: str
    hash: str
    content_digest: str | None = None
    salt: str | None = None


class LedgerHead(Record):
    """How many entries there are and the hash of the last: kept elsewhere, it shows a cut or rolled-back file."""

    seq: int
    hash: str


class Verification(Record):
    """What checking the whole chain found. `first_bad` is the `seq` of the first bad entry, `kind` and `problem` what
    was done to it; on a problem, `entries` and `head` tell of the sound part before it."""

    entries: int
    ok: bool
    first_bad: int | None = None
    kind: Damage | None = None
    problem: str = ""
    head: LedgerHead


class Standing(NamedTuple):
    """A value that was decided to be stored at a key, as a listing has it (`Ledger.standing`)."""

    key: str
    value: dict[str, Any]


class Problem(NamedTuple):
    """One thing that checking found: the `seq` of the entry it shows at (None where no entry can be named)."""

    seq: int | None
    kind: Damage
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


class Ledger(Protocol):
    """Every method is one atomic, durable transaction: after a crash between any two calls nothing is lost or doubled.

    Safe to share between threads; several processes may open one ledger. All methods block: async code calls them in
    a thread. Errors are `LedgerError`.
    """

    def claim(self, intent: WriteIntent) -> WriteRecord:
        """Record that this write was seen, or return how it stands if its fingerprint is known (its first key wins).
        With a `conversation` it is pending; one claimed before without becomes so."""

    def claim_and_hold(self, intent: WriteIntent) -> tuple[WriteRecord, bool]:
        """`claim` and `hold` in one step: nobody finds the write claimed and not yet held, as those are that a process
        left behind. False: it is decided, or someone else is at it."""

    def hold(self, fingerprint: str) -> bool:
        """Become the one who judges a claimed write, over all threads and processes: until `decide`, `release`,
        `close` or the end of the process. False: it is decided, or someone else is at it; look again (`write`) after a
        while. A hold saves a second verification and no more: the first decision stands, whoever makes it."""

    def release(self, fingerprint: str) -> None:
        """Give up a hold. A no-op without one."""

    def decide(
        self,
        fingerprint: str,
        report: Report,
        stored_value: dict[str, Any] | None,
        *,
        metadata: RecordMetadata | None = None,
    ) -> WriteRecord:
        """Commit report, action, value to be stored and metadata together. If the write is already decided, the first
        decision is returned unchanged. `stored_value` None: the store gets nothing and the write is done at once."""

    def complete(self, fingerprint: str) -> None:
        """The store has the value: `decided` -> `done`. A no-op when already done."""

    def overtake(self, fingerprint: str) -> None:
        """The store is not to get the value any more, for its key was written or deleted later (`latest`): `decided` ->
        `done`, which is appended to the chain. A no-op when already done."""

    def incomplete(self) -> list[WriteRecord]:
        """Writes that are `claimed` or `decided`, oldest first: what a start after a crash has to finish. Those that
        are not as they were recorded are left out: `unsound`."""

    def unsound(self) -> list[tuple[str, str]]:
        """The unfinished writes that were planted or changed beside the ledger, by fingerprint, and what is wrong. They
        are neither judged nor stored; `verify` names the first."""

    def write(self, fingerprint: str) -> WriteRecord | None:
        """How one write stands."""

    def changes(self, namespace: Namespace, key: str, value: dict[str, Any]) -> int:
        """How often the memory at this key was deleted, or was to be set to something other than `value`: the
        `occurrence` of a write from outside any task, so that setting an earlier value again is not taken for a retry
        of its first put."""

    def latest(self, namespace: Namespace, key: str, *, pending: bool = False) -> WriteRecord | None:
        """Whose value the memory at this key has or is about to have: of the writes decided to be stored the latest;
        None where the memory was deleted after it, or never was one. With `pending`, those that have no verdict yet are
        taken into account. A pending write counts from its claim on, so that
        a late verdict undoes nothing; a restored one from its restoration, any other from its decision."""

    def versions(self, namespace: Namespace, key: str) -> list[Version]:
        """What the memory at this key has been, oldest first."""

    def standing(self, namespace: Namespace, *, limit: int) -> list[Standing]:
        """The newest value of each key among the `limit` newest values of exactly this namespace, newest first. A list
        to choose from, in one query: whether a key was deleted since, `latest` says."""

    def record_report(self, report: Report) -> None:
        """Append a report of a candidate that is not a store write (an audit, a node). Idempotent by report id, input
        digest and configuration digest."""

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
        """Append that a stored memory is deleted. Where its `store` is named, the deletion is open until `removed`: a
        start after a crash finishes it. `cause`: what else the entry is to say, as JSON (an eviction: reason, policy,
        budget)."""

    def removed(self, deletions: Sequence[Deletion]) -> None:
        """The store has carried out these deletions. A no-op for one that is not open."""

    def deletions(self) -> list[Deletion]:
        """The open deletions, oldest first."""

    def restore(
        self,
        fingerprint: str,
        *,
        by: str,
        why: str,
        stored_value: dict[str, Any] | None = None,
        overrule: bool = False,
    ) -> WriteRecord:
        """Take a write out of quarantine: it becomes `decided` with `stored_value` (None: the intent's value) to be
        stored; by whom and why is appended to the chain. An error for a write that is not waiting; a rejected one is
        restored with `overrule`."""

    def reject(self, fingerprint: str, *, by: str, why: str) -> None:
        """Append that a write is to stay in quarantine: it is no longer `waiting`, unless a restore overrules that. An
        error for a write that is not waiting."""

    def supersede(
        self,
        fingerprint: str,
        successor: WriteIntent,
        report: Report,
        stored_value: dict[str, Any] | None,
        *,
        by: str,
        why: str,
        metadata: RecordMetadata | None = None,
    ) -> WriteRecord:
        """Decide on another write (an edited text, a newer verdict) in place of one that waits: claim it, commit its
        report, and append to the chain that it replaces the first, by whom and why. Returns how it stands; so does a
        repeat. An error for a write that is not waiting."""

    def erase(self, namespace: Namespace, key: str, *, by: str, why: str, store: str | None = None) -> Erasure:
        """Erase the memory at this key for good: every write of the key, and whatever else in this namespace has its
        text. What is left is a chain that verifies, with a tombstone in the place of each content, and an `erased`
        entry that says by whom and why. Nothing where there is nothing to erase. The memory store has to be told, too:
        after this call, for the `keys` it returns; `erasures` has them for whoever finishes that. Where the `store` is
        named, the erasure is open (`erasing`) until `removed`. An error after the erasure says what its database keeps
        still: `purge` clears it."""

    def purge(self) -> None:
        """Clear what the database keeps of what was erased. An error where somebody is reading an older state."""

    def erasing(self) -> list[Deletion]:
        """The erasures that a store has not finished yet, oldest first, a key each."""

    def erasures(self) -> list[Erasure]:
        """What was erased, oldest first, without keys that said themselves what was erased."""

    def reports(
        self, *, status: Status | None = None, namespace: Namespace | None = None, since: str | None = None
    ) -> Iterator[tuple[Entry, Report]]:
        """Reports, oldest first; `namespace` is a prefix, `since` an ISO 8601 time."""

    def report(self, id: str) -> tuple[Entry, Report] | None:
        """The newest report with this id, or whose id or fingerprint starts with it when that is unambiguous."""

    def quarantine(self, namespace: Namespace | None = None) -> list[WriteRecord]:
        """Writes held back, oldest first."""

    def waiting(self, namespace: Namespace | None = None, *, thread: str | None = None) -> list[WriteRecord]:
        """Writes in quarantine that were neither rejected nor superseded, oldest first."""

    def reviews(self, fingerprint: str) -> list[Entry]:
        """What was decided on a held-back write after its report (`restored`, `review`), oldest first."""

    def last_change(self, namespace: Namespace, key: str) -> int | None:
        """The `seq` of the newest entry that says this key was stored or deleted; None where there is none."""

    def metadata(self, keys: Sequence[tuple[Namespace, str]]) -> dict[tuple[Namespace, str], RecordMetadata]:
        """The metadata of the values that the memories at these keys have (`latest`): the newest that was given with
        the write or annotated since. A key without a value, or whose write came without metadata, is absent. One query,
        whatever the number of keys."""

    def metadata_of(self, fingerprint: str) -> RecordMetadata | None:
        """The newest metadata of one write, held back or not; None where it has none."""

    def annotate(self, namespace: Namespace, key: str, metadata: RecordMetadata, *, by: str, why: str) -> None:
        """Append other metadata for the value that the memory at this key has: superseded, forgotten, current again.
        An error where it has none that went through the gate."""

    def record_read(self, question_id: str, *bodies: dict[str, Any], namespace: Namespace = ()) -> None:
        """Append what was read for a question, or made of it: events of its audit trace, all of them or none.
        `namespace` is the asking principal's. Each is JSON; nothing in it is the ledger's business (`reading/trace.py`
        has the nouns)."""

    def reads(self, question_id: str) -> list[Entry]:
        """The events of one question's trace, oldest first; `key` is the question's id."""

    def entries(self) -> Iterator[Entry]:
        """The whole chain, oldest first."""

    def head(self) -> LedgerHead: ...

    def verify(self, head: LedgerHead | None = None) -> Verification:
        """Recompute the chain; with a head kept elsewhere, a cut tail and a rolled-back ledger show too."""

    def close(self) -> None: ...
