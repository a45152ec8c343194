"""The older memories that a new one takes the place of: two independent signs for each, and in the order of time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from admission.history import History
from admission.records import Passage, Record, Report
from admission.supersession.change import Said, change_said, when
from admission.supersession.conflict import Conflict, conflict
from admission.supersession.statement import Statement, read_statement

_SUPPORTED = ("admitted", "repaired")


class Known(Record):
    """An older memory of the same namespace: its key, its text, and the report on it."""

    key: str
    text: str
    report: Report


class New(Record):
    """A memory that is about to be stored under `key`, and the report that admits it."""

    key: str
    text: str
    report: Report


class Replacement(Record):
    """That the new memory takes the place of the one at `key`, as `turn` says.

    `ask`: the old memory's text, and what a judge has to find contradicted by it before this counts; None where the
    conversation names what is over, or the words alone exclude each other.
    """

    key: str
    conflict: Conflict
    turn: str
    ask: tuple[str, str] | None


def may_supersede(report: Report) -> bool:
    """Only what was admitted for good replaces anything: nothing unresolved, marked or held back."""
    return report.status in _SUPPORTED and report.action == "persist"


def can_supersede(memory: str, users: frozenset[str]) -> bool:
    """Is the memory one statement that can be held against others?"""
    return read_statement(memory, users) is not None


def conflicting(new: str, others: Iterable[tuple[str, str]], users: frozenset[str]) -> list[str]:
    """Keys of those of `others` (key, text) that cannot hold beside the memory `new`. The texts alone; cheap."""
    statement = read_statement(new, users)
    if statement is None:
        return []
    return [key for key, text in others if _between(text, statement, users) is not None]


def replacements(new: New, others: Iterable[Known], history: History) -> list[Replacement]:
    """What `new` takes the place of among `others`: their texts conflict, the evidence of the new one says that
    something changed, and says it after the evidence of the old one. `history` is the conversation before the write."""
    users = the_user(history)
    statement = read_statement(new.text, users)
    if statement is None or not may_supersede(new.report):
        return []
    found = (_replacement(new, statement, old, history, users) for old in others if old.key != new.key)
    return [replacement for replacement in found if replacement is not None]


def the_user(history: History) -> frozenset[str]:
    """The name that "the user" goes by, where there is one user; of several it may be any."""
    names = history.user_names
    return frozenset(names) if len(names) == 1 else frozenset()


def evidence_of(report: Report) -> tuple[Passage, ...]:
    """The passages that a report's findings rest on."""
    turns = {turn for finding in report.obligations for turn in finding.evidence}
    return tuple(passage for passage in report.passages if passage.turn_id in turns)


def _between(old: str, new: Statement, users: frozenset[str]) -> tuple[Statement, Conflict] | None:
    statement = read_statement(old, users)
    found = conflict(statement, new) if statement is not None else None
    return (statement, found) if statement is not None and found is not None else None


def _replacement(
    new: New, statement: Statement, old: Known, history: History, users: frozenset[str]
) -> Replacement | None:
    between = _between(old.text, statement, users)
    if between is None:
        return None
    before, found = between
    earlier = evidence_of(old.report)
    said = change_said(found, before, statement, evidence_of(new.report), _last(earlier))
    if said is None or not _later(said, new.report, old.report, earlier, history):
        return None
    ask = (old.text, found.instead) if found.doubtful and found.instead is not None and not said.named else None
    return Replacement(key=old.key, conflict=found, turn=said.passage.turn_id, ask=ask)


def _last(passages: Iterable[Passage]) -> datetime | None:
    """When the last of them was said; None where any has no time, or the times cannot be compared."""
    times = [when(passage) for passage in passages]
    known = [time for time in times if time is not None]
    if not known or len(known) < len(times) or len({time.tzinfo is None for time in known}) > 1:
        return None
    return max(known)


def _later(said: Said, new: Report, old: Report, earlier: tuple[Passage, ...], history: History) -> bool:
    """Was the change said after what the old memory rests on? By the order of turns in one conversation, else by their
    times; without times, only what was said last before the write is known to be later than an older memory's."""
    if not earlier:
        return False
    if old.conversation == new.conversation and all(history.contains(passage.turn_id) for passage in earlier):
        order = {turn.id: place for place, turn in enumerate(history)}
        return order.get(said.passage.turn_id, -1) > max(order[passage.turn_id] for passage in earlier)
    told, before = when(said.passage), _last(earlier)
    if told is not None and before is not None and (told.tzinfo is None) == (before.tzinfo is None):
        return told > before
    spoken = [turn.id for turn in history if turn.role == "user" and turn.origin == "conversation"]
    return bool(spoken) and spoken[-1] == said.passage.turn_id
