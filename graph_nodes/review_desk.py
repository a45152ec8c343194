"""What a person is asked about memories held back, what they may answer, and how the answer is carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from admission.errors import InputError, LedgerError
from admission.history import History, Timeline
from admission.ledger import Entry, Ledger, WriteIntent, WriteRecord
from admission.ledger.fingerprint import plain_value
from admission.records import Candidate, Report, Turn, digest
from admission.reports.marks import marked_passages, told_by
from admission.settings import Settings, WriteSettings
from graph_nodes.deciding import REPORT_ID_CHARS
from graph_nodes.held_back import Replacement, is_waiting, key_changed, replace, report_of
from graph_nodes.values import MARK, citation_field, edited_value, memory_text, value_to_store

Verdict = Literal["approve", "reject", "edit"]
Became = Literal["approved", "rejected", "edited", "settled_before"]
Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

EDITED = "edited"
# The mark of a memory that a person had stored against the verdict; the verdict follows: "approved_over_unresolved".
APPROVED_OVER = "approved_over_"
_SUPPORTED = ("admitted", "repaired")
_BECAME: dict[Verdict, Became] = {"approve": "approved", "reject": "rejected", "edit": "edited"}


class _Answered(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReviewDecision(_Answered):
    """What a person decides on one memory, and why. `text` is the new text of an edited one, and of no other."""

    id: Said
    verdict: Verdict
    why: Said
    text: Said | None = None

    @model_validator(mode="after")
    def _text_of_an_edit(self) -> ReviewDecision:
        if (self.text is not None) != (self.verdict == "edit"):
            raise ValueError("text goes with the verdict edit, and with no other")
        return self


class ReviewAnswer(_Answered):
    """Who decides, and one decision for each memory asked about."""

    by: Said
    decisions: list[ReviewDecision]


class ReviewOutcome(_Answered):
    """What became of one decision.

    `id` is the report id that was asked about, `report` that of an edited text. `outcome` "settled_before": somebody
    else had decided, and nothing was changed. `detail` says what they had, also where it was overruled. `to_be_stored`:
    the memory goes into the store; `stored`: it is there. If it is not, the store's next recovery puts it there.
    """

    id: str
    verdict: Verdict
    by: str
    why: str
    outcome: Became
    detail: str = ""
    report: str | None = None
    fingerprint: str = Field(exclude=True, repr=False)
    to_be_stored: bool = False
    stored: bool = False


Edits = Mapping[str, Replacement]


class ReviewDesk:
    """Asks about writes in a ledger's quarantine and carries out what is decided. Every method blocks.

    A decision made again (a node executed again, a command repeated) is known by its author and reason, and is made
    once. `LedgerError` where the ledger fails: what was carried out by then stands, and the same answer goes on from
    there.
    """

    def __init__(self, ledger: Ledger, settings: Settings) -> None:
        self._ledger = ledger
        self._settings = settings

    def records(self, fingerprints: Sequence[str]) -> list[WriteRecord]:
        """The writes with these fingerprints, in order."""
        found = map(self._ledger.write, fingerprints)
        return [record for record in found if record is not None]

    def question(self, records: Sequence[WriteRecord]) -> dict[str, Any]:
        """What a person needs to decide on these writes, as JSON values: {"memories": [...]}.

        Each with `id`, `namespace`, `key`, `memory`, `status`, `action`, `reasons`, `obligations` ({text, label}),
        `evidence` (what the judges were shown: {turn, said_by, text, marks}), and `key_changed`: whether the key was
        stored or deleted since, so that to approve the memory would undo that.
        """
        return {"memories": [self._memory(record) for record in records]}

    def check(self, answer: ReviewAnswer, records: Sequence[WriteRecord]) -> None:
        """Raises `InputError` unless there is one decision for each of `records`, and each edit can be made."""
        asked = {report_of(record).id: record for record in records}
        given = [decision.id for decision in answer.decisions]
        ids = f"decide once on each of {', '.join(asked)}"
        for id in given:
            if id not in asked:
                raise InputError("decisions.id", f"{id!r} was not asked about", ids)
            if given.count(id) > 1:
                raise InputError("decisions.id", f"{id!r} is decided on twice", ids)
        for id in asked:
            if id not in given:
                raise InputError("decisions.id", f"there is no decision on {id!r}", ids)
        for decision in answer.decisions:
            if decision.text is not None:
                edited_value(asked[decision.id].intent.value, decision.text, self._settings.writes)

    def edits(
        self, answer: ReviewAnswer, records: Sequence[WriteRecord], turns: Sequence[Turn]
    ) -> dict[str, Replacement]:
        """The edited texts that have yet to be judged, by the id of what they replace. `turns` is the conversation: of
        it, those that the first text was judged after count. Where these are not in it, nothing is evidence."""
        asked = {report_of(record).id: record for record in records}
        edited = [(asked[d.id], d.text) for d in answer.decisions if d.text is not None]
        if not edited:
            return {}
        thread = edited[0][0].intent.thread or ""
        timeline = Timeline(thread, turns, passage_chars=self._settings.evidence.passage_chars)
        new = [(record, self._successor(record, text)) for record, text in edited]
        return {
            report_of(record).id: self._replacement(record, successor, timeline)
            for record, successor in new
            if self._ledger.write(successor.fingerprint) is None
        }

    def settle(
        self,
        answer: ReviewAnswer,
        records: Sequence[WriteRecord],
        edits: Edits,
        reports: Sequence[Report],
        *,
        overrule: bool = False,
    ) -> list[ReviewOutcome]:
        """Carry out the decisions, in the order given; `reports` are on `edits`, in their order. Approved and admitted
        memories are then `decided` in the ledger: the store's recovery stores them. With `overrule`, what was rejected
        may be approved."""
        asked = {report_of(record).id: record for record in records}
        judged = dict(zip(edits, reports, strict=True))
        outcomes: list[ReviewOutcome] = []
        for decision in answer.decisions:
            record = asked[decision.id]
            try:
                if decision.verdict == "approve":
                    self._approve(decision, answer.by, record, overrule)
                elif decision.verdict == "reject":
                    self._ledger.reject(record.intent.fingerprint, by=answer.by, why=decision.why)
                elif decision.id in edits:
                    self._put_in_place(decision, answer.by, edits[decision.id], judged[decision.id])
            except LedgerError:
                if is_waiting(self._ledger, record):
                    raise
            outcomes.append(self._outcome(decision, answer.by, record))
        return outcomes

    def result(self, outcomes: Sequence[ReviewOutcome]) -> tuple[list[ReviewOutcome], list[Report]]:
        """The outcomes as the ledger has them now (which memories the store has), and the reports on edited texts."""
        now = [outcome.model_copy(update={"stored": self._is_stored(outcome)}) for outcome in outcomes]
        edited = (self._ledger.write(o.fingerprint) for o in outcomes if o.outcome == "edited")
        return now, [record.report for record in edited if record is not None and record.report is not None]

    def _memory(self, record: WriteRecord) -> dict[str, Any]:
        report, intent = report_of(record), record.intent
        evidence = [
            {"turn": p.turn_id, "said_by": told_by(p), "text": p.text, "marks": list(marks)}
            for p, marks in marked_passages(report)
        ]
        return {
            "id": report.id,
            "namespace": list(intent.namespace),
            "key": intent.key,
            "memory": report.memory,
            "status": report.status,
            "action": report.action,
            "reasons": list(report.reasons),
            "obligations": [{"text": f.text, "label": f.label} for f in report.obligations],
            "evidence": evidence,
            "key_changed": key_changed(self._ledger, record),
        }

    def _successor(self, record: WriteRecord, text: str) -> WriteIntent:
        value = plain_value(edited_value(record.intent.value, text, self._settings.writes))
        fingerprint = digest({"edit_of": record.intent.fingerprint, "value": value})
        return record.intent.model_copy(update={"fingerprint": fingerprint, "value": value})

    def _replacement(self, record: WriteRecord, successor: WriteIntent, timeline: Timeline) -> Replacement:
        report, writes = report_of(record), self._settings.writes
        cited = citation_field(successor.value, writes)
        candidate = Candidate(
            id=successor.fingerprint[:REPORT_ID_CHARS],
            conversation=report.conversation,
            namespace=successor.namespace,
            memory=memory_text(successor.value, writes),
            citations=tuple(successor.value[cited]) if cited is not None else (),
            written_after=report.written_after,
        )
        return Replacement(record, successor, candidate, _before(report, timeline))

    def _approve(self, decision: ReviewDecision, by: str, record: WriteRecord, overrule: bool) -> None:
        value = _approved_value(record, self._settings.writes)
        self._ledger.restore(record.intent.fingerprint, by=by, why=decision.why, stored_value=value, overrule=overrule)

    def _put_in_place(self, decision: ReviewDecision, by: str, edit: Replacement, judged: Report) -> None:
        reason = f"{EDITED}: in place of {decision.id}, by {by}"
        report = judged.model_copy(update={"reasons": (*judged.reasons, reason)})
        replace(self._ledger, edit, report, self._settings.writes, by=by, why=decision.why)

    def _outcome(self, decision: ReviewDecision, by: str, record: WriteRecord) -> ReviewOutcome:
        """What the ledger says became of the decision: whoever was first, it is the same for everyone who asks."""
        successor = None if decision.text is None else self._successor(record, decision.text).fingerprint
        fingerprint = successor or record.intent.fingerprint
        became: Became = _BECAME[decision.verdict]
        settled = self._ledger.reviews(record.intent.fingerprint)
        others = [entry for entry in settled if not _is_this(entry, decision, by, successor)]
        detail = _described(others[-1]) if others else ""
        if len(others) == len(settled):
            became, detail = "settled_before", detail or "it is not in quarantine"
            fingerprint = record.intent.fingerprint
        write = self._ledger.write(fingerprint)
        return ReviewOutcome(
            **decision.model_dump(include={"id", "verdict", "why"}),
            by=by,
            outcome=became,
            detail=detail,
            report=fingerprint[:REPORT_ID_CHARS] if became == "edited" else None,
            fingerprint=fingerprint,
            to_be_stored=became in ("approved", "edited") and write is not None and write.stored_value is not None,
        )

    def _is_stored(self, outcome: ReviewOutcome) -> bool:
        write = self._ledger.write(outcome.fingerprint)
        return outcome.to_be_stored and write is not None and write.state == "done" and not write.overtaken


def _approved_value(record: WriteRecord, settings: WriteSettings) -> dict[str, Any]:
    """What is stored of an approved memory: as the gate would store it, or marked where no verifier supports it."""
    report = report_of(record)
    stored = value_to_store(record.intent.value, report.model_copy(update={"action": "persist"}), settings) or {}
    return stored if report.status in _SUPPORTED else {**stored, MARK: f"{APPROVED_OVER}{report.status}"}


def _before(report: Report, timeline: Timeline) -> History:
    """The turns the report was made on; none where there were none, or where the conversation no longer has them."""
    if report.written_after is not None:
        with suppress(InputError):
            return timeline.before(report.written_after)
    return History.of(timeline.conversation_id, ())


def _is_this(entry: Entry, decision: ReviewDecision, by: str, successor: str | None) -> bool:
    """Does the entry record this very decision?"""
    body = entry.body
    if decision.verdict == "edit":
        return body.get("successor") == successor
    kind = ("restored", None) if decision.verdict == "approve" else ("review", "rejected")
    return (entry.kind, body.get("verdict")) == kind and (body["by"], body["why"]) == (by, decision.why)


def _described(entry: Entry) -> str:
    how = "approved" if entry.kind == "restored" else entry.body["verdict"]
    return f"{how} by {entry.body['by']} at {entry.time}: {entry.body['why']}"
