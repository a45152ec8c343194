"""What a ledger is: the durable, tamper-evident record of reports, of every action, and of quarantined writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import Field

from admission.records import Action, Namespace, Record, Report, Status, Turn

EntryKind = Literal["report", "stored", "deleted", "restored", "review", "overtaken"]
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


class Version(Record):
    """A value that the memory at one key has, or had, in the store. `status` is the verdict it was stored on, `stored`
    and `ended` are UTC, ISO 8601; `ended` None: it is the newest. `superseded_by` is the fingerprint of the write that
    took its place; None for an ended one: it was deleted."""

    fingerprint: str
    value: dict[str, Any]
    status: Status
    report_id: str
    stored: str
    ended: str | None = None
    superseded_by: str | None = None


class Entry(Record):
    """One append-only record. `seq` counts from 1; `hash` covers all the rest but `content_digest`, so that a changed
    body, a deleted entry or another order shows on verification; `content_digest` is of body and value digest alone,
    and tells a changed content from changed circumstances (None in entries from before it was kept). `time` is UTC,
    ISO 8601. `value_digest` (`records.digest`) is of the value
    the entry is about: to be stored or held back (`report`), restored, or stored; it ties values, which are kept
    beside the chain, to it. `body`: the report (`report`), {by, why} (`restored`), {verdict, by, why, successor}
    (`review`: `rejected`, or `superseded` by the write with fingerprint `successor`), {thread, task} (`deleted`),
    {} (`stored`, `overtaken`)."""

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

    def hold(self, fingerprint: str) -> bool:
        """Become the one who judges a claimed write, over all threads and processes: until `decide`, `release`,
        `close` or the end of the process. False: it is decided, or someone else is at it; look again (`write`) after a
        while. A hold saves a second verification and no more: the first decision stands, whoever makes it."""

    def release(self, fingerprint: str) -> None:
        """Give up a hold. A no-op without one."""

    def decide(
        self, fingerprint: str, report: Report, stored_value: dict[str, Any] | None, *, quarantined: bool
    ) -> WriteRecord:
        """Commit report, action and value to be stored together. If the write is already decided, the first decision
        is returned unchanged. `stored_value` None: the store gets nothing and the write is done at once."""

    def complete(self, fingerprint: str) -> None:
        """The store has the value: `decided` -> `done`. A no-op when already done."""

    def overtake(self, fingerprint: str) -> None:
        """The store is not to get the value any more, for its key was written or deleted later (`latest`): `decided` ->
        `done`, which is appended to the chain. A no-op when already done."""

    def incomplete(self) -> list[WriteRecord]:
        """Writes that are `claimed` or `decided`, oldest first: what a start after a crash has to finish."""

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

    def record_report(self, report: Report) -> None:
        """Append a report of a candidate that is not a store write (an audit, a node). Idempotent by report id, input
        digest and configuration digest."""

    def record_delete(self, namespace: Namespace, key: str, *, thread: str | None, task: str | None) -> None:
        """Append that a stored memory was deleted."""

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
        quarantined: bool,
        by: str,
        why: str,
    ) -> WriteRecord:
        """Decide on another write (an edited text, a newer verdict) in place of one that waits: claim it, commit its
        report, and append to the chain that it replaces the first, by whom and why. Returns how it stands; so does a
        repeat. An error for a write that is not waiting."""

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

    def entries(self) -> Iterator[Entry]:
        """The whole chain, oldest first."""

    def head(self) -> LedgerHead: ...

    def verify(self, head: LedgerHead | None = None) -> Verification:
        """Recompute the chain; with a head kept elsewhere, a cut tail and a rolled-back ledger show too."""

    def close(self) -> None: ...
