"""Human review of memories held back: a node that asks by interrupt, and what approve, reject and edit then do."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.func import task
from langgraph.types import interrupt
from pydantic import ValidationError, model_validator

from admission.errors import InputError
from admission.records import Action, Report
from graph_nodes.held_back import guard_at_hand, thread_at_hand
from graph_nodes.outcome import announce
from graph_nodes.review_desk import ReviewAnswer, ReviewDecision, ReviewDesk, ReviewOutcome
from graph_nodes.scope import turns_of
from graph_nodes.state import AdmissionState
from graph_nodes.store import AdmissionStore

__all__ = ["ReviewAnswer", "ReviewDecision", "ReviewOutcome", "ReviewState", "create_review_node"]

REVIEWED_ACTIONS: tuple[Action, ...] = ("review", "quarantine")
_TASK = "held_back_memories"


class ReviewState(AdmissionState):
    """`AdmissionState` with what became of reviewed memories (`ReviewOutcome` as JSON), in the order decided."""

    admission_reviews: Annotated[list[dict[str, Any]], operator.add]


def create_review_node(
    store: AdmissionStore | None = None, *, actions: Collection[Action] = REVIEWED_ACTIONS
) -> Runnable[Mapping[str, Any], dict[str, Any]]:
    """A node that has a person decide on this thread's held-back memories, by one `interrupt` for all that wait.

    The interrupt's value is what `ReviewDesk.question` gives; the graph is resumed with a `ReviewAnswer` (or a dict
    like it) of one decision for each id. An answer that leaves one out, names another or edits what cannot be edited
    raises `InputError`: nothing has changed then, and it can be answered again. Approved memories are stored, with a
    mark where no verifier supports them; edited texts are judged after the same turns as the first ones; rejected
    memories stay in the ledger. What was settled elsewhere meanwhile is left as it is, and the outcome says so.

    `store` defaults to the one the graph was compiled with. `actions`: ask only about memories with these. The node
    needs a checkpointer and a thread id; put it after the nodes that write.
    """
    node = _ReviewNode(store, actions)
    return RunnableLambda(node.run, node.arun, name="review")


class _ReviewNode:
    """Whatever can be refused is read before the answer is: an error after it comes again with every resume."""

    def __init__(self, store: AdmissionStore | None, actions: Collection[Action]) -> None:
        self._store, self._actions = store, frozenset(actions)
        # As a task its result is kept with the thread: whatever is settled or comes in before the answer, the node
        # asks about the same memories when it is executed again.
        named: Any = task(name=_TASK)  # its declared types fit no method
        self._waiting, self._awaiting = named(self._find), named(self._afind)

    def run(self, state: Mapping[str, Any]) -> dict[str, Any]:
        store = guard_at_hand(self._store)
        asked: list[str] = self._waiting(thread_at_hand()).result()
        if not asked:
            return {}
        desk = ReviewDesk(store.ledger, store.settings)
        records, turns = desk.records(asked), turns_of(state.get("messages") or [])
        answer = _ask(desk.question(records), partial(desk.check, records=records))
        edits = desk.edits(answer, records, turns)
        reports = list(store.gate.decide_many([(edit.candidate, edit.history) for edit in edits.values()]))
        outcomes = desk.settle(answer, records, edits, reports)
        if any(outcome.to_be_stored for outcome in outcomes):
            store.recover()
        return _update(*desk.result(outcomes))

    async def arun(self, state: Mapping[str, Any]) -> dict[str, Any]:
        store = guard_at_hand(self._store)
        asked: list[str] = await self._awaiting(thread_at_hand())
        if not asked:
            return {}
        desk = ReviewDesk(store.ledger, store.settings)
        records, turns = await asyncio.to_thread(desk.records, asked), turns_of(state.get("messages") or [])
        answer = _ask(await asyncio.to_thread(desk.question, records), partial(desk.check, records=records))
        edits = await asyncio.to_thread(desk.edits, answer, records, turns)
        reports = await asyncio.gather(*(store.gate.adecide(e.candidate, e.history) for e in edits.values()))
        outcomes = await asyncio.to_thread(desk.settle, answer, records, edits, reports)
        if any(outcome.to_be_stored for outcome in outcomes):
            await store.arecover()
        return _update(*await asyncio.to_thread(desk.result, outcomes))

    def _find(self, thread: str) -> list[str]:
        waiting = guard_at_hand(self._store).ledger.waiting(thread=thread)
        return [record.intent.fingerprint for record in waiting if record.action in self._actions]

    async def _afind(self, thread: str) -> list[str]:
        return await asyncio.to_thread(self._find, thread)


def _ask(value: dict[str, Any], check: Callable[[ReviewAnswer], None]) -> ReviewAnswer:
    """Interrupt, or the answer. It is checked where LangGraph validates it: what is refused there is not kept."""

    class Answer(ReviewAnswer):
        @model_validator(mode="after")
        def _fits(self) -> Answer:
            check(self)
            return self

    # What clients see in the schema.
    Answer.__name__, Answer.__doc__ = ReviewAnswer.__name__, ReviewAnswer.__doc__
    try:
        return interrupt(value, response_schema=Answer)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "answer"
        raise InputError(field, first["msg"], 'answer {"by": ..., "decisions": [{"id", "verdict", "why"}]}') from error


def _update(outcomes: Sequence[ReviewOutcome], reports: Sequence[Report]) -> dict[str, Any]:
    for report in reports:
        announce(report)
    return {
        "admission_reviews": [outcome.model_dump(mode="json") for outcome in outcomes],
        "admission_reports": [report.model_dump(mode="json") for report in reports],
    }
