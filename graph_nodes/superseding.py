"""Supersession as the write protocol has it: found before a write is decided, marked in the ledger once it is."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from admission.errors import InputError
from admission.gate import AdmissionGate
from admission.history import History
from admission.ledger import Ledger, WriteIntent, WriteRecord
from admission.metadata import Lifecycle, RecordMetadata
from admission.records import Namespace, Obligation, Passage, Question, Report
from admission.settings import WriteSettings
from admission.supersession import (
    Known,
    New,
    Replacement,
    can_supersede,
    conflicting,
    may_supersede,
    replacements,
    the_user,
)
from graph_nodes.attached import metadata_for, newest_evidence
from graph_nodes.values import memory_text

logger = logging.getLogger(__name__)

SUPERSEDES = "supersedes_memory"
"""The code of the reason, in the report on a new memory, that names the key of one it takes the place of."""

_BY = "supersession"
_NEWEST = 200
_MOST = 12
_ENDED = ("superseded", "forgotten")


class Superseding:
    """Which stored memories a new one takes the place of, and how that is kept. All methods block.

    Candidates come from the ledger, not from the store: it knows what passed the gate, on what evidence, and lists the
    newest values of one namespace in a single query, the same on every store.
    """

    def __init__(self, gate: AdmissionGate, ledger: Ledger, settings: WriteSettings) -> None:
        self._gate = gate
        self._ledger = ledger
        self._settings = settings

    def noted(self, intent: WriteIntent, report: Report, history: History) -> Report:
        """The report on a write that is to be stored, with a reason for each memory it takes the place of."""
        if not self._settings.supersede or not may_supersede(report):
            return report
        try:
            keys = self._replaced(intent, report, history)
        except Exception as error:  # noqa: BLE001 - an old record that cannot be read must not cost the new write
            logger.error("no supersession for report %s: %s", report.id, type(error).__name__)
            return report
        reasons = tuple(f"{SUPERSEDES}: {key}" for key in keys)
        return report.model_copy(update={"reasons": (*report.reasons, *reasons)}) if reasons else report

    def carry_out(self, records: Iterable[WriteRecord]) -> None:
        """Mark what decided writes take the place of, as their reports say. Safe to repeat: what is marked stays as it
        is. Writes that are done are left alone, so that a retry takes no reinstatement back."""
        for record in filter(supersedes, records):
            if record.report is not None:
                for key in superseded_keys(record.report):
                    self._mark(record.intent, record.report, key)

    def _replaced(self, intent: WriteIntent, report: Report, history: History) -> list[str]:
        new = New(key=intent.key, text=memory_text(intent.value, self._settings), report=report)
        if not can_supersede(new.text, the_user(history)):
            return []  # before anything is looked up: most memories say more than one thing
        given = metadata_for(intent, report)
        writer = given.provenance.written_by if given is not None else None
        found = replacements(new, self._known(new, writer, history), history)
        return [replaced.key for replaced in found if self._holds(replaced, history)]

    def _known(self, new: New, writer: str | None, history: History) -> list[Known]:
        """The memories of the namespace whose text conflicts with the new one's, and that are current. Not those of
        somebody else, where both writers are known: nobody ends what another has stored."""
        namespace = new.report.namespace
        listed = self._ledger.standing(namespace, limit=_NEWEST)
        texts = [(s.key, memory_text(s.value, self._settings)) for s in listed if s.key != new.key]
        keys = conflicting(new.text, texts, the_user(history))[:_MOST]
        if not keys:
            return []
        metadata = self._ledger.metadata([(namespace, key) for key in keys])
        known: list[Known] = []
        for key in keys:
            latest, about = self._ledger.latest(namespace, key), metadata.get((namespace, key), _NOTHING)
            if latest is None or latest.stored_value is None or latest.report is None:
                continue
            if about.lifecycle.state in _ENDED or _differ(about.provenance.written_by, writer):
                continue
            text = memory_text(latest.stored_value, self._settings)
            known.append(Known(key=key, text=text, report=latest.report))
        return known

    def _holds(self, replaced: Replacement, history: History) -> bool:
        """Where only the world tells whether two values exclude each other: does a judge find that they do?"""
        if replaced.ask is None:
            return True
        old, instead = replaced.ask
        user = next(iter(the_user(history)), None)
        shown = Passage(id="old", turn_id="old", position=0, role="user", speaker=user, text=old, origin="conversation")
        question = Question(
            obligation=Obligation(id="o1", text=instead, type="fact"),
            memory=instead,
            view="citation_only",
            passages=(shown,),
            people=history.people,
        )
        (judgment,) = self._gate.judge("verifier_a", [question], 1)
        return judgment.label == "contradicted"

    def _mark(self, intent: WriteIntent, report: Report, key: str) -> None:
        namespace = intent.namespace
        own, old = self._ledger.latest(namespace, intent.key), self._ledger.latest(namespace, key)
        if own is None or own.intent.fingerprint != intent.fingerprint or old is None:
            return  # deleted or written again since
        known = self._ledger.metadata([(namespace, key)]).get((namespace, key), _NOTHING)
        if known.lifecycle.state in _ENDED:
            return
        given = metadata_for(intent, report)
        since = given.lifecycle.valid_from if given is not None else newest_evidence(report)
        ended = {"state": "superseded", "superseded_by": intent.key, "valid_to": since}
        lifecycle = known.lifecycle.model_copy(update=ended)
        why = f"the memory at {intent.key!r} takes its place (report {report.id})"
        self._ledger.annotate(namespace, key, known.model_copy(update={"lifecycle": lifecycle}), by=_BY, why=why)


_NOTHING = RecordMetadata()


def _differ(one: str | None, other: str | None) -> bool:
    """Are both known, and not the same?"""
    return one is not None and other is not None and one != other


def supersedes(record: WriteRecord) -> bool:
    """Is this write decided, not done yet, and to take the place of other memories?"""
    return record.state == "decided" and record.report is not None and bool(superseded_keys(record.report))


def superseded_keys(report: Report) -> list[str]:
    """The keys of the memories that a report says the new one takes the place of."""
    start = f"{SUPERSEDES}: "
    return [reason.removeprefix(start) for reason in report.reasons if reason.startswith(start)]


def reinstate(ledger: Ledger, namespace: Namespace, key: str, *, by: str, why: str) -> RecordMetadata:
    """Make a superseded memory current again; by whom and why is kept in the ledger. Raises `InputError` where it is
    not superseded. The memory that took its place stays as it is."""
    known = ledger.metadata([(namespace, key)]).get((namespace, key), _NOTHING)
    if known.lifecycle.state != "superseded":
        raise InputError("key", f"{key!r} in {list(namespace)} is not superseded", "name one whose metadata says so")
    lifecycle = Lifecycle(state="current", valid_from=known.lifecycle.valid_from)
    current = known.model_copy(update={"lifecycle": lifecycle})
    ledger.annotate(namespace, key, current, by=by, why=why)
    return current
