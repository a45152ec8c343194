"""Finishing what was left behind, as generators of steps: by a process that ended, or a store that failed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from admission.deliberation import input_digest
from admission.gate import AdmissionGate
from admission.history import History
from admission.ledger import Deletion, Ledger, WriteRecord
from admission.records import Citations, Report
from graph_nodes.attached import metadata_for
from graph_nodes.deciding import INTERRUPTED, Deciding, Write
from graph_nodes.settling import Place, Settled, Settling
from graph_nodes.steps import Blocking, Steps

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recovery:
    """What finishing interrupted writes did, as fingerprints.

    `stored`: admitted, and now in the store. `overtaken`: admitted, but the key was written or deleted later, so that
    storing them would undo it. `interrupted`: never decided, and their conversation is gone; quarantined as unresolved.
    `judged`: pending, and decided now from the conversation kept with them. `failed`: the store or the ledger refused
    them, with its error; they stay as they were. `removed`: deletes that the store had yet to carry out, by namespace
    and key. `refused`: writes that were planted or changed beside the ledger, with what is wrong; nothing is done to
    them, and `admission verify` names the first.
    """

    stored: tuple[str, ...] = ()
    overtaken: tuple[str, ...] = ()
    interrupted: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    removed: tuple[Place, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


@dataclass
class _Left:
    """Unfinished deletes, and writes that nobody is at."""

    deletions: list[Deletion]
    refused: list[tuple[str, str]]
    decided: list[WriteRecord] = field(default_factory=list)
    pending: list[Write] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    interrupted: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    removed: list[Place] = field(default_factory=list)


class Recovering:
    """How one store finishes its own unfinished writes, which it knows by its name."""

    def __init__(
        self, gate: AdmissionGate, ledger: Ledger, deciding: Deciding, settling: Settling, *, store: str
    ) -> None:
        self._gate = gate
        self._ledger = ledger
        self._deciding = deciding
        self._settling = settling
        self._store = store

    def unfinished(self) -> list[WriteRecord]:
        """This store's own writes that are claimed or decided, oldest first. Blocks."""
        records = self._ledger.incomplete()
        return [record for record in records if record.intent.options.get("store", self._store) == self._store]

    def recover(self, hand_over: Callable[[Sequence[Write], set[str]], None] | None = None) -> Steps[Recovery]:
        """A write with a decision is carried out, unless its key has been written or deleted later. One without is
        judged where its conversation was kept, here or by whoever it is handed over to. Otherwise it is decided as
        unresolved and quarantined, which is no verdict: the same write made again is judged. What somebody is judging
        now is left alone. Before the writes come the deletes that the store did not carry out."""
        left: _Left = yield Blocking(self._left)
        yield from self._remove(left)
        settled = yield from self._settling.carry_out(left.decided)
        judged: list[str] = []
        if left.pending and hand_over is not None:
            hand_over(left.pending, left.held)
        elif left.pending:
            later: Settled = yield from self._settling.settle(left.pending, left.held)
            judged = [write.intent.fingerprint for write in left.pending]
            settled.stored += later.stored
            settled.overtaken += later.overtaken
            settled.failed += later.failed
        return Recovery(
            stored=tuple(settled.stored),
            overtaken=tuple(settled.overtaken),
            interrupted=tuple(left.interrupted),
            judged=tuple(judged),
            failed=(*left.failed, *settled.failed),
            removed=tuple(left.removed),
            refused=tuple(left.refused),
        )

    def _remove(self, left: _Left) -> Steps[None]:
        """Each for itself: one the store refuses does not keep the others back."""
        for deletion in left.deletions:
            try:
                yield from self._settling.remove([deletion], {})
            except Exception as error:  # noqa: BLE001 - it stays open, and is tried again
                logger.warning(
                    "the delete of entry %d could not be carried out: %s", deletion.seq, type(error).__name__
                )
                left.failed.append((f"delete {deletion.seq}", f"{type(error).__name__}: {error}"))
            else:
                left.removed.append((deletion.namespace, deletion.key))

    def _left(self) -> _Left:
        records = self.unfinished()
        deletions = [deletion for deletion in self._ledger.deletions() if deletion.store == self._store]
        left = _Left(deletions, refused=self._ledger.unsound())
        for fingerprint, problem in left.refused:
            logger.warning("write %s is not carried out: %s", fingerprint, problem)
        for record in records:
            if record.state in ("claimed", "decided"):
                try:
                    self._take(record, left)
                except Exception as error:  # noqa: BLE001 - one bad record must not keep the store from being used
                    fingerprint = record.intent.fingerprint
                    logger.warning("write %s could not be finished: %s", fingerprint, type(error).__name__)
                    left.failed.append((fingerprint, f"{type(error).__name__}: {error}"))
        return left

    def _take(self, record: WriteRecord, left: _Left) -> None:
        """Hold a write that is pending; decide one whose conversation is gone; note one that is decided."""
        intent = record.intent
        if record.state == "decided":
            self._deciding.superseding.carry_out([record])
            left.decided.append(record)
            return
        if not self._ledger.hold(intent.fingerprint):
            return
        if intent.conversation is not None:
            left.held.add(intent.fingerprint)
            left.pending.append(self._deciding.pending(intent))
            return
        try:
            report = self._interrupted_report(record)
            self._ledger.decide(intent.fingerprint, report, None, metadata=metadata_for(intent, report))
        finally:
            self._ledger.release(intent.fingerprint)
        left.interrupted.append(intent.fingerprint)

    def _interrupted_report(self, record: WriteRecord) -> Report:
        candidate = self._deciding.candidate(record.intent, None)
        return Report.on(
            candidate,
            status="unresolved",
            action="quarantine",
            reasons=(f"{INTERRUPTED}: the process ended before a verdict; the same write made again is judged",),
            citations=Citations(author=candidate.citations),
            config_digest=self._gate.config_digest,
            input_digest=input_digest(candidate, History.of(candidate.conversation, ())),
        )
