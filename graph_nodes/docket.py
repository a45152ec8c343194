"""The held-back memories that are due to be judged again, the likeliest first, and the record of their new verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from admission.errors import LedgerError
from admission.history import History
from admission.ledger import Ledger, WriteRecord
from admission.readjudication import (
    Budget,
    NewEvidence,
    Readmit,
    candidate_again,
    could_be_judged,
    new_evidence,
    readjudicated,
)
from admission.records import Candidate, Namespace, Report, Turn, digest
from admission.settings import Settings
from graph_nodes.deciding import REPORT_ID_CHARS
from graph_nodes.held_back import Replacement, is_waiting, key_changed, replace, report_of

# Who the ledger says put the new verdict in place of the old one.
BY = "admission"


@dataclass(frozen=True)
class Case:
    """A memory due to be judged again: what has been said of it since, and what the gate is to be asked."""

    record: WriteRecord
    found: NewEvidence
    candidate: Candidate
    history: History

    @property
    def former(self) -> Report:
        return report_of(self.record)


@dataclass(frozen=True)
class Again:
    """A memory judged again: the id of its former report, and the new one."""

    former: str
    report: Report


@dataclass(frozen=True)
class Readjudication:
    """What one run came to. `judged`: the new reports, in the order made. As ids of former reports: `unanswered`, where
    a verifier failed and the former verdict stays, to be tried again; `settled`, where somebody decided meanwhile;
    `left`, due but beyond the budget. `calls` of verifiers were made."""

    judged: tuple[Again, ...] = ()
    unanswered: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    calls: int = 0


class Docket:
    """One run of re-adjudication over a ledger: `call` finds the cases, `within` hands them out, `record` takes the
    verdicts. All but `within` and `result` block. Two runs at once may judge the same memory twice; one verdict counts.
    """

    def __init__(self, ledger: Ledger, settings: Settings, readmit: Readmit) -> None:
        self._ledger = ledger
        self._settings = settings
        self._readmit: Readmit = readmit
        self._cases: list[Case] = []
        self._judged: list[Again] = []
        self._unanswered: list[str] = []
        self._settled: list[str] = []
        self._handed_out = 0
        self._calls = 0
        self.to_be_stored = False

    @property
    def cases(self) -> Sequence[Case]:
        """What is due, the likeliest first: by how much of an open obligation a new turn speaks of, then by age."""
        return self._cases

    def threads(self, namespace: Namespace | None = None) -> list[str]:
        """The conversations that unresolved memories wait for."""
        return list(self._unresolved(namespace, None))

    def call(
        self,
        turns_of: Callable[[str], Sequence[Turn] | None],
        *,
        namespace: Namespace | None = None,
        thread: str | None = None,
    ) -> None:
        """Find what is due. `turns_of` gives a thread's whole conversation as it is now; None where there is none."""
        for id, records in self._unresolved(namespace, thread).items():
            turns = turns_of(id)
            if turns is None:
                continue
            history = History.of(id, turns, passage_chars=self._settings.evidence.passage_chars)
            for record in records:
                found = new_evidence(report_of(record), history, self._settings.evidence)
                if found is not None and not key_changed(self._ledger, record):
                    self._cases.append(Case(record, found, self._candidate(record, history), history))
        self._cases.sort(key=lambda case: -case.found.share)  # stable: of equals the oldest first

    def within(self, budget: Budget) -> Iterator[Case]:
        """The cases one after another, as long as the budget allows; record each before the next."""
        for case in self._cases:
            if not budget.allows(self._handed_out, self._calls):
                return
            self._handed_out += 1
            yield case

    def record(self, case: Case, report: Report) -> None:
        """Put the new verdict in place of the former, in the ledger. What is to be stored is `decided` then."""
        self._calls += report.usage.calls
        if not could_be_judged(report):
            self._unanswered.append(case.former.id)
            return
        fingerprint = _fingerprint(case.record, case.history)
        intent = case.record.intent.model_copy(update={"fingerprint": fingerprint})
        replacement = Replacement(case.record, intent, case.candidate, case.history)
        report = readjudicated(report, case.former, case.found, self._readmit)
        why = f"the conversation has gone on: {', '.join(case.found.turns)}"
        try:
            write = replace(self._ledger, replacement, report, self._settings.writes, by=BY, why=why)
        except LedgerError:
            if is_waiting(self._ledger, case.record):
                raise
            self._settled.append(case.former.id)
            return
        self._judged.append(Again(case.former.id, report_of(write)))
        self.to_be_stored = self.to_be_stored or write.state == "decided"

    def result(self) -> Readjudication:
        left = tuple(case.former.id for case in self._cases[self._handed_out :])
        return Readjudication(
            tuple(self._judged), tuple(self._unanswered), tuple(self._settled), left, calls=self._calls
        )

    def _unresolved(self, namespace: Namespace | None, thread: str | None) -> dict[str, list[WriteRecord]]:
        found: dict[str, list[WriteRecord]] = {}
        for record in self._ledger.waiting(namespace, thread=thread):
            if record.intent.thread is not None and report_of(record).status == "unresolved":
                found.setdefault(record.intent.thread, []).append(record)
        return found

    def _candidate(self, record: WriteRecord, history: History) -> Candidate:
        return candidate_again(report_of(record), _fingerprint(record, history)[:REPORT_ID_CHARS], history)


def _fingerprint(record: WriteRecord, history: History) -> str:
    """Names the new verdict on this write over every repeat: the same write on the same conversation."""
    return digest({"readjudication_of": record.intent.fingerprint, "history": history.digest})
