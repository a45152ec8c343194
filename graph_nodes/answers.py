"""The true answer of a memory tool: what became of its writes, told to the model in place of what the tool believes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import ToolCall, ToolMessage
from langgraph.types import Command

from admission.records import STORED_ACTIONS, Report
from admission.reports.safe import one_line
from admission.reports.sentences import explanation
from graph_nodes.store import AdmissionStore
from graph_nodes.values import memory_text

Answer = ToolMessage | Command[Any]
# What a tool call comes back with: LangGraph lets a tool return several, one of which answers the call.
Answers = Answer | list[Answer]

_QUOTED_CHARS = 200
# These tools' answers say nothing but "created memory X", whatever became of it.
_ANSWERS_ARE_CLAIMS = ("langmem.",)


@dataclass(frozen=True)
class Outcome:
    """What became of one write. `report` None: it waits for its verdict (background mode). `key` and `stored` are as
    the ledger has them; without a ledger to ask, the report's action is all that is known."""

    memory: str
    report: Report | None
    key: str | None
    stored: bool


def outcomes(reports: Sequence[Report], guard: AdmissionStore | None, task: str | None) -> list[Outcome]:
    """What became of the writes these reports are on, each once, in order; then the task's writes that wait for their
    verdict. Blocks (the ledger)."""
    waiting = _waiting(guard, task) if guard is not None else []  # before the reports: what is decided now is in these
    once = {(report.id, report.status, report.action): report for report in reports}
    known = tuple(report.id for report in once.values())  # each the beginning of its write's fingerprint
    found = [_outcome(report, guard) for report in once.values()]
    return [*found, *(outcome for fingerprint, outcome in waiting if not fingerprint.startswith(known))]


def _outcome(report: Report, guard: AdmissionStore | None) -> Outcome:
    accepted = report.action in STORED_ACTIONS
    entry = guard.ledger.report(report.id) if guard is not None else None
    fingerprint = entry[0].fingerprint if entry is not None else None
    if guard is None or entry is None or fingerprint is None:
        return Outcome(report.memory, report, None, accepted)
    record = guard.ledger.write(fingerprint)
    return Outcome(report.memory, report, entry[0].key, accepted and record is not None and record.state == "done")


def _waiting(guard: AdmissionStore, task: str | None) -> list[tuple[str, Outcome]]:
    """The undecided writes of a task by fingerprint."""
    if task is None or guard.settings.writes.mode != "background":
        return []
    intents = [r.intent for r in guard.pending() if r.state == "claimed" and r.intent.task == task]
    texts = [memory_text(intent.value, guard.settings.writes) for intent in intents]
    return [(i.fingerprint, Outcome(text, None, i.key, False)) for i, text in zip(intents, texts, strict=True)]


def told(found: Outcome) -> str:
    """One write's outcome for the model: stored or not, status, key, and why."""
    memory, report = one_line(found.memory, _QUOTED_CHARS), found.report
    if report is None:
        return f"PENDING: “{memory}” (key {found.key}). It is not judged yet; until it is, no search finds it."
    accepted = report.action in STORED_ACTIONS
    lead = "STORED" if found.stored else "ACCEPTED, BUT NOT STORED YET" if accepted else "NOT STORED"
    place = f", key {found.key}" if found.key is not None and accepted else ""
    sentences = explanation(report)
    if accepted and not found.stored:
        sentences[-1] = "The store has not confirmed it."
    return f"{lead}: “{memory}” (status {report.status}{place}). {' '.join(sentences)}"


def corrected(answer: Answers, call_id: str, found: Sequence[Outcome], *, tool_module: str) -> Answers:
    """The tool's answer with the outcomes in front, and the reports as an update of the state.

    The tool's own words follow, marked as such, for it may have done other work that the model has to know of; those of
    tools that only claim to have written are left out. What results is no evidence for later writes. A tool that wrote
    nothing is not corrected.
    """
    if not found:
        return answer
    parts = list(answer) if isinstance(answer, list) else [answer]
    claims_only = tool_module.startswith(_ANSWERS_ARE_CLAIMS)
    parts = [_corrected_part(part, call_id, found, claims_only) for part in parts]
    reports = _as_json(found)
    if len(parts) == 1:
        parts = [_with_reports(parts[0], reports)]
    else:
        parts.append(Command(update={"admission_reports": reports}))
    return parts[0] if len(parts) == 1 else parts


def unrun(call: ToolCall, found: Sequence[Outcome]) -> Answers:
    """The answer to a call whose tool was not run, for what it would have written is held back or already written."""
    written = any(outcome.stored for outcome in found)
    lead = "The tool ran earlier and was not run again." if written else "The tool was not run."
    message = answered(call, "\n".join([lead, *map(told, found)]), failed=not written)
    return _with_reports(message, _as_json(found))


def answered(call: ToolCall, text: str, *, failed: bool = True) -> ToolMessage:
    """Our own answer to a tool call. It is no evidence for later writes."""
    return ToolMessage(
        text,
        name=call["name"],
        tool_call_id=call["id"],
        status="error" if failed else "success",
        additional_kwargs={"origin": "memory"},
    )


def _corrected_part(part: Answer, call_id: str, found: Sequence[Outcome], claims_only: bool) -> Answer:
    if isinstance(part, ToolMessage):
        return _message(part, found, claims_only) if part.tool_call_id == call_id else part
    if not isinstance(part.update, dict) or not isinstance(part.update.get("messages"), list):
        return part
    messages = [
        _message(m, found, claims_only) if isinstance(m, ToolMessage) and m.tool_call_id == call_id else m
        for m in part.update["messages"]
    ]
    return _updated(part, {"messages": messages})


def _message(message: ToolMessage, found: Sequence[Outcome], claims_only: bool) -> ToolMessage:
    lines = [told(outcome) for outcome in found]
    own = message.text.strip()
    if own and not (claims_only and message.status != "error"):
        lines.append(f"The tool's own answer, which does not know of these decisions: {own}")
    return message.model_copy(
        update={
            "content": "\n".join(lines),
            "additional_kwargs": {**message.additional_kwargs, "origin": "memory"},
        }
    )


def _with_reports(part: Answer, reports: list[dict[str, Any]]) -> Answer:
    if isinstance(part, ToolMessage):
        return Command(update={"messages": [part], "admission_reports": reports})
    if part.graph is not None or not isinstance(part.update, dict | None):
        return part  # the update is another graph's, which may have no such channel; the ledger has the reports
    return _updated(part, {"admission_reports": reports})


def _as_json(found: Sequence[Outcome]) -> list[dict[str, Any]]:
    return [outcome.report.model_dump(mode="json") for outcome in found if outcome.report is not None]


def _updated(command: Command[Any], change: dict[str, Any]) -> Command[Any]:
    update = cast("dict[str, Any]", command.update or {})
    return Command(graph=command.graph, update={**update, **change}, resume=command.resume, goto=command.goto)
