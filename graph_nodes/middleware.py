"""AdmissionMiddleware for `create_agent`: a guarded store or none, the conversation of each write, the true outcome."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware.types import AgentMiddleware, AgentState, OmitFromInput
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from admission.errors import InputError
from admission.records import Namespace, Report
from graph_nodes.answers import Answer, Answers, Outcome, answered, corrected, outcomes, unrun
from graph_nodes.outcome import collect_reports
from graph_nodes.outside import NotWritten, OutsideMemory, filled
from graph_nodes.scope import conversation
from graph_nodes.state import add_reports
from graph_nodes.store import AdmissionStore
from graph_nodes.unguarded import UnguardedError, unguarded_run
from graph_nodes.watched import WatchedTool

logger = logging.getLogger(__name__)

Handler = Callable[[ToolCallRequest], Answer]
AsyncHandler = Callable[[ToolCallRequest], Awaitable[Answer]]


class AdmissionAgentState(AgentState[Any]):
    """An agent's state with the reports on its memory writes (`Report` as JSON), in the order decided."""

    admission_reports: NotRequired[Annotated[list[dict[str, Any]], OmitFromInput, add_reports]]


class AdmissionMiddleware(AgentMiddleware[AdmissionAgentState, Any, Any]):
    """Tells the agent what became of the memories its tools wrote, and sees to it that they pass the gate.

    The store is what judges: give `create_agent` an `AdmissionStore` as `store=`. This middleware refuses to run over
    any other, in the first node and again at each tool call (a resumed run does not pass the first node), with
    `UnguardedError`; with `strict=False` it only logs that.

    Around each tool call it names the conversation before the call as the evidence, replaces what the tool says of its
    write by what was decided (status, key and reasons in plain words), and adds the reports to `admission_reports`.

    `watched`: tools by name that write memory where no store sees it. Such a call is judged first; where the memory is
    held back the tool is not run. They need the guarded store for its gate and ledger, whatever `strict` says.
    """

    state_schema = AdmissionAgentState

    def __init__(self, *, strict: bool = True, watched: Mapping[str, WatchedTool] | None = None) -> None:
        super().__init__()
        self._strict = strict
        self.watched = dict(watched or {})
        self._places: dict[str, OutsideMemory] = {}
        self._placing = threading.Lock()

    def before_agent(self, state: AdmissionAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Raises `UnguardedError` unless the run's store is guarded."""
        self._checked(runtime.store)
        return None

    async def abefore_agent(self, state: AdmissionAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Async twin of `before_agent`."""
        return self.before_agent(state, runtime)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Answer:
        """The tool's answer, with what became of its writes."""
        guard = self._checked(request.runtime.store)
        with _writing(request) as reports:
            write = self._watched_write(request, guard)
            if write is None:
                answer: Answers | None = handler(request)
            elif isinstance(write, ToolMessage):
                answer = write
            else:
                answer = write.place.write(write.namespace, write.text, lambda: _written(handler(request)))
        return _answer(request, answer, outcomes(reports, guard, _task(request)))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncHandler) -> Answer:
        """Async twin of `wrap_tool_call`."""
        guard = self._checked(request.runtime.store)

        async def run() -> Answers:
            return _written(await handler(request))

        with _writing(request) as reports:
            write = self._watched_write(request, guard)
            if write is None:
                answer: Answers | None = await handler(request)
            elif isinstance(write, ToolMessage):
                answer = write
            else:
                answer = await write.place.awrite(write.namespace, write.text, run)
        return _answer(request, answer, await asyncio.to_thread(outcomes, reports, guard, _task(request)))

    def _checked(self, store: BaseStore | None) -> AdmissionStore | None:
        """The store, if it is guarded. Raises `UnguardedError`, or logs, where it is not."""
        finding = unguarded_run(store)
        if finding is None:
            return cast(AdmissionStore, store)
        if self._strict or self.watched:
            raise UnguardedError([finding])
        logger.warning("%s", finding)
        return None

    def _watched_write(self, request: ToolCallRequest, guard: AdmissionStore | None) -> _Write | ToolMessage | None:
        """The call as a write to be judged, or the answer to one that cannot be read; None for calls that write no
        memory as far as is known, and those of tools that are not watched."""
        name = request.tool_call["name"]
        watched = self.watched.get(name)
        if watched is None or guard is None:
            return None
        try:
            text = watched.memory(request.tool_call["args"])
        except InputError as error:
            return answered(request.tool_call, f"The tool was not run: {error}.")
        if text is None:
            return None
        return _Write(self._place(name, guard), filled(watched.namespace), text)

    def _place(self, name: str, guard: AdmissionStore) -> OutsideMemory:
        with self._placing:  # one for all threads: a second one's recovery would find the first one's writes open
            place = self._places.get(name)
            if place is None or place.guard is not guard:
                place = self._places[name] = OutsideMemory(guard, f"tool:{name}")
            return place


@dataclass(frozen=True)
class _Write:
    place: OutsideMemory
    namespace: Namespace
    text: str


@contextmanager
def _writing(request: ToolCallRequest) -> Iterator[list[Report]]:
    """The scope of a tool call: the conversation before it, and the reports on what it writes."""
    state = request.state
    messages = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", state)
    with conversation(None, messages or []), collect_reports() as reports:
        yield reports


def _written(answer: Answers) -> Answers:
    """The answer of a tool that has written; raises `NotWritten` where it says that it failed."""
    if isinstance(answer, ToolMessage) and answer.status == "error":
        raise NotWritten(answer)
    return answer


def _task(request: ToolCallRequest) -> str | None:
    info = request.runtime.execution_info
    return info.task_id if info is not None else None


def _answer(request: ToolCallRequest, answer: Answers | None, found: Sequence[Outcome]) -> Answer:
    if answer is None:
        told = unrun(request.tool_call, found)
    else:
        told = corrected(answer, request.tool_call["id"] or "", found, tool_module=_module(request))
    return cast(Answer, told)  # ToolNode takes the lists that some tools answer with; the base class knows of none


def _module(request: ToolCallRequest) -> str:
    """Where the function of the tool comes from."""
    function = getattr(request.tool, "func", None) or getattr(request.tool, "coroutine", None)
    return getattr(function, "__module__", None) or ""
