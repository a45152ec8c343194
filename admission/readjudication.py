"""Which unresolved memories may be judged again now that their conversation has gone on, and what is reported then.

An unresolved memory lacked evidence. Judging it again costs what judging it cost, so it is done only where a later turn
would now be shown to the judges and speaks of what was left open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from admission.eligibility import admissible
from admission.errors import InputError
from admission.evidence import citation_view, expanded_view
from admission.history import History
from admission.records import STORED_ACTIONS, Candidate, Obligation, Passage, Report
from admission.settings import EvidenceSettings
from admission.text import content_terms

# What becomes of a memory that the conversation now supports: it waits for a person, or is stored.
Readmit = Literal["review", "store"]

READJUDICATED = "readjudicated"
_TURNS_NAMED = 5


@dataclass(frozen=True)
class NewEvidence:
    """Turns after the write that speak of an open obligation, in conversation order. `share` is the largest part of one
    obligation's content terms that one passage of them has, above 0 and at most 1: the more, the likelier it matters.
    """

    turns: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Budget:
    """What one run may spend: memories judged, and calls of verifiers (as `Usage.calls` counts them). None: no bound.

    Asked before each memory, so that the last one judged may go beyond `calls`.
    """

    writes: int | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        for name, bound in (("writes", self.writes), ("calls", self.calls)):
            if bound is not None and bound < 0:
                raise InputError(f"budget.{name}", f"is {bound}", "give 0 or more, or None for no bound")

    def allows(self, writes: int, calls: int) -> bool:
        """May another memory be judged after so many, for so many calls?"""
        return (self.writes is None or writes < self.writes) and (self.calls is None or calls < self.calls)


def candidate_again(report: Report, id: str, history: History) -> Candidate:
    """The memory of `report` as if it were written after the last turn of `history`."""
    return Candidate(
        id=id,
        conversation=report.conversation,
        namespace=report.namespace,
        memory=report.memory,
        citations=report.citations.author,
        written_after=last_turn(history),
    )


def last_turn(history: History) -> str | None:
    """The id of the last turn; None where there is none."""
    ids = [turn.id for turn in history]
    return ids[-1] if ids else None


def new_evidence(report: Report, history: History, settings: EvidenceSettings) -> NewEvidence | None:
    """What has been said since the memory was judged that may resolve it; None where nothing has.

    `history` is the conversation as it is now. Turns after the report's `written_after` are new: all of them where the
    report names none (there was no conversation, or the process ended before a verdict) or one that is gone. Of those,
    a turn counts if the judges of an open obligation would be shown it as evidence and it shares a content term with
    it, or answers a turn that does; names of the participants aside, for they are in every second turn. Reports of
    another status than `unresolved` have none.
    """
    if report.status != "unresolved":
        return None
    new = _turns_since(report.written_after, history)
    if not new:
        return None
    shown = _shown(report, history, settings)
    names = {term for name in _names(history) for term in content_terms(name)}
    found: set[str] = set()
    best = 0.0
    for text in _open_texts(report):
        wanted = set(content_terms(text))
        wanted = wanted - names or wanted
        for passage in admissible(shown, text, history):
            share = len(wanted.intersection(content_terms(passage.text))) / max(1, len(wanted))
            later = new.intersection({passage.turn_id, history.answer_to(passage.turn_id)})
            if share > 0 and later:
                found |= later
                best = max(best, share)
    turns = tuple(turn.id for turn in history if turn.id in found)
    return NewEvidence(turns, best) if turns else None


def readjudicated(report: Report, former: Report, found: NewEvidence, readmit: Readmit) -> Report:
    """`report`, the new verdict, as it goes into the ledger: it says which one it follows, and that the turns after the
    write counted. With `readmit` "review", what is to be stored by policy waits for a person first."""
    named = ", ".join(found.turns[:_TURNS_NAMED]) + (", ..." if len(found.turns) > _TURNS_NAMED else "")
    since = f"turn {former.written_after}" if former.written_after is not None else "the beginning"
    reason = f"{READJUDICATED}: in place of {former.id}; what was said since {since} counts too ({named})"
    waits = readmit == "review" and report.action in STORED_ACTIONS
    action = "review" if waits else report.action
    return report.model_copy(update={"action": action, "reasons": (reason, *report.reasons)})


def could_be_judged(report: Report) -> bool:
    """Did every judge answer? A verdict for want of an answer says nothing new, and the old one stays."""
    failed = any(judgment.outcome == "failed" for finding in report.obligations for judgment in finding.judgments)
    return not failed and not any(reason.startswith("internal_error:") for reason in report.reasons)


def _turns_since(turn_id: str | None, history: History) -> set[str]:
    ids = [turn.id for turn in history]
    if turn_id is None or not history.contains(turn_id):
        return set(ids)
    return set(ids[ids.index(turn_id) + 1 :])


def _shown(report: Report, history: History, settings: EvidenceSettings) -> tuple[Passage, ...]:
    """The passages the judges would be shown now."""
    candidate = candidate_again(report, report.id, history)
    if settings.setting == "citation_only":
        return citation_view(history, candidate, limit=settings.total)[0].passages
    obligations = [Obligation(id=f.id, text=f.text, type=f.type) for f in report.obligations]
    view = expanded_view(history, candidate, obligations, retrieved=settings.retrieved, total=settings.total)
    return view.passages


def _open_texts(report: Report) -> list[str]:
    return [f.text for f in report.obligations if f.label != "supported"] or [report.memory]


def _names(history: History) -> Iterator[str]:
    for speakers in history.participants.values():
        yield from speakers
    yield from history.user_names
