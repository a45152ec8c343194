"""The ledger's deletion log: what took memories away, when and by whom, and the life of every memory it was about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field

from admission.errors import LedgerError
from admission.ledger import Entry, Ledger
from admission.ledger.erasing import MARK, accounts
from admission.reading.validity import standing
from admission.records import QUARANTINED_ACTIONS, Namespace, Record, digest
from admission.text import normalise

DELETE = "delete"
"""The cause of a deletion whose entry names none: somebody deleted the memory, and did not say why."""
ERASURE, FORGETTING, EXPIRY, REPLACEMENT = "erasure", "forgetting", "expiry", "replacement"

Turn = tuple[str, str]
"""A turn of a conversation, both by their ids."""
Place = tuple[Namespace, str]
Standing = Literal["stored", "hidden", "gone", "never", "unknown"]


class LoggedDeletion(Record):
    """One deletion of the log. `seq` is that of its (first) entry, `time` UTC, ISO 8601: of an expiry, when it came.

    `cause`: the `reason` of a `deleted` entry (`eviction`), `delete` where it states none, `erasure`, `forgetting`,
    `expiry` (what the memory says was valid until then) or `replacement` (another write took the key, which is no
    deletion and is here because it ends a memory). `keys`: None for one that said itself what was erased. `by`, `why`,
    `thread` and `task` are None where the entry does not say; `detail` is what else it says.
    """

    seq: int
    time: str
    cause: str
    namespace: Namespace
    keys: tuple[str | None, ...]
    by: str | None = None
    why: str | None = None
    thread: str | None = None
    task: str | None = None
    detail: dict[str, Any] = Field(default_factory=dict)


@dataclass(eq=False)
class Life:
    """One write and what became of it. `turns`: the turns its report finds it to rest on; `says`: a digest of its text,
    as it looks. Of an erased one fingerprint, turns and text are not known. `stored`: when; `ended` and `hidden`: the
    `seq` of the deletion that took it out of the store, or from use while the store has it still."""

    report: str
    seq: int
    namespace: Namespace
    key: str | None
    conversation: str
    fingerprint: str | None = None
    turns: frozenset[str] = frozenset()
    says: str = ""
    held: bool = False
    stored: datetime | None = None
    ended: int | None = None
    hidden: int | None = None
    erased: bool = False
    erased_by: int | None = None
    expires: tuple[str, LoggedDeletion] | None = None


class DeletionLog:
    """The chain read once, from its first entry to its last, as things stand at `now` (with an offset).

    `deletions` by `seq`; `by_place`, `stored_at` (in the order of storing), `by_turn` and `by_text` find lives. Only
    what is recorded counts: a store's own time to live leaves no entry, so past it nobody can tell. Raises
    `LedgerError` for a chain that cannot be read. It is not verified here: `Ledger.verify` does that.
    """

    def __init__(self, ledger: Ledger, now: datetime) -> None:
        self._ledger = ledger
        self._now = now
        self.deletions: dict[int, LoggedDeletion] = {}
        self.lives: list[Life] = []
        self.by_place: dict[Place, list[Life]] = defaultdict(list)
        self.stored_at: dict[Place, list[Life]] = defaultdict(list)
        self.by_turn: dict[Turn, list[Life]] = defaultdict(list)
        self.by_text: dict[tuple[Namespace, str], list[Life]] = defaultdict(list)
        self.passages: dict[Turn, str] = {}
        """The turns that some report still quotes, and the id of the first such report."""
        self.erased_turns: dict[Turn, int] = {}
        """The turns of which an erasure took what reports quoted, and which one."""
        self._by_fingerprint: dict[str, Life] = {}
        self._by_report: dict[int, Life] = {}
        self._by_id: dict[str, list[Life]] = defaultdict(list)
        self._erased_lives: dict[str, Life] = {}
        self._had: dict[Place, Life] = {}
        self._emptied: dict[int, list[Turn]] = defaultdict(list)
        self._last: Entry | None = None
        self._deletes: dict[Place, int] = {}
        self._parts: dict[int, int] = {}
        take = {
            "report": self._report,
            "restored": self._restored,
            "stored": self._stored,
            "deleted": self._deleted,
            "metadata": self._metadata,
            "erased": self._erased,
        }
        for entry in ledger.entries():
            if entry.kind in take:
                try:
                    take[entry.kind](entry)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    problem = f"entry {entry.seq} cannot be read"
                    raise LedgerError("ledger", problem, "run `admission verify`") from error
            self._last = entry
        self._expire()

    def named(self, write: str) -> list[Life]:
        """The store writes with this report id, or whose report id or fingerprint starts with it. Of an erased write
        the report id is left: a whole fingerprint starts with it."""
        return self._by_id.get(write) or [
            life
            for life in self.lives
            if life.report.startswith(write)
            or (life.fingerprint or "").startswith(write)
            or (life.erased and write.startswith(life.report))
        ]

    def deleted_at(self, place: Place) -> int | None:
        """The newest deletion of this key; None where there was none."""
        seq = self._deletes.get(place)
        return None if seq is None else self._parts.get(seq, seq)

    def taken_by(self, life: Life) -> int | None:
        """The deletion that took this memory away, from the store or from use; None while it is there."""
        seq = life.ended if life.ended is not None else life.hidden
        return None if seq is None else self._parts.get(seq, seq)

    def state(self, life: Life) -> Standing:
        """`stored`: the store has it. `hidden`: so it does, and no question about the present may use it. `gone`;
        `never` stored; `unknown`: its time to live may be over, of which the store makes no record."""
        if life.stored is None:
            return "never"
        if life.ended is not None or life.erased:
            return "gone"
        if self._may_have_run_out(life, life.stored):
            return "unknown"
        return "stored" if life.hidden is None else "hidden"

    def value_kept(self, life: Life) -> bool:
        """Has the ledger the value that was stored?"""
        record = None if life.fingerprint is None else self._ledger.write(life.fingerprint)
        return record is not None and record.stored_value is not None

    def _may_have_run_out(self, life: Life, stored: datetime) -> bool:
        record = None if life.fingerprint is None else self._ledger.write(life.fingerprint)
        minutes = None if record is None else record.intent.options.get("ttl")
        # A read may have prolonged it: past this moment nobody knows, before it nothing has run out.
        return isinstance(minutes, int | float) and stored + timedelta(minutes=minutes) <= self._now

    def _report(self, entry: Entry) -> None:
        body = entry.body
        self._quoted(entry)
        erased = entry.fingerprint is None and body["memory"] == MARK
        if entry.fingerprint is None and not erased:
            return  # an audit's: it was on its way to no store
        life = Life(body["id"], entry.seq, entry.namespace, entry.key, body["conversation"], erased=erased)
        self.lives.append(life)
        self._by_id[life.report].append(life)
        self._by_report[entry.seq] = life
        if entry.key is not None:
            self.by_place[entry.namespace, entry.key].append(life)
        if entry.fingerprint is None:
            self._erased_lives[life.report] = life
            return
        life.fingerprint = entry.fingerprint
        life.held = body["action"] in QUARANTINED_ACTIONS
        life.turns = frozenset(_rests_on(body))
        life.says = digest(normalise(body["memory"]).casefold())
        self._by_fingerprint[entry.fingerprint] = life
        self.by_text[entry.namespace, life.says].append(life)
        for turn in life.turns:
            self.by_turn[life.conversation, turn].append(life)

    def _quoted(self, entry: Entry) -> None:
        for passage in entry.body.get("passages", ()):
            turn = (entry.body["conversation"], passage["turn_id"])
            if passage["text"] == MARK:
                self._emptied[entry.seq].append(turn)
            else:
                self.passages.setdefault(turn, entry.body["id"])

    def _restored(self, entry: Entry) -> None:
        if entry.fingerprint in self._by_fingerprint:
            self._by_fingerprint[entry.fingerprint].held = False

    def _stored(self, entry: Entry) -> None:
        life = self._life_of(entry)
        if life is None:
            return
        life.stored, life.ended = datetime.fromisoformat(entry.time), None
        if entry.key is None:
            return
        place = (entry.namespace, entry.key)
        before = self._had.get(place)
        if before is not None and before is not life:
            self._end(before, LoggedDeletion(cause=REPLACEMENT, keys=(entry.key,), **_where(entry)))
        self._had[place] = life
        self.stored_at[place].append(life)

    def _life_of(self, entry: Entry) -> Life | None:
        if entry.fingerprint is not None:
            return self._by_fingerprint.get(entry.fingerprint)
        return self._erased_lives.get(entry.body.get("report_id", ""))

    def _deleted(self, entry: Entry) -> None:
        body = dict(entry.body)
        said = {name: body.pop(name) for name in ("by", "why", "thread", "task") if _is_text(body.get(name))}
        cause = body.pop("reason") if _is_text(body.get("reason")) else DELETE
        detail = {name: part for name, part in body.items() if part is not None}
        logged = LoggedDeletion(cause=cause, keys=(entry.key,), detail=detail, **said, **_where(entry))
        self.deletions[entry.seq] = logged
        if entry.key is not None:
            self._deletes[entry.namespace, entry.key] = entry.seq
            if (life := self._had.pop((entry.namespace, entry.key), None)) is not None:
                self._end(life, logged)

    def _metadata(self, entry: Entry) -> None:
        life = None if entry.fingerprint is None else self._by_fingerprint.get(entry.fingerprint)
        if life is None:
            return
        metadata, said = entry.body["metadata"], {"by": entry.body.get("by"), "why": entry.body.get("why")}
        lifecycle = metadata["lifecycle"]
        life.expires = None
        if lifecycle["state"] != "forgotten" or metadata["forget"] is True:
            life.hidden = None
        elif life.hidden is None:
            life.hidden = entry.seq
            self.deletions[entry.seq] = LoggedDeletion(cause=FORGETTING, keys=(entry.key,), **said, **_where(entry))
        if lifecycle["state"] == "current" and lifecycle["valid_to"] is not None:
            ends = LoggedDeletion(cause=EXPIRY, keys=(entry.key,), **said, **_where(entry))
            life.expires = (lifecycle["valid_to"], ends)

    def _erased(self, entry: Entry) -> None:
        act = self._act(entry)
        for seq in accounts([entry]):
            for turn in self._emptied.get(seq, ()):
                self.erased_turns.setdefault(turn, act.seq)
            if (life := self._by_report.get(seq)) is None or not life.erased:
                continue
            life.erased_by = act.seq
            if life.stored is not None and life.ended is None:
                life.ended = act.seq
                if life.key is not None:
                    self._had.pop((life.namespace, life.key), None)

    def _act(self, entry: Entry) -> LoggedDeletion:
        """The erasure that this entry is of. It has one for each key, next to each other, behind a `deleted` one for
        each that the store had (`sql_erasure`): all of these are one deletion."""
        gone: tuple[str, ...] = tuple(entry.body["keys"])
        said = {"by": entry.body["by"], "why": entry.body["why"]}
        last = self._last
        if last is not None and last.kind == "erased" and _says_the_same(last, entry):
            first = self._parts.get(last.seq, last.seq)
            keys = (*self.deletions[first].keys, entry.key)
        else:
            first, keys = entry.seq, (entry.key, *gone)
            for seq in self._behind(entry, gone):
                del self.deletions[seq]
                self._parts[seq] = first
        self._parts[entry.seq] = first
        where = _where(entry) | {"seq": first}
        self.deletions[first] = LoggedDeletion(cause=ERASURE, keys=tuple(dict.fromkeys(keys)), **said, **where)
        return self.deletions[first]

    def _behind(self, erased: Entry, gone: tuple[str, ...]) -> Iterator[int]:
        seq = erased.seq - 1
        while (found := self.deletions.get(seq)) is not None and found.cause == DELETE:
            ours = found.keys[0] is None or found.keys[0] in gone
            if found.namespace != erased.namespace or not ours or (found.thread, found.task) != (None, None):
                return
            yield seq
            seq -= 1

    def _expire(self) -> None:
        for life in self._had.values():
            if life.hidden is None and life.expires is not None:
                until, ends = life.expires
                if standing(None, until, self._now.isoformat()) == "over":
                    self.deletions[ends.seq] = ends.model_copy(update={"time": until})
                    life.hidden = ends.seq

    def _end(self, life: Life, by: LoggedDeletion) -> None:
        self.deletions[by.seq] = by
        life.ended = by.seq


def _is_text(part: object) -> bool:
    return isinstance(part, str) and bool(part)


def _where(entry: Entry) -> dict[str, Any]:
    return {"seq": entry.seq, "time": entry.time, "namespace": entry.namespace}


def _says_the_same(one: Entry, other: Entry) -> bool:
    return one.namespace == other.namespace and all(
        one.body[part] == other.body[part] for part in ("by", "why", "keys")
    )


def _rests_on(report: Mapping[str, Any]) -> Iterable[str]:
    """The turns of a report's final citations and of what supports its obligations; of one that is held back, those
    that its author cites too."""
    cited = report.get("citations", {})
    yield from cited.get("final", ())
    if report["action"] in QUARANTINED_ACTIONS:
        yield from (turn for turn in cited.get("author", ()) if turn not in cited.get("invalid", ()))
    for finding in report.get("obligations", ()):
        if finding["label"] == "supported":
            yield from finding["evidence"]
