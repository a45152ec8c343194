"""From a store write to its decision, as generators of steps: claimed, held by one judge, judged, decided."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from typing import Any

from admission.gate import AdmissionGate
from admission.history import History
from admission.ledger import Ledger, WriteIntent, WriteRecord
from admission.records import Candidate, Report, digest
from admission.settings import WriteSettings
from graph_nodes.attached import metadata_for
from graph_nodes.outcome import announce
from graph_nodes.scope import is_outside_graph
from graph_nodes.steps import Blocking, Judge, R, Steps, Wait
from graph_nodes.superseding import Superseding, supersedes
from graph_nodes.values import citation_field, memory_text, value_to_store, with_unjudged

logger = logging.getLogger(__name__)

OnReport = Callable[[Report], None]

INTERRUPTED = "interrupted"
REPORT_ID_CHARS = 16

_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.2
# How often `verification.timeout_s` to wait for another's verdict before judging beside it: it may be halted.
_PATIENCE = 2


@dataclass(frozen=True)
class Write:
    """A write on its way to a decision, and the conversation before it. `context`: where its report is announced, if
    not where it is decided."""

    intent: WriteIntent
    history: History
    written_after: str | None
    context: Context | None = None


class Deciding:
    """How writes get their decisions. Of all threads and processes that make the same write, one judges it."""

    def __init__(
        self, gate: AdmissionGate, ledger: Ledger, settings: WriteSettings, on_report: OnReport | None = None
    ) -> None:
        self._gate = gate
        self._ledger = ledger
        self._settings = settings
        self._on_report = on_report
        self.superseding = Superseding(gate, ledger, settings)

    def pending(self, intent: WriteIntent) -> Write:
        """A pending write as it was when it was put, from the conversation kept with it."""
        turns, size = intent.conversation or (), self._gate.settings.evidence.passage_chars
        history = History.of(intent.thread or "", turns, passage_chars=size)
        return Write(intent, history, turns[-1].id if turns else None)

    def made(self, intent: WriteIntent, held: set[str]) -> WriteIntent:
        """Claim a write that is made now; the intent with the fingerprint it goes on with, which is `held` from then on
        unless it has a decision or another judge. Blocks.

        One made again after its key has been written or deleted, or is about to be, is a new write: it is to change
        that. Only a retried graph task, which names its keys anew, is not to undo under another key what came since.
        """
        made, known = intent, self._ledger.write(intent.fingerprint)
        # Only what was known before: a write claimed now may be overtaken at once, and is still to be judged.
        while known is not None:
            following = self._following(known, made)
            if following is None and self._made_anew(known, made):
                following = _again(known.intent, made, key=made.key)
            if following is None:
                break
            intent, known = following, self._ledger.write(following.fingerprint)
        self._claim(intent, held)
        return intent.model_copy(update={"key": made.key})

    def ready(self, write: Write, held: set[str]) -> bool:
        """Can this write be decided without waiting? It was, or it is ours to judge now, and in `held`. Blocks."""
        return self._own(self._claimed(write.intent, held), held)

    def decided(self, writes: Sequence[Write], held: set[str]) -> Steps[list[WriteRecord]]:
        """How each write stands once decided, in order. What has a decision is not judged again; what somebody else is
        judging is waited for. `held`: the fingerprints that are ours to judge already. However this ends, none of the
        writes stays held."""
        records: dict[int, WriteRecord] = {}
        yield from self.releasing(self._settled(dict(enumerate(writes)), records, held), held)
        for place, write in enumerate(writes):
            self._tell(write, records[place].report)
        return [records[place] for place in range(len(writes))]

    def releasing(self, steps: Steps[R], held: set[str]) -> Steps[R]:
        """These steps; should they fail, none of the writes stays held."""
        try:
            return (yield from steps)
        except GeneratorExit:
            self._let_go(held)  # whoever carried out the steps is gone
            raise
        except BaseException:
            yield Blocking(partial(self._let_go, held))
            raise

    def candidate(self, intent: WriteIntent, written_after: str | None) -> Candidate:
        """What the gate is asked about: the memory this write wants stored."""
        cited = citation_field(intent.value, self._settings)
        return Candidate(
            id=intent.fingerprint[:REPORT_ID_CHARS],
            conversation=intent.thread or "",
            namespace=intent.namespace,
            memory=memory_text(intent.value, self._settings),
            citations=tuple(intent.value[cited]) if cited is not None else (),
            written_after=written_after,
        )

    def _settled(self, left: dict[int, Write], records: dict[int, WriteRecord], held: set[str]) -> Steps[None]:
        waited, pause = 0.0, _FIRST_PAUSE_S
        patience = _PATIENCE * self._gate.settings.verification.timeout_s
        while left:
            found: dict[int, WriteRecord] = yield Blocking(partial(self._taken, left, held, waited < patience))
            to_judge = {place: record.intent for place, record in found.items() if record.state == "claimed"}
            if to_judge:
                asked = [(self.candidate(i, left[p].written_after), left[p].history) for p, i in to_judge.items()]
                reports: list[Report] = yield Judge(asked)
                judged = dict(zip(to_judge, reports, strict=True))
                histories = {place: left[place].history for place in judged}
                found |= yield Blocking(partial(self._decide, found, judged, held, histories))
            if to_mark := [record for record in found.values() if supersedes(record)]:
                yield Blocking(partial(self.superseding.carry_out, to_mark))
            records |= found
            left = {place: write for place, write in left.items() if place not in found}
            if left:
                # Only now, with no hold of its own: whoever waits for what it holds must not wait for each other.
                yield Wait(pause)
                waited, pause = waited + pause, min(2 * pause, _LONGEST_PAUSE_S)

    def _taken(self, writes: Mapping[int, Write], held: set[str], patient: bool) -> dict[int, WriteRecord]:
        """The writes that have a decision, or are ours to judge; the others are being judged elsewhere."""
        taken: dict[int, WriteRecord] = {}
        names: set[str] = set()
        for place, write in writes.items():
            record = self._claimed(write.intent, held)
            fingerprint = record.intent.fingerprint
            if record.state == "claimed" and fingerprint in names:
                continue  # made twice at once: the second is told what the first came to
            names.add(fingerprint)
            if self._own(record, held) or not patient:
                taken[place] = record
        return taken

    def _own(self, record: WriteRecord, held: set[str]) -> bool:
        """Is this write decided, or ours to judge?"""
        return record.state != "claimed" or record.intent.fingerprint in held

    def _claimed(self, intent: WriteIntent, held: set[str]) -> WriteRecord:
        """The record of this write, or of what goes on in its place; in `held` if it is ours to judge."""
        record = self._claim(intent, held)
        while (following := self._following(record, intent)) is not None:
            record = self._claim(following, held)
        return record

    def _claim(self, intent: WriteIntent, held: set[str]) -> WriteRecord:
        # Held with the claim: a recovery that came in between would take it for one that was left behind.
        if intent.fingerprint in held:
            return self._ledger.claim(intent)
        record, ours = self._ledger.claim_and_hold(intent)
        if ours:
            held.add(intent.fingerprint)
        return record

    def _following(self, record: WriteRecord, made: WriteIntent) -> WriteIntent | None:
        """What goes on in place of a write that was interrupted without a verdict: the write as it is made now, with
        the key it had (a real verdict, and still one row), or what a review put there. None for a write that stands,
        as one does that was rejected."""
        if not _is_interrupted(record):
            return None
        reviews = self._ledger.reviews(record.intent.fingerprint)
        if not reviews:
            return _again(record.intent, made, key=record.intent.key)
        successor: str | None = reviews[-1].body.get("successor")
        if successor is None:
            return None
        return made.model_copy(update={"fingerprint": successor, "key": record.intent.key})

    def _made_anew(self, known: WriteRecord, made: WriteIntent) -> bool:
        """Is this no retry of the known write, but a new one that is to change what its key has now?"""
        elsewhere = known.intent.key != made.key
        if known.stored_value is None and known.intent.conversation is None:
            return False
        if elsewhere and not is_outside_graph(made.task):
            return False
        latest = self._latest(known.intent)
        if latest is None or latest.intent.fingerprint != known.intent.fingerprint:
            return True
        # A retry that names its key anew names one that has nothing yet.
        return elsewhere and self._latest(made) is not None

    def _latest(self, intent: WriteIntent) -> WriteRecord | None:
        """What the key of this write has, or is to have."""
        return self._ledger.latest(intent.namespace, intent.key, pending=True)

    def _decide(
        self,
        records: Mapping[int, WriteRecord],
        judged: Mapping[int, Report],
        held: set[str],
        histories: Mapping[int, History],
    ) -> dict[int, WriteRecord]:
        return {p: self._settle(records[p], report, held, histories[p]) for p, report in judged.items()}

    def _settle(self, record: WriteRecord, report: Report, held: set[str], history: History) -> WriteRecord:
        """Commit the report. A decision before it stands, unless a recovery gave this write up meanwhile."""
        value = value_to_store(record.intent.value, report, self._settings)
        if value is not None:
            report = with_unjudged(record.intent.value, report, self._settings)
            report = self._as_update(report, record.intent, value)
            report = self.superseding.noted(record.intent, report, history)
        intent = record.intent
        while record.state == "claimed":
            fingerprint = record.intent.fingerprint
            record = self._ledger.decide(fingerprint, report, value, metadata=metadata_for(intent, report))
            held.discard(fingerprint)  # a decision ends the hold
            if _is_interrupted(record):
                record = self._claimed(intent, held)
        return record

    def _as_update(self, report: Report, intent: WriteIntent, value: dict[str, Any]) -> Report:
        """The report, with the one on the different value that the key has now, if any."""
        current = self._ledger.latest(intent.namespace, intent.key)
        if current is None or current.report is None or current.stored_value == value:
            return report
        return report.model_copy(update={"supersedes": current.report.id})

    def _tell(self, write: Write, report: Report | None) -> None:
        if report is None:
            return
        if write.context is None:
            announce(report)
        else:
            write.context.run(announce, report)
        if self._on_report is not None:
            try:
                self._on_report(report)
            except Exception as error:  # noqa: BLE001 - the write is decided, whatever its audience makes of it
                # Only its type: what the error says may quote the memory.
                logger.error("on_report failed for report %s: %s", report.id, type(error).__name__)

    def _let_go(self, held: set[str]) -> None:
        for fingerprint in held:
            self._ledger.release(fingerprint)


def _again(intent: WriteIntent, made: WriteIntent, *, key: str) -> WriteIntent:
    """The write as it is `made` now, as a successor of the one with this intent: its fingerprint is derived from that
    one's, so that a retry finds it."""
    return made.model_copy(update={"fingerprint": digest({"retry_of": intent.fingerprint}), "key": key})


def _is_interrupted(record: WriteRecord) -> bool:
    """Held back only because a process ended before the verdict."""
    reasons = record.report.reasons if record.report is not None and record.quarantined else ()
    return any(reason.startswith(f"{INTERRUPTED}:") for reason in reasons)
