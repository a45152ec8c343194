"""How a deletion audit is shown: the log with what each deletion cost, by cause, and questions that lost a piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group

from admission.cli.eval.tables import terminal_table
from admission.eviction.deletions.audit import CauseCost, DeletionAudit, DeletionCost, Piece, Source
from admission.eviction.deletions.log import LoggedDeletion
from admission.reports.evaluation import EvaluationPage, ShownTable
from admission.reports.safe import one_line

_NAMED = 5
"""So many questions are named for a deletion; the JSON has all."""
_TO_THE_SECOND = len("2026-03-01T09:30:00")
_SOURCES = {
    "stored_memory": "another stored memory",
    "store": "the store: it is there, out of use",
    "ledger": "the ledger's record of the write",
    "held_back": "a write held back",
    "turns": "the turns, as a report quotes them",
}


def deletions_view(found: DeletionAudit) -> Group:
    """For the terminal: of the log, the deletions that cost something."""
    costly = [cost for cost in found.deletions if cost.unanswerable or cost.recoverable]
    tables = (_by_cause(found.causes), _log(costly, "Deletions that cost a question"), _pieces(found))
    return Group(*_findings(found), *(terminal_table(table) for table in tables if table.rows))


def deletions_page(found: DeletionAudit, configuration: tuple[tuple[str, str], ...]) -> EvaluationPage:
    """The page: the whole log with what each deletion cost, and the questions."""
    tables = (_by_cause(found.causes), _log(found.deletions, "The deletion log"), _pieces(found))
    return EvaluationPage(
        title="What deletions cost",
        findings=tuple(_findings(found)),
        plots=(),
        tables=tuple(table for table in tables if table.rows),
        limits=_LIMITS,
        configuration=configuration,
    )


_LIMITS = (
    "This tells what deletions made impossible, a required one included. It does not say what to delete, to keep or to "
    "bring back: that something can be brought back does not mean that it may be.",
    "The questions say what they need, and the rest follows from the ledger: the store is not read. What the ledger "
    "does not record is unknown; a store that removes a memory by its time to live records nothing.",
    "Another memory that rests on the same turns, or a turn that a report quotes, is named as a place to look. Whether "
    "it says enough for the answer is not looked at.",
    "Of an erased memory the ledger keeps neither the text nor what it rested on. What else quotes the same turns does "
    "not count as a way back; only another memory that is stored does.",
    "A superseded memory is stored still, and not lost. One that was forgotten or has expired is stored too, and no "
    "question about the present may use it: it counts as lost, and the store as the place to bring it back from.",
    "The chain is taken as it is; `admission verify` says whether it is as it was recorded.",
)


def _findings(found: DeletionAudit) -> Iterator[str]:
    deletions = [cost for cost in found.deletions if cost.deletion.cause != "replacement"]
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in found.outcomes.items())
    yield f"{len(found.questions):,} questions, {len(deletions):,} deletions up to entry {found.head.seq:,}: {counts}."
    costly = sum(bool(cost.unanswerable or cost.recoverable) for cost in deletions)
    yield f"{costly:,} deletions took the last stored copy of something that a question needs, or the last recorded."


def _by_cause(causes: Sequence[CauseCost]) -> ShownTable:
    return ShownTable(
        title="By cause",
        columns=("cause", "deletions", "questions unanswerable", "questions recoverable"),
        rows=tuple(
            (one_line(of.cause), f"{of.deletions:,}", f"{of.unanswerable:,}", f"{of.recoverable:,}") for of in causes
        ),
        note="Questions that lost a piece to any deletion of the cause. A replacement is no deletion: another write "
        "took the key.",
    )


def _log(costs: Sequence[DeletionCost], title: str) -> ShownTable:
    rows = tuple(
        (
            str(cost.deletion.seq),
            cost.deletion.time[:_TO_THE_SECOND],
            one_line(cost.deletion.cause),
            one_line(_who(cost.deletion)),
            one_line(_what(cost.deletion)),
            _some(cost.unanswerable),
            _some(cost.recoverable),
        )
        for cost in costs
    )
    columns = ("entry", "time", "cause", "who", "memory", "made unanswerable", "recoverable")
    return ShownTable(title=title, columns=columns, rows=rows, names=len(columns))


def _pieces(found: DeletionAudit) -> ShownTable:
    causes = {cost.deletion.seq: cost.deletion.cause for cost in found.deletions}
    rows = tuple(
        (
            one_line(question.id),
            question.outcome,
            piece.name,
            one_line(_place(piece)),
            piece.outcome,
            one_line(", ".join(f"{causes[seq]} ({seq})" for seq in piece.lost_to)),
            one_line(_whence(piece)),
        )
        for question in found.questions
        for piece in question.pieces
        if piece.outcome != "unaffected"
    )
    columns = ("question", "outcome", "needs", "memory", "which is", "lost to (entry)", "from where, or why not")
    return ShownTable(
        title="Questions that are not unaffected", columns=columns, rows=rows, names=len(columns),
        note="A piece is named by its place in the question's line; a memory by its key, or by the id of its report.",
    )  # fmt: skip


def _who(deletion: LoggedDeletion) -> str:
    why = f": {deletion.why}" if deletion.why else ""
    parts = [
        deletion.by and f"{deletion.by}{why}",
        deletion.thread and f"thread {deletion.thread}",
        *(f"{name} {deletion.detail[name]}" for name in ("policy", "budget") if name in deletion.detail),
    ]
    return ", ".join(part for part in parts if part) or "not recorded"


def _what(deletion: LoggedDeletion) -> str:
    shown = [_key(deletion.namespace, key) for key in deletion.keys[:_NAMED]]
    more = len(deletion.keys) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _place(piece: Piece) -> str:
    if piece.namespace is not None and piece.key is not None:
        return _key(piece.namespace, piece.key)
    return f"report {piece.report}" if piece.report is not None else "not known"


def _key(namespace: Sequence[str], key: str | None) -> str:
    return "/".join((*namespace, "(erased key)" if key is None else key))


def _whence(piece: Piece) -> str:
    return "; ".join(map(_shown, piece.sources)) or piece.reason


def _shown(source: Source) -> str:
    what = _SOURCES[source.kind]
    return f"{what} ({source.report if source.key is None else f'{source.key}, {source.report}'})"


def _some(ids: Sequence[str]) -> str:
    if not ids:
        return "-"
    shown = ", ".join(one_line(id) for id in ids[:_NAMED])
    return f"{len(ids):,}: {shown}{', ...' if len(ids) > _NAMED else ''}"
